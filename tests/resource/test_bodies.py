"""Bodies that are refused: size, type, syntax, structure and values, where each fault is, and in which order.

Every refusal leaves the project as it was.
"""

import json
import time
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.conftest import TokenFor
from tests.support.api import EXAMPLE, Api, codes, details

UNKNOWN = "01890000-0000-7000-8000-000000000000"
LIMIT = 2 * 1024 * 1024


def send(api: Api, text: str | bytes, method: str = "POST", path: str = "", **options: Any) -> TestResponse:
    """Send a body as it stands."""
    data = text.encode() if isinstance(text, str) else text
    return api.request(method, path, data=data, content_type="application/json", **options)


def wrapped(**fields: Any) -> dict[str, Any]:
    """A body whose ObjectType has these fields."""
    return {"objectTypeProperty": fields}


def assert_empty(api: Api) -> None:
    """Nothing has been made."""
    assert api.get("?limit=0").get_json()["total"] == 0


# Size


def test_a_body_of_the_largest_size_is_accepted_and_one_byte_more_is_not(api: Api) -> None:
    text = json.dumps(wrapped(arrayOfStringExample=["x"]))
    assert send(api, text.ljust(LIMIT)).status_code == 201
    answer = send(api, text.ljust(LIMIT + 1))
    assert answer.status_code == 413
    assert codes(answer) == ["ContentTooLarge"]
    assert api.get().get_json()["total"] == 1


def test_a_body_without_a_length_is_measured_too(api: Api) -> None:
    def send_in_pieces(size: int) -> TestResponse:
        text = json.dumps(wrapped()).ljust(size).encode()
        return api.request(
            "POST",
            input_stream=BytesIO(text),
            content_type="application/json",
            headers={"Transfer-Encoding": "chunked"},
            environ_overrides={"wsgi.input_terminated": True},
        )

    for size, status in ((1000, 201), (LIMIT, 201), (LIMIT + 1, 413), (2 * LIMIT, 413)):
        assert send_in_pieces(size).status_code == status


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", ""),
        ("PATCH", ""),
        ("POST", f"/{UNKNOWN}"),
        ("POST", "/description-with-urn-links"),
        ("POST", "/artificially-complex/path/uri-parameter-one=a/b"),
    ],
)
def test_every_endpoint_has_the_limit(api: Api, method: str, path: str) -> None:
    assert send(api, b"x" * (LIMIT + 1), method, path).status_code == 413


# Content type


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "APPLICATION/JSON", "application/json; charset=utf-8", 'application/json;charset="UTF-8"'],
)
def test_json_is_accepted(api: Api, content_type: str) -> None:
    answer = api.request("POST", data=json.dumps(wrapped(**EXAMPLE)), content_type=content_type)
    assert answer.status_code == 201


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "application/vnd.api+json",
        "application/jsonp",
        "application/json; charset=latin-1",
        "application/json; charset=utf-16",
        "json",
    ],
)
@pytest.mark.parametrize("text", [json.dumps(wrapped()), "{broken"])
def test_another_type_is_unsupported(api: Api, content_type: str | None, text: str) -> None:
    answer = api.request("POST", data=text, content_type=content_type)
    assert answer.status_code == 415
    assert codes(answer) == ["UnsupportedMediaType"]
    assert_empty(api)


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/json"])
@pytest.mark.parametrize(("method", "path"), [("POST", ""), ("PUT", ""), ("PATCH", ""), ("POST", f"/{UNKNOWN}")])
def test_without_a_body_the_type_does_not_matter(api: Api, method: str, path: str, content_type: str | None) -> None:
    answer = api.request(method, path, content_type=content_type)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidJsonInput"]
    assert details(answer) == ["JSON object expected."]


# Syntax


