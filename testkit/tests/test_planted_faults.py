"""A planted fault fails the clauses that speak of it.

``make test`` tries every fourth fault, and ``with_near_clauses.py``, for ``make conformance``, all of them.
"""

import faults
import pytest
from conformance import outcomes
from planted import FAULTS, Fault
from sample_resource_testkit.clauses import clauses
from sample_resource_testkit.outcomes import Outcome

MODULES = faults.__all__

PART = list(FAULTS.values())[::4]


@pytest.mark.parametrize("fault", PART, ids=[fault.name for fault in PART])
def test_a_fault_fails_the_clauses_that_speak_of_it(fault: Fault) -> None:
    found = outcomes(fault.plant, fault.clauses)
    assert {number: found[number].outcome for number in fault.clauses} == dict.fromkeys(fault.clauses, Outcome.FAIL)


def test_there_are_faults_in_each_profile() -> None:
    profiles = {clauses()[number].profile for fault in FAULTS.values() for number in fault.clauses}
    assert profiles == {clause.profile for clause in clauses().values()}


def test_there_are_faults_for_the_listed_themes() -> None:
    assert len(FAULTS) >= 60
    assert set(MODULES) == {fault.plant.__module__.rpartition(".")[2] for fault in FAULTS.values()}
