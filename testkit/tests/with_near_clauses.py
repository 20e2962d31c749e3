"""The small server passes all themes, and each planted fault fails just the clauses that speak of it, and few others.

For ``make conformance`` and not part of ``make test``: each theme, and each fault with its themes, takes some seconds.
"""

import faults
import pytest
from conformance import outcomes
from planted import FAULTS, Fault
from sample_resource_testkit.clauses import clauses
from sample_resource_testkit.outcomes import Outcome
from test_small_server import THEMES, expect_passed

assert faults.__all__


def theme(number: str) -> str:
    """``4.10`` of ``4.10-3``."""
    return number.rpartition("-")[0]


@pytest.mark.parametrize("theme", THEMES)
def test_the_small_server_passes_all_themes(theme: str) -> None:
    expect_passed(theme)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_fails_few_other_clauses(fault: Fault) -> None:
    themes = {theme(number) for number in fault.clauses}
    found = outcomes(fault.plant, [number for number in clauses() if theme(number) in themes])
    failing = {number for number, result in found.items() if result.outcome is Outcome.FAIL}
    assert set(fault.clauses) <= failing
    assert len(failing - set(fault.clauses)) <= fault.others, sorted(failing - set(fault.clauses))
