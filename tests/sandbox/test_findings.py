"""Findings: for each a client that provokes it, and one that comes near to it and does nothing wrong."""

import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from app.sandbox.analysis.coverage import clauses
from app.sandbox.analysis.findings import FINDINGS
from app.sandbox.analysis.observer import KEPT_ALIVE_S
from tests.support.pages import ROOT, Page
from tests.support.sandbox import Project, wait_for
from tests.support.steady_client import LOST, SteadyClient, steady_client

Acts = Callable[[SteadyClient], None]

UPDATE: dict[str, Any] = {"actions": [{"action": "doSomeThing"}]}


def rule(client: SteadyClient, **members: Any) -> None:
    client.project.rules({"times": {"first": 1}, **members})


def made(client: SteadyClient, key: str = "one") -> str:
    """The id of a new resource."""
    answer = client.send("POST", "", {"key": key, "objectTypeProperty": {}})
    assert answer.status == 201
    return answer.json["id"]


# Tokens


def token_for_each_request(client: SteadyClient) -> None:
    for _ in range(3):
        client.grant()
        assert client.send("GET", "?limit=0").status == 200


def token_for_many_requests(client: SteadyClient) -> None:
    client.grant()
    for _ in range(3):
        client.send("GET", "?limit=0")
    client.project.order("PUT", "/clock", {"offsetSeconds": 172_700})  # shortly before the token expires
    client.grant()
    client.send("GET", "?limit=0")


def token_renewed_early(client: SteadyClient) -> None:
    client.grant()
    client.send("GET", "?limit=0")
    client.send("GET", "?limit=0")
    client.grant()


def token_renewed_when_refused(client: SteadyClient) -> None:
    client.grant()
    client.send("GET", "?limit=0")
    rule(client, expireTokens=True)
    assert client.send("GET", "?limit=0").status == 401
    client.grant()
    assert client.send("GET", "?limit=0").status == 200


# Repetitions


def retry_at_once(client: SteadyClient) -> None:
    rule(client, status=503, retryAfter=60)
    client.send("GET", "?limit=0")
    assert client.send("GET", "?limit=0").status == 200


def retry_in_time(client: SteadyClient) -> None:
    rule(client, status=503, retryAfter=1)
    client.send("GET", "?limit=0")
    time.sleep(1.05)
    assert client.send("GET", "?limit=0").status == 200


def create_twice(client: SteadyClient) -> None:
    rule(client, phase="after", connection="close")
    assert client.send("POST", "", {"objectTypeProperty": {}}) is LOST
    assert client.send("POST", "", {"objectTypeProperty": {}}).status == 201


def create_twice_with_key(client: SteadyClient) -> None:
    rule(client, phase="after", connection="close")
    body = {"key": "one", "objectTypeProperty": {}}
    assert client.send("POST", "", body) is LOST
    assert client.send("POST", "", body).status == 200


def stale_version(client: SteadyClient) -> None:
    path = f"/{made(client)}"
    for _ in range(2):
        assert client.send("POST", path, {"version": 9, **UPDATE}).status == 409


def current_version(client: SteadyClient) -> None:
    path = f"/{made(client)}"
    refused = client.send("POST", path, {"version": 9, **UPDATE})
    version = refused.json["errors"][0]["currentVersion"]
    assert client.send("POST", path, {"version": version, **UPDATE}).status == 200


def refused_twice(client: SteadyClient) -> None:
    for _ in range(2):
        assert client.send("GET", "?limit=-1").status == 400


def refused_and_mended(client: SteadyClient) -> None:
    client.send("GET", "?limit=-1")
    assert client.send("GET", "?limit=1").status == 200


# Connections


def connection_each(client: SteadyClient) -> None:
    for _ in range(3):
        client.send("GET", "?limit=0")
        client.reconnect()


def connection_closed_by_server(client: SteadyClient) -> None:
    client.project.rules({"connection": "close"})
    for _ in range(4):
        client.send("GET", "?limit=0")