@pytest.mark.parametrize(
    "text",
    [
        " ",
        "{",
        "}",
        "{]",
        '{"objectTypeProperty": {}',
        '{"objectTypeProperty": {}}}',
        '{"objectTypeProperty": {}} x',
        '{"objectTypeProperty": {},}',
        "{'objectTypeProperty': {}}",
        "{objectTypeProperty: {}}",
        '{"objectTypeProperty": {"arrayOfIntExample": [1,]}}',
        '{"objectTypeProperty": {"arrayOfIntExample": [01]}}',
        '{"objectTypeProperty": {"arrayOfIntExample": [+1]}}',
        '{"objectTypeProperty": {"arrayOfIntExample": [0x1]}}',
        '{"objectTypeProperty": {"arrayOfFloatExample": [.5]}}',
        '{"objectTypeProperty": {"arrayOfFloatExample": [5.]}}',
        '{"objectTypeProperty": {"arrayOfFloatExample": [NaN]}}',
        '{"objectTypeProperty": {"arrayOfFloatExample": [Infinity]}}',
        '{"objectTypeProperty": {"arrayOfFloatExample": [-Infinity]}}',
        '{"objectTypeProperty": {"arrayOfStringExample": ["\t"]}}',
        '{"objectTypeProperty": {"arrayOfStringExample": ["\\x41"]}}',
        '{"objectTypeProperty": {"arrayOfStringExample": ["\\u12"]}}',
        '{"objectTypeProperty": {"arrayOfStringExample": ["abc]}}',
        '{"objectTypeProperty": {} /* comment */}',
        "True",
        "undefined",
        "\ufeff{broken",
    ],
)
def test_what_is_no_json_is_refused(api: Api, text: str) -> None:
    answer = send(api, text)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidJsonInput"]
    assert answer.get_json()["message"] == "Request body does not contain valid JSON."
    assert details(answer)[0] != answer.get_json()["message"]
    assert_empty(api)


@pytest.mark.parametrize(
    "data",
    [
        b'{"objectTypeProperty": {"arrayOfStringExample": ["\xff"]}}',
        b'{"objectTypeProperty": {"arrayOfStringExample": ["\xed\xa0\x80"]}}',
        b'{"objectTypeProperty": {"arrayOfStringExample": ["\xc0\x80"]}}',
        b'{"\xff": 1}',
        json.dumps(wrapped()).encode("utf-16"),
        b"\x00",
        b"\x1f\x8b\x08",
    ],
)
def test_what_is_no_utf_8_is_refused(api: Api, data: bytes) -> None:
    answer = send(api, data)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidJsonInput"]
    assert_empty(api)


@pytest.mark.parametrize(
    "text",
    [
        '{"objectTypeProperty": {}, "objectTypeProperty": {}}',
        '{"objectTypeProperty": {"arrayOfIntExample": [1], "arrayOfIntExample": [2]}}',
        '{"objectTypeProperty": {"arrayOfObjectType": [{"integerExample": 1, "integerExample": 1}]}}',
        '{"objectTypeProperty": {}, "key": "aa", "k\\u0065y": "bb"}',
        '{"objectTypeProperty": {}, "createdBy": {"id": 1, "id": 2}}',
        '{"\\ud800": 1, "\\ud800": 2}',
    ],
)
def test_a_name_that_stands_twice_is_refused(api: Api, text: str) -> None:
    answer = send(api, text)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidJsonInput"]
    assert_empty(api)


@pytest.mark.parametrize("depth", [500, 900, 990, 1000, 5000, 200_000])
@pytest.mark.parametrize(
    "template",
    [
        "{}",
        '{{"objectTypeProperty": {}}}',
        '{{"objectTypeProperty": {{"arrayOfIntExample": {}}}}}',
        '{{"objectTypeProperty": {{"arrayOfStringExample": ["a", {}]}}}}',
        '{{"objectTypeProperty": {{"arrayOfObjectType": [{{"integerExample": {}}}]}}}}',
        '{{"objectTypeProperty": {{}}, "unknown": {}}}',
        '{{"objectTypeProperty": {{}}, "version": {}}}',
    ],
)
def test_deep_nesting_is_refused(api: Api, template: str, depth: int) -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        answer = send(api, template.format(opening * depth + "1" + closing * depth))
        assert answer.status_code == 400
        assert set(codes(answer)) == {"InvalidJsonInput"}
    assert_empty(api)


def test_deep_nesting_in_an_ignored_field_is_never_a_crash(api: Api) -> None:
    for depth in (500, 950, 1000, 100_000):
        answer = send(api, '{"objectTypeProperty": {}, "createdBy": ' + depth * "[" + depth * "]" + "}")
        assert answer.status_code in (201, 400)


# Structure


