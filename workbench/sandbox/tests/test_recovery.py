"""Clients that recover from faults, over HTTP: what the journal shows of them, also while they wait, and the report.

What is judged from which sequence stands in ``test_verdicts``.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from typing import Any

import pytest
from journals import stories_in
from sample_resource_sandbox.faults.conflicts import OTHER_WRITER
from steady_client import steady_client
from tester import Project, wait_for

UPDATE: dict[str, Any] = {"actions": [{"action": "doSomeThing"}]}


def recovery_of(project: Project) -> list[tuple[str, list[int], str]]:
    return stories_in(project.order("GET", "/report").json)


def nothing_is_said_against(project: Project) -> None:
    report = project.order("GET", "/report").json
    worse = [story for story in report["stories"] if story["outcome"] == "madeWorse"]
    assert (report["findings"], worse) == ([], [])


@pytest.mark.parametrize(
    "effect",
    [
        {"phase": "after", "connection": "stall", "delayMs": 60_000},
        {"phase": "after", "delayMs": 60_000},
        {"phase": "after", "delayMs": 60_000, "status": 503},
    ],
)
def test_a_client_that_gives_up_waiting_and_looks(throwaway: Project, effect: dict[str, Any]) -> None:
    made = throwaway.create(key="one")
    throwaway.rules({"match": {"method": "POST"}, "times": {"first": 1}, **effect})
    path = f"{throwaway.resources}/{made['id']}"
    headers = {"Authorization": f"Bearer {throwaway.token}", "Content-Type": "application/json"}
    with closing(HTTPConnection("127.0.0.1", throwaway.service.port, timeout=30)) as connection:
        connection.request("POST", path, '{"version": 1, "actions": []}', headers)

        def decided() -> Any:
            first = throwaway.entries()[0]
            return first if first["number"] == 2 and first["response"] else None

        waiting = wait_for(decided)
        assert (waiting["underWay"], waiting["endedAt"], waiting["durationMs"]) == (True, None, None)
        assert waiting["request"]["body"]["size"] > 0
        assert recovery_of(throwaway) == []
    assert throwaway.send("GET", f"/{made['id']}").status == 200
    ended = wait_for(lambda: [each for each in throwaway.entries() if each["number"] == 2 and not each["underWay"]])
    assert ended[0]["clientGone"] is True
    assert ended[0]["endedAt"] is not None
    assert [each["request"]["method"] for each in throwaway.entries()] == ["GET", "POST", "POST"]
    assert recovery_of(throwaway) == [("lost", [2, 3], "recovered")]


def test_who_gives_up_before_anything_was_carried_out_changes_nothing(throwaway: Project) -> None:
    throwaway.rules({"match": {"method": "POST"}, "delayMs": 60_000})
    headers = {"Authorization": f"Bearer {throwaway.token}", "Content-Type": "application/json"}
    with closing(HTTPConnection("127.0.0.1", throwaway.service.port, timeout=30)) as connection:
        connection.request("POST", throwaway.resources, '{"objectTypeProperty": {}}', headers)
        assert wait_for(lambda: throwaway.counts() == [(1, 1)])
    (entry,) = wait_for(lambda: [each for each in throwaway.entries() if not each["underWay"]])
    assert (entry["clientGone"], entry["rule"]["carriedOut"], entry["response"]) == (True, False, None)
    assert entry["outcome"].startswith("the client closed the connection before its answer, ")
    assert throwaway.order("POST", "/requests/expect", {"status": 503, "times": 0}).status == 200
    assert throwaway.listing() == []


@pytest.mark.parametrize(
    ("method", "own"),
    [
        ("POST", lambda made, version: (f"/{made['id']}", {"version": version, **UPDATE})),
        ("PUT", lambda _, version: ("", {"key": "one", "version": version, "objectTypeProperty": {}})),
        ("PATCH", lambda _, version: ("", {"key": "one", "version": version, "objectTypeProperty": {}})),
        ("DELETE", lambda made, version: (f"/{made['id']}?version={version}", None)),
    ],
)
def test_another_writer_comes_first(throwaway: Project, method: str, own: Any) -> None:
    made = throwaway.create(key="one", objectTypeProperty={"arrayOfIntExample": [1]})
    throwaway.rules({"name": "race", "times": {"first": 1}, "conflict": True})
    with steady_client(throwaway) as client:
        assert client.send("GET", "?limit=1").status == 200
        path, body = own(made, 1)
        refused = client.send(method, path, body)
        assert (refused.status, refused.headers["X-Sandbox-Rule"]) == (409, "race")
        version = refused.json["errors"][0]["currentVersion"]
        assert version == 2
        current = client.send("GET", f"/{made['id']}").json
        assert current["lastModifiedBy"]["id"] == OTHER_WRITER
        kept = {name for name in made if name not in ("version", "lastModifiedAt", "lastModifiedBy")}
        assert {name: current[name] for name in kept} == {name: made[name] for name in kept}
        path, body = own(made, version)
        assert client.send(method, path, body).status == 200
    assert throwaway.counts() == [(2, 1)]
    assert recovery_of(throwaway) == [("409", [3, 5], "recovered")]
    nothing_is_said_against(throwaway)


def test_another_writer_needs_a_resource_and_comes_before_a_write_without_a_version(throwaway: Project) -> None:
    made = throwaway.create(key="one")
    throwaway.rules({"conflict": True})
    assert throwaway.send("GET", f"/{made['id']}").status == 200
    for missing in (
        throwaway.send("DELETE", "/018cc251-f400-7000-8000-000000000001?version=1"),
        throwaway.send("PUT", "", {"key": "two", "version": 1, "objectTypeProperty": {}}),
        throwaway.send("POST", "", {"objectTypeProperty": {}}),
    ):
        assert missing.status in (201, 404)
        assert "X-Sandbox-Rule" not in missing.headers
    assert throwaway.counts() == [(0, 0)]
    assert throwaway.send("PUT", "", {"key": "one", "objectTypeProperty": {}}).json["version"] == 2
    assert throwaway.send("DELETE", f"/{made['id']}", headers={"If-Match": '"2"'}).status == 412
    assert throwaway.send("DELETE", f"/{made['id']}").json["version"] == 4
    assert throwaway.counts() == [(3, 3)]


def test_another_writer_does_not_come_before_a_request_without_the_right_to_write(throwaway: Project) -> None:
    made, own = throwaway.create(key="one"), throwaway.token
    throwaway.rules({"conflict": True}, {"times": {"after": 9}, "status": 503})
    throwaway.made["accessToken"] = "bad"
    assert throwaway.send("DELETE", f"/{made['id']}?version=1").status == 401
    assert throwaway.send("PUT", f"/{made['id']}/nothing?version=1", UPDATE).status == 404
    throwaway.made["accessToken"] = own
    assert throwaway.send("GET", f"/{made['id']}").json["version"] == 1
    assert throwaway.counts() == [(0, 0), (3, 0)]


def test_entries_are_numbered_by_arrival(throwaway: Project) -> None:
    throwaway.rules({"match": {"method": "HEAD"}, "delayMs": 500})
    with ThreadPoolExecutor(1) as pool:
        pool.submit(throwaway.send, "HEAD")
        assert wait_for(lambda: throwaway.counts() == [(1, 1)])
        throwaway.send("GET", "?limit=0")
        assert [each["underWay"] for each in throwaway.entries()] == [False, True]
    assert [each["request"]["method"] for each in reversed(throwaway.entries())] == ["HEAD", "GET"]


@pytest.mark.parametrize(("sent", "current"), [("7", 8), ("1e999", 1), ("9" * 5000, 1), (str(2**63 - 1), 1)])
def test_an_ordered_409_has_a_version_above_the_one_that_was_sent(throwaway: Project, sent: str, current: int) -> None:
    throwaway.rules({"status": 409})
    body = f'{{"version": {sent}, "objectTypeProperty": {{}}}}'.encode()
    assert throwaway.send("PUT", "", raw=body).json["errors"][0]["currentVersion"] == current


def test_threads_with_connections_of_their_own_have_no_connection_for_each_request(throwaway: Project) -> None:
    with ExitStack() as open_:
        for number in range(8):
            assert open_.enter_context(steady_client(throwaway)).send("GET", f"?limit={number}").status == 200
    nothing_is_said_against(throwaway)


def test_clients_that_are_right_beside_one_another(throwaway: Project) -> None:
    """Threads with connections of their own, and connections that are closed after each request."""
    made = throwaway.create(key="one")
    throwaway.rules(
        # The delay makes the requests overlap on a busy machine, too: so the sandbox sees that the client has threads.
        {"match": {"path": "/resource", "method": "GET"}, "times": {"first": 6}, "status": 503, "retryAfter": 1,
         "delayMs": 2000},
    )  # fmt: skip

    def reader(_: int) -> int:
        with steady_client(throwaway) as client:
            while (status := client.send("GET", "?limit=0").status) == 503:
                time.sleep(1.05)
            return status

    def writer(_: int) -> int:
        with steady_client(throwaway) as client:
            version = 1
            while (answer := client.send("POST", f"/{made['id']}", changed(version))).status == 409:
                version = answer.json["errors"][0]["currentVersion"]
            return answer.status

    def one_by_one(_: int) -> int:
        statuses = [throwaway.send("GET", f"/{made['id']}", headers={"Connection": "close"}).status for _ in range(8)]
        return max(statuses)

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(reader, range(6))) == {200}
        assert set(pool.map(writer, range(6))) == {200}
        assert set(pool.map(one_by_one, range(2))) == {200}
    nothing_is_said_against(throwaway)


def changed(version: int) -> dict[str, Any]:
    return {"version": version, "actions": [{"action": "changeSomeProperty", "someProperty": str(version)}]}
