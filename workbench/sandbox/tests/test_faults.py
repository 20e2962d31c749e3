"""What replaces or removes a whole sandbox project, beside clients that write into it."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import Any
from urllib.parse import urlencode

import psutil
import pytest

from tests.faults.attackers import Attackers, Kind, ordinary_client
from tests.faults.conftest import report as report
from tests.faults.reports import Report
from tests.faults.service import Answer, Service
from tests.faults.test_connections import P99_S

pytestmark = [pytest.mark.slow, pytest.mark.faults]

RESOURCES = 3_000
RUNS = 4


@pytest.fixture(scope="module")
def sandboxed() -> Iterator[Service]:
    """A service with the sandbox, which has one worker, for all tests of the file."""
    started = Service(SANDBOX="on", WORKERS="1")
    yield started
    started.remove()


class Project:
    """A sandbox project with its client."""

    def __init__(self, service: Service, **order: Any) -> None:
        made = service.request("POST", "/sandbox/projects", order)
        assert made.status == 201, made
        self.service = service
        self.key: str = made.json()["projectKey"]
        self.token: str = made.json()["accessToken"]
        self.client: str = made.json()["clientId"]
        self.secret: str = made.json()["clientSecret"]

    def send(self, method: str, path: str = "", body: Any = None) -> Answer:
        return self.service.request(method, f"/{self.key}/resource{path}", body, self.token)

    def order(self, method: str, path: str = "", body: Any = None) -> Answer:
        return self.service.request(method, f"/sandbox/projects/{self.key}{path}", body)

    def execute(self, statement: Any) -> list[tuple[Any, ...]]:
        with self.service.database() as connection:
            return connection.execute(statement, (self.key,)).fetchall()


def test_the_journal_goes_on_when_a_server_that_was_replaced_never_answers_again(sandboxed: Service) -> None:
    """As a primary that is frozen: its sessions stay open and say nothing, and new ones find the one in its place."""
    project = Project(sandboxed)
    assert project.send("GET").status == 200
    assert project.order("GET", "/requests").status == 200
    with sandboxed.database() as connection:
        pids = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'sample-resource'"
        ).fetchall()
    frozen = [psutil.Process(pid) for (pid,) in pids]
    for session in frozen:
        session.suspend()
    try:
        sandboxed.wait_until(lambda: project.send("GET", "/key=after").status == 404, within_s=40)
        sandboxed.wait_until(lambda: "/key=after" in project.order("GET", "/requests").body.decode(), within_s=40)
    finally:
        for session in frozen:
            with suppress(psutil.NoSuchProcess):
                session.resume()


class Writers:
    """Clients that take keys of the project's copy as fast as they can."""

    def __init__(self, project: Project, keys: list[str], number: int = 4) -> None:
        self._project = project
        self._keys = keys
        self._over = threading.Event()
        self.answers: list[tuple[float, float, str, Answer]] = []
        """When each was sent and answered, its key, and the answer."""
        self._threads = [threading.Thread(target=self._write, args=(each, number)) for each in range(number)]

    def __enter__(self) -> "Writers":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _write(self, first: int, step: int) -> None:
        for key in self._keys[first::step]:
            if self._over.is_set():
                return
            began = time.monotonic()
            body = {"key": key, "objectTypeProperty": {"arrayOfStringExample": ["taken"]}}
            answer = self._project.send("POST", "", body)
            self.answers.append((began, time.monotonic(), key, answer))


@pytest.mark.parametrize("what", ["reset", "resetOfCopy"])
def test_a_reset_loses_no_resource_whatever_is_written_meanwhile(sandboxed: Service, report: Report, what: str) -> None:
    project = Project(sandboxed, resources=RESOURCES)
    if what == "resetOfCopy":
        project = Project(sandboxed, copyOf=project.key)
    copied = project.execute(
        "SELECT stored ->> 'key' FROM sandbox_copy WHERE project_key = %s AND stored ->> 'key' IS NOT NULL"
    )
    keys = [row[0] for row in copied]
    written = waited = 0
    for _ in range(RUNS):
        project.execute("DELETE FROM resource WHERE project_key = %s RETURNING id")
        with Writers(project, keys) as writers:
            time.sleep(0.3)
            began = time.monotonic()
            assert project.order("POST", "/reset").status == 204
            done = time.monotonic()
            time.sleep(0.3)
        missing = project.execute(
            "SELECT c.id FROM sandbox_copy c WHERE c.project_key = %s AND NOT EXISTS ("
            " SELECT FROM resource r WHERE r.project_key = c.project_key AND r.id = c.id)"
        )
        assert missing == []
        assert project.order("GET").json()["resources"] == RESOURCES, "a key of the copy was free for others"
        assert {each[3].status for each in writers.answers} <= {200, 201}
        # A write that was sent after the reset has changed the resource of the copy, and stays.
        changed = {key for began_at, _, key, _ in writers.answers if began_at > done}
        there = dict(project.execute("SELECT key, version FROM resource WHERE project_key = %s AND key IS NOT NULL"))
        of_copy = dict(
            project.execute(
                "SELECT stored ->> 'key', (stored ->> 'version')::bigint FROM sandbox_copy"
                " WHERE project_key = %s AND stored ->> 'key' > ''"
            )
        )
        lost = {key for key in changed if there[key] != of_copy[key] + 1}
        gone = {key for _, ended, key, _ in writers.answers if ended < began and there[key] != of_copy[key]}
        assert (lost, gone) == (set(), set())
        written += len(writers.answers)
        waited = max(waited, *(ended - begun for begun, ended, _, _ in writers.answers))
    report(f"{written} writes beside {RUNS} times, the longest took {waited:.1f} s")
    assert project.order("DELETE").status == 204


