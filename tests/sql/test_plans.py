"""No statement depends on the planner's luck: what each may read holds with any statistics and any neighbour."""

import re
from collections.abc import Iterator

import pytest

from app.database.admission import Lane
from app.query.fields import SORTABLE, Projection
from app.query.object_fields import SEARCHED
from app.query.predicate import resolver
from app.query.predicate.compiler import compile_condition
from app.query.predicate.conditions import Condition
from app.resource.model import Paging, SortTerm
from app.resource.reading import reads as reading
from app.resource.reading.listing import Page, Selected, lane_of_existence, lane_of_page, terms_of
from app.resource.resource_json import PROJECTION_JSON
from app.values.strict_json import encode
from tests.support import plans
from tests.support.plans import Planner, Project
from tests.support.predicates import EXAMPLES, FIELDS, OPERATIONS, predicate
from tests.support.statements import Statement, recorded
from tests.support.walk import Walked

MANY = 10_000


@pytest.fixture(scope="module")
def planner() -> Iterator[Planner]:
    with plans.open_planner() as opened:
        yield opened


PLANNED_ANEW = {
    "exists.where_key_in.1": "how many keys are asked for decides what it costs",
    "search.filter.1": "likewise",
    "exists.where_some_property_in.1": "likewise, of values",
    "search.filter_facets.1": "likewise",
    "exists.where_two_ranges.1": "how many resources are in the range decides",
    "exists.where_array_matches_ignore_case.1": "if the table is large: the value is folded once for all rows",
    "exists.where_some_property_matches_ignore_case.1": "likewise",
}
"""Reads that PostgreSQL may plan for each request, and why. Planning takes as long as most reads."""


_OF_TEXTS = "most resources may have a word"

SLOW_WITH_FEW = {
    "list.sorted": "all resources of one time would be sorted for a page, if many had one",
    "list_sorted.where_by_version_without_total": "all resources with the item would be sorted, if many had it",
    "exists.where_two_ranges": "most resources may be in each range",
    "exists.where_id_equals_no_uuid": "no index serves a comparison with this text, which no id has",
    "search.text": _OF_TEXTS,
    "search.text_of_unknown_words": _OF_TEXTS,
    "search.fuzzy_texts": _OF_TEXTS,
    "search.text_sorted": _OF_TEXTS,
    "search.text_without_total": _OF_TEXTS,
    "search.all_filters": _OF_TEXTS,
    "search_staged.text": _OF_TEXTS,
}
"""Steps in the slow lane that read few rows here, and why they are in it."""

SLOW_WITH_FEW_ON_FIELDS = {
    ("createdAt", "in"): "many resources may have a time, but no two of these",
    ("lastModifiedAt", "in"): "likewise",
    **{
        (f"{by}.typeId", token): "a constant, which a plan finds out"
        for by in ("createdBy", "lastModifiedBy")
        for token in ("!=", "<>", "<", ">", "not in", "is not defined")
    },
}
"""Operators on fields that are never fast and read few rows here, and why they are not."""


@pytest.fixture(scope="module")
def many(planner: Planner) -> Project:
    return planner.load("many", MANY)


