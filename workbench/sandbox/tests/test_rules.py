"""Faults by every member of a rule."""

import contextlib
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from typing import Any

import pytest
from flask import Response
from sample_resource_sandbox.connections import WAITS_OF_A_PROJECT
from sample_resource_sandbox.faults.answers import with_failing_connection
from sample_resource_sandbox.journal.entry import BODY_BYTES_KEPT
from sample_resource_sandbox.rules.rules import CountedRule, Rule
from steady_client import steady_client
from tester import Project, Service, wait_for

from tests.support.applications import own_database
from tests.support.cluster import Cluster
from tests.support.gunicorn_server import Gunicorn, StartGunicorn


@pytest.mark.parametrize(
    ("method", "path", "own"), [("GET", "/resource", 401), ("GET", "/nothing/here", 404), ("TRACE", "/resource", 405)]
)
@pytest.mark.parametrize("phase", ["before", "after"])
def test_rules_act_on_requests_that_are_refused(
    throwaway: Project, method: str, path: str, own: int, phase: str
) -> None:
    send = lambda: throwaway.service.send(method, f"/{throwaway.key}{path}")  # noqa: E731 -- it is sent again
    assert send().status == own
    throwaway.rules(
        {"match": {"path": "/*"}, "delayMs": 1},
        {"times": {"first": 1}, "phase": phase, "status": 502, "body": "html"},
        {"headers": {"X-Region": "eu"}},
    )
    refused, later = send(), send()
    assert (refused.status, refused.headers["Content-Type"]) == (502, "text/html")
    assert refused.headers["X-Sandbox-Rule"] == "0, 1"
    assert (later.status, later.headers["X-Region"]) == (own, "eu")
    assert throwaway.counts()[1] == (2, 1)
    assert throwaway.entries()[1]["outcome"] == "a delay of 1 ms by rule 0; 502, a proxy's page by rule 1"


# match


@pytest.mark.parametrize(
    ("match", "matched"),
    [
        ({}, "ABCDEF"),
        ({"operationId": "listResources"}, "AB"),
        ({"operationId": ["getResourceById", "deleteResourceById"]}, "EF"),
        ({"method": "POST"}, "CD"),
        ({"path": "/resource"}, "ABCD"),
        ({"path": "/res*/*-*"}, "EF"),
        ({"path": "*", "method": "GET"}, "ABE"),
        ({"query": {"arrayOfString": ["a", "b c"]}}, "A"),
        ({"query": {"limit": False}}, "CDEF"),
        ({"header": {"x-correlation-id": ["my-*", "*1"]}, "query": {"arrayOfString": "b*"}}, "A"),
        ({"header": {"X-Correlation-ID": False}, "query": {"limit": True}}, "B"),
        ({"body": {"key": "one"}}, "C"),
        ({"body": {"objectTypeProperty": {"arrayOfIntExample": [3]}}}, "C"),
        ({"body": '*"key":*"two"*'}, "D"),
        ({"body": '"two"'}, ""),
    ],
)
def test_a_rule_matches_by_all_of_its_members(throwaway: Project, match: dict[str, Any], matched: str) -> None:
    made = throwaway.create()["id"]
    throwaway.rules({"match": match, "status": 418})
    query = "?limit=1&arrayOfString=b%20c&arrayOfString=a"
    sent = {
        "A": throwaway.send("GET", query, headers={"X-Correlation-ID": "my-app-0001"}),
        "B": throwaway.send("GET", "?limit=2"),
        "C": throwaway.send("POST", "", {"key": "one", "objectTypeProperty": {"arrayOfIntExample": [1, 3]}}),
        "D": throwaway.send("POST", "", {"key": "two", "objectTypeProperty": {}}),
        "E": throwaway.send("GET", f"/{made}"),
        "F": throwaway.send("DELETE", f"/{made}"),
    }
    assert "".join(name for name, answer in sent.items() if answer.status == 418) == matched


# times


