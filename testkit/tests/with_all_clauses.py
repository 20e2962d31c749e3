"""Each planted fault fails just the clauses that speak of it, and few others: ``make conformance``.

Not part of ``make test``, since each fault is held against all clauses, which takes some seconds.
"""

import faults
import pytest
from conformance import outcomes
from planted import FAULTS, Fault
from sample_resource_testkit.outcomes import Outcome

assert faults.__all__


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_fails_few_other_clauses(fault: Fault) -> None:
    found = outcomes(fault.plant)
    failing = {number for number, result in found.items() if result.outcome is Outcome.FAIL}
    assert set(fault.clauses) <= failing
    assert len(failing - set(fault.clauses)) <= fault.others, sorted(failing - set(fault.clauses))
