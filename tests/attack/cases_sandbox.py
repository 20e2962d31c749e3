"""Attacks on the sandbox: who may use it, what its projects may cost others, and what comes in by a command."""

import http.client
import json
import os
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

from tests.attack.table import METRICS_TOKEN, Tally, case
from tests.faults.attackers import crowding, ordinary_client
from tests.faults.service import Service
from tests.support.ports import free_port
from tests.support.samples import samples, value
from tests.support.service import SERVE

GROUP = "sandbox"


def new_project(service: Service, **order: object) -> dict[str, str]:
    """A project of the sandbox: its key, the credentials of its client and a token."""
    answer = service.request("POST", "/sandbox/projects", order)
    assert answer.status == 201, answer
    project: dict[str, str] = answer.json()
    return project


@case(GROUP, "projects that the sandbox did not make, read by its endpoints: 404")
def foreign_projects(service: Service, tally: Tally) -> None:
    for path in ("", "/requests", "/har", "/report", "/snapshots", "/rules"):
        answer = service.request("GET", f"/sandbox/projects/demo{path}")
        tally.expect(answer.status in (404, 405), (path, answer))


@case(GROUP, "starts without SANDBOX_TOKEN where others can reach the service: refused, with the reason")
def open_to_the_world(service: Service, tally: Tally) -> None:
    for variable, text in (
        ("PUBLIC_URL", "https://api.example.com"),
        ("TRUSTED_PROXIES", "1"),
        ("BASE_DOMAIN", "example.com"),
        ("BIND", "0.0.0.0"),  # noqa: S104 -- it is refused
        ("BIND", "::"),
    ):
        settings = {"PATH": os.defpath, "SANDBOX": "on", "PORT": str(free_port()), variable: text}
        ended = subprocess.run(
            SERVE,
            env={**settings, "DATA_DIR": str(service.folder / "never")},
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        tally.expect(ended.returncode != 0 and "SANDBOX_TOKEN" in ended.stderr, (variable, ended))


FROM_ELSEWHERE = (
    *({name: "198.51.100.7"} for name in ("X-Forwarded-For", "X-Real-IP", "CF-Connecting-IP", "True-Client-IP")),
    {"Forwarded": "for=198.51.100.7"},
    {"Via": "1.1 proxy"},
    {"X-Forwarded-Host": "localhost"},
    {"X-Forwarded-Proto": "https"},
    {"x-forwarded-for": "127.0.0.1"},
    {"Host": "api.example.com"},
    {"Host": "localhost.example.com"},
    {"Host": "127.0.0.1.example.com:80"},
    {"Origin": "https://example.com"},
    {"Origin": "null"},
)


@case(GROUP, "requests that a proxy passed on, with the host of another machine or from a page of another site: 403")
def passed_on(service: Service, tally: Tally) -> None:
    key = new_project(service)["projectKey"]
    for headers in FROM_ELSEWHERE:
        for method, path in (
            ("POST", "/projects"),
            ("GET", f"/projects/{key}/requests"),
            ("DELETE", f"/projects/{key}"),
        ):
            with closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=15)) as connection:
                body = "{}" if method == "POST" else None
                connection.request(method, f"/sandbox{path}", body, {"Content-Type": "application/json", **headers})
                status = connection.getresponse().status
            tally.expect(status == 403, (headers, method, path, status))