@pytest.mark.parametrize(
    ("times", "acts"),
    [(None, "xxxxxx"), ({"first": 2}, "xx...."), ({"after": 3}, "...xxx"), ({"after": 2, "first": 1}, "..x...")],
)
def test_times_say_which_requests_are_due(throwaway: Project, times: dict[str, Any] | None, acts: str) -> None:
    throwaway.rules({"status": 503, **({} if times is None else {"times": times})})
    statuses = [throwaway.send("GET", "?limit=0").status for _ in acts]
    assert "".join("x" if status == 503 else "." for status in statuses) == acts
    assert throwaway.counts() == [(len(acts), acts.count("x"))]


def test_rules_act_in_their_order_until_one_answers(throwaway: Project) -> None:
    throwaway.rules(
        {"name": "first", "status": 500, "times": {"after": 1, "first": 1}},
        {"name": "second", "status": 502, "times": {"first": 2}},
        {"status": 503},
    )
    answers = [throwaway.send("GET", "?limit=0") for _ in range(5)]
    assert [answer.status for answer in answers] == [502, 500, 502, 503, 503]
    assert [answer.headers["X-Sandbox-Rule"] for answer in answers] == ["second", "first", "second", "2", "2"]
    assert throwaway.counts() == [(5, 1), (4, 2), (2, 2)]


def test_what_does_not_answer_hides_nothing_behind_it(throwaway: Project) -> None:
    throwaway.rules(
        {"name": "slow", "delayMs": 30},
        {"name": "slower", "delayMs": 40, "phase": "after"},
        {"name": "named", "headers": {"X-Region": "eu", "Retry-After": "9"}},
        {"name": "away", "status": 503, "times": {"first": 2}},
        {"name": "never", "status": 500, "times": {"first": 2}},
    )
    began = time.monotonic()
    answers = [throwaway.send("GET", "?limit=0") for _ in range(5)]
    assert time.monotonic() - began >= 0.35
    assert [answer.status for answer in answers] == [503, 503, 500, 500, 200]
    assert answers[0].headers["X-Sandbox-Rule"] == "slow, slower, named, away"
    assert (answers[0].headers["X-Region"], answers[4].headers["Retry-After"]) == ("eu", "9")
    rule = throwaway.entries()[-1]["rule"]
    assert (rule["does"], rule["waitedMs"] >= 70) == (["delay", "headers", "status"], True)
    assert throwaway.entries()[-1]["outcome"].startswith(
        "a delay of 30 ms by rule `slow`; a delay of 40 ms by rule `slower`"
    )


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        ({"connection": "close"}, "no answer (not carried out), connection closed by rule 0"),
        ({"connection": "close", "phase": "after"}, "no answer (200), connection closed by rule 0"),
        ({"limit": {"requests": 1, "perSeconds": 60}}, "200"),
        ({"status": 503, "delayMs": 1}, "503, a delay of 1 ms by rule 0"),
        ({"expireTokens": True}, "401, tokens expired by rule 0"),
    ],
)
def test_an_entry_says_in_words_what_was_done(throwaway: Project, rule: dict[str, Any], outcome: str) -> None:
    throwaway.rules(rule)
    with contextlib.suppress(OSError, HTTPException):
        throwaway.send("GET", "?limit=0")
    assert throwaway.entries()[0]["outcome"] == outcome


def test_a_rule_that_looks_into_a_body_leaves_it_to_the_view(throwaway: Project) -> None:
    """Also one that comes in chunks."""
    throwaway.rules({"match": {"body": "*no such text*"}, "status": 418}, {"conflict": True})
    long = {"key": "long", "objectTypeProperty": {"arrayOfStringExample": ["x" * 40_000]}}
    assert throwaway.send("POST", "", long).status == 201
    with closing(HTTPConnection("127.0.0.1", throwaway.service.port, timeout=30)) as connection:
        headers = {"Authorization": f"Bearer {throwaway.token}", "Content-Type": "application/json"}
        parts = (json.dumps(long)[at : at + 10_000].encode() for at in range(0, 50_000, 10_000))
        connection.request("POST", throwaway.resources, parts, headers, encode_chunked=True)
        assert connection.getresponse().status == 200


