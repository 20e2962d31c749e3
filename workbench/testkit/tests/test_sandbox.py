"""What goes out to the sandbox, to a server of a few lines."""

import json
from datetime import UTC, datetime

import pytest
from sample_resource_testkit.journal import told
from sample_resource_testkit.sandbox import SandboxError, SandboxProject, SandboxServer
from stub import Received, Stub, http

MADE = {"projectKey": "sb", "accessToken": "t", "clientId": "c", "clientSecret": "s", "scope": "view_test:sb"}


def entry(number: int) -> dict[str, object]:
    request = {"method": "GET", "target": f"/sb/resource?limit={number}", "headers": [], "body": None}
    return {
        "number": number,
        "request": request,
        "response": {"status": 200, "headers": []},
        "rule": None,
        "outcome": "200",
    }


def answer(request: Received) -> bytes:
    """A sandbox with 1,000 entries in its journal, the newest of which has the number 1,000."""
    path, _, query = request.target.partition("?")
    if path.endswith("/sandbox/projects"):
        return http(201, json.dumps(MADE))
    if path.endswith("/requests"):
        asked = dict(pair.split("=") for pair in query.split("&"))
        first, count = 1000 - int(asked["offset"]), int(asked["limit"])
        return http(200, json.dumps({"results": [entry(number) for number in range(first, max(0, first - count), -1)]}))
    if path.endswith("/report"):
        return http(200, '{"clauses": []}')
    return http(204)


@pytest.fixture
def project(stub: Stub) -> SandboxProject:
    stub.answer = answer
    return SandboxServer(f"{stub.url}/base/", "a-sandbox-token").make_project(resources=3, copyOf="other")


def test_a_project_is_ordered_with_the_token_of_the_sandbox(stub: Stub, project: SandboxProject) -> None:
    (request,) = stub.received
    assert request.line == "POST /base/sandbox/projects HTTP/1.1"
    assert json.loads(request.body) == {"resources": 3, "copyOf": "other"}
    assert {("Authorization", "Bearer a-sandbox-token"), ("Content-Type", "application/json")} <= set(request.headers)
    assert (project.url, project.token_url) == (f"{stub.url}/base/sb", f"{stub.url}/base/oauth/token")
    assert repr(project) == f"<SandboxProject {stub.url}/base/sb>"


def test_a_long_journal_is_read_whole(stub: Stub, project: SandboxProject) -> None:
    entries = project.journal(method="GET")
    assert [found.number for found in entries] == list(range(1000, 0, -1))
    assert [request.target.partition("?")[2] for request in stub.received[1:]] == [
        "method=GET&limit=500&offset=0",
        "method=GET&limit=500&offset=500",
    ]
    assert told(entries[-2:]) == "1: GET /resource?limit=1 -> 200\n2: GET /resource?limit=2 -> 200"


def test_orders_are_those_of_the_documented_routes(stub: Stub, project: SandboxProject) -> None:
    project.rules([{"status": 503}])
    project.clock(now=datetime(2030, 1, 1, tzinfo=UTC), runs=False)
    with pytest.raises(ValueError, match="needs a time zone"):
        project.clock(datetime(2030, 1, 1))  # noqa: DTZ001 -- it is refused
    project.clock(offset_seconds=60)
    project.clock()
    project.ids(7)
    project.reset(keep=["rules"])
    assert project.report() == {"clauses": []}
    project.remove()
    sent = [
        (request.method, request.target.removeprefix("/base/sandbox/projects/sb"), json.loads(request.body or b"null"))
        for request in stub.received[1:]
    ]
    assert sent == [
        ("PUT", "/rules", {"rules": [{"status": 503}]}),
        ("PUT", "/clock", {"now": "2030-01-01T00:00:00.000Z", "runs": False}),
        ("PUT", "/clock", {"offsetSeconds": 60}),
        ("PUT", "/clock", {}),
        ("PUT", "/ids", {"seed": 7}),
        ("GET", "/requests?limit=500&offset=0", None),
        ("GET", "/requests?limit=500&offset=500", None),
        ("POST", "/reset", {"keep": ["rules"]}),
        ("GET", "/report", None),
        ("DELETE", "", None),
    ]


def test_a_refusal_shows_the_answer(stub: Stub, project: SandboxProject) -> None:
    stub.answer = lambda _: http(400, '{"message": "no"}')
    with pytest.raises(SandboxError, match=r'^PUT http://.*/sb/rules was answered 400: \{"message": "no"\}$'):
        project.rules([])


def test_a_redirect_is_told_and_not_followed(stub: Stub, project: SandboxProject) -> None:
    before = len(stub.received)
    stub.answer = lambda _: http(307, "", f"Location: {stub.url}/elsewhere")
    with pytest.raises(SandboxError, match=r"^GET http://.*/sb/report was answered 307"):
        project.report()
    assert len(stub.received) == before + 1


def test_a_server_that_does_not_answer_is_told(stub: Stub, project: SandboxProject) -> None:
    stub.answer = lambda _: None
    with pytest.raises(SandboxError, match=r"GET .* was not answered: "):
        project.report()
