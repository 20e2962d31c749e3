"""Search over HTTP (interface 4.4 and 4.14): parameters, forms, order, projections, what its answers look like."""

from typing import Any

import pytest
from flask import Flask

from tests.support.api import Api, codes
from tests.support.fixtures import TokenFor

QUERY = "/searchApiPattern"
FORM = "/product-projection-search"
FORM_TYPE = "application/x-www-form-urlencoded"


@pytest.fixture
def api(app: Flask, project: str, token_for: TokenFor) -> Api:
    """A client that may do everything."""
    return Api(app, project, token_for(f"manage_test:{project}", f"view_products:{project}"))


HIGHER = "{} is higher than 2, the default fuzzy level."


def found(api: Api, **query: Any) -> list[str]:
    """The keys of the results in their order; a name's double underscore is a dot."""
    return [result["key"] for result in page(api, **query)["results"]]


def page(api: Api, **query: Any) -> dict[str, Any]:
    named = {name.replace("__", "."): value for name, value in query.items()}
    by_query = api.get(QUERY, query_string=named)
    by_form = api.post(FORM, data=named)
    assert by_query.status_code == by_form.status_code == 200, by_query.text
    assert by_query.get_data() == by_form.get_data()
    return by_query.get_json()


def messages(answer: Any, name: str) -> list[str]:
    assert set(codes(answer)) <= {"InvalidInput", "SearchFacetPathNotFound"}
    return [error["message"].removeprefix(f"Malformed parameter: {name}: ") for error in answer.get_json()["errors"]]


def test_of_several_words_each_counts_for_the_order(api: Api) -> None:
    for key, *texts in (
        ("both-similar", "gardin chairr"),
        ("one-exact", "garden chairr"),
        ("exact-and-stem", "garden chair"),
        ("both-exact-apart", "garden", *["x"] * 20, "chairs"),
        ("both-exact", "garden chairs"),
    ):
        api.create({"arrayOfStringExample": texts}, key=key)
    expected = ["both-exact", "both-exact-apart", "exact-and-stem", "one-exact", "both-similar"]
    assert found(api, text__en="garden chairs", fuzzy="true") == expected


def test_blank_texts_are_refused(api: Api) -> None:
    answer = api.get(QUERY, query_string="text.en=&text.de=%20%09&text.fr=chat&text.fr=")
    assert [error["message"] for error in answer.get_json()["errors"]] == [
        "Malformed parameter: text.en: The value is empty.",
        "Malformed parameter: text.de: The value is blank.",
        "Malformed parameter: text.fr: The value is empty.",
    ]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"fuzzyLevel": "3"}, HIGHER.format('"3"')),
        ({"fuzzyLevel": "3", "text.en": "ab", "fuzzy": "true"}, HIGHER.format('"3"')),
        ({"fuzzyLevel": "-1"}, '"-1" is negative, a number from 0 on is expected.'),
        ({"fuzzyLevel": "-0.5", "fuzzy": "true"}, '"-0.5" is negative, a number from 0 on is expected.'),
        ({"fuzzyLevel": "2.5", "text.en": "abcdef", "fuzzy": "true"}, HIGHER.format('"2.5"')),
        ({"fuzzyLevel": "two"}, '"two" is not a number.'),
        ({"fuzzyLevel": "1e400"}, '"1e400" is not a number that a double can hold.'),
    ],
)
def test_a_fuzzy_level_above_the_default_or_below_zero_is_refused(api: Api, query: dict[str, str], reason: str) -> None:
    for answer in (api.get(QUERY, query_string=query), api.post(FORM, data=query)):
        assert answer.status_code == 400
        assert messages(answer, "fuzzyLevel") == [reason]


def test_faults_of_all_parameters_are_answered_at_once(api: Api) -> None:
    query = "filter=x&facet=y&facet=key:&filter.query=key:1&staged=maybe&fuzzy=1&limit=501&sort=x&nope=1&text.en="
    answer = api.get(QUERY, query_string=query)
    assert answer.status_code == 400
    assert sorted(codes(answer)) == ["InvalidInput"] * 9 + ["SearchFacetPathNotFound"]
    texts = " ".join(error["message"] for error in answer.get_json()["errors"])
    for name in ("filter", "facet", "filter.query", "staged", "fuzzy", "limit", "sort", "nope", "text.en"):
        assert f"Malformed parameter: {name}: " in texts


def test_forms_are_bounded(api: Api) -> None:
    answer = api.post(FORM, data="&".join(["facet=key"] * 1001), content_type=FORM_TYPE)
    assert answer.status_code == 400
    assert answer.get_json()["message"] == "Malformed form: it has more than 1000 fields."
    answer = api.post(FORM, data=b"facet=" + b"x" * 65_531, content_type=FORM_TYPE)
    assert answer.status_code == 413
    answer = api.post(FORM, data=b"filter=key:" + b"%22" * 20_000, content_type=FORM_TYPE)
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("facet", "message"),
    [
        (
            "createdBy",
            "The field 'createdBy' does not support this expression. It takes no facet; its members are"
            " 'createdBy.typeId', 'createdBy.id'. (line 1, column 1)",
        ),
        (
            "arrayOfObjectType",
            "The field 'arrayOfObjectType' does not support this expression. It takes no facet; its members are"
            " 'arrayOfObjectType.integerExample', 'arrayOfObjectType.integerExampleInt32'. (line 1, column 1)",
        ),
        (
            "key as",
            "Syntax error while parsing 'key as'. Unexpected end of input, expected alias (line 1, column 7):\n"
            "key as\n      ^",
        ),
        (
            "key:exists",
            "Syntax error while parsing 'key:exists'. Invalid input 'e', expected primitive value, 'range' or 'subtree'"
            " (line 1, column 5):\nkey:exists\n    ^",
        ),
        (
            "key counting product",
            "Syntax error while parsing 'key counting product'. Unexpected end of input, expected 's'"
            " (line 1, column 21):\nkey counting product\n                    ^",
        ),
        ("version:true", "The field 'version' takes a number, not the boolean true. (line 1, column 9)"),
    ],
)
def test_an_invalid_facet_is_refused(api: Api, facet: str, message: str) -> None:
    answer = api.post(FORM, data={"facet": facet})
    assert answer.status_code == 400
    assert messages(answer, "facet") == [message]
