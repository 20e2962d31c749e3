"""JSON bodies that are refused before their fields are read: content type, syntax, encoding, depth."""

import json

import pytest

from tests.support.api import EXAMPLE, UNKNOWN_ID, Api, codes, details
from tests.support.bodies import assert_no_resources, draft, send_text
from tests.support.cases import paired

# Content type


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "APPLICATION/JSON", "application/json; charset=utf-8", 'application/json;charset="UTF-8"'],
)
def test_a_json_content_type_in_any_notation_is_accepted(api: Api, content_type: str) -> None:
    answer = api.request("POST", data=json.dumps(draft(**EXAMPLE)), content_type=content_type)
    assert answer.status_code == 201


@pytest.mark.parametrize(
    ("content_type", "text"),
    paired(
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
        [json.dumps(draft()), "{broken"],
    ),
)
def test_a_content_type_other_than_json_in_utf_8_is_415(api: Api, content_type: str | None, text: str) -> None:
    answer = api.request("POST", data=text, content_type=content_type)
    assert answer.status_code == 415
    assert codes(answer) == ["UnsupportedMediaType"]
    assert_no_resources(api)


@pytest.mark.parametrize(
    ("content_type", "method", "path"),
    [
        (a, *b)
        for a, b in paired(
            [None, "text/plain", "application/json"],
            [("POST", ""), ("PUT", ""), ("PATCH", ""), ("POST", f"/{UNKNOWN_ID}")],
        )
    ],
)
def test_an_empty_body_is_400_for_any_content_type(api: Api, method: str, path: str, content_type: str | None) -> None:
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
def test_malformed_json_is_400(api: Api, text: str) -> None:
    answer = send_text(api, text)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidJsonInput"]
    assert answer.get_json()["message"] == "Request body does not contain valid JSON."
    assert details(answer)[0] != answer.get_json()["message"]
    assert_no_resources(api)


@pytest.mark.parametrize(
    "data",
    [
        b'{"objectTypeProperty": {"arrayOfStringExample": ["\xff"]}}',
        b'{"objectTypeProperty": {"arrayOfStringExample": ["\xed\xa0\x80"]}}',
        b'{"objectTypeProperty": {"arrayOfStringExample": ["\xc0\x80"]}}',
        b'{"\xff": 1}',
        json.dumps(draft()).encode("utf-16"),
        b"\x00",
        b"\x1f\x8b\x08",
    ],
)
def test_a_body_that_is_not_utf_8_is_400(api: Api, data: bytes) -> None:
    answer = send_text(api, data)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidJsonInput"]
    assert_no_resources(api)


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
def test_a_repeated_member_name_is_400(api: Api, text: str) -> None:
    answer = send_text(api, text)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidJsonInput"]
    assert_no_resources(api)


@pytest.mark.parametrize(
    ("depth", "template"),
    paired(
        [500, 900, 990, 1000, 5000, 200_000],
        [
            "{}",
            '{{"objectTypeProperty": {}}}',
            '{{"objectTypeProperty": {{"arrayOfIntExample": {}}}}}',
            '{{"objectTypeProperty": {{"arrayOfStringExample": ["a", {}]}}}}',
            '{{"objectTypeProperty": {{"arrayOfObjectType": [{{"integerExample": {}}}]}}}}',
            '{{"objectTypeProperty": {{}}, "unknown": {}}}',
            '{{"objectTypeProperty": {{}}, "version": {}}}',
        ],
    ),
)
def test_deeply_nested_json_is_400(api: Api, template: str, depth: int) -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        answer = send_text(api, template.format(opening * depth + "1" + closing * depth))
        assert answer.status_code == 400
        assert set(codes(answer)) == {"InvalidJsonInput"}
    assert_no_resources(api)


def test_deeply_nested_json_in_an_ignored_field_is_no_server_error(api: Api) -> None:
    for depth in (500, 950, 1000, 100_000):
        answer = send_text(api, '{"objectTypeProperty": {}, "createdBy": ' + depth * "[" + depth * "]" + "}")
        assert answer.status_code in (201, 400)
