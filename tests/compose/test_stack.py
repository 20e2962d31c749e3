"""The stack of ``docker-compose.yml`` on this machine's container engine: ``make test-slow ARGS=-mcompose``.

The tests run in order and share the stack; each leaves it running with its data. ``COMPOSE=docker-compose`` chooses the
command if both are installed.
"""

import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any
from uuid import uuid4

import pytest

from tests.compose.engine import ANY, PROJECT, ROOT, Answer, Stack

pytestmark = [pytest.mark.slow, pytest.mark.compose]

SERVICES = ("db", "app", "proxy")


@pytest.fixture(scope="module")
def stack(compose: list[str]) -> Iterator[Stack]:
    with Stack(compose).up() as stack:
        yield stack


def test_compose_refuses_to_start_without_a_password(compose: list[str]) -> None:
    stack = Stack(compose)
    refused = subprocess.run(
        stack.command("config"),
        env=stack.environment | {"POSTGRES_PASSWORD": ""},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode != 0
    assert "POSTGRES_PASSWORD" in refused.stderr
    assert "choose a password for the database" in refused.stderr
    assert len(refused.stderr) < 600


def test_compose_lists_the_services_of_all_profiles(compose: list[str]) -> None:
    shown = Stack(compose).run("--profile", "monitoring", "--profile", "citus", "config", "--services")
    assert {*SERVICES, "migrate", "prometheus", "grafana", "citus-coordinator", "citus-app"} <= set(shown.split())


@pytest.mark.parametrize("url", ["", "https://api.example.com/shop"])
def test_compose_passes_the_public_url_on(compose: list[str], url: str) -> None:
    stack = Stack(compose)
    shown = subprocess.run(
        stack.command("config"),
        env=stack.environment | {"PUBLIC_URL": url},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    urls = {line.split(": ", 1)[1] for line in shown.splitlines() if line.startswith("      PUBLIC_URL: ")}
    assert url or "http://127.0.0.1:8000" in urls
    assert urls - {"http://127.0.0.1:8001"} == {url or "http://127.0.0.1:8000"}


def test_resources_are_created_read_updated_and_listed(stack: Stack) -> None:
    created = stack.create(key="smoke")
    assert stack.send("GET", created["id"]).json == created
    assert stack.send("GET", "key=smoke").json == created
    updated = stack.update(created["id"], 1)
    assert (updated.status, updated.json["version"]) == (200, 2)
    conflict = stack.update(created["id"], 1)
    assert (conflict.status, conflict.json["errors"][0]["currentVersion"]) == (409, 2)
    listed = stack.send("GET", "?limit=5")
    assert (listed.status, listed.json["count"]) == (200, 1)
    assert stack.send("DELETE", f"{created['id']}?version=2").status == 200
    assert stack.send("GET", created["id"]).status == 404


def test_resources_need_a_token_and_the_documentation_does_not(stack: Stack) -> None:
    refused = stack.send("GET", "", Authorization="Bearer made-up")
    assert (refused.status, refused.json["errors"][0]["code"]) == (401, "invalid_token")
    page = stack.send("GET", "/docs")
    assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b"swagger-ui" in page.body
    assert stack.send("GET", "/openapi.json").json["openapi"].startswith("3.1")


def test_the_proxy_forwards_encoded_paths_and_its_own_address(stack: Stack) -> None:
    path = "artificially-complex/path/uri-parameter-one=a%2Fb/two?queryParameterOne=0.5"
    echoed = stack.send("POST", path, {"custom": True})
    assert echoed.status == 200, echoed
    assert echoed.json["arrayOfStringExample"][:2] == ["a/b", "two"]
    document = stack.send("GET", "/openapi.json", **{"X-Forwarded-Prefix": "/made-up"}).json
    assert document["servers"][0]["url"] == f"http://127.0.0.1:{stack.port}"


@pytest.mark.parametrize(
    ("head", "status", "code"),
    [
        ("GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "InvalidInput"),
        ("GET /p/resource HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n", 400, "InvalidInput"),
        ("GET /a/../../b HTTP/1.1\r\nHost: x\r\n\r\n", 400, "InvalidInput"),
        (f"GET /{'a' * 9000} HTTP/1.1\r\nHost: x\r\n\r\n", 414, "InvalidInput"),
        (f"GET /{'a' * 40_000} HTTP/1.1\r\nHost: x\r\n\r\n", 414, "InvalidInput"),
        (f"GET / HTTP/1.1\r\nHost: x\r\nLong: {'a' * 40_000}\r\n\r\n", 431, "RequestRejected"),
        ("POST /p/resource HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\n\r\n", 413, "ContentTooLarge"),
    ],
    ids=["control", "length", "above-the-root", "long", "very-long", "long-header", "large"],
)
def test_errors_of_the_proxy_have_the_error_body_of_the_service(
    stack: Stack, head: str, status: int, code: str
) -> None:
    with socket.create_connection(("127.0.0.1", stack.port), timeout=10) as connection:
        connection.sendall(head.encode())
        response = HTTPResponse(connection)
        response.begin()
        body = json.loads(response.read())
    assert (response.status, body["statusCode"], body["errors"][0]["code"]) == (status, status, code)
    assert response.headers["X-Correlation-ID"]


def test_slow_clients_do_not_delay_other_requests(stack: Stack) -> None:
    head = (
        f"POST /{PROJECT}/resource HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        "Authorization: Bearer {}\r\nContent-Length: 100\r\n\r\n{{"
    )
    with ExitStack() as slow:
        for number in range(64):
            connection = slow.enter_context(socket.create_connection(("127.0.0.1", stack.port), timeout=10))
            connection.sendall(head.format(number).encode())
        time.sleep(0.5)
        answers = [stack.send("GET", "?limit=1") for _ in range(20)]
    assert {answer.status for answer in answers} == {200}
    assert max(answer.seconds for answer in answers) < 2


@pytest.mark.parametrize("service", SERVICES)
def test_containers_have_read_only_roots_and_no_capabilities(stack: Stack, service: str) -> None:
    container = stack.inspect(service)
    assert container["HostConfig"]["ReadonlyRootfs"] is True
    assert container["HostConfig"]["CapDrop"] == ["ALL"]
    assert container["HostConfig"]["Privileged"] is False
    assert any(option.startswith("no-new-privileges") for option in container["HostConfig"]["SecurityOpt"])
    assert container["HostConfig"]["Memory"] > 0
    assert stack.run("exec", "-T", service, "id", "-u").strip() != "0"
    for place in ("/", "/etc", "/srv"):
        done = subprocess.run(
            stack.command("exec", "-T", service, "sh", "-c", f"touch {place}/made-up"),
            env=stack.environment,
            capture_output=True,
            check=False,
        )
        assert done.returncode != 0, f"{service} can write to {place}"


def test_only_the_proxy_publishes_a_port(stack: Stack) -> None:
    published = {
        service: [
            port for bindings in stack.inspect(service)["NetworkSettings"]["Ports"].values() for port in bindings or ()
        ]
        for service in SERVICES
    }
    assert published["db"] == published["app"] == []
    assert {binding["HostIp"] for binding in published["proxy"]} == {"127.0.0.1"}


def test_a_stopping_service_finishes_the_requests_in_flight(stack: Stack) -> None:
    created = stack.create()
    # Another session locks the row for 2 s, so that the update is in flight when the service gets SIGTERM.
    holder = subprocess.Popen(
        stack.command(
            *("exec", "-T", "db", "psql", "-qAt", "-U", "sample_resource", "-c", "BEGIN"),
            *("-c", f"SELECT id FROM resource WHERE project_key = '{PROJECT}' AND id = '{created['id']}' FOR UPDATE"),
            *("-c", "SELECT pg_sleep(2)", "-c", "COMMIT"),
        ),
        env=stack.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder, ThreadPoolExecutor() as threads:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == created["id"]
        update = threads.submit(stack.update, created["id"], 1)
        time.sleep(0.3)
        stack.run("stop", "app")
        answer = update.result()
        holder.communicate()
    assert (answer.status, answer.json["version"]) == (200, 2)
    assert answer.seconds > 1, "the update did not wait, so nothing was in flight"
    assert stack.inspect("app")["State"]["ExitCode"] == 0, "it was killed after stop_grace_period"

    stack.send("GET", created["id"]).assert_unavailable()
    stack.run("start", "app")
    stack.wait_until(stack.is_ready, "the service after its start")
    assert stack.send("GET", created["id"]).json["version"] == 2


@dataclass
class Writer:
    """Creates resources, updates one of its own, and records every write that was acknowledged."""

    stack: Stack
    created: dict[str, Any] = field(default_factory=dict)
    """Every resource whose creation was acknowledged, by id."""
    version: int = 1
    """The last acknowledged version of the resource that is updated."""
    refused: list[Answer] = field(default_factory=list)
    unanswered: int = 0

    def work(self, stop: threading.Event) -> None:
        own = self.stack.create()
        self.created[own["id"]] = own
        while not stop.is_set():
            time.sleep(0.03)  # the proxy admits 300 requests a second of a token, which four writers share
            try:
                created = self.stack.send(
                    "POST", "", {"objectTypeProperty": {"arrayOfIntExample": [len(self.created)]}}
                )
                if created.status == 201:
                    self.created[created.json["id"]] = created.json
                else:
                    self.refused.append(created)
                updated = self.stack.update(own["id"], self.version)
                if updated.status == 409:
                    # The previous write was committed, and its answer was lost with the connection.
                    actual = updated.json["errors"][0]["currentVersion"]
                    assert actual > self.version, "an acknowledged update is gone"
                    self.version = actual
                elif updated.status == 200:
                    self.version = updated.json["version"]
                else:
                    self.refused.append(updated)
                    time.sleep(0.05)
            except (OSError, HTTPException):
                self.unanswered += 1
        self.created[own["id"]] = own | {"version": self.version}


def test_requests_are_503_while_the_database_is_down_and_acknowledged_writes_survive(stack: Stack) -> None:
    writers = [Writer(stack) for _ in range(4)]
    stop = threading.Event()
    with ThreadPoolExecutor(len(writers)) as threads:
        work = [threads.submit(writer.work, stop) for writer in writers]
        try:
            time.sleep(2)
            stack.run("kill", "-s", "SIGKILL", "db")
            stack.wait_until(lambda: not stack.is_ready(), "the service noticing")
            refused = [stack.send("GET", "/health/ready"), stack.send("GET", ""), stack.send("POST", "", ANY)]
            time.sleep(2)
            refused += [stack.send("GET", "?limit=1"), stack.send("DELETE", f"{uuid4()}?version=1")]
            alive = stack.send("GET", "/health/live")
            stack.run("start", "db")
            recovered_in_s = stack.wait_until(stack.is_ready, "the service after the database's return")
            time.sleep(2)
        finally:
            stop.set()
        for done in work:
            done.result()

    for answer in refused:
        answer.assert_unavailable()
        assert answer.seconds < 5
    assert alive.status == 200
    assert all(writer.created and writer.refused for writer in writers)
    for answer in (answer for writer in writers for answer in writer.refused):
        answer.assert_unavailable()
    acknowledged = {id_: resource for writer in writers for id_, resource in writer.created.items()}
    assert len(acknowledged) > 20
    for id_, resource in acknowledged.items():
        time.sleep(0.004)  # the proxy admits 300 requests a second of a token
        found = stack.send("GET", id_)
        assert found.status == 200, found
        assert found.json["version"] == resource["version"]
        assert found.json["objectTypeProperty"] == resource["objectTypeProperty"]
    refusals = sum(len(writer.refused) for writer in writers)
    print(f"{len(acknowledged)} acknowledged, {refusals} refused, recovered in {recovered_in_s:.1f} s")  # noqa: T201 -- shown by pytest -s


def test_data_survive_the_removal_of_the_containers(stack: Stack) -> None:
    created = stack.create(key="kept")
    stack.run("down")
    stack.run("up", "-d")
    stack.wait_until(stack.is_ready, "the service after all was taken down")
    assert stack.send("GET", "key=kept").json == created
    # Tokens are in the database, so the old one is still valid, and there was nothing to migrate.
    assert "Nothing to apply." in stack.run("logs", "--no-color", "migrate")


def test_a_client_beyond_its_rate_is_refused_by_the_proxy(stack: Stack) -> None:
    """The last test, since the address gets no token for some seconds."""
    with closing(HTTPConnection("127.0.0.1", stack.port, timeout=10)) as connection:
        for _ in range(2_000):
            connection.request("POST", "/oauth/token")
            response = connection.getresponse()
            body = json.loads(response.read())
            if response.status != 401:
                break
    assert (response.status, body["statusCode"], body["errors"][0]["code"]) == (429, 429, "OverCapacity")
    assert response.headers["Retry-After"] == "1"
    assert stack.send("GET", "?limit=1").status == 200
