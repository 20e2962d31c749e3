"""No statement depends on the planner's luck: what each may read holds with any statistics and any neighbour."""

import re
from collections.abc import Iterator

import pytest

from app.database.admission import Lane
from tests.sql.plan_rules import FEW, WHAT_NEXT, excesses, reads, too_much, unneeded
from tests.support.plans import MODES, Planner, Project, open_planner, statements_of_projects
from tests.support.walk import Walked

MANY = 10_000


@pytest.fixture(scope="module")
def planner() -> Iterator[Planner]:
    with open_planner() as opened:
        yield opened


PLANNED_ANEW = {
    "exists.where_key_in.1": "how many keys are asked for decides what it costs",
    "search.filter.1": "likewise",
    "exists.where_some_property_in.1": "likewise, of values",
    "exists.where_version_equals.1": "how many resources have the version decides",
    "search.filter_facets.1": "likewise",
    "exists.where_two_ranges.1": "how many resources are in the range decides",
    "exists.where_array_matches_ignore_case.1": "if the table is large: the value is folded once for all rows",
    "exists.where_some_property_matches_ignore_case.1": "likewise",
}
"""Reads that PostgreSQL may plan for each request, and why. Planning takes as long as most reads."""


RANGES = {
    "exists.where_created_at_before.1",
    "exists.where_id_greater.1",
    "exists.where_version_at_least.1",
}
"""Reads in the fast lane of all resources side by side in an index: the whole project, if all are in the range. A list
stops where it has counted enough of them."""


@pytest.fixture(scope="module")
def many(planner: Planner) -> Project:
    return planner.load("many", MANY)


def test_what_statements_read(planner: Planner, many: Project, walked: Walked) -> None:
    statements = statements_of_projects(walked)
    assert len(statements) > 130
    found = reads(planner, statements, many)
    assert too_much(found, many) == [], f"just loaded, without statistics, alone{WHAT_NEXT}"
    assert unneeded(found) == set(), "these read few rows now: take them out of READ_ALL"
    few = planner.load("few", MANY // 100)
    planner.analyse()
    assert excesses(planner, statements, many) == [], f"analysed{WHAT_NEXT}"
    assert excesses(planner, statements, few) == [], f"beside one a hundred times as large{WHAT_NEXT}"


def test_what_may_read_a_whole_project_is_in_the_slow_lane(planner: Planner, many: Project, walked: Walked) -> None:
    planner.analyse()
    fast = {
        step: statement
        for step, statement in statements_of_projects(walked).items()
        if step.startswith(("list", "exists", "search", "get")) and walked.lanes[step.rpartition(".")[0]] == {Lane.FAST}
    }
    assert len(fast) > 40
    much = {step for (step, _), read in reads(planner, fast, many).items() if read.total() > FEW}
    assert much == RANGES, "name a range in RANGES; give the others an index, or the slow lane"


def test_a_read_is_planned_once(planner: Planner, walked: Walked) -> None:
    project = planner.load("kept", MANY)
    planner.analyse()
    reads = {
        step: statement
        for step, statement in statements_of_projects(walked).items()
        if not re.search("INSERT|UPDATE|DELETE|LOCK", statement.text)
    }
    assert len(reads) > 90
    planned_anew = {step for step, statement in reads.items() if not planner.keeps_its_plan(statement, project)}
    # A condition on what is compared as a parameter, and not on a literal, keeps its plan; else say why not.
    assert planned_anew <= PLANNED_ANEW.keys(), "write them so that they keep a plan, or name them in PLANNED_ANEW"


def test_the_youngest_resource_without_a_key_is_one_row_of_an_index(planner: Planner, walked: Walked) -> None:
    """Also in a project whose resources all have a key, and whatever the planner knows of keys."""
    statement = statements_of_projects(walked)["overwrite.without_a_name_not_found.1"]
    project = planner.load("young", MANY)
    for statistics in ("just loaded", "analysed"):
        for mode in MODES:
            assert planner.rows_read(statement, project, mode).total() == 1, statistics
        planner.analyse()
    planner.connection.execute("UPDATE resource SET key = id::text WHERE project_key = 'young' AND key IS NULL")
    planner.connection.execute("VACUUM resource")
    for statistics in ("those of before", "analysed"):
        for mode in MODES:
            assert planner.rows_read(statement, project, mode).total() == 0, statistics
        planner.analyse()
