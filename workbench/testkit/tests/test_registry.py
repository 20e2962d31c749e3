"""Checks are registered with names and cases of their own, and those of the kit name clauses that exist."""

import re
from pathlib import Path

import pytest
import sample_resource_testkit.checks
from sample_resource_testkit import world
from sample_resource_testkit.clauses import LEVELS, PROFILES, clauses
from sample_resource_testkit.registry import check, load_checks
from sample_resource_testkit.runner import plan

PACKAGE = Path(sample_resource_testkit.checks.__file__).parent


def test_the_clauses_have_levels_and_profiles_that_reports_know() -> None:
    assert len(clauses()) > 300
    assert {clause.level for clause in clauses().values()} == set(LEVELS)
    assert {clause.profile for clause in clauses().values()} == set(PROFILES)


def test_all_checks_name_clauses_that_exist_and_need_no_circle() -> None:
    assert plan(clauses(), load_checks(), list(clauses())).checks.keys() == clauses().keys()


def test_all_modules_of_checks_are_loaded() -> None:
    written = sum(len(re.findall(r"^@check\(", path.read_text(), re.MULTILINE)) for path in PACKAGE.rglob("*.py"))
    listed = len(re.findall(r"^\S+ \| ", (PACKAGE / "predicates.txt").read_text("utf-8"), re.MULTILINE))
    assert len(load_checks()) == written + listed > written > listed > 0


@pytest.mark.parametrize(
    ("cases", "message"), [([], "cases need names"), (["a", "a"], "each of its own"), ({}, "cases need names")]
)
def test_cases_without_names_of_their_own_are_refused(cases: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):

        @check("4.1-1", cases=cases)
        def refused(_: world.World, case: str) -> None: ...
