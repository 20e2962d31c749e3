"""The reference of the query language, docs/query-language.md, does what it says."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode
from uuid import uuid4

import pytest
from flask import Flask

from app.fields import RESOURCE
from app.language import LENGTH_AT_MOST
from app.predicate.operators import NEGATIONS, OPERATORS
from app.predicate.parser import DEPTH_AT_MOST, TERMS_AT_MOST
from tests.api import Api
from tests.conftest import TokenFor
from tests.predicates import SORTED, found, refusals

TEXT = (Path(__file__).parent.parent / "docs" / "query-language.md").read_text("utf-8")


def section(title: str) -> str:
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    """The rows of all tables of a section, without their heads; code without its backticks."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    marks = [number for number, line in enumerate(lines) if set(line) <= set("|-")]
    heads = {number - 1 for number in marks} | set(marks)
    cells = [line.strip("|").split("|") for number, line in enumerate(lines) if number not in heads]
    assert cells, title
    return [[re.sub("^`(.*)`$", r"\1", cell.strip()) for cell in row] for row in cells]


def keys(cell: str) -> list[str]:
    return [key for key in cell.split(", ") if key]


@pytest.fixture(scope="module")
def library(app: Flask, token_for: TokenFor) -> Api:
    """The resources of the page."""
    project = f"p-{uuid4().hex[:20]}"
    api = Api(app, project, token_for(f"manage_test:{project}"))
    block = re.search(r"```json\n(.*?)```", TEXT, re.DOTALL)
    assert block is not None
    bodies: list[dict[str, Any]] = json.loads(block.group(1))
    for body in bodies:
        some = body.pop("someProperty", None)
        created = api.create(body["objectTypeProperty"], key=body["key"])
        if some is not None:
            api.update(created, {"action": "changeSomeProperty", "someProperty": some})
    return api


def test_every_field_is_listed_with_what_it_holds() -> None:
    assert rows("Fields") == [[row.name, row.kind.value] for row in RESOURCE.values()]


def test_every_operator_has_an_example_that_uses_it() -> None:
    listed = {operator: example for operator, _, example, _ in rows("Operators")}
    assert set(listed) == set(OPERATORS) | set(NEGATIONS)
    for operator, example in listed.items():
        assert f" {operator} " in f"{example} "


@pytest.mark.parametrize(
    ("where", "finds"), [row[-2:] for title in ("Operators", "Combining", "Values") for row in rows(title)]
)
def test_an_example_finds_what_it_says(library: Api, where: str, finds: str) -> None:
    assert found(library, where) == keys(finds)
    assert found(library, where, path="") == keys(finds)
    head = library.head(query_string={"where": where})
    assert head.status_code == (200 if finds else 404)


@pytest.mark.parametrize(("query", "finds"), rows("Variables"))
def test_an_example_with_variables_finds_what_it_says(library: Api, query: str, finds: str) -> None:
    answer = library.get(SORTED, query_string=urlencode(parse_qsl(query, strict_parsing=True)))
    assert sorted(resource["key"] for resource in answer.get_json()["results"]) == keys(finds)


@pytest.mark.parametrize(("where", "message"), rows("Errors"))
def test_an_error_is_the_one_shown(library: Api, where: str, message: str) -> None:
    assert refusals(library, where) == [message]


def test_the_syntax_error_is_the_one_shown(library: Api) -> None:
    block = re.search(r"```text\n(.*?)\n```", TEXT, re.DOTALL)
    assert block is not None
    shown = block.group(1).removeprefix("Malformed parameter: where: ")
    assert refusals(library, shown.splitlines()[1]) == [shown]


def test_the_limits_are_those_of_the_code() -> None:
    assert [int(number) for number in re.findall(r"[0-9]+", section("Limits"))] == [
        LENGTH_AT_MOST,
        DEPTH_AT_MOST,
        TERMS_AT_MOST,
    ]