def test_the_token_endpoint_fails_on_order_for_the_project_s_client(sandbox: Service, throwaway: Project) -> None:
    throwaway.rules(
        {"name": "all", "status": 500}, {"match": {"operationId": "getToken"}, "times": {"first": 2}, "status": 503}
    )
    other = sandbox.make()
    assert other.grant().status == 200
    refused = throwaway.grant()
    assert (refused.status, refused.headers["X-Sandbox-Rule"]) == (503, "1")
    assert "error" not in refused.json, "as in a 503 of the service itself"
    wrong = Project(sandbox, {**throwaway.made, "clientSecret": "wrong"})
    assert wrong.grant().status == 401
    assert [throwaway.grant().status for _ in range(2)] == [503, 200]
    assert [entry["rule"] is not None for entry in throwaway.entries()] == [False, True, False, True]


@pytest.mark.parametrize("phase", ["before", "after"])
def test_an_answer_of_one_s_own(throwaway: Project, phase: str) -> None:
    own = {"json": {"é": [1, None]}}
    throwaway.rules(
        {"times": {"first": 1}, "phase": phase, "status": 202, "headers": {"X-A": "b"}, "body": own},
        {"times": {"first": 1}, "phase": phase, "body": {"text": "<p>", "contentType": "text/html"}},
        {"times": {"first": 1}, "phase": phase, "status": 302, "headers": {"Location": "/elsewhere"}},
        {"times": {"first": 1}, "phase": phase, "status": 200, "body": "html"},
    )
    answers = [throwaway.send("POST", "", {"objectTypeProperty": {}}) for _ in range(4)]
    assert [answer.status for answer in answers] == [202, 200, 302, 200]
    assert (answers[0].json, answers[0].headers["X-A"]) == (own["json"], "b")
    assert (answers[1].text, answers[1].headers["Content-Type"]) == ("<p>", "text/html")
    assert (answers[2].text, answers[2].headers["Location"]) == ("", "/elsewhere")
    assert answers[3].text.startswith("<html>")
    assert len(throwaway.listing()) == (0 if phase == "before" else 4)


def test_counts_are_exact_under_eight_connections(throwaway: Project) -> None:
    throwaway.rules({"match": {"method": "GET"}, "status": 503, "times": {"after": 20, "first": 100}})

    def send(_: int) -> list[int]:
        with steady_client(throwaway) as client:
            return [client.send("GET", "?limit=0").status for _ in range(40)]

    with ThreadPoolExecutor(8) as threads:
        statuses = [status for found in threads.map(send, range(8)) for status in found]
    assert (statuses.count(503), statuses.count(200)) == (100, 220)
    assert throwaway.counts() == [(320, 100)]
    assert throwaway.order("GET").json["requests"] == 320


# What a rule does


def test_a_rule_answers_with_a_status(throwaway: Project) -> None:
    error = {"code": "OverCapacity", "message": "Not now."}
    throwaway.rules({"name": "mine", "status": 503, "retryAfter": 7, **error})
    answer = throwaway.send("POST", "", {"objectTypeProperty": {}})
    assert answer.json == {"statusCode": 503, "message": "Not now.", "errors": [error]}
    assert (answer.headers["Retry-After"], answer.headers["X-Sandbox-Rule"]) == ("7", "mine")
    throwaway.order("DELETE", "/rules")
    assert throwaway.listing() == []


BODY = b'{"limit":0,"offset":0,"count":0,"total":0,"results":[]}'


