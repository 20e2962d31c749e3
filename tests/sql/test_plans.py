"""No statement depends on the planner's luck: what each may read holds with any statistics and any neighbour."""

from collections.abc import Iterator

import pytest

from tests.sql.plan_rules import excesses, reads, too_much, unneeded
from tests.support.plans import Planner, open_planner, statements_of_projects
from tests.support.walk import Walked

MANY = 10_000


@pytest.fixture(scope="module")
def planner() -> Iterator[Planner]:
    with open_planner() as opened:
        yield opened


def test_what_statements_read(planner: Planner, walked: Walked) -> None:
    statements = statements_of_projects(walked)
    assert len(statements) > 130
    many = planner.load("many", MANY)
    found = reads(planner, statements, many)
    assert too_much(found, many) == [], "just loaded, without statistics, alone"
    assert unneeded(found) == set()
    few = planner.load("few", MANY // 100)
    planner.analyse()
    assert excesses(planner, statements, many) == [], "analysed"
    assert excesses(planner, statements, few) == [], "beside one a hundred times as large"
