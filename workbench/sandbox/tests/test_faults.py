"""What replaces or removes a whole sandbox project, beside clients that write into it."""

import threading
import time
from collections.abc import Iterator
from typing import Any

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

    def send(self, method: str, path: str = "", body: Any = None) -> Answer:
        return self.service.request(method, f"/{self.key}/resource{path}", body, self.token)

    def order(self, method: str, path: str = "", body: Any = None) -> Answer:
        return self.service.request(method, f"/sandbox/projects/{self.key}{path}", body)

    def execute(self, statement: Any) -> list[tuple[Any, ...]]:
        with self.service.database() as connection:
            return connection.execute(statement, (self.key,)).fetchall()


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


@pytest.mark.parametrize("is_copy", [False, True])
def test_a_reset_loses_no_resource_whatever_is_written_meanwhile(
    sandboxed: Service, report: Report, is_copy: bool
) -> None:
    project = Project(sandboxed, resources=RESOURCES)
    if is_copy:
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
