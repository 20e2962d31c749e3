"""``POST .../requests/expect``: what a test expects a client to have sent."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from typing import Any

import pytest
from tester import Project, Service, wait_for

BODY = {"key": "one", "objectTypeProperty": {"arrayOfIntExample": [1, 2]}}


@pytest.fixture(scope="module")
def used(sandbox: Service) -> Project:
    """A project whose client has sent three requests."""
    project = sandbox.make()
    project.send("POST", "", BODY, {"X-Note": "a"})
    project.send("GET", "/key=one?limit=5&expand=a&expand=b")
    project.send("GET", "/key=two")
    assert wait_for(lambda: not any(entry["underWay"] for entry in project.entries()))
    return project


@pytest.mark.parametrize(
    ("expected", "numbers"),
    [
        ({}, [1, 2, 3]),
        ({"method": "GET"}, [2, 3]),
        ({"operationId": ["getResourceByKey"], "path": "/resource/key=o*"}, [2]),
        ({"query": {"expand": ["a", "b"], "limit": "5", "offset": False}}, [2]),
        ({"header": {"x-note": "a"}, "body": {"objectTypeProperty": {"arrayOfIntExample": [2]}}}, [1]),
        ({"body": '*"key":*"one"*', "times": 1}, [1]),
        ({"status": 404}, [3]),
        ({"method": "GET", "after": 2, "times": {"atLeast": 1, "atMost": 1}}, [3]),
        ({"method": "DELETE", "times": 0}, []),
    ],
)
def test_what_was_sent_is_found(used: Project, expected: dict[str, Any], numbers: list[int]) -> None:
    answer = used.order("POST", "/requests/expect", expected)
    assert (answer.status, answer.json) == (200, {"requests": numbers})


def test_what_was_not_sent_is_told_with_the_nearest(used: Project) -> None:
    expected = {"method": "POST", "path": "/resource", "body": {"key": "two"}, "header": {"X-Note": "b"}}
    answer = used.order("POST", "/requests/expect", expected)
    assert answer.status == 409
    wanted = 'POST /resource with header {"X-Note":"b"}, body {"key":"two"}'
    assert answer.json["message"] == f"{wanted} was expected at least once, and was sent 0 times."
    assert answer.json["requests"] == []
    nearest = answer.json["nearest"]
    assert [each["number"] for each in nearest] == [1, 3, 2]
    assert nearest[0]["differs"] == [
        'header -> x-note: "b" was expected, and it is "a"',
        'body -> key: "two" was expected, and it is "one"',
    ]
    assert "method: POST was expected, and it is GET" in nearest[1]["differs"]


@pytest.mark.parametrize(
    ("expected", "differs"),
    [
        ({"operationId": "getResourceById"},
         "operationId: getResourceById was expected, and it is createOrUpdateResource"),
        ({"path": "/resource/*"}, "path: /resource/* was expected, and it is /resource"),
        ({"status": 404}, "status: 404 was expected, and it is 201"),
        ({"query": {"limit": ["1", "2"]}}, 'query -> limit: "1", "2" was expected, and it is not there'),
        ({"header": {"If-Match": True}}, "header -> if-match: any value was expected, and it is not there"),
        ({"header": {"Content-Type": False}},
         'header -> content-type: none was expected, and it is "application/json"'),
        ({"body": {"id": None}}, "body -> id: null was expected, and it is not there"),
        ({"body": {"objectTypeProperty": {"arrayOfIntExample": [2, 3]}}},
         "body -> objectTypeProperty -> arrayOfIntExample: an item 3 was expected, and it is [1,2]"),
        ({"body": {"objectTypeProperty": {"arrayOfIntExample": 1}}},
         "body -> objectTypeProperty -> arrayOfIntExample: 1 was expected, and it is [1,2]"),
        ({"after": 1}, "it came before request 2"),
    ],
)  # fmt: skip
def test_each_difference_is_told(throwaway: Project, expected: dict[str, Any], differs: str) -> None:
    throwaway.create(key="one", objectTypeProperty={"arrayOfIntExample": [1, 2]})
    (nearest,) = throwaway.order("POST", "/requests/expect", expected).json["nearest"]
    assert nearest["differs"] == [differs]


@pytest.mark.parametrize("times", [0, 1, {"atMost": 1}, {"atLeast": 4}])
def test_too_few_and_too_many_are_told(used: Project, times: Any) -> None:
    answer = used.order("POST", "/requests/expect", {"times": times})
    assert (answer.status, answer.json["requests"], answer.json["nearest"]) == (409, [1, 2, 3], [])


def test_it_waits_for_what_comes(throwaway: Project) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(throwaway.order, "POST", "/requests/expect", {"method": "GET", "withinMs": 60_000})
        throwaway.send("GET", "?limit=0")
        assert waiting.result(60).json == {"requests": [1]}


def test_a_request_is_seen_while_it_waits(throwaway: Project) -> None:
    """Its body before it is carried out, its status as soon as that is decided."""
    throwaway.rules({"delayMs": 500}, {"phase": "after", "delayMs": 60_000})
    with ThreadPoolExecutor(2) as pool:
        expected = [
            {"body": {"key": "one"}, "withinMs": 60_000},
            {"status": 201, "body": '*"one"*', "withinMs": 60_000},
        ]
        waiting = [pool.submit(throwaway.order, "POST", "/requests/expect", each) for each in expected]
        with closing(HTTPConnection("127.0.0.1", throwaway.service.port, timeout=30)) as connection:
            headers = {"Authorization": f"Bearer {throwaway.token}", "Content-Type": "application/json"}
            connection.request("POST", throwaway.resources, json.dumps(BODY), headers)
            assert [each.result(50).json for each in waiting] == [{"requests": [1]}] * 2
            assert throwaway.entries()[0]["underWay"]


def test_it_settles(throwaway: Project) -> None:
    throwaway.send("GET", "?limit=0")
    assert throwaway.order("POST", "/requests/expect", {"times": 1, "settleMs": 100}).status == 200
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(throwaway.order, "POST", "/requests/expect", {"times": 1, "settleMs": 60_000})
        throwaway.send("GET", "?limit=1")
        answer = waiting.result(50)
    assert (answer.status, answer.json["requests"]) == (409, [1, 2])
    # The second may still be under way when it stands there.
    assert answer.json["told"].replace("under way", "200").splitlines() == [
        "a request was expected once, and was sent 2 times.",
        "  1: GET /resource?limit=0 -> 200",
        "  2: GET /resource?limit=1 -> 200",
    ]


def test_what_is_not_looked_at_is_no_proof(throwaway: Project) -> None:
    assert throwaway.send("POST", raw=b"x" * 70_000).status == 413
    for body in ({"key": "other"}, "*other*"):
        for times in (0, 1):
            answer = throwaway.order("POST", "/requests/expect", {"body": body, "times": times})
            assert answer.status == 409
            assert answer.json["message"].endswith("too large or not read yet: 1.")
    assert throwaway.order("POST", "/requests/expect", {"method": "GET", "body": "", "times": 0}).status == 200


@pytest.mark.parametrize(
    ("expected", "where"),
    [
        ({"times": {}}, "times"),
        ({"times": {"atLeast": 2, "atMost": 1}}, "times"),
        ({"body": None}, "body"),
        ({"withinMs": 60_001}, "withinMs"),
        ({"methd": "GET"}, "methd"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(used: Project, expected: dict[str, Any], where: str) -> None:
    answer = used.order("POST", "/requests/expect", expected)
    assert answer.status == 400
    (error,) = answer.json["errors"]
    assert (error.get("field") or error["detailedErrorMessage"].partition(": ")[0]) == where
