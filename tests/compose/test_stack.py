"""The stack of ``docker-compose.yml`` on this machine's container engine: ``make test-slow ARGS=-mcompose``.

The tests run in order and share the stack; each leaves it running with its data. ``COMPOSE=docker-compose`` chooses the
command if both are installed.
"""

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPResponse

import pytest

from tests.compose.engine import PROJECT, ROOT, Stack

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
