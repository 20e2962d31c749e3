"""The small server passes every clause that its checks can reach: no check holds only of the service's accidents.

``make test`` takes themes that are quick, and ``with_near_clauses.py``, for ``make conformance``, all of them.
"""

import pytest
from conformance import outcomes
from sample_resource_testkit.clauses import clauses
from sample_resource_testkit.outcomes import Outcome

SKIPPED = {
    "2.1-13": "it serves every host",
    "E-26": "its sandbox cannot be told to answer 503",
}
"""Clauses that the small server does not show, and why."""

THEMES = sorted({number.rpartition("-")[0] for number in clauses()})
QUICK = ("2.2", "2.6", "4.6", "4.10", "4.11", "4.13")


@pytest.mark.parametrize("theme", QUICK)
def test_the_small_server_passes(theme: str) -> None:
    expect_passed(theme)


def expect_passed(theme: str) -> None:
    """Run all checks of a theme."""
    chosen = [number for number in clauses() if number.rpartition("-")[0] == theme]
    found = outcomes(selected=chosen)
    wrong = {
        number: [
            (case.name, case.expected, case.got or case.reason)
            for case in result.cases
            if case.outcome is not Outcome.PASS
        ]
        for number, result in found.items()
        if result.outcome is not (Outcome.SKIPPED if number in SKIPPED else Outcome.PASS)
    }
    assert not wrong
