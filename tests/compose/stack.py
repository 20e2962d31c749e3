"""The stack of ``docker-compose.yml`` on this machine's container engine: ``make compose-test``.

Not named ``test_*``, so that ``make test``, which must do without an engine, leaves it alone. The tests go in order,
each leaving the stack as it found it: up, with all its data. ``COMPOSE=docker-compose`` chooses between two commands.
"""

import json
import os
import shlex
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PROJECT = "compose-test"

PASSWORD = "p@ss:w/or d'%\\#"
"""With all that would have to be escaped in a URL, a connection string or a shell."""

ANY = {"objectTypeProperty": {"arrayOfStringExample": ["dog"]}}
"""A body that makes a resource."""

PATIENCE_S = 60.0
SERVICES = ("db", "app", "proxy")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Answer:
    """An HTTP answer with its body read."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def assert_unavailable(self) -> None:
        assert self.status == 503, self
        assert self.json["errors"][0]["code"] == "OverCapacity"
        assert int(self.headers["Retry-After"]) >= 1
        assert self.headers["X-Correlation-ID"]


@dataclass
class Stack:
    """The running containers, and a client for them."""

    compose: list[str]
    name: str = field(default_factory=lambda: f"sample-resource-test-{uuid4().hex[:8]}")
    port: int = field(default_factory=_free_port)
    token: str = ""

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"POSTGRES_PASSWORD": PASSWORD, "PORT": str(self.port), "BIND": "127.0.0.1"}

    def command(self, *arguments: str) -> list[str]:
        return [*self.compose, "-p", self.name, "-f", str(ROOT / "docker-compose.yml"), *arguments]

    def run(self, *arguments: str, check: bool = True) -> str:
        """Run a command of Compose and return what it printed."""
        done = subprocess.run(
            self.command(*arguments), env=self.environment, cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0 or not check, f"{' '.join(arguments)}:\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def container(self, service: str) -> str:
        """The id of a service's container, running or not."""
        label = "label=com.docker.compose"
        ids = _docker("ps", "-aq", "--filter", f"{label}.project={self.name}", "--filter", f"{label}.service={service}")
        (found,) = ids.split()
        return found

    def inspect(self, service: str) -> Any:
        """All that the engine says of a service's container."""
        return json.loads(_docker("inspect", self.container(service)))[0]

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Send a request to the proxy.

        :param path: from the root on, or below the resource if it does not begin with a slash.
        :param body: a form if it is bytes, else JSON.
        """
        target = path if path.startswith("/") else f"/{PROJECT}/resource{'' if path[:1] in ('', '?') else '/'}{path}"
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if content is not None:
            kind = "application/x-www-form-urlencoded" if isinstance(body, bytes) else "application/json"
            headers.setdefault("Content-Type", kind)
        began = time.monotonic()
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, target, content, headers)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read(), time.monotonic() - began)
        finally:
            connection.close()

    def create(self, **fields: Any) -> Any:
        answer = self.send("POST", "", ANY | fields)
        assert answer.status == 201, answer
        return answer.json

    def update(self, resource_id: str, version: int) -> Answer:
        return self.send("POST", resource_id, {"version": version, "actions": [{"action": "doSomeThing"}]})

    def wait_until(self, holds: Callable[[], bool], what: str) -> float:
        """Wait for something to become true, and return the seconds that it took."""
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE_S:
            try:
                if holds():
                    return time.monotonic() - began
            except (OSError, HTTPException):
                pass
            time.sleep(0.1)
        raise AssertionError(f"not within {PATIENCE_S:g} s: {what}\n{self.run('logs', '--tail=40', check=False)}")

    def is_ready(self) -> bool:
        return self.send("GET", "/health/ready").status == 200


def _docker(*arguments: str) -> str:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=True).stdout.strip()


def _compose() -> list[str]:
    """The command of Compose, if there is one and an engine answers; else the run ends here and says so."""
    if shutil.which("docker") is None:
        pytest.exit("make compose-test needs Docker, and there is no command docker.", returncode=1)
    engine = subprocess.run(
        ["docker", "version", "--format", "{{.Server.Version}}"], capture_output=True, text=True, check=False
    )
    if engine.returncode != 0:
        pytest.exit(f"make compose-test needs Docker, and no engine answers: {engine.stderr.strip()}", returncode=1)
    chosen = os.environ.get("COMPOSE")
    for candidate in [shlex.split(chosen)] if chosen else [["docker", "compose"], ["docker-compose"]]:
        if shutil.which(candidate[0]) is None:
            continue
        if subprocess.run([*candidate, "version"], capture_output=True, check=False).returncode == 0:
            return candidate
    pytest.exit("make compose-test needs Docker Compose: neither 'docker compose' nor 'docker-compose'.", returncode=1)


@pytest.fixture(scope="module")
def compose() -> list[str]:
    return _compose()


@pytest.fixture(scope="module")
def stack(compose: list[str]) -> Iterator[Stack]:
    """The stack, built and up, with a client's token; gone afterwards, and its volumes too."""
    stack = Stack(compose)
    try:
        try:
            stack.run("up", "-d", "--build")
        except AssertionError:
            print(stack.run("logs", "--tail=40", check=False))  # noqa: T201 -- the container that failed says why
            raise
        stack.wait_until(stack.is_ready, "the first answer")
        scope = f"manage_test:{PROJECT} view_test:{PROJECT}"
        made = stack.run("exec", "-T", "app", "sample-resource", "client", "create", "--name", "t", "--scope", scope)
        client = json.loads(made)
        granted = stack.send(
            "POST",
            "/oauth/token",
            urlencode({name: client[name] for name in ("client_id", "client_secret")}).encode()
            + b"&grant_type=client_credentials",
        )
        assert granted.status == 200, granted
        stack.token = granted.json["access_token"]
        yield stack
    finally:
        stack.run("down", "-v", "--remove-orphans", check=False)
    label = f"label=com.docker.compose.project={stack.name}"
    assert _docker("ps", "-aq", "--filter", label) == ""
    assert _docker("volume", "ls", "-q", "--filter", label) == ""


