"""``make test-slow ARGS=-mplans``: the rules of test_plans.py for projects of 100, 10,000 and 300,000 resources.

Each is alone first, just loaded and analysed; then beside a larger one; and what is loaded later finds the statistics
of before. It takes some minutes.
"""

import pytest

from tests.support.plans import WHAT_NEXT, excesses, open_planner
from tests.support.walk import Walked

pytestmark = [pytest.mark.slow, pytest.mark.plans]

SIZES = {"few": 100, "many": 10_000, "most": 300_000}


@pytest.mark.parametrize("alone", list(SIZES))
def test_alone(walked: Walked, alone: str) -> None:
    with open_planner() as planner:
        project = planner.load(alone, SIZES[alone])
        assert excesses(planner, walked, project) == [], f"just loaded{WHAT_NEXT}"
        planner.analyse()
        assert excesses(planner, walked, project) == [], f"analysed{WHAT_NEXT}"


@pytest.mark.parametrize(("sooner", "later"), [("few", "many"), ("many", "few"), ("many", "most"), ("most", "many")])
def test_beside_another(walked: Walked, sooner: str, later: str) -> None:
    with open_planner() as planner:
        first = planner.load(sooner, SIZES[sooner])
        planner.analyse()
        second = planner.load(later, SIZES[later])
        assert excesses(planner, walked, first) + excesses(planner, walked, second) == [], (
            f"stale statistics{WHAT_NEXT}"
        )
        planner.analyse()
        assert excesses(planner, walked, first) + excesses(planner, walked, second) == [], f"analysed{WHAT_NEXT}"
