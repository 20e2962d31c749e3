"""A clause has its places, and one test says where one lacks something."""

from collections.abc import Collection

import faults
from planted import FAULTS
from sample_resource_testkit.registry import load_checks

from tests.specification.clauses import CLAUSES

WITHOUT_A_FAULT = set(faults.WITHOUT_A_FAULT.split())

PLACES: dict[str, Collection[str]] = {
    "a check in testkit/src/sample_resource_testkit/checks/": {check.clause for check in load_checks()},
    "a fault in testkit/tests/faults/": {number for fault in FAULTS.values() for number in fault.clauses}
    | WITHOUT_A_FAULT,
}
"""What a clause of ``docs/specification.md`` needs beside its text, and which clauses have it."""


def test_every_clause_has_all_that_it_needs() -> None:
    numbers = [clause.clause for clause in CLAUSES]
    lacking = {number: [place for place, known in PLACES.items() if number not in known] for number in numbers}
    assert {number: places for number, places in lacking.items() if places} == {}


def test_what_there_is_belongs_to_a_clause() -> None:
    numbers = {clause.clause for clause in CLAUSES}
    assert {place: sorted(set(known) - numbers) for place, known in PLACES.items() if set(known) - numbers} == {}


def test_what_is_said_to_be_without_a_fault_has_none() -> None:
    assert {number for fault in FAULTS.values() for number in fault.clauses} & WITHOUT_A_FAULT == set()