@pytest.mark.parametrize("text", ["[]", "[{}]", '"text"', "5", "1.5", "null", "true", '""'])
@pytest.mark.parametrize(("method", "path"), [("POST", ""), ("PUT", ""), ("PATCH", ""), ("POST", f"/{UNKNOWN}")])
def test_what_is_no_object_is_refused(api: Api, method: str, path: str, text: str) -> None:
    answer = send(api, text, method, path)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidJsonInput"]
    assert details(answer) == ["JSON object expected."]


FIELD = "objectTypeProperty"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({}, [f"{FIELD}: Missing required value"]),
        ({FIELD: None}, [f"{FIELD}: JSON object expected."]),
        ({FIELD: []}, [f"{FIELD}: JSON object expected."]),
        ({FIELD: "{}"}, [f"{FIELD}: JSON object expected."]),
        ({FIELD: {}, "key": 5}, ["key: JSON String expected."]),
        ({FIELD: {}, "key": None}, ["key: JSON String expected."]),
        ({FIELD: {}, "id": 5}, ["id: JSON String expected."]),
        ({FIELD: {}, "id": None}, ["id: JSON String expected."]),
        ({FIELD: {}, "version": "1"}, ["version: JSON Number expected."]),
        ({FIELD: {}, "version": None}, ["version: JSON Number expected."]),
        ({FIELD: {}, "version": True}, ["version: JSON Number expected."]),
        (wrapped(arrayOfIntExample=None), [f"{FIELD} -> arrayOfIntExample: JSON Array expected."]),
        (wrapped(arrayOfIntExample={}), [f"{FIELD} -> arrayOfIntExample: JSON Array expected."]),
        (wrapped(arrayOfIntExample=1), [f"{FIELD} -> arrayOfIntExample: JSON Array expected."]),
        (wrapped(arrayOfStringExample="text"), [f"{FIELD} -> arrayOfStringExample: JSON Array expected."]),
        (
            wrapped(arrayOfStringExample=["a", 5, None, True, ["b"]]),
            [f"{FIELD} -> arrayOfStringExample -> {position}: JSON String expected." for position in (1, 2, 3, 4)],
        ),
        (
            wrapped(arrayOfFloatExample=["0.5", 1, None, False]),
            [f"{FIELD} -> arrayOfFloatExample -> {position}: JSON Number expected." for position in (0, 2, 3)],
        ),
        (
            wrapped(arrayOfNumberNoDefaultsExample=[[1]]),
            [f"{FIELD} -> arrayOfNumberNoDefaultsExample -> 0: JSON Number expected."],
        ),
        (
            wrapped(arrayOfTwonumbersExample=[True, 1]),
            [f"{FIELD} -> arrayOfTwonumbersExample -> 0: JSON Number expected."],
        ),
        (
            wrapped(arrayOfObjectType=[{}, [], None, "x"]),
            [f"{FIELD} -> arrayOfObjectType -> {position}: JSON object expected." for position in (1, 2, 3)],
        ),
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_fault_of_the_structure_is_told_with_its_place(
    api: Api, method: str, body: dict[str, Any], found: list[str]
) -> None:
    answer = api.request(method, json=body)
    assert answer.status_code == 400
    assert set(codes(answer)) == {"InvalidJsonInput"}
    assert details(answer) == found
    assert_empty(api)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (wrapped(arrayOfIntExample=[1, 2, 3, "4"]), "arrayOfIntExample -> 3"),
        (wrapped(arrayOfIntExample=[1.5]), "arrayOfIntExample -> 0"),
        (wrapped(arrayOfIntExample=[True]), "arrayOfIntExample -> 0"),
        (wrapped(arrayOfIntExample=[1, None]), "arrayOfIntExample -> 1"),
        (wrapped(arrayOfIntExample=[1e-300]), "arrayOfIntExample -> 0"),
        (wrapped(arrayOfUniqueIntExample=[5, "5"]), "arrayOfUniqueIntExample -> 1"),
        (wrapped(arrayOfUniqueIntExample=[0, False]), "arrayOfUniqueIntExample -> 1"),
        (
            wrapped(arrayOfObjectType=[{"integerExample": 1}, {"integerExample": "x"}]),
            "arrayOfObjectType -> 1 -> integerExample",
        ),
        (
            wrapped(arrayOfObjectType=[{"integerExampleInt32": None}]),
            "arrayOfObjectType -> 0 -> integerExampleInt32",
        ),
        (wrapped(arrayOfObjectType=[{"integerExampleInt64": 1}]), "arrayOfObjectType -> 0 -> integerExampleInt64"),
        (wrapped(arrayOfintExample=[]), "arrayOfintExample"),
    ],
)
def test_a_fault_deep_in_the_object_is_told_with_its_place(api: Api, body: dict[str, Any], place: str) -> None:
    answer = api.post(json=body)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidJsonInput"]
    [detail] = details(answer)
    assert detail.startswith(f"{FIELD} -> {place}: ")


