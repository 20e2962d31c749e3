"""Search over HTTP (interface 4.4 and 4.14): parameters, forms, order, projections, what its answers look like."""

from typing import Any

import pytest
from flask import Flask

from app.resource.params import SearchFormSchema
from tests.support.api import Api, codes
from tests.support.fixtures import TokenFor

QUERY = "/searchApiPattern"
FORM = "/product-projection-search"
FORM_TYPE = "application/x-www-form-urlencoded"


@pytest.fixture
def api(app: Flask, project: str, token_for: TokenFor) -> Api:
    """A client that may do everything."""
    return Api(app, project, token_for(f"manage_test:{project}", f"view_products:{project}"))


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
    assert api.post(FORM, data=b"filter=key:" + b"%22" * 20_000, content_type=FORM_TYPE).status_code == 400


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
            "Syntax error while parsing 'key:exists'. Invalid input 'e', expected primitive value or 'range'"
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


def test_the_bound_of_a_time_is_exact(api: Api) -> None:
    query = {"facet": 'createdAt:range(* to "9999-12-31T23:59:59.999999Z")'}
    assert b'"to":253402300799999.999,"toStr":"253402300799999.999"' in api.get(QUERY, query_string=query).data


@pytest.mark.parametrize(
    ("stored", "asked", "language"),
    [
        ("caf\u00e9", "cafe\u0301", "fr"),
        ("cafe\u0301", "CAF\u00c9", "fr"),
        ("I\u015f\u0131k", "\u0131\u015f\u0131k", "tr"),
        ("\u0131\u015f\u0131k", "I\u015eIK", "tr"),
        ("\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3", "\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2", "el"),
        ("\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2", "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3", "xx"),
    ],
)
def test_letters_that_people_take_for_one_are_one(api: Api, stored: str, asked: str, language: str) -> None:
    made = api.create({"arrayOfStringExample": [stored]})
    for query in ({f"text.{language}": asked}, {f"text.{language}": asked, "fuzzy": "true"}):
        (result,) = api.get(QUERY, query_string=query).get_json()["results"]
        assert (result["id"], result["arrayOfStringExample"]) == (made["id"], [stored])


def test_parameters_of_the_platforms_projection_search_are_ignored(api: Api) -> None:
    made = api.create({})
    ignored = dict.fromkeys(SearchFormSchema.IGNORED, "x")
    for options in ({"data": ignored}, {"query_string": ignored}):
        assert [each["id"] for each in api.post(FORM, **options).get_json()["results"]] == [made["id"]]
