"""A planted fault fails the clauses that speak of it, and without a fault the service passes them.

``make test`` tries every eighth fault, and ``test_near_clauses.py``, for ``make conformance``, all of them.
"""

import faults
import pytest
from conformance import PlantedService
from planted import FAULTS, Fault, Planted
from sample_resource_testkit.clauses import clauses
from sample_resource_testkit.outcomes import Outcome

MODULES = faults.__all__

PART = list(FAULTS.values())[::8]


@pytest.mark.parametrize("fault", PART, ids=[fault.name for fault in PART])
def test_a_fault_fails_the_clauses_that_speak_of_it(fault: Fault, service: PlantedService) -> None:
    found = service.outcomes(fault.name, fault.clauses)
    assert {number: found[number].outcome for number in fault.clauses} == dict.fromkeys(fault.clauses, Outcome.FAIL)


def test_each_fault_finds_what_it_replaces() -> None:
    for fault in FAULTS.values():
        planted = Planted()
        fault.plant(planted)
        planted.remove()


def test_without_a_fault_they_pass(service: PlantedService) -> None:
    numbers = {number for fault in PART for number in fault.clauses}
    found = service.outcomes("", numbers)
    assert {number: found[number].outcome for number in numbers} == dict.fromkeys(numbers, Outcome.PASS)


def test_there_are_faults_in_each_profile() -> None:
    profiles = {clauses()[number].profile for fault in FAULTS.values() for number in fault.clauses}
    assert profiles == {clause.profile for clause in clauses().values()}


def test_there_are_faults_for_the_listed_themes() -> None:
    assert len(FAULTS) >= 100
    assert set(MODULES) == {fault.module for fault in FAULTS.values()}