def test_without_a_password_nothing_starts(compose: list[str]) -> None:
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


def test_all_profiles_are_read(compose: list[str]) -> None:
    shown = Stack(compose).run("--profile", "monitoring", "--profile", "citus", "config", "--services")
    assert {*SERVICES, "migrate", "prometheus", "grafana", "citus-coordinator", "citus-app"} <= set(shown.split())


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


def test_a_token_is_needed_and_the_document_is_open(stack: Stack) -> None:
    refused = stack.send("GET", "", Authorization="Bearer made-up")
    assert (refused.status, refused.json["errors"][0]["code"]) == (401, "invalid_token")
    page = stack.send("GET", "/docs")
    assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b"swagger-ui" in page.body
    assert stack.send("GET", "/openapi.json").json["openapi"].startswith("3.1")


def test_the_proxy_passes_paths_and_its_own_address_on(stack: Stack) -> None:
    path = "artificially-complex/path/uri-parameter-one=a%2Fb/two?queryParameterOne=0.5"
    echoed = stack.send("POST", path, {"custom": True})
    assert echoed.status == 200, echoed
    assert echoed.json["arrayOfStringExample"][:2] == ["a/b", "two"]
    metadata = stack.send("GET", "/.well-known/oauth-authorization-server", **{"X-Forwarded-Prefix": "/made-up"}).json
    assert metadata["token_endpoint"] == f"http://127.0.0.1:{stack.port}/oauth/token"


