"""Findings over HTTP: those that rest on what the service notes of connections, tokens, heads and ends.

``test_verdicts`` has a scene for each finding, and clients that are right.
"""

import json
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from importlib.resources import files
from typing import Any

import pytest
from sample_resource_sandbox.analysis.clients import NEW_CONNECTIONS
from sample_resource_sandbox.analysis.findings import FINDINGS
from steady_client import SteadyClient, steady_client
from tester import Project, Service, wait_for

from tests.support.pages import Page

Acts = Callable[[SteadyClient], object]

UPDATE: dict[str, Any] = {"actions": [{"action": "doSomeThing"}]}


def rule(client: SteadyClient, **members: Any) -> None:
    client.project.rules({"times": {"first": 1}, **members})


def made(client: SteadyClient, key: str = "one") -> str:
    """The id of a new resource."""
    answer = client.send("POST", "", {"key": key, "objectTypeProperty": {}})
    assert answer.status == 201
    return answer.json["id"]


def token_for_each_request(client: SteadyClient) -> None:
    for _ in range(3):
        client.grant()
        assert client.send("GET", "?limit=0").status == 200


def refused_token(client: SteadyClient) -> None:
    rule(client, expireTokens=True)
    for _ in range(2):
        assert client.send("GET", "?limit=0").status == 401


def overwrite(client: SteadyClient) -> None:
    """The client has read the resource, and another writer comes between."""
    made(client)
    assert client.send("GET", "/key=one").json["version"] == 1
    rule(client, conflict=True)
    assert client.send("PUT", "", {"key": "one", "objectTypeProperty": {"arrayOfIntExample": [1]}}).json["version"] == 3


def connection_each(client: SteadyClient) -> None:
    for _ in range(NEW_CONNECTIONS):
        client.send("GET", "?limit=0")
        client.reconnect()


def gone_before_the_answer(client: SteadyClient) -> None:
    """It closes its connection at once; the service notices as soon as it comes to it."""
    client.project.rules({"delayMs": 20_000})

    def sent_and_gone() -> bool:
        client.project.order("POST", "/reset", {"keep": ["rules"]})
        with socket.create_connection(("127.0.0.1", client.project.service.port), timeout=10) as connection:
            head = f"GET {client.project.resources}?limit=0 HTTP/1.1\r\nHost: localhost\r\n"
            connection.sendall(f"{head}Authorization: Bearer {client.token}\r\n\r\n".encode())
            time.sleep(0.005)  # else it is not served at all
        return bool(wait_for(lambda: [each for each in client.project.entries() if not each["underWay"]], 2)) and any(
            each["findings"] for each in client.project.entries()
        )

    assert wait_for(sent_and_gone)


CASES: dict[str, Acts] = {
    "tokenForEachRequest": token_for_each_request,
    "lostUpdate": overwrite,
    "refusedTokenRepeated": refused_token,
    "connectionForEachRequest": connection_each,
    "missingEncoding": lambda client: client.send("GET", '?where=key="one"'),
    "answerNotRead": gone_before_the_answer,
}


@pytest.mark.parametrize("id_", CASES)
def test_it_is_found(sandbox: Service, id_: str) -> None:
    """On a busy machine, what has to come at once may come too late to be found; then it is done again."""
    found: list[str] = []
    for _ in range(5):
        project = sandbox.make()
        with steady_client(project) as client:
            CASES[id_](client)
        found = [each["id"] for entry in project.entries() for each in entry["findings"]]
        if found:
            break
    assert found == [id_]


def test_requests_that_were_sent_at_once_are_no_reactions_to_one_another(throwaway: Project) -> None:
    """Also if the service answers one before it reads the other."""
    throwaway.rules({"status": 503, "retryAfter": 60})
    with ExitStack() as open_:
        clients = [open_.enter_context(steady_client(throwaway)) for _ in range(8)]
        headers = {"Authorization": f"Bearer {throwaway.token}"}
        for client in clients:
            client.connection.connect()
        for client in clients:
            client.connection.request("GET", throwaway.resources, headers=headers)
        assert {client.connection.getresponse().status for client in clients} == {503}
    assert wait_for(lambda: not any(entry["underWay"] for entry in throwaway.entries()))
    assert [entry["findings"] for entry in throwaway.entries()] == [[]] * 8


def test_a_client_that_revokes_its_tokens_needs_others(throwaway: Project) -> None:
    with steady_client(throwaway) as client:
        for _ in range(3):
            client.grant()
            client.send("GET", "?limit=0")
            made = throwaway.made
            form = f"token={client.token}&client_id={made['clientId']}&client_secret={made['clientSecret']}"
            head = {"Content_Type": "application/x-www-form-urlencoded"}
            assert client.target("POST", "/oauth/revoke", form.encode(), **head).status == 200
    assert [entry["findings"] for entry in throwaway.entries()] == [[]] * 6


def test_a_finding_stands_in_the_entry_that_it_is_about(throwaway: Project) -> None:
    with steady_client(throwaway) as client:
        path = f"/{made(client, 'four')}?version=9"
        assert [client.send("DELETE", path).status for _ in range(2)] == [409, 409]
    (found,) = throwaway.entries()[0]["findings"]
    assert found["detail"] == "Request 2 sent version 9 and was 409."
    assert throwaway.order("GET", "/requests/3").json["findings"] == [found]
    archived = throwaway.order("GET", "/requests.har").json["log"]["entries"]
    assert [each["_findings"] for each in archived] == [[], [], [found]]


def test_an_entry_names_the_request_that_it_repeats(throwaway: Project) -> None:
    with steady_client(throwaway) as client:
        rule(client, status=503)
        client.send("GET", "?limit=0")
        assert client.send("GET", "?limit=0").status == 200
        path = f"/{made(client)}"
        version = client.send("POST", path, {"version": 9, **UPDATE}).json["errors"][0]["currentVersion"]
        assert client.send("POST", path, {"version": version, **UPDATE}).status == 200
        client.send("GET", "?limit=3")
    assert [entry["repeats"] for entry in reversed(throwaway.entries())] == [None, 1, None, None, 4, None]


def test_the_clauses_that_they_name_are_there() -> None:
    named = {number for finding in FINDINGS for number in finding.clauses}
    clauses = json.loads((files("app.openapi") / "specification.json").read_text("utf-8"))
    assert named <= {each["clause"] for each in clauses}


def test_the_page_lists_them() -> None:
    rows = [tuple(row) for row in Page("docs/workbench/sandbox-reference.md").rows("Findings")]
    rows = [(title, id_, instead) for title, id_, _, instead, _ in rows]
    assert rows == [(finding.title, finding.id, finding.instead) for finding in FINDINGS]
