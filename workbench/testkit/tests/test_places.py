"""A clause has its check and a theme its planted fault, and one test says where one lacks something."""

import faults
from planted import FAULTS
from sample_resource_testkit.registry import load_checks

from tests.specification.clauses import CLAUSES

assert faults.__all__

HELD = {check.clause for check in load_checks()}
PLANTED = {number for fault in FAULTS.values() for number in fault.clauses}
NUMBERS = {clause.clause for clause in CLAUSES}


def test_every_clause_has_a_check() -> None:
    lacking = [clause.clause for clause in CLAUSES if clause.clause not in HELD]
    assert lacking == [], "write a @check in workbench/testkit/src/sample_resource_testkit/checks/"


def test_every_theme_has_a_planted_fault() -> None:
    themes = {clause.theme for clause in CLAUSES if clause.clause in PLANTED}
    lacking = [clause.clause for clause in CLAUSES if clause.theme not in themes]
    assert lacking == [], "plant a fault in workbench/testkit/tests/faults/"


def test_what_there_is_belongs_to_a_clause() -> None:
    assert sorted((HELD | PLANTED) - NUMBERS) == [], "docs/specification.md lacks these clauses"
