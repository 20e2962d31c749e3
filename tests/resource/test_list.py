"""GET on the collection (interface 4.1): the list of flat resources and its parameters."""

import json
from typing import Any

import pytest

from tests.support.api import EXAMPLE, Api, codes

OTHER: dict[str, Any] = {
    "arrayOfIntExample": [40],
    "arrayOfUniqueIntExample": [50, -(2**63)],
    "arrayOfTwonumbersExample": [6, 7.5],
    "arrayOfFloatExample": [-0.5, 2, 1e300, 1e-300],
    "arrayOfNumberNoDefaultsExample": [2**53 + 1, 0.1],
    "arrayOfStringExample": ["dog", 'a "quoted" text', "süß & 🐕", "a b", "a+b", " "],
    "arrayOfObjectType": [{"integerExample": 777, "integerExampleInt32": 5}, {"integerExample": 8}],
}


def found(api: Api, **query: Any) -> set[str]:
    """The keys of the resources that a query finds."""
    answer = api.get(query_string=query)
    assert answer.status_code == 200, answer.text
    page = answer.get_json()
    assert page["count"] == page["total"] == len(page["results"])
    return {result["key"] for result in page["results"]}


@pytest.fixture
def pair(api: Api) -> Api:
    """A project with two resources, with the keys ``example`` and ``other``."""
    api.create(key="example")
    api.create(OTHER, key="other")
    return api


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ({}, {"example", "other"}),
        ({"stringParameter": "cat"}, {"example"}),
        ({"stringParameter": "dog"}, {"example", "other"}),
        ({"stringParameter": "do"}, set()),
        ({"stringParameter": "Dog"}, set()),
        ({"stringParameter": 'a "quoted" text'}, {"other"}),
        ({"stringParameter": "süß & 🐕"}, {"other"}),
        ({"stringParameter": "a+b"}, {"other"}),
        ({"stringParameter": " "}, {"other"}),
        ({"stringParameter": "777"}, set()),
        ({"floatParameter": "0.82"}, {"example"}),
        ({"floatParameter": "8.2e-1"}, {"example"}),
        ({"floatParameter": "2"}, {"other"}),
        ({"floatParameter": "2.0"}, {"other"}),
        ({"floatParameter": "-0.5"}, {"other"}),
        ({"floatParameter": "1e300"}, {"other"}),
        ({"floatParameter": "1" + 300 * "0"}, {"other"}),
        ({"floatParameter": "1E-300"}, {"other"}),
        ({"floatParameter": "10"}, set()),
        ({"integerParameter": "2"}, {"example"}),
        ({"integerParameter": "2.0"}, {"example"}),
        ({"integerParameter": "5e0"}, {"example"}),
        ({"integerParameter": "40"}, {"other"}),
        ({"integerParameter": "50"}, {"other"}),
        ({"integerParameter": "-9223372036854775808"}, {"other"}),
        ({"integerParameter": "777"}, set()),
        ({"withMarkdownDescription": "6"}, {"example"}),
        ({"withMarkdownDescription": "0.1"}, {"other"}),
        ({"withMarkdownDescription": "9007199254740993"}, {"other"}),
        ({"withMarkdownDescription": "9007199254740992"}, set()),
        ({"withMarkdownDescription": "0.82"}, set()),
        ({"arrayOfString": ["dog", "bird"]}, {"example"}),
        ({"arrayOfString": ["dog"]}, {"example", "other"}),
        ({"arrayOfString": ["cat", "a b"]}, set()),
        ({"arrayOfStringWithDescription": ["cat", "a b"]}, {"example", "other"}),
        ({"arrayOfStringWithDescription": ["bird", "nothing"]}, {"example"}),
        ({"arrayOfStringWithDescription": ["nothing"]}, set()),
        ({"stringParameter": "dog", "integerParameter": "40"}, {"other"}),
        ({"stringParameter": "cat", "integerParameter": "40"}, set()),
        ({"arrayOfString": ["dog"], "arrayOfStringWithDescription": ["cat", "bird"]}, {"example"}),
    ],
)
def test_each_list_parameter_filters_by_its_array(pair: Api, query: dict[str, Any], keys: set[str]) -> None:
    assert found(pair, **query) == keys


@pytest.mark.parametrize(
    ("contained", "keys"),
    [
        ({}, {"example", "other"}),
        ({"arrayOfIntExample": [3, 1]}, {"example"}),
        ({"arrayOfIntExample": []}, {"example", "other"}),
        ({"arrayOfTwonumbersExample": [7.5]}, {"other"}),
        ({"arrayOfUniqueIntExample": [50, 50]}, {"other"}),
        ({"arrayOfObjectType": [{"integerExample": 777}]}, {"example", "other"}),
        ({"arrayOfObjectType": [{"integerExample": 777, "integerExampleInt32": 1}]}, {"example"}),
        ({"arrayOfObjectType": [{"integerExample": 777, "integerExampleInt32": 22}]}, set()),
        ({"arrayOfObjectType": [{"integerExample": 777}, {"integerExample": 8}]}, {"other"}),
        ({"arrayOfIntExample": [40], "arrayOfStringExample": ["dog"]}, {"other"}),
        (EXAMPLE, {"example"}),
        (OTHER, {"other"}),
    ],
)
def test_object_parameter_filters_by_containment(pair: Api, contained: dict[str, Any], keys: set[str]) -> None:
    assert found(pair, objectParameter=json.dumps(contained)) == keys
    assert found(pair, objectParameter=json.dumps({"objectTypeProperty": contained})) == keys


