"""The world of a check: values of its own, resources by whatever way works, requests at once."""

import json
import threading
from collections.abc import Callable

import pytest
from sample_resource_testkit.access import (
    Credentials,
    FixedToken,
    ProjectClient,
    SandboxAccess,
    Vault,
    token_transport,
)
from sample_resource_testkit.outcomes import Failed, NotReachable, Outcome, Skipped
from sample_resource_testkit.registry import load_checks
from sample_resource_testkit.runner import run_case
from sample_resource_testkit.world import Server, World
from stub import Received, Stub, http

RESOURCE = '{"id": "i", "version": 1, "objectTypeProperty": {}}'


def world_of(stub: Stub, label: str = "label", second: str | None = None) -> World:
    return World(Server(stub.transport, FixedToken(Vault(), "t", "p", second), "tag"), label)


def only(method: str, *parts: str) -> Callable[[Received], bytes]:
    """A server that creates by one way alone."""

    def answer(request: Received) -> bytes:
        fits = request.method == method and all(part in request.target + request.body.decode() for part in parts)
        return http(201, RESOURCE) if fits and ("key" in parts or '"key"' not in request.body.decode()) else http(405)

    return answer


@pytest.mark.parametrize(
    ("answer", "has_key"),
    [
        (lambda _: http(201, RESOURCE), True),
        (only("PUT", "key"), True),
        (only("PUT", "key="), True),
        (only("POST"), False),
    ],
)
def test_a_resource_is_made_by_whatever_way_works(
    stub: Stub, answer: Callable[[Received], bytes], has_key: bool
) -> None:
    stub.answer = answer
    world = world_of(stub)
    made = world.make()
    assert (made.id, made.version, bool(made.key)) == ("i", 1, has_key)
    tried = len(stub.received)
    world.make()
    assert len(stub.received) == tried + 1, "the way that worked is tried first"


@pytest.mark.parametrize(
    "answer", [lambda _: http(405), lambda _: None, lambda _: http(200, "[]"), lambda _: http(201)]
)
def test_without_a_way_it_is_not_reachable(stub: Stub, answer: Callable[[Received], "bytes | None"]) -> None:
    stub.answer = answer
    with pytest.raises(NotReachable, match="no way to make a resource works"):
        world_of(stub).make()


def test_racing_requests_are_sent_when_all_connections_are_open(stub: Stub) -> None:
    opened = threading.Barrier(8)

    def answer(request: Received) -> bytes:
        opened.wait(5)
        return http(200, request.body.decode())

    stub.answer = answer
    world = world_of(stub)
    answers = world.race([world.request("POST", body=str(number)) for number in range(8)])
    assert [each.text for each in answers] == [str(number) for number in range(8)]
    assert len(world.exchanges) == 8


def test_a_race_against_nobody_ends() -> None:
    stub = Stub()
    stub.close()
    world = world_of(stub)
    with pytest.raises(Failed):
        world.race([world.request("GET") for _ in range(8)])


@pytest.mark.parametrize(
    "ask",
    [
        lambda world: world.second(),
        lambda world: world.caller("view_test").get(),
        lambda world: world.empty_project(),
        lambda world: world.oauth(),
        lambda world: world.skip("needs luck"),
    ],
)
def test_what_was_not_given_is_skipped(stub: Stub, ask: Callable[[World], object]) -> None:
    with pytest.raises(Skipped, match="needs "):
        ask(world_of(stub))


def granting(request: Received) -> bytes:
    """A token endpoint and a sandbox."""
    if request.target == "/sandbox/projects":
        made = {"projectKey": "sb", "accessToken": "token-of-sb", "clientId": "c", "clientSecret": "s"}
        return http(201, json.dumps(made))
    if request.target.startswith("/oauth/token"):
        scope = request.body.decode().partition("scope=")[2].replace("%3A", ":").replace("+", " ")
        return http(200, json.dumps({"access_token": f"token for {scope}", "scope": scope, "expires_in": 3600}))
    return http(404)


def credentials(stub: Stub) -> Credentials:
    transport, target = token_transport(f"{stub.url}/oauth/token?x=1", stub.transport)
    access = Credentials(transport, target, Vault())
    access.use(ProjectClient("p", "", "id", "secret"), ProjectClient("q", "", "id", "secret", "SECOND"))
    return access


def test_tokens_of_scopes_are_asked_for_once(stub: Stub) -> None:
    stub.answer = granting
    access = credentials(stub)
    assert [access.token(access.project, ("view_test",)) for _ in range(2)] == ["token for view_test:p"] * 2
    assert len(stub.received) == 1
    assert stub.received[0].target == "/oauth/token?x=1"
    assert ("Authorization", "Basic aWQ6c2VjcmV0") in stub.received[0].headers
    assert access.token(access.project).startswith("token for manage_test:p view_test:p")
    assert [line.partition("=")[0] for line in access.shell({"TOKEN", "VIEW_TEST_TOKEN"})] == [
        "CLIENT_SECRET",
        "TOKEN",
        "VIEW_TEST_TOKEN",
    ]


def test_tokens_that_a_check_gets_are_hidden(stub: Stub) -> None:
    stub.answer = granting
    access = credentials(stub)
    world = World(Server(stub.transport, access, "tag"), "label")
    given = world.oauth({"grant_type": "client_credentials", "scope": "manage_test:p"}).at("access_token")
    vault = Vault()
    other = Credentials(access.transport, access.target, vault)
    for token in (given, given):
        other.keep(token)
    assert vault.hide(given) == "$GIVEN_TOKEN_1"
    assert other.shell({"GIVEN_TOKEN_1"}) == [
        "CLIENT_SECRET=...  # the value of --client-secret",
        "GIVEN_TOKEN_1=...  # a new token",
    ]


def test_the_sandbox_makes_projects_and_removes_them(stub: Stub) -> None:
    stub.answer = granting
    transport, target = token_transport(f"{stub.url}/oauth/token", stub.transport)
    access = SandboxAccess(transport, target, Vault(), stub.transport, "a-sandbox-token")
    access.begin()
    assert (access.project.key, access.token(access.project)) == ("sb", "token-of-sb")
    world = World(Server(stub.transport, access, "tag"), "label")
    world.empty_project().get()
    assert ("Authorization", "Bearer token-of-sb") in stub.received[-1].headers
    assert access.shell({"SANDBOX_TOKEN"}) == ["SANDBOX_TOKEN=...  # that of the sandbox"]
    access.close()
    assert [request.line for request in stub.received[-3:]] == ["DELETE /sandbox/projects/sb HTTP/1.1"] * 3
    assert ("Authorization", "Bearer a-sandbox-token") in stub.received[-1].headers


def test_a_503_is_judged_only_if_the_server_answers_one_itself(stub: Stub) -> None:
    server = world_of(stub).server
    (check,) = (each for each in load_checks() if each.clause == "E-26")
    assert run_case(server, check, check.cases[0]).outcome is Outcome.NOT_REACHABLE
    error = '{"statusCode": 503, "message": "m", "errors": [{"code": "OverCapacity", "message": "m"}]}'
    for headers, outcome in ((("Retry-After: 1",), Outcome.PASS), ((), Outcome.FAIL)):
        stub.answer = lambda _, headers=headers: http(503, error, *headers)
        World(server, "label").get("")
        assert run_case(server, check, check.cases[0]).outcome is outcome
