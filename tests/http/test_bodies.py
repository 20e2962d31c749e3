"""JSON bodies that are hard to read: depth, numbers of many digits, very many faults."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.api import UNKNOWN_ID, Api, codes, details
from tests.support.bodies import draft, send_text

FIELD = "objectTypeProperty"


def test_deeply_nested_json_in_an_ignored_field_is_no_server_error(api: Api) -> None:
    for depth in (500, 950, 1000, 30_000):
        answer = send_text(api, '{"objectTypeProperty": {}, "createdBy": ' + depth * "[" + depth * "]" + "}")
        assert answer.status_code in (201, 400)


def test_a_body_that_is_empty_or_ends_too_early_says_so(api: Api) -> None:
    texts = ["", '{"key": "ä', '{"key": "ä'.encode()[:-1], '{"key": ä"}', "{}\u00a0"]
    told = [details(send_text(api, text))[0] for text in texts]
    assert told == [
        "The body is empty. JSON object expected.",
        "Unterminated string starting at (line 1, column 9); the text ends after 11 bytes, which Content-Length counts",
        "The text ends within a character, after 10 bytes, which Content-Length counts",
        "Expecting value (line 1, column 9)",
        "Extra data (line 1, column 3)",
    ]


def test_an_integer_of_any_number_of_digits_is_read(api: Api) -> None:
    """Python refuses to convert more than 4,300 digits."""
    long = "9" * 5000
    answer = send_text(
        api, f'{{"objectTypeProperty": {{"arrayOfIntExample": [{long}], "arrayOfFloatExample": [-{long}]}}}}'
    )
    assert codes(answer) == ["InvalidField", "InvalidField"]
    assert [error["field"] for error in answer.get_json()["errors"]] == [
        "objectTypeProperty -> arrayOfIntExample -> 0",
        "objectTypeProperty -> arrayOfFloatExample -> 0",
    ]
    assert codes(send_text(api, f'{{"version": {long}, "actions": []}}', path=f"/{UNKNOWN_ID}")) == ["InvalidField"]
    assert send_text(api, f'{{"objectTypeProperty": {{}}, "createdAt": {long}}}').status_code == 201


@pytest.mark.parametrize(
    "make",
    [
        lambda: draft(arrayOfIntExample=["x"] * 12_000),
        lambda: draft(arrayOfStringExample=["\x00" * 10] * 1_000),
        lambda: draft(arrayOfUniqueIntExample=[1] * 20_000),
        lambda: draft(arrayOfTwonumbersExample=[1] * 20_000),
        lambda: draft(arrayOfObjectType=[{"integerExampel": 1}] * 2_500),
        lambda: draft(**{f"arrayOfIntExample{number}": 1 for number in range(2_000)}),
        lambda: draft(arrayOfObjectType=[{f"integerExample{number}": 1 for number in range(2_500)}]),
        lambda: {f"objectTypeProperty{number}": 1 for number in range(2_000)},
        lambda: "{" + "".join(f'"{number}":1,' for number in range(7_000)) + '"x":1,"x":1}',
        lambda: f'{{"{"x" * 32_000}": 1, "{"x" * 32_000}": 2}}',
        lambda: "[" * 65_000,
        lambda: '{"objectTypeProperty": {"arrayOfFloatExample": [' + "9" * 65_000 + "]}}",
        lambda: '{"objectTypeProperty": {"arrayOfFloatExample": [1.' + "9" * 65_000 + '5, "x"]}}',
        lambda: draft(arrayOfStringExample=["x" * 65_000 + "\x00"]),
        lambda: {FIELD: {}, "key": "x" * 65_000},
        lambda: {FIELD: {}, "x" * 65_000: 1},
        lambda: {FIELD: {}, "id": "x" * 65_000},
    ],
)
def test_a_body_with_many_faults_is_refused_soon_by_a_short_answer(
    api: Api, make: Callable[[], dict[str, Any] | str]
) -> None:
    made = make()
    body = made if isinstance(made, str) else json.dumps(made)
    assert len(body) <= 65_536
    answer = send_text(api, body)
    assert answer.status_code in (400, 404)
    assert len(answer.data) < 100_000


def test_an_unknown_field_is_named_whatever_its_name_is(api: Api) -> None:
    """``_schema`` is marshmallow's name for faults of a whole object."""
    for name in ("_schema", "", "None"):
        answer = api.post(json=draft(**{name: 1, "arrayOfObjectType": [{name: 2}]}) | {name: 3})
        assert answer.status_code == 400
        assert [detail.partition(":")[0] for detail in details(answer)] == [
            f"{FIELD} -> arrayOfObjectType -> 0 -> {name}",
            f"{FIELD} -> {name}",
            name,
        ]


def test_only_what_may_take_long_to_parse_waits_for_a_turn(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("app.http.bodies.time.sleep", waits.append)
    assert api.post(json=draft(arrayOfIntExample=[1] * 100)).status_code == 201
    assert (api.get(query_string={"where": 'key = "a"'}).status_code, waits) == (200, [])
    assert api.post(json=draft(arrayOfIntExample=[1] * 4000)).status_code == 201
    assert api.get(query_string={"where": " or ".join(['key = "a"'] * 100)}).status_code == 200
    assert len(waits) == 2
