"""The examples, errors and limits in ``docs/search.md`` are those of the service."""

import json
import re
from typing import Any
from urllib.parse import parse_qsl, urlencode
from uuid import uuid4

import pytest
from flask import Flask

from app.query.filters.resolver import FACETS_AT_MOST, RANGES_AT_MOST
from app.query.language import TERMS_AT_MOST
from app.resource.model import FACET_TERMS_AT_MOST
from app.resource.params import CHARACTERS_AT_MOST, REPEATED_TERMS_AT_MOST
from app.resource.searching.words import WORDS_AT_MOST
from app.values.parameters import LENGTH_AT_MOST
from tests.support.api import Api
from tests.support.fixtures import TokenFor
from tests.support.pages import Page, keys

PAGE = Page("docs/search.md")


@pytest.fixture(scope="module")
def library(app: Flask, token_for: TokenFor) -> Api:
    """A client of a project with the resources of the page, with the scopes of both search endpoints."""
    project = f"p-{uuid4().hex[:20]}"
    api = Api(app, project, token_for(f"manage_test:{project}", f"view_products:{project}"))
    for body in PAGE.resources():
        created = api.create(body["objectTypeProperty"], key=body["key"])
        if "someProperty" in body:
            api.update(created, {"action": "changeSomeProperty", "someProperty": body["someProperty"]})
        if "staged" in body:
            staged = {"key": body["key"], "objectTypeProperty": body["staged"]}
            assert api.put(json=staged, query_string={"staged": "true"}).status_code == 200
    return api


def ask(library: Api, query: list[tuple[str, str]], *, by_form: bool) -> Any:
    encoded = urlencode(query)
    if not by_form:
        return library.get("/searchApiPattern", query_string=encoded)
    form = {"data": encoded, "content_type": "application/x-www-form-urlencoded"}
    return library.post("/product-projection-search", **form)


def pairs(query: str) -> list[tuple[str, str]]:
    return parse_qsl(query, keep_blank_values=True, strict_parsing=True)


@pytest.mark.parametrize("by_form", [False, True])
@pytest.mark.parametrize(
    ("query", "finds"),
    [(pairs(query), finds) for title in ("Projections", "Text") for query, finds in PAGE.rows(title)]
    + [([("filter", row[0])], row[2]) for row in PAGE.rows("Filters") if len(row) == 3 and ":" in row[0]]
    + [([("filter.query", row[0])], row[2]) for row in PAGE.rows("Filters") if len(row) == 3 and ":" in row[0]],
)
def test_a_documented_search_finds_the_documented_resources(
    library: Api, query: list[tuple[str, str]], finds: str, by_form: bool
) -> None:
    answer = ask(library, query, by_form=by_form)
    assert answer.status_code == 200, answer.text
    page = answer.get_json()
    assert sorted(result["key"] for result in page["results"]) == keys(finds)
    assert page["total"] == page["count"] == len(keys(finds))


@pytest.mark.parametrize(("facet", "result"), PAGE.rows("Facets"))
def test_a_documented_facet_has_the_documented_counts(library: Api, facet: str, result: str) -> None:
    answer = ask(library, [("facet", facet)], by_form=False)
    assert answer.status_code == 200, answer.text
    (counted,) = answer.get_json()["facets"].values()
    assert counted == json.loads(result)


def test_each_kind_of_filter_narrows_results_and_facets_as_documented(library: Api) -> None:
    table = [row for row in PAGE.rows("Filters") if row[0].startswith("filter")]
    assert [row[0] for row in table] == ["filter.query", "filter", "filter.facets"]
    for name, results, facets in table:
        query = [(name, 'key:"kennel"'), ("facet", "version"), ("facet", "key")]
        page = ask(library, query, by_form=False).get_json()
        assert (page["total"] == 1) is (results == "yes")
        assert (page["facets"]["version"]["total"] == 1) is facets.startswith("yes")
        assert (page["facets"]["key"]["total"] == 1) is (facets == "yes")


@pytest.mark.parametrize(("query", "message"), PAGE.rows("Errors"))
def test_a_documented_search_error_is_the_actual_message(library: Api, query: str, message: str) -> None:
    # The search by a form ignores what is undeclared.
    for by_form in (False,) if "Unknown parameter" in message else (False, True):
        answer = ask(library, pairs(query), by_form=by_form)
        assert answer.status_code == 400
        assert [error["message"] for error in answer.get_json()["errors"]] == [message]


def test_the_documented_filter_syntax_error_is_the_actual_message(library: Api) -> None:
    shown = PAGE.block("text")
    assert ask(library, [("filter.query", shown.splitlines()[1])], by_form=True).get_json()["message"] == shown


def test_the_documented_search_limits_are_those_of_the_code() -> None:
    stated = [int(number) for number in re.findall(r"[0-9]+", PAGE.section("Limits"))]
    assert stated == [
        LENGTH_AT_MOST,
        FACETS_AT_MOST,
        TERMS_AT_MOST,
        RANGES_AT_MOST,
        REPEATED_TERMS_AT_MOST,
        WORDS_AT_MOST,
        CHARACTERS_AT_MOST,
    ]
    assert f"the {FACET_TERMS_AT_MOST} values" in PAGE.section("Facets")
