"""The examples, errors and limits in ``docs/query-language.md`` are those of the service."""

import re
from urllib.parse import parse_qsl, urlencode
from uuid import uuid4

import pytest
from flask import Flask

from app.query import kinds
from app.query.fields import BEGINNING_LENGTH, RESOURCE
from app.query.language import DEPTH_AT_MOST, TERMS_AT_MOST
from app.query.predicate.operators import NEGATIONS, OPERATORS
from app.values.parameters import LENGTH_AT_MOST
from tests.support.api import Api
from tests.support.fixtures import TokenFor
from tests.support.pages import Page, keys
from tests.support.predicates import SORTED, found, refusals

PAGE = Page("docs/query-language.md")

_NAMES = {kinds.ID: "id", kinds.TEXT: "text", kinds.NUMBER: "number", kinds.TIME: "time", kinds.OBJECT: "object"}


@pytest.fixture(scope="module")
def library(app: Flask, token_for: TokenFor) -> Api:
    """A client of a project with the resources of the page."""
    project = f"p-{uuid4().hex[:20]}"
    api = Api(app, project, token_for(f"manage_test:{project}"))
    for body in PAGE.resources():
        some = body.pop("someProperty", None)
        created = api.create(body["objectTypeProperty"], key=body["key"])
        if some is not None:
            api.update(created, {"action": "changeSomeProperty", "someProperty": some})
    return api


def test_every_queryable_field_is_documented_with_its_type() -> None:
    known = [
        [name, f"array of {holds}s" if row.is_array else holds]
        for name, row in RESOURCE.items()
        for holds in (_NAMES.get(row.kind, row.kind.data_type),)
    ]
    assert PAGE.rows("Fields") == known, "the rows of Fields in docs/query-language.md"


def test_every_operator_is_documented_with_an_example() -> None:
    listed = {operator: example for operator, _, example, _ in PAGE.rows("Operators")}
    assert set(listed) == set(OPERATORS) | set(NEGATIONS), "the rows of Operators in docs/query-language.md"
    for operator, example in listed.items():
        assert f" {operator} " in f"{example} "


@pytest.mark.parametrize(
    ("where", "finds"), [row[-2:] for title in ("Operators", "Combining", "Values") for row in PAGE.rows(title)]
)
def test_a_documented_predicate_finds_the_documented_resources(library: Api, where: str, finds: str) -> None:
    assert (found(library, where), found(library, where, path="")) == (keys(finds), keys(finds))
    assert library.head(query_string={"where": where}).status_code == (200 if finds else 404)


@pytest.mark.parametrize(("query", "finds"), PAGE.rows("Variables"))
def test_a_documented_query_with_variables_finds_the_documented_resources(library: Api, query: str, finds: str) -> None:
    answer = library.get(SORTED, query_string=urlencode(parse_qsl(query, strict_parsing=True)))
    assert sorted(resource["key"] for resource in answer.get_json()["results"]) == keys(finds)


@pytest.mark.parametrize(("where", "message"), PAGE.rows("Errors"))
def test_a_documented_predicate_error_is_the_actual_message(library: Api, where: str, message: str) -> None:
    assert refusals(library, where) == [message]


def test_the_documented_predicate_syntax_error_is_the_actual_message(library: Api) -> None:
    shown = PAGE.block("text").removeprefix("Malformed parameter: where: ")
    assert refusals(library, shown.splitlines()[1]) == [shown]


def test_the_documented_predicate_limits_are_those_of_the_code() -> None:
    assert [int(number) for number in re.findall(r"[0-9]+", PAGE.section("Limits"))] == [
        LENGTH_AT_MOST,
        DEPTH_AT_MOST,
        TERMS_AT_MOST,
        BEGINNING_LENGTH,
    ]