@pytest.mark.parametrize(
    ("body", "place", "nearest"),
    [
        ({FIELD: {}, "verison": 1}, "verison", "version"),
        ({"objectTypeproperty": {}, FIELD: {}}, "objectTypeproperty", FIELD),
        (wrapped(arrayOfTwoNumbersExample=[]), f"{FIELD} -> arrayOfTwoNumbersExample", "arrayOfTwonumbersExample"),
        (
            wrapped(arrayOfObjectType=[{"integerexample": 1}]),
            f"{FIELD} -> arrayOfObjectType -> 0 -> integerexample",
            "integerExample",
        ),
    ],
)
def test_an_unknown_field_is_told_with_the_nearest(api: Api, body: dict[str, Any], place: str, nearest: str) -> None:
    answer = api.post(json=body)
    assert answer.status_code == 400
    [detail] = details(answer)
    assert detail.startswith(f"{place}: ")
    assert f"'{nearest}'" in detail


@pytest.mark.parametrize(
    "name", ["", "\\u0000", "key\\u0000", "\\ud800", "a\\udfffb", "a.b", " -> ", "_schema", "0", "ä🐕"]
)
def test_a_name_of_any_text_is_unknown(api: Api, name: str) -> None:
    for text in (
        f'{{"objectTypeProperty": {{}}, "{name}": 1}}',
        f'{{"objectTypeProperty": {{"{name}": [1]}}}}',
        f'{{"objectTypeProperty": {{"arrayOfObjectType": [{{"{name}": 1}}]}}}}',
    ):
        answer = send(api, text)
        assert answer.status_code == 400
        assert codes(answer) == ["InvalidJsonInput"]
    assert (
        send(
            api, f'{{"version": 1, "actions": [{{"action": "publish", "{name}": 1}}]}}', path=f"/{UNKNOWN}"
        ).status_code
        == 400
    )
    assert send(api, f'{{"{name}": 1}}', path="/description-with-urn-links").status_code == 400
    assert_empty(api)


def test_what_the_server_makes_is_ignored_in_any_form(api: Api) -> None:
    made = {"createdAt": "x", "lastModifiedAt": 5, "createdBy": {"a": 1}, "lastModifiedBy": [], "someProperty": "x"}
    answer = api.post(json={FIELD: {}, **made})
    assert answer.status_code == 201
    assert "someProperty" not in answer.get_json()


# Values


def refused_value(answer: TestResponse) -> tuple[str, Any]:
    """The field and the value of the only fault, which is one of a value."""
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidField"]
    [error] = answer.get_json()["errors"]
    assert f"'{error['field']}'" in error["message"]
    return error["field"], error["invalidValue"]


@pytest.mark.parametrize(
    ("name", "literal"),
    [
        ("arrayOfIntExample", "9223372036854775808"),
        ("arrayOfIntExample", "-9223372036854775809"),
        ("arrayOfUniqueIntExample", "123456789012345678901234567890"),
        ("arrayOfObjectType", "9223372036854775808"),
        ("arrayOfIntExample", "9223372036854775808.0"),
        ("arrayOfIntExample", "1e19"),
        ("arrayOfIntExample", "1e400"),
        ("arrayOfIntExample", "-1e400"),
        ("arrayOfIntExample", 5000 * "9"),
        ("arrayOfFloatExample", "1e400"),
        ("arrayOfFloatExample", "-1e400"),
        ("arrayOfFloatExample", "1.8e308"),
        ("arrayOfFloatExample", "2" + 308 * "0"),
        ("arrayOfNumberNoDefaultsExample", "1e99999999999999999999"),
        ("arrayOfNumberNoDefaultsExample", 400 * "9"),
        ("arrayOfNumberNoDefaultsExample", 5000 * "9"),
        ("arrayOfNumberNoDefaultsExample", "-" + 5000 * "9"),
    ],
)
def test_a_number_out_of_range_is_refused(api: Api, name: str, literal: str) -> None:
    item = f'{{"integerExample": {literal}}}' if name == "arrayOfObjectType" else literal
    answer = send(api, f'{{"objectTypeProperty": {{"{name}": [{item}]}}}}')
    place = " -> integerExample" if name == "arrayOfObjectType" else ""
    field, _ = refused_value(answer)
    assert field == f"{FIELD} -> {name} -> 0{place}"
    assert len(answer.data) < 10_000
    assert_empty(api)


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 2**63 - 1, 2**64])
def test_an_integer_beyond_32_bits_is_refused_where_it_has_32(api: Api, number: int) -> None:
    answer = api.post(json=wrapped(arrayOfObjectType=[{}, {"integerExample": 1, "integerExampleInt32": number}]))
    assert refused_value(answer) == (f"{FIELD} -> arrayOfObjectType -> 1 -> integerExampleInt32", number)