def test_what_statements_read(planner: Planner, many: Project, walked: Walked) -> None:
    found = plans.reads(planner, walked, many)
    assert len(found) > 180
    assert plans.too_much(found, walked, many) == [], f"just loaded, without statistics, alone{plans.WHAT_NEXT}"
    slow = {step for step, _ in found if plans.may_read_all(walked, step)}
    assert len(slow) > 40
    much = {step.rpartition(".")[0] for (step, _), read in found.items() if read.total() > plans.FEW}
    assert {step.rpartition(".")[0] for step in slow} - much == SLOW_WITH_FEW.keys(), "make them fast, or say why not"
    few = planner.load("few", MANY // 100)
    planner.analyse()
    assert plans.excesses(planner, walked, many) == [], f"analysed{plans.WHAT_NEXT}"
    assert plans.excesses(planner, walked, few) == [], f"beside one a hundred times as large{plans.WHAT_NEXT}"


LIMITS = {
    "id": ("00000000-0000-4000-8000-000000000000", "ffffffff-ffff-4fff-8fff-ffffffffffff"),
    "key": ("a", "zzz"),
    "version": (1, 999),
    "createdAt": ("2020-01-01", "2040-01-01"),
    "lastModifiedAt": ("2020-01-01", "2040-01-01"),
    "someProperty": ("a", "zzz"),
}
"""Values below and above those of all resources; a value of :data:`EXAMPLES` if it has the field, few have it."""


def values(path: str, many: Project) -> list[str]:
    """Values for a field, as they are written."""
    name = path.rpartition(".")[2]
    if path == SEARCHED:
        return [encode(many.values["texts"][0])]
    return [encode(value) for value in LIMITS.get(path, (EXAMPLES.get(name, "x"),))]


def pages(condition: Condition, path: str) -> Iterator[Page]:
    """Pages of what a condition selects: of either projection, in the order of ids and in that of the field."""
    for projection in Projection:
        selected = Selected([compile_condition(condition, projection)])
        for field in {"id", path} & SORTABLE.keys():
            terms = terms_of([SortTerm(SORTABLE[field], descending=True)], projection)
            yield Page(selected, {"project_key": "many"}, Paging(), terms, PROJECTION_JSON[projection])


def test_the_lane_of_each_operator_on_each_field(planner: Planner, many: Project) -> None:
    slow: dict[tuple[str, str], int] = {}
    fast: set[tuple[str, str]] = set()

    def look(asked: tuple[str, str], lane: Lane, statement: Statement) -> None:
        modes = plans.MODES if lane is Lane.FAST else plans.MODES[-1:]
        read = max(planner.rows_read(statement, many, mode).total() for mode in modes)
        if lane is Lane.FAST:
            rare = "few resources of app/bulk/seed.py may have the first item of a field's example"
            assert read <= plans.FEW, f"{asked} {statement.parameters}: {rare}{plans.WHAT_NEXT}"
            fast.add(asked)
        else:
            slow[asked] = max(read, slow.get(asked, 0))

    for path, row in FIELDS.items():
        if path.startswith("objectTypeProperty."):
            continue  # the same rows as those without it
        for token, operator in OPERATIONS.items():
            for value in values(path, many) if operator.fits(row) else ():
                condition = resolver.read([predicate(path, token, value, value)], {})
                selected = reading.selected_by(condition)
                with recorded() as sent:
                    reading.exists(planner.connection, many.key, selected)
                look((path, token), lane_of_existence(selected), sent[-1])
                for page in pages(condition, path):
                    with recorded() as sent:
                        page.read(planner.connection)
                    look((path, token), lane_of_page(page), sent[-1])
    assert len(fast) > 30
    needless = {asked for asked, read in slow.items() if read <= plans.FEW and asked not in fast}
    assert needless == SLOW_WITH_FEW_ON_FIELDS.keys(), "make them fast, or say why not"


def test_a_read_is_planned_once(planner: Planner, walked: Walked) -> None:
    project = planner.load("kept", MANY)
    planner.analyse()
    reads = {
        step: statement
        for step, statement in plans.statements_of_projects(walked).items()
        if not re.search("INSERT|UPDATE|DELETE|LOCK", statement.text)
    }
    assert len(reads) > 90
    planned_anew = {step for step, statement in reads.items() if not planner.keeps_its_plan(statement, project)}
    # A condition on what is compared as a parameter, and not on a literal, keeps its plan; else say why not.
    assert planned_anew <= PLANNED_ANEW.keys(), "write them so that they keep a plan, or name them in PLANNED_ANEW"


def test_the_callers_youngest_resource_without_a_key_is_one_row_of_an_index(planner: Planner, walked: Walked) -> None:
    """Also in a project whose resources all have a key, and whatever the planner knows of keys."""
    statement = plans.statements_of_projects(walked)["overwrite.without_a_name_not_found.1"]
    project = planner.load("young", MANY)
    for statistics in ("just loaded", "analysed"):
        for mode in plans.MODES:
            assert planner.rows_read(statement, project, mode).total() == 1, statistics
        planner.analyse()
    planner.connection.execute("UPDATE resource SET key = id::text WHERE project_key = 'young' AND key IS NULL")
    planner.connection.execute("VACUUM resource")
    for statistics in ("those of before", "analysed"):
        for mode in plans.MODES:
            assert planner.rows_read(statement, project, mode).total() == 0, statistics
        planner.analyse()
