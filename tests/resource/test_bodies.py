"""Fields of JSON bodies: structure, values, the path of each fault, and the order in which faults are answered.

A refused body changes nothing.
"""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.api import UNKNOWN_ID, Api, codes, details
from tests.support.bodies import assert_no_resources, draft, send_text
from tests.support.cases import paired

# Structure


@pytest.mark.parametrize(
    ("text", "method", "path"),
    [
        (a, *b)
        for a, b in paired(
            ["[]", "[{}]", '"text"', "5", "1.5", "null", "true", '""'],
            [("POST", ""), ("PUT", ""), ("PATCH", ""), ("POST", f"/{UNKNOWN_ID}")],
        )
    ],
)
def test_a_json_body_that_is_not_an_object_is_400(api: Api, method: str, path: str, text: str) -> None:
    answer = send_text(api, text, method, path)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidJsonInput"]
    assert details(answer) == ["JSON object expected."]


FIELD = "objectTypeProperty"


@pytest.mark.parametrize(
    ("body", "found", "method"),
    [
        (*a, b)
        for a, b in paired(
            [
                ({}, [f"{FIELD}: Missing required value"]),
                ({FIELD: None}, [f"{FIELD}: JSON object expected."]),
                ({FIELD: []}, [f"{FIELD}: JSON object expected."]),
                ({FIELD: "{}"}, [f"{FIELD}: JSON object expected."]),
                ({FIELD: {}, "key": 5}, ["key: JSON String expected."]),
                ({FIELD: {}, "id": 5}, ["id: JSON String expected."]),
                ({FIELD: {}, "version": "1"}, ["version: JSON Number expected."]),
                ({FIELD: {}, "version": True}, ["version: JSON Number expected."]),
                (draft(arrayOfIntExample={}), [f"{FIELD} -> arrayOfIntExample: JSON Array expected."]),
                (draft(arrayOfIntExample=1), [f"{FIELD} -> arrayOfIntExample: JSON Array expected."]),
                (draft(arrayOfStringExample="text"), [f"{FIELD} -> arrayOfStringExample: JSON Array expected."]),
                (
                    draft(arrayOfStringExample=["a", 5, None, True, ["b"]]),
                    [
                        f"{FIELD} -> arrayOfStringExample -> {position}: JSON String expected."
                        for position in (1, 2, 3, 4)
                    ],
                ),
                (
                    draft(arrayOfFloatExample=["0.5", 1, None, False]),
                    [f"{FIELD} -> arrayOfFloatExample -> {position}: JSON Number expected." for position in (0, 2, 3)],
                ),
                (
                    draft(arrayOfNumberNoDefaultsExample=[[1]]),
                    [f"{FIELD} -> arrayOfNumberNoDefaultsExample -> 0: JSON Number expected."],
                ),
                (
                    draft(arrayOfTwonumbersExample=[True, 1]),
                    [f"{FIELD} -> arrayOfTwonumbersExample -> 0: JSON Number expected."],
                ),
                (
                    draft(arrayOfObjectType=[{}, [], None, "x"]),
                    [f"{FIELD} -> arrayOfObjectType -> {position}: JSON object expected." for position in (1, 2, 3)],
                ),
            ],
            ["POST", "PUT"],
        )
    ],
)
def test_a_missing_field_or_a_wrong_json_type_is_400_with_the_path_of_the_field(
    api: Api, method: str, body: dict[str, Any], found: list[str]
) -> None:
    answer = api.request(method, json=body)
    assert answer.status_code == 400
    assert set(codes(answer)) == {"InvalidJsonInput"}
    assert details(answer) == found
    assert_no_resources(api)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (draft(arrayOfIntExample=[1, 2, 3, "4"]), "arrayOfIntExample -> 3"),
        (draft(arrayOfIntExample=[1.5]), "arrayOfIntExample -> 0"),
        (draft(arrayOfIntExample=[True]), "arrayOfIntExample -> 0"),
        (draft(arrayOfIntExample=[1, None]), "arrayOfIntExample -> 1"),
        (draft(arrayOfIntExample=[1e-300]), "arrayOfIntExample -> 0"),
        (draft(arrayOfUniqueIntExample=[5, "5"]), "arrayOfUniqueIntExample -> 1"),
        (draft(arrayOfUniqueIntExample=[0, False]), "arrayOfUniqueIntExample -> 1"),
        (
            draft(arrayOfObjectType=[{"integerExample": 1}, {"integerExample": "x"}]),
            "arrayOfObjectType -> 1 -> integerExample",
        ),
        (draft(arrayOfObjectType=[{"integerExampleInt64": 1}]), "arrayOfObjectType -> 0 -> integerExampleInt64"),
        (draft(arrayOfintExample=[]), "arrayOfintExample"),
    ],
)
def test_a_fault_in_a_nested_field_is_400_with_the_path_of_the_field(
    api: Api, body: dict[str, Any], place: str
) -> None:
    answer = api.post(json=body)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidJsonInput"]
    [detail] = details(answer)
    assert detail.startswith(f"{FIELD} -> {place}: ")


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("[" + "9" * 4301 + " x]", "Expecting ',' delimiter (line 1, column 4304)"),
        ("{" + f'"a": {"9" * 5000},\n b', "Expecting property name enclosed in double quotes (line 2, column 2)"),
        ("9" * 5000 + " x", "Extra data (line 1, column 5002)"),
        (f"[{'9' * 5000}, {'[' * 1_000_000}", "The text is nested too deeply"),
    ],
)
def test_a_number_of_many_digits_beside_a_fault_of_syntax_is_400_with_the_place_of_the_fault(
    api: Api, text: str, detail: str
) -> None:
    for path in ("", f"/{UNKNOWN_ID}"):
        answer = send_text(api, text, path=path)
        assert answer.status_code == 400
        assert codes(answer) == ["InvalidJsonInput"]
        assert details(answer) == [detail]