@pytest.mark.parametrize("literal", ["1", "1.0", "1e0", "10e-1"])
def test_a_repeat_is_refused_however_it_is_written(api: Api, literal: str) -> None:
    answer = send(api, f'{{"objectTypeProperty": {{"arrayOfUniqueIntExample": [7, 1, 3, {literal}]}}}}')
    field, value = refused_value(answer)
    assert field.startswith(f"{FIELD} -> arrayOfUniqueIntExample")
    assert value == 1


def test_zero_repeats_its_negative(api: Api) -> None:
    for literals in ("0, -0.0", "-0.0, 0", "-0, 0"):
        answer = send(api, f'{{"objectTypeProperty": {{"arrayOfUniqueIntExample": [{literals}]}}}}')
        assert refused_value(answer)[1] == 0


@pytest.mark.parametrize("numbers", [[], [1], [1, 2, 3], [1, 1, 1, 1]])
def test_two_numbers_are_two(api: Api, numbers: list[int]) -> None:
    answer = api.post(json=wrapped(arrayOfTwonumbersExample=numbers))
    assert refused_value(answer) == (f"{FIELD} -> arrayOfTwonumbersExample", numbers)


@pytest.mark.parametrize(
    "key", ["", "a", 257 * "k", "a b", "a.b", "ä-key", "key\n", "\nkey", "a/b", "key=1", "a\u200bb", "１２"]
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_key_of_another_pattern_is_refused(api: Api, method: str, key: str) -> None:
    answer = api.request(method, json={FIELD: {}, "key": key, "version": 1})
    assert refused_value(answer) == ("key", key)


@pytest.mark.parametrize("key", ["aa", 256 * "k", "_-", "00", "A-Z_a-z_0-9"])
def test_a_key_of_the_pattern_is_accepted(api: Api, key: str) -> None:
    assert api.create(key=key)["key"] == key


@pytest.mark.parametrize("escape", ["\\u0000", "\\ud800", "\\udfff", "\\udc00\\ud800"])
def test_a_character_that_no_text_can_hold_is_refused(api: Api, escape: str) -> None:
    for text, place in (
        (
            f'{{"objectTypeProperty": {{"arrayOfStringExample": ["", "a{escape}b"]}}}}',
            f"{FIELD} -> arrayOfStringExample -> 1",
        ),
        (f'{{"objectTypeProperty": {{}}, "key": "aa{escape}"}}', "key"),
        (f'{{"objectTypeProperty": {{}}, "id": "{escape}"}}', "id"),
    ):
        assert refused_value(send(api, text))[0] == place
    assert_empty(api)


def test_a_pair_of_surrogates_is_a_character(api: Api) -> None:
    answer = send(api, '{"objectTypeProperty": {"arrayOfStringExample": ["\\ud83d\\udc15"]}}')
    assert answer.get_json()[FIELD]["arrayOfStringExample"] == ["🐕"]


# Several faults


def test_all_faults_are_told_at_once(api: Api) -> None:
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
        lambda: wrapped(arrayOfIntExample=["x"] * 100_000),
        lambda: wrapped(arrayOfStringExample=["\x00" * 10] * 20_000),
        lambda: wrapped(arrayOfUniqueIntExample=[1] * 100_000),
        lambda: wrapped(arrayOfTwonumbersExample=[1] * 100_000),
        lambda: wrapped(arrayOfObjectType=[{"integerExampel": 1}] * 50_000),
        lambda: wrapped(**{f"arrayOfIntExample{number}": 1 for number in range(50_000)}),
        lambda: wrapped(arrayOfObjectType=[{f"integerExample{number}": 1 for number in range(50_000)}]),
        lambda: {f"objectTypeProperty{number}": 1 for number in range(50_000)},
        lambda: "{" + "".join(f'"{number}":1,' for number in range(100_000)) + '"x":1,"x":1}',
        lambda: f'{{"{"x" * 900_000}": 1, "{"x" * 900_000}": 2}}',
        lambda: "[" * 1_000_000,
        lambda: '{"objectTypeProperty": {"arrayOfFloatExample": [' + "9" * 1_000_000 + "]}}",
        lambda: '{"objectTypeProperty": {"arrayOfFloatExample": [1.' + "9" * 1_000_000 + '5, "x"]}}',
        lambda: wrapped(arrayOfStringExample=["x" * 1_000_000 + "\x00"]),
        lambda: {FIELD: {}, "key": "x" * 1_000_000},
        lambda: {FIELD: {}, "x" * 1_000_000: 1},
        lambda: {FIELD: {}, "id": "x" * 1_000_000},
    ],
)
def test_a_body_full_of_faults_is_refused_soon_and_in_short(api: Api, make: Callable[[], dict[str, Any] | str]) -> None:
    made = make()
    body = made if isinstance(made, str) else json.dumps(made)
    started = time.process_time()
    answer = send(api, body)
    assert time.process_time() - started < 3
    assert answer.status_code in (400, 404)
    assert len(answer.data) < 100_000