@pytest.mark.parametrize(
    ("head", "status", "code"),
    [
        ("GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "InvalidInput"),
        ("GET /p/resource HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n", 400, "InvalidInput"),
        ("GET /a/../../b HTTP/1.1\r\nHost: x\r\n\r\n", 400, "InvalidInput"),
        (f"GET /{'a' * 9000} HTTP/1.1\r\nHost: x\r\n\r\n", 431, "RequestRejected"),
        (f"GET /{'a' * 40_000} HTTP/1.1\r\nHost: x\r\n\r\n", 400, "InvalidInput"),
        ("POST /p/resource HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n", 413, "ContentTooLarge"),
    ],
    ids=["control", "length", "above-the-root", "long", "very-long", "large"],
)
def test_what_the_proxy_refuses_looks_like_the_service(stack: Stack, head: str, status: int, code: str) -> None:
    with socket.create_connection(("127.0.0.1", stack.port), timeout=10) as connection:
        connection.sendall(head.encode())
        response = HTTPResponse(connection)
        response.begin()
        body = json.loads(response.read())
    assert (response.status, body["statusCode"], body["errors"][0]["code"]) == (status, status, code)
    assert response.headers["X-Correlation-ID"]


def test_slow_clients_hold_the_proxy_and_not_the_service(stack: Stack) -> None:
    head = (
        f"POST /{PROJECT}/resource HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {stack.token}\r\nContent-Length: 100\r\n\r\n{{"
    )
    with ExitStack() as slow:
        for _ in range(64):
            connection = slow.enter_context(socket.create_connection(("127.0.0.1", stack.port), timeout=10))
            connection.sendall(head.encode())
        time.sleep(0.5)
        answers = [stack.send("GET", "?limit=1") for _ in range(20)]
    assert {answer.status for answer in answers} == {200}
    assert max(answer.seconds for answer in answers) < 2


@pytest.mark.parametrize("service", SERVICES)
def test_containers_can_do_no_more_than_they_need(stack: Stack, service: str) -> None:
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


def test_only_the_proxy_can_be_reached_from_outside(stack: Stack) -> None:
    published = {
        service: [
            port for bindings in stack.inspect(service)["NetworkSettings"]["Ports"].values() for port in bindings or ()
        ]
        for service in SERVICES
    }
    assert published["db"] == published["app"] == []
    assert {binding["HostIp"] for binding in published["proxy"]} == {"127.0.0.1"}


def test_a_stopped_service_finishes_the_requests_in_flight(stack: Stack) -> None:
    created = stack.create()
    # Somebody holds the row, so that the update is under way when the service is told to stop.
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
        began = time.monotonic()
        stack.run("stop", "app")
        stopped_in_s = time.monotonic() - began
        answer = update.result()
        holder.communicate()
    assert (answer.status, answer.json["version"]) == (200, 2)
    assert answer.seconds > 1, "the update did not wait, so nothing was in flight"
    assert stack.inspect("app")["State"]["ExitCode"] == 0
    assert stopped_in_s < 8

    stack.send("GET", created["id"]).assert_unavailable()
    stack.run("start", "app")
    stack.wait_until(stack.is_ready, "the service after its start")
    assert stack.send("GET", created["id"]).json["version"] == 2


@dataclass
class Writer:
    """Creates resources and updates its own one, and remembers what was acknowledged."""

    stack: Stack
    created: dict[str, Any] = field(default_factory=dict)
    """Every acknowledged creation by its id."""
    version: int = 1
    """The last acknowledged version of the one that is updated."""
    refused: list[Answer] = field(default_factory=list)
    unanswered: int = 0

    def work(self, stop: threading.Event) -> None:
        own = self.stack.create()
        self.created[own["id"]] = own
        while not stop.is_set():
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
                    # The write before was done, and its answer lost with the connection.
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


def test_a_killed_database_is_503_and_then_back_with_all_that_was_acknowledged(stack: Stack) -> None:
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
        found = stack.send("GET", id_)
        assert found.status == 200, found
        assert found.json["version"] == resource["version"]
        assert found.json["objectTypeProperty"] == resource["objectTypeProperty"]
    refusals = sum(len(writer.refused) for writer in writers)
    print(f"{len(acknowledged)} acknowledged, {refusals} refused, recovered in {recovered_in_s:.1f} s")  # noqa: T201


def test_the_data_outlive_the_containers(stack: Stack) -> None:
    created = stack.create(key="kept")
    stack.run("down")
    stack.run("up", "-d")
    stack.wait_until(stack.is_ready, "the service after all was taken down")
    assert stack.send("GET", "key=kept").json == created
    # The signing key is in the database, so the token from before counts; there was nothing to migrate.
    assert "Nothing to apply." in stack.run("logs", "--no-color", "migrate")
