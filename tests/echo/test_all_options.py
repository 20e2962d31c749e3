"""POST with all options (interface 4.9): the answer contains the values of path, query string and body."""

from typing import Any

import pytest

from tests.support.api import Api, codes, details


def send(api: Api, record: Any = None, path: str = "a/b", query: str = "", **options: Any) -> Any:
    """Send a record to the endpoint; ``path`` has the two path parameters."""
    target = f"/artificially-complex/path/uri-parameter-one={path}{query}"
    return api.post(target, json={} if record is None else record, **options)


def echoed(api: Api, record: Any = None, path: str = "a/b", query: str = "") -> dict[str, Any]:
    """The body of an answer, which has to be 200 and JSON."""
    answer = send(api, record, path, query)
    assert answer.status_code == 200, answer.text
    assert answer.content_type == "application/json; charset=utf-8"
    return answer.get_json()


def test_all_options_refuses_a_value_of_too_many_levels_and_takes_100(api: Api) -> None:
    deep: Any = []
    for _ in range(99):
        deep = [deep]
    assert echoed(api, {"custom": deep})["arrayOfStringExample"][2] == "[" * 100 + "]" * 100
    for record in ({"custom": [deep]}, {"custom": {"a": deep}}, {"custom": [deep], "key": "\x00"}):
        answer = send(api, record)
        assert answer.status_code == 400
        assert codes(answer)[-1] == "InvalidJsonInput"
        assert details(answer)[-1].endswith("JSON value with at most 100 levels expected.")


def test_all_options_takes_a_number_without_fraction_for_an_integer(api: Api) -> None:
    body = '{"id": 3.0, "version": 1e2, "key": -0.0, "custom": 2.5}'
    target = "/artificially-complex/path/uri-parameter-one=a/b"
    answer = api.post(target, data=body, content_type="application/json").get_json()
    assert answer["arrayOfIntExample"] == answer["arrayOfUniqueIntExample"] == [3, 100, 0]
    assert answer["arrayOfNumberNoDefaultsExample"] == [3, 100, 0, 2.5]


@pytest.mark.parametrize("equal_sign", ["%3D", "%3d"])
def test_all_options_accepts_an_encoded_equal_sign_in_the_path(api: Api, equal_sign: str) -> None:
    answer = api.post(f"/artificially-complex/path/uri-parameter-one{equal_sign}a/b", json={})
    assert answer.get_json() == {"arrayOfStringExample": ["a", "b"]}


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2015-02-28", "2015-02-28T16:41:41", "2015-02-30T00:00:00Z", "2015-13-01T00:00:00Z",
     "2015-01-01T24:00:00Z", "2015-01-01T00:00:61Z", "2015-01-01T00:00:00+24:00", "0000-01-01T00:00:00Z",
     "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:60Z", "٢٠١٥-01-01T00:00:00Z"],
)  # fmt: skip
def test_all_options_with_a_malformed_timestamp_is_400(api: Api, text: str) -> None:
    answer = send(api, {"createdAt": text})
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidField"]
    assert details(answer) == ["createdAt"]
    assert answer.get_json()["errors"][0]["invalidValue"] == text


@pytest.mark.parametrize(
    ("record", "place"),
    [
        ({"fifteenthProperty": "\ud800"}, "fifteenthProperty"),
        ({"createdBy": {"lastName": "\ud800"}}, "createdBy -> lastName"),
        ({"version": 10**400}, "version"),
        ({"custom": {"a": ["b", {"c": "\ud800"}]}}, "custom -> a -> 1 -> c"),
        ({"key": [[10**400]]}, "key -> 0 -> 0"),
    ],
)
def test_all_options_with_an_unstorable_value_is_400(api: Api, record: dict[str, Any], place: str) -> None:
    answer = send(api, record)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidField"]
    assert details(answer) == [place]