# Order


def test_the_first_fault_in_order_is_the_one_that_is_told(app: Flask, api: Api, token_for: TokenFor) -> None:
    created = api.create(key="a-key")
    stranger = Api(app, api.project, None)
    viewer = Api(app, api.project, token_for(f"view_test:{api.project}"))
    stale = json.dumps({"id": created["id"], "version": 9, FIELD: {}})
    unknown = json.dumps({"id": UNKNOWN, "version": 9, FIELD: {}})
    malformed = json.dumps({"id": UNKNOWN, "version": "9", FIELD: {}})
    tag = {"If-Match": '"9"'}

    for method in ("POST", "PUT", "PATCH"):

        def status(
            sender: Api, text: str, query: str = "", content_type: str = "application/json", method: str = method
        ) -> int:
            return sender.request(method, query, data=text, content_type=content_type, headers=tag).status_code

        assert status(stranger, "x" * (LIMIT + 1), "?bogus=1", "text/plain") == 401
        assert status(viewer, "x" * (LIMIT + 1), "?bogus=1", "text/plain") == 403
        assert status(api, "x" * (LIMIT + 1), "?bogus=1") == 413
        assert status(api, malformed, "?bogus=1", "text/plain") == 415
        assert status(api, unknown, "?bogus=1") == 400
        assert status(api, malformed) == 400
        assert status(api, unknown) == 404
        assert status(api, stale) == 412
        assert api.request(method, data=stale, content_type="application/json").status_code == 409

    for path, expected in ((f"/{UNKNOWN}", 404), (f"/{created['id']}", 412)):
        actions = json.dumps({"version": 9, "actions": []})

        def update(
            sender: Api, text: str, query: str = "", content_type: str = "application/json", path: str = path
        ) -> int:
            return sender.request("POST", path + query, data=text, content_type=content_type, headers=tag).status_code

        assert update(stranger, "x", "?bogus=1", "text/plain") == 401
        assert update(viewer, "x", "?bogus=1", "text/plain") == 403
        assert update(api, "x" * (LIMIT + 1), "?bogus=1") == 413
        assert update(api, actions, "?bogus=1", "text/plain") == 415
        assert update(api, actions, "?bogus=1") == 400
        assert update(api, "{}") == 400
        assert update(api, actions) == expected

    for path in ("/description-with-urn-links", "/artificially-complex/path/uri-parameter-one=%00/b"):
        assert api.post(f"{path}?bogus=1", data="x" * (LIMIT + 1)).status_code == 413
        assert api.post(f"{path}?bogus=1", data="{}", content_type="text/plain").status_code == 415
        assert send(api, "{}", path=f"{path}?bogus=1").status_code == 400
    assert api.get("/key=a-key").get_json() == created


def test_a_fault_of_the_query_is_told_without_a_body_too(api: Api) -> None:
    answer = api.request("POST", "?bogus=1")
    assert answer.status_code == 400