@pytest.mark.parametrize(
    ("connection", "received", "end"),
    [
        ("close", rb"", "closed"),
        ("reset", rb"", "reset"),
        ("garbage", rb"(?!HTTP).+", "closed"),
        ("truncate", rb"HTTP/1.1 200 .*Content-Length: 55\r\n.*\r\n\r\n" + re.escape(BODY[:27]), "closed"),
        ("stall", rb"HTTP/1.1 200 .*Content-Length: 55\r\n.*\r\n\r\n", "closed"),
    ],
)
def test_a_rule_spoils_the_connection(throwaway: Project, connection: str, received: bytes, end: str) -> None:
    throwaway.rules({"name": "spoilt", "connection": connection, "delayMs": 10})
    found, ended = throwaway.raw()
    assert re.fullmatch(received, found, re.DOTALL), found
    assert ended == end
    if received.startswith(b"HTTP"):
        assert b"X-Sandbox-Rule: spoilt\r\n" in found
    (entry,) = throwaway.entries()
    assert (entry["response"] is None) == (connection in ("close", "reset", "garbage"))
    shown = entry["response"] and entry["response"]["body"]
    assert shown == ({"size": 27, "text": BODY[:27].decode()} if connection == "truncate" else None)
    assert entry["rule"]["does"] == [connection]
    assert entry["rule"]["carriedOut"] == (connection in ("truncate", "stall"))


@pytest.mark.parametrize(
    ("rule", "status", "text"),
    [
        ({"body": "truncatedJson"}, 200, re.escape(BODY[:27].decode())),
        ({"body": "html"}, 502, "<html>.*502.*</html>\r\n"),
        ({"body": "html", "status": 504}, 504, "<html>.*504.*</html>\r\n"),
        ({"body": "empty"}, 200, ""),
        ({"body": "unknownFields"}, 200, r'\{"limit":0,.*"sandboxUnknownField":.*\}'),
    ],
)
def test_a_rule_alters_the_body(throwaway: Project, rule: dict[str, Any], status: int, text: str) -> None:
    throwaway.rules(rule)
    answer = throwaway.send("GET", "?limit=0")
    assert answer.status == status
    assert re.fullmatch(text, answer.text, re.DOTALL), answer.text
    assert answer.headers["Content-Length"] == str(len(answer.text))
    assert answer.headers["Content-Type"] == ("text/html" if status >= 500 else "application/json; charset=utf-8")


def test_a_token_is_hidden_even_if_a_rule_cuts_its_answer(throwaway: Project) -> None:
    throwaway.rules({"match": {"operationId": "getToken"}, "body": "truncatedJson"})
    assert throwaway.grant().text.startswith('{"access_token": "')
    throwaway.send("GET", "/key=None")
    after, cut = throwaway.entries()
    assert cut["response"]["body"]["text"].startswith('{"access_token": "(secret)"')
    assert after["request"]["target"].endswith("/key=None"), "nothing else is hidden"


@pytest.mark.parametrize(
    ("rule", "status"),
    [({"connection": "close"}, None), ({"connection": "reset"}, None), ({"status": 503}, 503), ({"body": "html"}, 502)],
)
def test_after_the_commit_only_the_answer_is_lost(throwaway: Project, rule: dict[str, Any], status: int | None) -> None:
    throwaway.rules({"phase": "after", "match": {"method": "POST"}, "times": {"first": 1}, **rule})
    try:
        answered: int | None = throwaway.send("POST", "", {"key": "kk", "objectTypeProperty": {}}).status
    except (OSError, HTTPException):
        answered = None
    assert answered == status
    (made,) = throwaway.listing()
    assert made["version"] == 1
    entry = throwaway.entries("?method=POST")[0]
    assert entry["rule"]["carriedOut"] is True
    assert entry["rule"]["replacedStatus"] == 201


def test_a_limit_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """10 at once, and 10 in any second that follows; the clock is the test's."""
    now = 100.0
    monkeypatch.setattr("sample_resource_sandbox.rules.rules.monotonic", lambda: now)
    rule = CountedRule(Rule(0, {"limit": {"requests": 10, "perSeconds": 1}}))
    passed: list[float] = []
    for step in range(400):
        now = 100 + step / 100
        wait_s = rule.count()
        if wait_s is None:
            passed.append(now)
        else:
            assert now + wait_s == pytest.approx(passed[-10] + 1)
    assert len(passed) == 40
    assert passed[9] == 100.09
    assert all(later - earlier >= 1 for earlier, later in zip(passed, passed[10:], strict=False))