@pytest.mark.parametrize(
    ("body", "place", "nearest"),
    [
        ({FIELD: {}, "verison": 1}, "verison", "version"),
        ({"objectTypeproperty": {}, FIELD: {}}, "objectTypeproperty", FIELD),
        (draft(arrayOfTwoNumbersExample=[]), f"{FIELD} -> arrayOfTwoNumbersExample", "arrayOfTwonumbersExample"),
        (
            draft(arrayOfObjectType=[{"integerexample": 1}]),
            f"{FIELD} -> arrayOfObjectType -> 0 -> integerexample",
            "integerExample",
        ),
    ],
)
def test_an_unknown_field_is_400_and_suggests_the_nearest_name(
    api: Api, body: dict[str, Any], place: str, nearest: str
) -> None:
    answer = api.post(json=body)
    assert answer.status_code == 400
    [detail] = details(answer)
    assert detail.startswith(f"{place}: ")
    assert f"'{nearest}'" in detail


# Values


def refused_value(answer: TestResponse) -> tuple[str, Any]:
    """The field and the value of an answer with a single error, whose code has to be InvalidField."""
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidField"]
    [error] = answer.get_json()["errors"]
    assert f"'{error['field']}'" in error["message"]
    return error["field"], error["invalidValue"]


def test_zero_and_negative_zero_are_equal_in_a_unique_array(api: Api) -> None:
    for literals in ("0, -0.0", "-0.0, 0", "-0, 0"):
        answer = send_text(api, f'{{"objectTypeProperty": {{"arrayOfUniqueIntExample": [{literals}]}}}}')
        assert refused_value(answer)[1] == 0


def test_a_surrogate_pair_is_decoded_to_one_character(api: Api) -> None:
    answer = send_text(api, '{"objectTypeProperty": {"arrayOfStringExample": ["\\ud83d\\udc15"]}}')
    assert answer.get_json()[FIELD]["arrayOfStringExample"] == ["🐕"]


