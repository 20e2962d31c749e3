"""The proxy of ``docker-compose.yml``: outer proxies, limits of each client, and its own answers.

The stack believes the headers of every private address, since a request from this machine comes to the proxy from the
gateway of a Docker network. So a test can be as many clients as it wants.
"""

import json
import re
import select
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from http.client import HTTPResponse
from typing import Any

import pytest

from tests.compose.engine import ANY, PROJECT, Stack

pytestmark = [pytest.mark.slow, pytest.mark.compose]

OUTER = {"OUTER_PROXIES": "10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16"}


BODY_BYTES = 65_536
"""The limit of the proxy, and of the service."""


@pytest.fixture(scope="module")
def stack(compose: list[str]) -> Iterator[Stack]:
    with Stack(compose, settings=OUTER).up() as stack:
        yield stack


def answer_to(stack: Stack, request: bytes) -> tuple[int, dict[str, str], Any]:
    """Status, headers and JSON body of the answer to bytes."""
    with socket.create_connection(("127.0.0.1", stack.port), timeout=10) as connection:
        connection.sendall(request)
        with closing(HTTPResponse(connection)) as response:
            response.begin()
            return response.status, dict(response.getheaders()), json.loads(response.read())


def test_headers_of_an_outer_proxy_pass(stack: Stack) -> None:
    headers = {
        "X-Forwarded-For": "203.0.113.9",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "api.example.com",
        "X-Forwarded-Prefix": "/shop",
    }
    created = stack.send("POST", "", ANY, **headers)
    assert created.headers["Location"] == f"/shop/{PROJECT}/resource/{created.json['id']}"
    assert b'href="/shop/docs/' in stack.send("GET", "/docs", **headers).body
    lines = stack.run("logs", "--no-color", "app").splitlines()
    log = [json.loads(line[line.index("{") :]) for line in lines if '"request"' in line]
    assert [line["address"] for line in log if line["status"] == 201] == ["203.0.113.9"]


def test_an_address_has_a_hundred_requests_at_a_time(stack: Stack) -> None:
    head = (
        f"POST /{PROJECT}/resource HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.77\r\n"
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    with ExitStack() as open_ones:
        held = list[socket.socket]()
        for _ in range(101):
            held.append(open_ones.enter_context(socket.create_connection(("127.0.0.1", stack.port), timeout=10)))
            held[-1].sendall(head.encode())
        # One is answered, whichever comes last to the proxy. A probe meanwhile could take the place of another.
        stack.wait_until(lambda: bool(select.select(held, [], [], 0)[0]), "the refusal of the 101st request")
        refused = stack.send("GET", "/health/live", **{"X-Forwarded-For": "203.0.113.77"})
        assert (refused.json["errors"][0]["code"], refused.headers["Retry-After"]) == ("OverCapacity", "1")
        assert stack.send("GET", "/health/live", **{"X-Forwarded-For": "203.0.113.78"}).status == 200


def test_a_token_has_forty_requests_at_a_time_and_other_tokens_of_the_address_have_theirs(stack: Stack) -> None:
    def head(token: str) -> bytes:
        return (
            f"POST /{PROJECT}/resource HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.79\r\n"
            f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
        ).encode()

    with ExitStack() as open_ones:
        held = list[socket.socket]()
        for _ in range(41):
            held.append(open_ones.enter_context(socket.create_connection(("127.0.0.1", stack.port), timeout=10)))
            held[-1].sendall(head("made-up-one"))
        stack.wait_until(lambda: bool(select.select(held, [], [], 0)[0]), "the refusal of the 41st request")
        (refused,) = select.select(held, [], [], 0)[0]
        assert refused.recv(12) == b"HTTP/1.1 429"
        other = {"X-Forwarded-For": "203.0.113.79", "Authorization": "Bearer made-up-two"}
        assert stack.send("GET", "/health/live", **other).status == 200


@pytest.mark.parametrize(("more", "status"), [(0, 401), (1, 413)])
def test_a_body_may_have_64_kib(stack: Stack, more: int, status: int) -> None:
    request = (
        f"POST /{PROJECT}/resource HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer made-up\r\n"
        f"Content-Type: application/json\r\nContent-Length: {BODY_BYTES + more}\r\n\r\n{' ' * (BODY_BYTES + more)}"
    )
    assert answer_to(stack, request.encode())[0] == status


def test_pages_may_read_errors_of_the_proxy_where_they_may_read_those_of_the_service(stack: Stack) -> None:
    head = " HTTP/1.1\r\nHost: x\r\nOrigin: https://shop.example\r\nContent-Length: 65537\r\n\r\n"
    for path, readable in ((f"/{PROJECT}/resource", True), ("/oauth/token", True), ("/docs", False)):
        status, headers, _ = answer_to(stack, f"POST {path}{head}".encode())
        assert status == 413
        assert ("Access-Control-Allow-Origin" in headers) == readable
        assert ("Access-Control-Expose-Headers" in headers) == readable


def send_many(stack: Stack, method: str, address: str, tokens: Callable[[], str]) -> Counter[int]:
    """The statuses of 2,000 requests of an address, each sent without waiting for the answer to the one before."""

    def work() -> Counter[int]:
        with socket.create_connection(("127.0.0.1", stack.port), timeout=30) as connection:
            for _ in range(250):
                connection.sendall(
                    f"{method} /health/live HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {address}\r\n"
                    f"Authorization: Bearer {tokens()}\r\nContent-Length: 0\r\n\r\n".encode()
                )
            received, statuses = b"", list[bytes]()
            while len(statuses) < 250 and (some := connection.recv(65_536)):
                received += some
                statuses = re.findall(rb"HTTP/1\.1 (\d{3}) ", received)
        return Counter(int(status) for status in statuses)

    with ThreadPoolExecutor(8) as threads:
        return sum((done.result() for done in [threads.submit(work) for _ in range(8)]), Counter[int]())


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_each_method_counts_for_the_rate_of_its_token(stack: Stack, method: str) -> None:
    began = time.monotonic()
    seen = send_many(stack, method, f"203.0.113.{80 + len(method)}", lambda: f"made-up-{method}")
    passed = 600 + 300 * (time.monotonic() - began)
    assert sum(seen.values()) - seen[429] <= passed + 1, seen
    assert seen[429] > 0 or passed >= 2_000, seen