def test_tokens_expire_on_order(throwaway: Project) -> None:
    former = throwaway.token
    throwaway.renew()
    throwaway.rules({"expireTokens": True, "times": {"first": 1}})
    refused = throwaway.send("GET", "?limit=0")
    assert (refused.json["error"], refused.headers["X-Sandbox-Rule"]) == ("invalid_token", "0")
    assert [throwaway.send("GET", "?limit=0").status for _ in range(4)] == [401] * 4
    throwaway.renew()
    assert [throwaway.send("GET", "?limit=0").status for _ in range(4)] == [200] * 4
    throwaway.made["accessToken"] = former
    assert [throwaway.send("GET", "?limit=0").status for _ in range(4)] == [401] * 4


# Rules that cannot be


@pytest.mark.parametrize(
    ("rule", "where"),
    [
        ({}, ""),
        ({"status": 600}, "status"),
        ({"status": 503, "times": {}}, "times"),
        ({"status": 503, "match": {"operationId": "nothing"}}, "match -> operationId"),
        ({"status": 503, "match": {"operationId": ["listResources", "x"]}}, "match -> operationId -> 1"),
        ({"status": 503, "match": {"header": {"a b": "x"}}}, "match -> header -> a b"),
        ({"status": 503, "match": {"body": None}}, "match -> body"),
        ({"status": 503, "match": {"query": {"limit": []}}}, "match -> query -> limit"),
        ({"status": 200, "headers": {"Content-Length": "5"}}, "headers -> Content-Length"),
        ({"status": 200, "headers": {"X-A": "a\r\nb: c"}}, "headers -> X-A"),
        ({"status": 204, "body": {"text": "x"}}, "body"),
        ({"connection": "close", "headers": {"X-A": "b"}}, "headers"),
        ({"conflict": True, "status": 409}, "conflict"),
        ({"conflict": True, "phase": "after"}, "phase"),
        ({"expireTokens": True, "status": 503}, "expireTokens"),
        ({"delayMs": 60_001}, "delayMs"),
        ({"connection": "explode"}, "connection"),
        ({"delayMs": 5, "retryAfter": 1}, "retryAfter"),
        ({"status": 503, "name": "a\r\nb: c"}, "name"),
        ("text", ""),
    ],
)
def test_a_rule_that_cannot_be_is_refused_with_its_place(throwaway: Project, rule: Any, where: str) -> None:
    throwaway.rules({"name": "kept", "status": 418})
    answer = throwaway.order("PUT", "/rules", {"rules": [{"status": 503}, {"status": 503}, rule]})
    assert answer.status == 400
    (error,) = answer.json["errors"]
    place = error.get("field") or error["detailedErrorMessage"].partition(": ")[0]
    assert place == " -> ".join(["rules", "2", *([where] if where else [])])
    assert [rule["name"] for rule in throwaway.order("GET", "/rules").json["rules"]] == ["kept"]


@pytest.mark.parametrize("body", [None, [], {"rules": {}}, {"rule": []}, {"rules": [{"status": 503}] * 101}])
def test_a_list_that_cannot_be_is_refused(throwaway: Project, body: Any) -> None:
    assert throwaway.order("PUT", "/rules", body).status == 400


# The worker


def waiting_requests(project: Project, count: int) -> list[Any]:
    """So many requests, sent and not read."""
    connections = [HTTPConnection("127.0.0.1", project.service.port, timeout=30) for _ in range(count)]
    for connection in connections:
        connection.request("GET", f"{project.resources}?limit=0", headers={"Authorization": f"Bearer {project.token}"})
    return connections


