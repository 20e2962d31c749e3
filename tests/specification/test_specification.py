"""The specification is well formed, and what is made from it is current."""

import json
import re
from itertools import groupby

import pytest
from sample_resource_testkit.checks.names import ALL_FIELDS
from sample_resource_testkit.registry import load_checks

from app.query.object_fields import OBJECT_FIELDS, arrays_of_parameter
from app.query.predicate.operators import NEGATIONS, OPERATORS
from app.resource.actions import REGISTRY
from tests.specification import made
from tests.specification.clauses import CLAUSES, DATA, LEVELS, NUMBER, PROFILES, ROOT

SOURCE = r"interface [1-9][0-9.]*|RFC [0-9]+ [0-9][0-9.]*|platform|decided here"

KNOWN = {clause.clause for clause in CLAUSES}


def test_what_is_made_from_the_specification_is_current() -> None:
    different = [
        path.relative_to(ROOT).as_posix() for path, text in made.files().items() if path.read_text("utf-8") != text
    ]
    assert different == [], "'make generate ARGS=specification' writes these files anew"


@pytest.mark.parametrize(
    "packaged", ["app/openapi/specification.json", "workbench/testkit/src/sample_resource_testkit/specification.json"]
)
def test_the_packages_contain_the_clauses_of_the_repository(packaged: str) -> None:
    """As a symbolic link, in whose place the built packages have the file (tests/installation)."""
    assert (ROOT / packaged).resolve() == DATA


def test_numbers_count_within_their_theme() -> None:
    for theme, clauses in groupby(CLAUSES, key=lambda clause: clause.theme):
        numbers = [int(clause.clause.rpartition("-")[2]) for clause in clauses]
        assert numbers == sorted(numbers), theme
    assert len(KNOWN) == len(CLAUSES)


def test_every_clause_has_a_number_a_level_a_profile_and_a_source() -> None:
    for clause in CLAUSES:
        assert NUMBER.fullmatch(clause.clause)
        assert clause.level in LEVELS
        assert clause.profile in PROFILES
        for source in clause.source.split(", "):
            assert re.fullmatch(SOURCE, source), clause.clause
        assert "decided here" not in clause.source or clause.source == "decided here", clause.clause


def test_what_was_decided_here_is_no_must_and_what_the_interface_says_is() -> None:
    for clause in CLAUSES:
        if clause.source == "decided here":
            assert clause.level == "should", clause.clause
        if "interface" in clause.source or "platform" in clause.source:
            assert clause.level == "must", clause.clause


@pytest.mark.parametrize("names", [list(REGISTRY), [row.name for row in OBJECT_FIELDS]], ids=["actions", "fields"])
def test_a_clause_names_each_update_action_and_each_field(names: list[str]) -> None:
    said = " ".join(clause.text for clause in CLAUSES)
    lacking = [name for name in names if not re.search(rf"\b{name}\b", said)]
    assert lacking == [], "docs/specification.md needs a clause with it"


def test_each_clause_has_a_check() -> None:
    lacking = KNOWN - {check.clause for check in load_checks()}
    assert lacking == set(), "workbench/testkit/src/sample_resource_testkit/checks/ needs a check of it"


def test_the_check_of_all_fields_has_each_field() -> None:
    lacking = [row.name for row in OBJECT_FIELDS if row.name not in ALL_FIELDS]
    assert lacking == [], "ALL_FIELDS in workbench/testkit/src/sample_resource_testkit/checks/names.py needs it"


def test_a_clause_names_each_operator() -> None:
    said = " ".join(clause.text for clause in CLAUSES)
    lacking = [token for token in (*OPERATORS, *NEGATIONS) if f"`{token}`" not in said]
    assert lacking == [], "docs/specification.md needs a clause that names it in backticks"


def test_a_clause_names_each_path() -> None:
    said = " ".join(clause.text for clause in CLAUSES)
    paths = json.loads((ROOT / "docs/openapi.json").read_text("utf-8"))["paths"]
    below = [path.removeprefix("/{projectKey}") for path in paths if path.startswith("/{projectKey}/resource")]
    assert len(below) >= 8
    assert [path for path in below if f"`{path}`" not in said] == [], "docs/specification.md needs a clause with it"


@pytest.mark.parametrize("parameter", sorted({name for row in OBJECT_FIELDS for name in row.parameters}))
def test_the_clause_of_a_parameter_names_the_arrays_that_it_looks_in(parameter: str) -> None:
    beginning = f"`{parameter}` holds for "
    (sentence,) = [clause.text for clause in CLAUSES if clause.text.startswith(beginning)]
    named = re.findall("`(array[A-Za-z]+)`", sentence.removeprefix(beginning))
    message = f"docs/specification.md: the clause that begins with {beginning!r} names other arrays"
    assert named == arrays_of_parameter(parameter), message


def test_numbers_in_the_text_of_a_clause_are_numbers_of_clauses() -> None:
    named = {
        match.group()
        for clause in CLAUSES
        for match in NUMBER.finditer(clause.text)
        if f"`{match.group()}`" in clause.text
    }
    assert named
    assert named <= KNOWN
