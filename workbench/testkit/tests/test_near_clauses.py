"""Each planted fault fails the clauses that speak of it, and few others of their themes.

For ``make conformance`` and not part of ``make test``: each fault with its themes takes some seconds.
"""

import faults
import pytest
from conformance import PlantedService
from planted import FAULTS, Fault
from sample_resource_testkit.clauses import clauses
from sample_resource_testkit.outcomes import Outcome

pytestmark = [pytest.mark.slow, pytest.mark.near_clauses]

assert faults.__all__


def theme(number: str) -> str:
    """``4.10`` of ``4.10-3``."""
    return number.rpartition("-")[0]


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_fails_few_other_clauses(fault: Fault, service: PlantedService) -> None:
    themes = {theme(number) for number in fault.clauses}
    found = service.outcomes(fault.name, [number for number in clauses() if theme(number) in themes])
    failing = {number for number, result in found.items() if result.outcome is Outcome.FAIL}
    assert set(fault.clauses) <= failing
    assert len(failing - set(fault.clauses)) <= fault.others, sorted(failing - set(fault.clauses))
