"""What means the same, and what does not."""

from typing import Any

import pytest
from sample_resource_testkit.client.meaning import known, of_request, of_value
from sample_resource_testkit.client.messages import Sent
from sample_resource_testkit.client.operations import Call, expected

JSON = (("Content-Type", "application/json; charset=UTF-8"),)


def sent(target: str, method: str = "GET", headers: tuple[tuple[str, str], ...] = (), body: bytes = b"") -> Sent:
    return Sent(1, "", method, target, headers, body, 0.0, 0.0, 200)


def difference(call: Call, *request: Any) -> str | None:
    found = of_request(expected(call, "p"), sent(*request))
    return None if found is None else found.text


LIST = Call("listResources", {"arrayOfString": ["a", "b c"], "limit": 20, "withTotal": True, "floatParameter": 1e21})


@pytest.mark.parametrize(
    "query",
    [
        "arrayOfString=a&arrayOfString=b%20c&limit=20&withTotal=true&floatParameter=1e21",
        "floatParameter=1000000000000000000000.0&withTotal=true&arrayOfString=%61&limit=2e1&arrayOfString=b+c&",
    ],
)
def test_requests_that_are_spelt_differently_mean_the_same(query: str) -> None:
    assert difference(LIST, f"/p/resource?{query}") is None


@pytest.mark.parametrize(
    ("headers", "body", "told"),
    [
        (JSON, b'{"version": 1.0, "actions": []}', None),
        ((), b'{"version": 1, "actions": []}', "the Content-Type is missing"),
        (JSON, b'{"version": "1", "actions": []}', 'version is "1", and not 1'),
        (JSON, b'{"version": 1}', "actions is missing"),
        (JSON, b'{"version": 1, "actions": [], "key": null}', None),
        (JSON, b'{"version": 1, "version": 1, "actions": []}', "a name stands twice"),
    ],
)
def test_bodies_mean_what_their_values_are(headers: tuple[tuple[str, str], ...], body: bytes, told: str | None) -> None:
    call = Call("updateResourceById", {"id": "a b"}, {"version": 1, "actions": []})
    found = difference(call, "/p/resource/a%20b", "POST", headers, body)
    assert found is None if told is None else told in str(found)


@pytest.mark.parametrize(
    ("found", "wanted", "told"),
    [
        (1.0, 1, None),
        (float(2**53), 2**53 + 1, "the value is 9007199254740992.0, and not 9007199254740993"),
        (True, 1, "the value is true, and not 1"),
        ({"a": None}, {"a": 1}, "a is missing"),
        ({"a": [1, 2]}, {"a": [1]}, "a has 2 items and not 1"),
        ({"createdAt": "2016-01-01T00:00:00Z"}, {"createdAt": "2016-01-01T00:00:00.000Z"}, None),
        ({"createdAt": "2016-01-01T01:00:00+01:00"}, {"createdAt": "2016-01-01T00:00:00.000Z"}, "createdAt is"),
        ({"key": "2016-01-01T00:00:00Z"}, {"key": "2016-01-01T00:00:00.000Z"}, "key is"),
    ],
)
def test_results_mean_what_the_answer_said(found: Any, wanted: Any, told: str | None) -> None:
    difference = of_value(found, wanted, result=True)
    assert difference is None if told is None else told in str(difference)


NOTATIONS = Call(
    "listResources",
    {
        "sort": ["a b", "c"],
        "withTotal": True,
        "var": {"x": "1"},
        "stringParameter": "50 % + é",
        "objectParameter": {"a": 1},
        "integerParameter": 2**53 + 1,
    },
)

SENT = {
    "sort": "sort=a+b&sort=c",
    "withTotal": "withTotal=true",
    "var": "var.x=1",
    "stringParameter": "stringParameter=50%20%25%20%2B%20%C3%A9",
    "objectParameter": "objectParameter=%7B%22a%22:1%7D",
    "integerParameter": "integerParameter=9007199254740993",
}


@pytest.mark.parametrize(
    ("name", "query", "cause"),
    [
        ("sort", "sort[]=a+b&sort[]=c", "name[] for arrays"),
        ("sort", "sort=a+b,c", "commas between the values of arrays"),
        ("withTotal", "withTotal=True", "booleans in the query"),
        ("var", "x=1", "the names of var.*"),
        (
            "stringParameter",
            "stringParameter=50%2520%2525%2520%252B%2520%25C3%25A9",
            "percent-encoding twice in the query",
        ),
        ("objectParameter", "objectParameter[a]=1", "name[member] for objects"),
        ("integerParameter", "integerParameter=9007199254740992", "integers beyond 2^53 in the query"),
    ],
)
def test_a_difference_has_a_cause_that_others_share(name: str, query: str, cause: str) -> None:
    target = "/p/resource?" + "&".join((SENT | {name: query}).values())
    found = of_request(expected(NOTATIONS, "p"), sent(target))
    assert found is not None
    assert found.cause == cause


def test_members_that_nobody_asked_for_are_left_out() -> None:
    assert known({"a": 1, "b": [{"c": 1, "d": 2}]}, {"a": 2, "b": [{"c": 3}]}) == {"a": 1, "b": [{"c": 1}]}