@pytest.mark.parametrize(
    "query", ["?floatParameter=", "?objectParameter=", "?limit=", "?withTotal=", "?sort=", "?expand=", "?where="]
)
def test_an_empty_value_of_any_other_parameter_is_refused(api: Api, query: str) -> None:
    path = "/sorted-query-parameters" if query in ("?sort=", "?expand=") else ""
    answer = api.get(path + query)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]
    assert answer.get_json()["message"].startswith(f"Malformed parameter: {query[1:-1]}: ")


def test_faults_within_the_wrapper_of_object_parameter_are_told_with_their_path(api: Api) -> None:
    answer = api.get(query_string={"objectParameter": '{"objectTypeProperty": {"arrayOfIntExample": [1, "x"]}}'})
    assert answer.get_json()["message"] == (
        "Malformed parameter: objectParameter: objectTypeProperty -> arrayOfIntExample -> 1: "
        "JSON Number without a fraction expected."
    )


def test_a_number_of_many_digits_beside_a_fault_of_syntax_in_object_parameter_is_400(api: Api) -> None:
    answer = api.get(query_string={"objectParameter": f'{{"arrayOfIntExample": [{"9" * 4301}]'})
    assert answer.status_code == 400
    assert answer.get_json()["message"].startswith(
        "Malformed parameter: objectParameter: A JSON object is expected. Expecting ',' delimiter (line 1, column "
    )


def test_list_finds_a_number_beyond_int64_by_the_literal_it_was_created_with(api: Api) -> None:
    literal = "9223372036854775809"
    stored = {"arrayOfFloatExample": [int(literal)], "arrayOfNumberNoDefaultsExample": [int(literal)]}
    api.create(stored, key="huge")
    assert found(api, floatParameter=literal) == {"huge"}
    assert found(api, withMarkdownDescription=literal) == {"huge"}
    assert found(api, objectParameter=json.dumps(stored)) == {"huge"}


def test_list_parameters_treat_negative_zero_as_zero(api: Api) -> None:
    api.create({"arrayOfFloatExample": [-0.0], "arrayOfIntExample": [0]}, key="zero")
    for name in ("floatParameter", "integerParameter"):
        for literal in ("0", "-0", "0.0", "-0.0", "0e5"):
            assert found(api, **{name: literal}) == {"zero"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("floatParameter", "abc"),
        ("floatParameter", "NaN"),
        ("floatParameter", "Infinity"),
        ("floatParameter", "1e400"),
        ("floatParameter", "true"),
        ("floatParameter", "1,5"),
        ("integerParameter", "2.5"),
        ("integerParameter", "9223372036854775808"),
        ("integerParameter", "-9223372036854775809"),
        ("integerParameter", "1e400"),
        ("integerParameter", "1e19"),
        ("integerParameter", '"2"'),
        ("withMarkdownDescription", "-1e400"),
        ("withMarkdownDescription", "some text"),
        ("stringParameter", "a\x00b"),
        ("arrayOfString", "\x00"),
        ("arrayOfStringWithDescription", "\x00"),
        ("objectParameter", "{"),
        ("objectParameter", "[]"),
        ("objectParameter", "5"),
        ("objectParameter", "null"),
        ("objectParameter", '{"unknownField": []}'),
        ("objectParameter", '{"arrayOfIntExample": 5}'),
        ("objectParameter", '{"arrayOfIntExample": [1.5]}'),
        ("objectParameter", '{"arrayOfIntExample": [true]}'),
        ("objectParameter", '{"arrayOfIntExample": [9223372036854775808]}'),
        ("objectParameter", '{"arrayOfFloatExample": [NaN]}'),
        ("objectParameter", '{"arrayOfStringExample": ["\\u0000"]}'),
        ("objectParameter", '{"arrayOfStringExample": ["\\ud800"]}'),
        ("objectParameter", '{"arrayOfObjectType": [{"integerExampleInt32": 2147483648}]}'),
        ("objectParameter", '{"arrayOfIntExample": [1], "arrayOfIntExample": [1]}'),
        ("objectParameter", '{"objectTypeProperty": null}'),
        ("objectParameter", '{"objectTypeProperty": []}'),
        ("objectParameter", '{"objectTypeProperty": {"unknownField": []}}'),
        ("objectParameter", '{"objectTypeProperty": {}, "arrayOfIntExample": [1]}'),
        ("objectParameter", '{"objectTypeProperty": {"objectTypeProperty": {}}}'),
        ("objectParameter", 50_000 * "["),
    ],
)
def test_an_invalid_value_of_a_list_parameter_is_400(api: Api, name: str, value: str) -> None:
    answer = api.get(query_string={name: value})
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]
    assert answer.get_json()["message"].startswith(f"Malformed parameter: {name}: ")