@pytest.mark.parametrize("connection", ["stall", None])
def test_a_hundred_that_wait_hold_no_database_connection_and_more_are_refused(
    sandbox: Service, throwaway: Project, connection: str | None
) -> None:
    """Each worker has four connections; the others' requests would wait behind a hundred."""
    other = sandbox.make()
    throwaway.rules({"delayMs": 20_000, **({} if connection is None else {"connection": connection})})
    waiting = waiting_requests(throwaway, sent := WAITS_OF_A_PROJECT + 20)
    try:
        assert wait_for(lambda: throwaway.counts() == [(sent, sent)])
        expected = {"method": "PUT", "withinMs": 10}
        # An expectation may take the place of a request that does not wait yet, and is then refused: send another one.
        while (expecting := throwaway.order("POST", "/requests/expect", expected)).status != 503 and len(waiting) < 500:
            waiting += waiting_requests(throwaway, 1)
        assert expecting.json["message"].startswith(f"{WAITS_OF_A_PROJECT} requests to the project")
        if connection is None:
            assert throwaway.send("GET").status == 503
        for _ in range(20):
            assert other.send("GET", "?limit=0").status == 200
            assert other.create()["version"] == 1
        assert [entry for entry in other.entries("?limit=500") if entry["durationMs"] > 5_000] == []
    finally:
        for each in waiting:
            each.close()
    assert wait_for(lambda: throwaway.order("POST", "/requests/expect", {"method": "PUT"}).status == 409)


CUT = [("stall", "GET", 0), ("truncate", "GET", BODY_BYTES_KEPT), ("truncate", "HEAD", 0)]


@pytest.mark.parametrize(("connection", "method", "length"), CUT)
def test_a_long_answer_that_is_cut_is_kept_in_part(connection: str, method: str, length: int) -> None:
    rule = Rule(0, {"connection": connection})
    answer = with_failing_connection(Response(b"x" * 1_000_000), rule, None, lambda _: None)
    assert answer.headers["Content-Length"] == "1000000"
    sent = iter(answer.get_app_iter({"REQUEST_METHOD": method}))
    received = [next(sent)]
    with pytest.raises(BrokenPipeError):
        received.append(next(sent))
    assert len(b"".join(received)) == length
    assert answer.get_data() == b""


def test_a_stop_ends_what_waits(start_gunicorn: StartGunicorn, cluster: Cluster) -> None:
    settings = {"SANDBOX": "on", "GUNICORN_CMD_ARGS": "--graceful-timeout 60"}
    server: Gunicorn = start_gunicorn("wsgi:app", DATABASE_URL=own_database(cluster), **settings)
    project = Service(server.port).make()
    project.rules(
        {"match": {"method": "GET"}, "times": {"first": 10}, "delayMs": 60_000},
        {"match": {"method": "GET"}, "delayMs": 60_000, "connection": "stall"},
    )
    waiting = waiting_requests(project, 20)
    assert wait_for(lambda: project.counts() == [(20, 10), (10, 10)])
    began = time.monotonic()
    assert server.stop() == 0
    # Long before graceful_timeout, after which the worker would be ended by force.
    assert time.monotonic() - began < 40
    for each in waiting:
        each.close()


def test_the_example_of_each_member_is_taken_and_comes_back(throwaway: Project) -> None:
    properties = throwaway.service.send("GET", "/sandbox/openapi.json").json["components"]["schemas"]["Rule"][
        "properties"
    ]
    members = {name: schema for name, schema in properties.items() if not schema.get("readOnly")}
    assert all(schema["description"] for schema in members.values())
    beside = {
        **{name: {"status": 503} for name in ("phase", "code", "message", "retryAfter")},
        **{name: {"delayMs": 1} for name in ("name", "match", "times")},
    }
    rules = [{name: schema["examples"][0], **beside.get(name, {})} for name, schema in members.items()]
    throwaway.rules(*rules)
    assert len(throwaway.counts()) == len(members)
    assert throwaway.order("GET", "/rules").json["rules"] == [{**rule, "matched": 0, "acted": 0} for rule in rules]
