"""What a test expects of its client's requests, and what it is told if that is not so."""

import json
import re
from typing import Any

import pytest
from sample_resource_testkit.gate import percentage, report_file
from sample_resource_testkit.journal import Expected, JournalEntry, verified
from sample_resource_testkit.plugin import run_name_of


def entry(number: int, request: str, body: Any = None, status: int = 200, **headers: str) -> JournalEntry:
    method, _, target = request.partition(" ")
    text = body if body is None or isinstance(body, str) else json.dumps(body)
    pairs = [[name.replace("_", "-"), value] for name, value in headers.items()]
    sent = {
        "method": method,
        "target": f"/p{target}",
        "headers": pairs,
        "body": None if text is None else {"text": text},
    }
    return JournalEntry.of(
        {"number": number, "request": sent, "response": {"status": status, "headers": []}, "rule": None}, "p"
    )


ACTIONS = {"version": 3, "actions": [{"action": "publish"}, {"action": "changeSomeProperty", "someProperty": "x"}]}

JOURNAL = [
    entry(1, "POST /resource", {"key": "one", "objectTypeProperty": {"arrayOfIntExample": [1, 2]}}, 503),
    entry(2, "POST /resource", {"key": "one", "objectTypeProperty": {"arrayOfIntExample": [1, 2]}}, 201),
    entry(3, "GET /resource/key=one?optionalQueryParameter=a%20b", If_None_Match='"1"', accept="application/json"),
    entry(4, "POST /resource/0-1", ACTIONS, 200, If_Match='"3"'),
    entry(5, "GET /resource?arrayOfString=a&arrayOfString=b&limit=20"),
]


def found(method: str, path: Any, times: Any = None, after: Any = None, **more: Any) -> list[int]:
    expected = Expected(method=method, path=path, **more)
    return [each.number for each in verified(expected, JOURNAL, times, after)]


@pytest.mark.parametrize(
    ("method", "path", "more", "numbers"),
    [
        ("POST", "/resource", {}, [1, 2]),
        ("POST", "/resource", {"times": 2}, [1, 2]),
        ("POST", "/resource", {"times": (1, None), "status": 201}, [2]),
        ("DELETE", re.compile(".*"), {"times": 0}, []),
        ("POST", re.compile("/resource/[0-9-]+"), {"after": JOURNAL[1]}, [4]),
        ("GET", "/resource", {"after": JOURNAL[:3]}, [5]),
        ("GET", "/resource/key=one", {"query": {"optionalQueryParameter": "a b"}}, [3]),
        ("GET", "/resource/key=one", {"query": "optionalQueryParameter=a%20b"}, [3]),
        (
            "GET",
            "/resource",
            {"query": {"arrayOfString": ["a", "b"], "limit": re.compile("[0-9]+"), "sort": False}},
            [5],
        ),
        ("GET", "/resource", {"query": {"limit": True}}, [5]),
        ("GET", "/resource/key=one", {"headers": {"if-none-match": '"1"', "Accept": True, "Prefer": False}}, [3]),
        ("POST", "/resource", {"body": {"key": "one"}}, [1, 2]),
        ("POST", "/resource", {"body": {"objectTypeProperty": {"arrayOfIntExample": [2]}}}, [1, 2]),
        ("POST", "/resource/0-1", {"body": {"actions": [{"action": "changeSomeProperty"}]}}, [4]),
        ("POST", "/resource/0-1", {"body": re.compile("publish")}, [4]),
        ("POST", "/resource/0-1", {"body": json.dumps(ACTIONS)}, [4]),
        ("GET", "/resource", {"body": None}, [5]),
    ],
)
def test_a_request_that_fits_is_returned(method: str, path: Any, more: dict[str, Any], numbers: list[int]) -> None:
    assert found(method, path, **more) == numbers


@pytest.mark.parametrize(
    ("method", "path", "more", "told"),
    [
        ("PUT", "/resource", {}, ["PUT /resource was expected at least once, and was sent 0 times.", "method: PUT"]),
        ("POST", "/resource", {"times": 1}, ["expected once, and was sent 2 times", "1: POST /resource -> 503"]),
        ("POST", "/resource", {"times": (3, 4)}, ["expected 3 to 4 times, and was sent 2 times"]),
        ("POST", "/resource", {"times": 0}, ["was expected never, and was sent 2 times"]),
        ("GET", "/resource/key=two", {}, ["3: GET /resource/key=one", "path: /resource/key=two was expected"]),
        ("POST", "/resource", {"after": JOURNAL[1]}, ["after request 2", "5: GET /resource?"]),
        ("GET", "/resource", {"after": JOURNAL}, ["after request 5", "5: GET /resource?", "it came earlier"]),
        ("GET", "/resource", {"status": 404}, ["status: 404 was expected"]),
        ("GET", "/resource", {"query": "limit=20"}, ['query: "limit=20" was expected, and it is "arrayOfString=a&']),
        ("GET", "/resource", {"query": {"sort": "id"}}, ['query -> sort: "id" was expected, and it is not there']),
        ("GET", "/resource", {"query": {"limit": False}}, ['query -> limit: none was expected, and it is "20"']),
        ("GET", "/resource", {"query": {"arrayOfString": "a"}}, ['"a" was expected, and it is "a", "b"']),
        ("GET", "/resource", {"headers": {"Prefer": re.compile("code=.*")}}, ["header Prefer: a match of code=.*"]),
        ("POST", "/resource", {"body": {"key": "two"}}, ['body -> key: "two" was expected, and it is "one"']),
        ("POST", "/resource", {"body": {"id": "x"}}, ['body -> id: "x" was expected, and it is not there']),
        ("POST", "/resource/0-1", {"body": {"version": True}}, ["body -> version: true was expected, and it is 3"]),
        (
            "POST",
            "/resource/0-1",
            {"body": {"actions": [{"action": "x"}]}},
            ['body -> actions: an item {"action": "x"}'],
        ),
        ("POST", "/resource", {"body": None}, ["body: none was expected"]),
        ("GET", "/resource", {"body": {}}, ["body: JSON was expected, and it is none"]),
    ],
)
def test_otherwise_the_nearest_request_is_told(method: str, path: Any, more: dict[str, Any], told: list[str]) -> None:
    with pytest.raises(AssertionError) as error:
        found(method, path, **more)
    for part in told:
        assert part in str(error.value)


def test_without_requests_that_is_told() -> None:
    with pytest.raises(AssertionError, match="The journal has no request"):
        verified(Expected(method="GET", path=re.compile("/resource/.+"), body={"a": 1}), [], None, None)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (report_file, "report.pdf"),
        (percentage, "101"),
        (percentage, "1.5"),
        (run_name_of, "a b"),
        (run_name_of, "a" * 65),
    ],
)
def test_an_option_that_cannot_be_is_refused(read: Any, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(text.rpartition(",")[2]))):
        read(text)
