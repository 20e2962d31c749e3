"""What a test expects of its client's requests, and what it is told if that is not so."""

import argparse
import json
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
from sample_resource_testkit.plugin import run_name_of
from sample_resource_testkit.sandbox import SandboxProject, SandboxServer, UnexpectedRequests

ACTIONS = {"version": 1, "actions": [{"action": "publish"}, {"action": "changeSomeProperty", "someProperty": "x"}]}
NEW = {"key": "one", "objectTypeProperty": {"arrayOfIntExample": [1, 2]}}


def send(project: SandboxProject, request: str, body: Any = None, **headers: str) -> None:
    method, _, path = request.partition(" ")
    connection = HTTPConnection(urlsplit(project.url).netloc, timeout=30)
    sent = {"Authorization": f"Bearer {project.token}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body)
    connection.request(method, f"/{project.key}{path}", data, {**sent, **headers})
    connection.getresponse().read()
    connection.close()


@pytest.fixture(scope="module")
def project(sample_resource: SandboxServer) -> SandboxProject:
    made = sample_resource.make_project()
    made.rules([{"times": {"first": 1}, "status": 503}])
    send(made, "POST /resource", NEW)
    send(made, "POST /resource", NEW)
    send(made, "GET /resource/key=one?optionalQueryParameter=a%20b", **{"If-None-Match": '"1"'})
    send(made, "POST /resource/0.1", ACTIONS)
    send(made, "GET /resource?arrayOfString=a&arrayOfString=b&limit=20")
    return made


@pytest.mark.parametrize(
    ("method", "path", "more", "numbers"),
    [
        ("POST", "/resource", {}, [1, 2]),
        ("POST", "/resource", {"times": (1, None), "status": 201}, [2]),
        ("POST", "/resource/*", {"after": 1}, [4]),
        ("GET", "/resource/key=one", {"query": {"optionalQueryParameter": "a b"}}, [3]),
        ("GET", "/resource", {"query": {"arrayOfString": ["a", "b"], "limit": True, "sort": False}}, [5]),
        ("GET", "/resource/key=one", {"headers": {"if-none-match": '"1"', "Accept-Encoding": True}}, [3]),
        ("POST", "/resource", {"body": {"objectTypeProperty": {"arrayOfIntExample": [2]}}}, [1, 2]),
        ("POST", "/resource/0.1", {"body": json.dumps(ACTIONS)}, [4]),
        ("GET", "/resource", {"body": None}, [5]),
        ("GET", "/resource", {"within_ms": 60_000}, [5]),
        ("GET", "/resource", {"times": 1, "settle_ms": 50}, [5]),
    ],
)
def test_a_request_that_fits_is_returned(
    project: SandboxProject, method: str, path: Any, more: dict[str, Any], numbers: list[int]
) -> None:
    if "after" in more:
        more = {**more, "after": project.journal()[::-1][: more["after"]]}
    assert [entry.number for entry in project.expect(method, path, **more)] == numbers


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"times": 1}, ["POST /resource was expected once, and was sent 2 times.", "  1: POST /resource -> 503"]),
        ({"times": (3, 4)}, ["expected 3 to 4 times, and was sent 2 times"]),
        (
            {"body": {"key": "two"}},
            ["The nearest request:", "  2: POST /resource -> 201", 'body -> key: "two" was expected, and it is "one"'],
        ),
    ],
)
def test_otherwise_what_was_sent_is_told(project: SandboxProject, more: dict[str, Any], told: list[str]) -> None:
    with pytest.raises(UnexpectedRequests) as error:
        project.expect("POST", "/resource", **more)
    for part in told:
        assert part in str(error.value)


def test_without_requests_that_is_told(sample_resource: SandboxServer) -> None:
    with pytest.raises(UnexpectedRequests, match="The journal has no request"):
        sample_resource.make_project().expect("GET", "/resource/*", body={"a": 1})


@pytest.mark.parametrize("text", ["a b", "a" * 65])
def test_a_run_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=repr(text)):
        run_name_of(text)