def gone_before_the_answer(client: SteadyClient) -> None:
    rule(client, delayMs=700)
    with socket.create_connection(("127.0.0.1", client.project.service.port), timeout=10) as connection:
        head = f"GET {client.project.resources}?limit=0 HTTP/1.1\r\nHost: localhost\r\n"
        connection.sendall(f"{head}Authorization: Bearer {client.token}\r\n\r\n".encode())
        assert wait_for(lambda: client.project.counts() == [(1, 1)])
    # The answer is due when the delay is over, and the entry is written then.
    assert wait_for(client.project.entries)


def slow_answer(client: SteadyClient) -> None:
    rule(client, delayMs=100)
    assert client.send("GET", "?limit=0").status == 200


# Values


def text_for_a_number(client: SteadyClient) -> None:
    client.send("POST", "", {"objectTypeProperty": {"arrayOfIntExample": [1, "2"]}})


def text_for_a_text(client: SteadyClient) -> None:
    client.send("POST", "", {"key": "22", "objectTypeProperty": {"arrayOfStringExample": ["2"]}})


def boolean_of_python(client: SteadyClient) -> None:
    assert client.send("GET", "/sorted-query-parameters?withTotal=False").status == 200


def boolean(client: SteadyClient) -> None:
    assert client.send("GET", "/sorted-query-parameters?withTotal=false").status == 200
    client.send("GET", "?arrayOfString=True")


def needless_encoding(client: SteadyClient) -> None:
    client.send("GET", "/key=%6Fne")


def needed_encoding(client: SteadyClient) -> None:
    client.send("GET", "/key=a%2Fb")
    client.send("GET", "?arrayOfString=a%20b%25")


def missing_encoding(client: SteadyClient) -> None:
    client.send("GET", '?where=key="one"')


def all_that_needs_no_encoding(client: SteadyClient) -> None:
    client.send("GET", "?arrayOfString=a-._~!$'()*,;:@/?")


# Lists


def page_for_one(client: SteadyClient) -> None:
    ids = [made(client, key) for key in ("one", "two", "three")]
    client.send("GET", "/sorted-query-parameters?limit=500")
    client.send("GET", f"/{ids[1]}")
    client.send("GET", "?limit=1")


def page_for_all(client: SteadyClient) -> None:
    ids = [made(client, key) for key in ("one", "two", "three")]
    client.send("GET", "/sorted-query-parameters?limit=500")
    for each in ids:
        client.send("GET", f"/{each}")
    client.send("GET", "?limit=1")


def offset_too_large(client: SteadyClient) -> None:
    client.send("GET", "?offset=10020")


def largest_offset(client: SteadyClient) -> None:
    assert client.send("GET", "?offset=10000").status == 200


# Headers and bodies


def retired_header(client: SteadyClient) -> None:
    client.send("GET", "?limit=0", X_Vrap_Disable_Validation="true")


def other_header(client: SteadyClient) -> None:
    client.send("GET", "?limit=0", X_Correlation_ID="my-app-12345")


def body_on_get(client: SteadyClient) -> None:
    client.send("GET", "?limit=0", {"limit": 0})


def body_on_post(client: SteadyClient) -> None:
    client.form("/product-projection-search", "limit=0")


CASES: dict[str, tuple[Acts, Acts]] = {
    "tokenForEachRequest": (token_for_each_request, token_for_many_requests),
    "tokenRenewedEarly": (token_renewed_early, token_renewed_when_refused),
    "retryBeforeRetryAfter": (retry_at_once, retry_in_time),
    "unsafeRepetition": (create_twice, create_twice_with_key),
    "staleVersionRepeated": (stale_version, current_version),
    "refusedRequestRepeated": (refused_twice, refused_and_mended),
    "connectionForEachRequest": (connection_each, connection_closed_by_server),
    "numberAsText": (text_for_a_number, text_for_a_text),
    "booleanInOtherCase": (boolean_of_python, boolean),
    "needlessEncoding": (needless_encoding, needed_encoding),
    "missingEncoding": (missing_encoding, all_that_needs_no_encoding),
    "pageForOneResult": (page_for_one, page_for_all),
    "offsetTooLarge": (offset_too_large, largest_offset),
    "retiredHeader": (retired_header, other_header),
    "bodyOnGet": (body_on_get, body_on_post),
    "answerNotRead": (gone_before_the_answer, slow_answer),
}