TABLES = (
    "resource", "resource_count", "sandbox_copy", "word", "sandbox_project", "sandbox_ids",
)  # fmt: skip


def test_nothing_is_written_after_a_project_is_removed(sandboxed: Service, report: Report) -> None:
    statuses: list[int | None] = []
    for run in range(6):
        project = Project(sandboxed, projectKey="removed-again", ids={"seed": run}, resources=50)
        rule = {"match": {"method": "POST"}, "delayMs": 100 * run + 1}
        assert project.order("PUT", "/rules", {"rules": [rule]}).status == 204
        body = {"objectTypeProperty": {"arrayOfStringExample": [f"new words of run {run}"]}}
        with ThreadPoolExecutor(40) as pool:
            sent = [pool.submit(project.send, "POST", "", body) for _ in range(20)]
            sent += [pool.submit(project.send, "PUT", "", {"key": f"k{each}", **body}) for each in range(20)]
            time.sleep(0.1 * run)
            assert project.order("DELETE").status == 204
            later = project.execute(_ROWS)
            statuses += [each.result().status for each in sent]
        assert set(statuses) <= {200, 201, 401, 404}
        assert (later, project.execute(_ROWS)) == ([], [])
    report(", ".join(f"{statuses.count(each)} times {each}" for each in sorted(set(statuses), key=str)))


_ROWS = (
    "SELECT * FROM (VALUES (%s)) p (key), LATERAL ("
    + " UNION ALL ".join(
        f"SELECT '{table}', count(*) FROM {table} WHERE project_key = p.key HAVING count(*) > 0" for table in TABLES
    )
    + ") found"
)


@pytest.mark.parametrize("days", [1, 9, 400, 3650])
def test_tokens_of_a_removed_project_are_refused_whatever_its_clock_was(sandboxed: Service, days: int) -> None:
    """Also after somebody has made a project with the same key."""
    project = Project(sandboxed)
    assert project.order("PUT", "/clock", {"offsetSeconds": days * 86_400}).status == 204
    form = urlencode({"grant_type": "client_credentials", "client_id": project.client, "client_secret": project.secret})
    with closing(http.client.HTTPConnection("127.0.0.1", sandboxed.port, timeout=15)) as connection:
        connection.request("POST", "/oauth/token", form, {"Content-Type": "application/x-www-form-urlencoded"})
        project.token = json.loads(connection.getresponse().read())["access_token"]
    assert project.send("GET").status == 200
    assert project.order("DELETE").status == 204
    assert {project.send("GET").status for _ in range(4)} == {401}
    Project(sandboxed, projectKey=project.key)
    assert {project.send("GET").status for _ in range(4)} == {401}


def delayed_requests(service: Service) -> Kind:
    """Requests of a sandbox project that its rules delay by a minute; the hundred that wait are answered at its end."""
    project = service.request("POST", "/sandbox/projects", {}).json()
    key = project["projectKey"]
    answer = service.request("PUT", f"/sandbox/projects/{key}/rules", {"rules": [{"delayMs": 60000}]})
    assert answer.status == 204, answer
    request = (
        f"GET /{key}/resource HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {project['accessToken']}\r\n\r\n"
    )
    return Kind("delayed", request.encode(), b"")


def test_800_requests_that_the_sandbox_delays_keep_nobody_from_being_served(sandboxed: Service, report: Report) -> None:
    token = sandboxed.token("manage_test:demo")
    with Attackers(sandboxed.port, delayed_requests(sandboxed), 800):
        seen = ordinary_client(sandboxed.port, "/demo/resource?limit=1", token, 5.0)
    report(f"{seen.count} answers, median {seen.median * 1000:.0f} ms, p99 {seen.p99 * 1000:.0f} ms")
    assert seen.failed == 0
    assert seen.p99 < P99_S
