"""A planted fault fails the clauses that speak of it, and without a fault the service passes them."""

import faults
import pytest
from conformance import PlantedService
from planted import FAULTS, Fault
from sample_resource_testkit.outcomes import Outcome

assert faults.__all__


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_fails_the_clauses_that_speak_of_it(fault: Fault, service: PlantedService) -> None:
    found = service.outcomes(fault.name, fault.clauses)
    outcomes = {number: found[number].outcome for number in fault.clauses}
    assert outcomes == dict.fromkeys(fault.clauses, Outcome.FAIL), "the check of a clause does not notice this fault"


def test_without_a_fault_they_pass(service: PlantedService) -> None:
    numbers = {number for fault in FAULTS.values() for number in fault.clauses}
    found = service.outcomes("", numbers)
    assert {number: found[number].outcome for number in numbers} == dict.fromkeys(numbers, Outcome.PASS)