def found_after(project: Project, acts: Acts) -> list[str]:
    with steady_client(project) as client:
        acts(client)
    return [found["id"] for entry in project.entries() for found in entry["findings"]]


def test_each_finding_has_its_cases() -> None:
    assert list(CASES) == [finding.id for finding in FINDINGS]


@pytest.mark.parametrize("id_", CASES)
def test_it_is_found(throwaway: Project, id_: str) -> None:
    assert found_after(throwaway, CASES[id_][0]) == [id_]


@pytest.mark.parametrize("id_", CASES)
def test_nothing_is_found_near_to_it(throwaway: Project, id_: str) -> None:
    assert found_after(throwaway, CASES[id_][1]) == []


def test_a_finding_stands_in_the_entry_that_it_is_about(throwaway: Project) -> None:
    with steady_client(throwaway) as client:
        page_for_one(client)
        path = f"/{made(client, 'four')}?version=9"
        assert [client.send("DELETE", path).status for _ in range(2)] == [409, 409]
    found = {entry["number"]: entry["findings"] for entry in throwaway.entries() if entry["findings"]}
    assert list(found) == [9, 4]
    assert found[9][0]["detail"] == "Request 8 sent version 9 and was 409."
    assert found[9][0]["title"] == "A 409 answered by the same version"
    assert found[9][0]["instead"].startswith("Read the resource")
    assert found[4][0]["detail"].startswith("Of its 3 results only ")
    assert throwaway.order("GET", "/requests/9").json["findings"] == found[9]
    archived = throwaway.order("GET", "/requests.har").json["log"]["entries"]
    assert [each["_findings"] for each in archived if each["_number"] == 9] == [found[9]]


def test_connections_of_different_programs_are_told_apart(throwaway: Project) -> None:
    with steady_client(throwaway) as client:
        for program in ("curl", "my-client", "curl"):
            client.send("GET", "?limit=0", User_Agent=program)
            client.reconnect()
    assert [entry["findings"] for entry in throwaway.entries()] == [[], [], []]


def test_an_entry_names_the_request_that_it_repeats(throwaway: Project) -> None:
    with steady_client(throwaway) as client:
        retry_at_once(client)
        current_version(client)
        client.send("GET", "?limit=3")
    assert [entry["repeats"] for entry in reversed(throwaway.entries())] == [None, 1, None, None, 4, None]


def test_a_narrowed_list_has_the_findings_that_need_the_other_entries(throwaway: Project) -> None:
    with steady_client(throwaway) as client:
        retry_at_once(client)
    (entry,) = throwaway.entries("?status=200")
    assert [found["id"] for found in entry["findings"]] == ["retryBeforeRetryAfter"]


def test_the_clauses_that_they_name_are_there() -> None:
    named = {number for finding in FINDINGS for number in finding.clauses}
    assert named <= {clause.number for clause in clauses()}


def test_idle_connections_are_kept_as_long_as_the_finding_says() -> None:
    # Its import would make this process run greenlets.
    settings = (ROOT / "app" / "serving" / "gunicorn_settings.py").read_text()
    assert f"\nkeepalive = {KEPT_ALIVE_S:.0f}\n" in settings


def test_the_page_lists_them() -> None:
    rows = [row[:3] for row in Page("docs/sandbox.md").rows("Findings")]
    assert rows == [[finding.title, finding.seen, finding.instead] for finding in FINDINGS]