@case(GROUP, "400 streams of a journal opened at once: at most 50 of each worker, the others 503", within_s=90)
def many_streams(service: Service, tally: Tally) -> None:
    key = new_project(service)["projectKey"]
    head = {"Accept": "text/event-stream"}
    statuses: list[int] = []
    with ExitStack() as opened:

        def open_one() -> None:
            connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
            opened.callback(connection.close)
            connection.request("GET", f"/sandbox/projects/{key}/requests", headers=head)
            statuses.append(connection.getresponse().status)

        threads = [threading.Thread(target=open_one) for _ in range(400)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        answer = service.request("GET", f"/sandbox/projects/{key}/requests?limit=1")
        tally.expect(answer.status == 200, answer)
    tally.tried += len(statuses)
    tally.expect(set(statuses) == {200, 503} and statuses.count(200) <= 100, statuses.count(200))


@case(GROUP, "the 21st and later snapshots of a project: 400")
def many_snapshots(service: Service, tally: Tally) -> None:
    key = new_project(service, resources=3)["projectKey"]
    for number in range(25):
        answer = service.request("PUT", f"/sandbox/projects/{key}/snapshots/s{number}")
        expected = answer.status in (200, 201, 204) if number < 20 else answer.status == 400
        tally.expect(expected, (number, answer))


@case(GROUP, "searches executed by explain, twelve at a time: in the lane of slow reads, another project goes on")
def executed_explanations(service: Service, tally: Tally) -> None:
    key = new_project(service, resources=2_000)["projectKey"]
    order = {"operationId": "searchResources", "query": "facet=arrayOfStringExample&facet=key", "execute": True}
    token = service.token("manage_test:demo")
    over = threading.Event()
    crowded = crowding()

    def waits() -> float:
        text = service.request("GET", "/metrics", token=METRICS_TOKEN).body.decode()
        return value(samples(text), "admission_wait_seconds_count", lane="slow")

    def execute() -> int:
        sent = 0
        while not over.is_set():
            answer = service.request("POST", f"/sandbox/projects/{key}/explain", order)
            tally.expect(answer.status in (200, 503), answer)
            sent += 1
        return sent

    before = waits()
    with ThreadPoolExecutor(12) as pool:
        running = [pool.submit(execute) for _ in range(12)]
        waited = ordinary_client(service.port, "/demo/resource?limit=1", token, 5.0, timeout_s=15)
        over.set()
        for each in running:
            each.result()
    tally.expect(waited.failed == 0 and waited.p99 < 2 * crowded, (crowded, waited))
    tally.expect(waits() > before, "no search waited in the slow lane")


IMPORTED = (
    *(f'{{"objectTypeProperty": {{}}, "version": {version}}}' for version in (0, -1, 2**53, 2**63 - 1, 2**63, 10**40)),
    *(
        json.dumps({"objectTypeProperty": {}, member: {"typeId": "api-client", "id": name}})
        for member in ("createdBy", "lastModifiedBy")
        for name in ("", "a" * 257, "a" * 100_000, "a\0b", "\ud800")
    ),
    *(json.dumps({"objectTypeProperty": {}, "key": key}) for key in ("a", "a" * 257, "a b", "é" * 10)),
    *(json.dumps({"objectTypeProperty": {}, "createdAt": when}) for when in ("0000-01-01T00:00:00Z", "+99999", "")),
    '{"objectTypeProperty": {"arrayOfStringExample": ["\\u0000"]}}',
    '{"objectTypeProperty": {"arrayOfFloatExample": [1e400]}}',
    "[" * 100_000,
)


@case(GROUP, "lines of an import with versions, clients, keys and values that no request can make: refused")
def imported(service: Service, tally: Tally) -> None:
    environment = {"PATH": os.defpath, "DATABASE_URL": service.master.environ()["DATABASE_URL"]}
    began = time.monotonic()
    ended = subprocess.run(
        [*SERVE[:-1], "import", "--project", "imported"],
        env=environment,
        input="\n".join(IMPORTED),
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    tally.tried += len(IMPORTED)
    expected = f"{len(IMPORTED)} lines: 0 imported, 0 already there, {len(IMPORTED)} refused."
    tally.expect(ended.stderr.splitlines()[-1:] == [expected], ended.stderr[-2000:])
    tally.expect(time.monotonic() - began < 30, "it took over 30 s")
    token = service.token("manage_test:imported")
    tally.expect(service.request("GET", "/imported/resource", token=token).json()["count"] == 0, "some are there")
