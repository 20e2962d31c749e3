"""The proxy of ``docker-compose.yml``: outer proxies, uploads that would fill its memory, and its own answers.

The stack believes the headers of every private address, since a request from this machine comes to the proxy from the
gateway of a Docker network. So a test can be as many clients as it wants.
"""

import re
import select
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from tests.compose.engine import ANY, PROJECT, Stack

pytestmark = [pytest.mark.slow, pytest.mark.compose]

OUTER = {"OUTER_PROXIES": "10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16"}


@pytest.fixture(scope="module")
def stack(compose: list[str]) -> Iterator[Stack]:
    with Stack(compose, settings=OUTER).up() as stack:
        yield stack


def test_headers_of_an_outer_proxy_pass(stack: Stack) -> None:
    headers = {
        "X-Forwarded-For": "203.0.113.9",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "api.example.com",
        "X-Forwarded-Prefix": "/shop",
    }
    created = stack.send("POST", "", ANY, **headers)
    assert created.headers["Location"] == f"/shop/{PROJECT}/resource/{created.json['id']}"
    page = stack.send("GET", "/docs", **headers)
    assert b'href="/shop/docs/' in page.body
    lines = stack.run("logs", "--no-color", "app").splitlines()
    assert any('"status": 201' in line and '"address": "203.0.113.9"' in line for line in lines)


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
