"""All faults of a request are told together: of its path, query string, headers and body, in this order."""

from typing import Any

import pytest
from flask import Flask

from tests.support.api import UNKNOWN_ID, Api
from tests.support.fixtures import TokenFor

UNKNOWN = "Malformed parameter: bogus: "
NO_BODY = "JSON object expected."
FIELD = "objectTypeProperty"


def messages(answer: Any) -> list[str]:
    """What each fault says: of a body's structure the detail, else the message."""
    assert answer.status_code == 400, answer.text
    return [fault.get("detailedErrorMessage", fault["message"]) for fault in answer.get_json()["errors"]]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_an_undeclared_parameter_is_told_also_if_the_body_is_missing_or_wrong(api: Api, method: str) -> None:
    for body, expected in (
        (None, "The body is empty. JSON object expected."),
        (b"{", "Expecting property name"),
        (b"[]", NO_BODY),
        (b"{}", f"{FIELD}: Missing required value."),
    ):
        told = messages(api.request(method, "?bogus=1", data=body, content_type="application/json"))
        assert len(told) == 2
        assert told[0].startswith(UNKNOWN)
        assert told[1].startswith(expected)


def test_an_update_tells_of_query_header_and_body(api: Api) -> None:
    answer = api.post(
        f"/{UNKNOWN_ID}?bogus=1&other=2", json={"version": "x", "actions": 1}, headers={"If-Match": "unquoted"}
    )
    told = messages(answer)
    assert [text.split(":")[1] for text in told[:3]] == [" bogus", " other", " If-Match"]
    assert [text.split(":")[0] for text in told[3:]] == ["version", "actions"]


def test_an_echo_tells_of_path_query_and_body(api: Api) -> None:
    path = "/artificially-complex/path/uri-parameter-one=a%FF/b"
    told = messages(api.post(f"{path}?bogus=1", json=[]))
    assert [text.split(":")[0] for text in told[:1]] == ["Malformed path"]
    assert [text.split(":")[1] for text in told[1:2]] == [" bogus"]
    assert told[2:] == [NO_BODY]


@pytest.fixture(params=["view_products", "view_published_products"])
def searcher(request: pytest.FixtureRequest, app: Flask, project: str, token_for: TokenFor) -> Api:
    """A client with one of the scopes of the search by form."""
    return Api(app, project, token_for(f"{request.param}:{project}"))


def test_a_search_tells_of_its_query_string_if_the_form_is_malformed(searcher: Api) -> None:
    answer = searcher.post(
        "/product-projection-search?limit=x", data=b"sort=%ff", content_type="application/x-www-form-urlencoded"
    )
    assert [text.split(":")[1] for text in messages(answer)] == [" limit", " sort"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?stringParameter=%ff", ["stringParameter: The value is not UTF-8."]),
        ("?stringParameter=a%ffb&limit=x", ["stringParameter: The value is not UTF-8.", 'limit: "x" is not a number.']),
        ("?a%c3=b&limit=%ff&limit=1", ["a\\xc3: The name is not UTF-8.", "limit: The value is not UTF-8."]),
        ("?limit=%ff&limit=%fe&offset=1", ["limit: The value is not UTF-8."]),
        ("?stringParameter=%ED%A0%80", ["stringParameter: The value is not UTF-8."]),
    ],
)
def test_a_query_string_that_is_not_utf_8_names_the_parameters(api: Api, query: str, expected: list[str]) -> None:
    assert messages(api.get(query)) == [f"Malformed parameter: {text}" for text in expected]