# Several faults


def test_all_faults_of_a_body_are_in_one_answer(api: Api) -> None:
    body = {
        "unknown": 1,
        "key": "not a key",
        "version": "1",
        FIELD: {
            "arrayOfIntExample": [1, "2", 2**63],
            "arrayOfUniqueIntExample": [1, 1],
            "arrayOfTwonumbersExample": [1],
            "arrayOfStringExample": [None],
            "arrayOfObjectType": [{"integerExample": 1.5, "integerExampleInt32": 2**31, "other": 1}],
        },
    }
    answer = api.post(json=body)
    assert answer.status_code == 400
    errors = answer.get_json()["errors"]
    places = {
        code: sorted(
            (error.get("detailedErrorMessage") or error["field"]).split(":")[0]
            for error in errors
            if error["code"] == code
        )
        for code in set(codes(answer))
    }
    assert [place.removeprefix(f"{FIELD} -> ") for place in places["InvalidJsonInput"]] == [
        "arrayOfIntExample -> 1",
        "arrayOfObjectType -> 0 -> integerExample",
        "arrayOfObjectType -> 0 -> other",
        "arrayOfStringExample -> 0",
        "unknown",
        "version",
    ]
    fields = [place.removeprefix(f"{FIELD} -> ") for place in places["InvalidField"]]
    assert fields[:2] == ["key", "arrayOfIntExample -> 2"]
    assert fields[2:4] == ["arrayOfObjectType -> 0 -> integerExampleInt32", "arrayOfTwonumbersExample"]
    assert fields[4].startswith("arrayOfUniqueIntExample")
    assert len(fields) == 5


@pytest.mark.parametrize(
    "make",
    [
        lambda: draft(arrayOfIntExample=["x"] * 100_000),
        lambda: draft(arrayOfStringExample=["\x00" * 10] * 20_000),
        lambda: draft(arrayOfUniqueIntExample=[1] * 100_000),
        lambda: draft(arrayOfTwonumbersExample=[1] * 100_000),
        lambda: draft(arrayOfObjectType=[{"integerExampel": 1}] * 50_000),
        lambda: draft(**{f"arrayOfIntExample{number}": 1 for number in range(50_000)}),
        lambda: draft(arrayOfObjectType=[{f"integerExample{number}": 1 for number in range(50_000)}]),
        lambda: {f"objectTypeProperty{number}": 1 for number in range(50_000)},
        lambda: "{" + "".join(f'"{number}":1,' for number in range(100_000)) + '"x":1,"x":1}',
        lambda: f'{{"{"x" * 900_000}": 1, "{"x" * 900_000}": 2}}',
        lambda: "[" * 1_000_000,
        lambda: '{"objectTypeProperty": {"arrayOfFloatExample": [' + "9" * 1_000_000 + "]}}",
        lambda: '{"objectTypeProperty": {"arrayOfFloatExample": [1.' + "9" * 1_000_000 + '5, "x"]}}',
        lambda: draft(arrayOfStringExample=["x" * 1_000_000 + "\x00"]),
        lambda: {FIELD: {}, "key": "x" * 1_000_000},
        lambda: {FIELD: {}, "x" * 1_000_000: 1},
        lambda: {FIELD: {}, "id": "x" * 1_000_000},
    ],
)
def test_a_body_with_many_faults_is_refused_within_3_s_by_a_short_answer(
    api: Api, make: Callable[[], dict[str, Any] | str]
) -> None:
    made = make()
    body = made if isinstance(made, str) else json.dumps(made)
    started = time.process_time()
    answer = send_text(api, body)
    assert time.process_time() - started < 3
    assert answer.status_code in (400, 404)
    assert len(answer.data) < 100_000


# Order of errors


def test_an_unknown_parameter_without_a_body_is_400(api: Api) -> None:
    answer = api.request("POST", "?bogus=1")
    assert answer.status_code == 400
