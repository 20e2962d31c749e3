"""Malicious requests: each is refused or disconnected, keeps no memory, and does not delay others."""

import http.client
import json
import re
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

import pytest

from tests.faults.attackers import ordinary_client
from tests.faults.reports import Report
from tests.faults.service import Service

pytestmark = [pytest.mark.slow, pytest.mark.faults]

SMUGGLED = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
"""A request inside another: it must not be answered. Servers could read it as a body, or as the next request."""


@pytest.fixture(scope="module")
def token(service: Service) -> str:
    return service.token("manage_test:demo")


def sent_raw(service: Service, data: bytes, quiet_s: float = 2.0) -> bytes:
    """Send data and no more, and give all that is received until the service closes the connection or says no more.

    The sending half stays open: the service does not serve a client that has closed it.
    """
    with socket.create_connection(("127.0.0.1", service.port), timeout=quiet_s) as connection:
        received = b""
        with suppress(ConnectionResetError, BrokenPipeError, TimeoutError):
            connection.sendall(data)
        with suppress(ConnectionResetError, TimeoutError):
            while chunk := connection.recv(65536):
                received += chunk
    return received


def post(head: str, body: bytes) -> bytes:
    return f"POST /demo/resource HTTP/1.1\r\nHost: x\r\n{head}\r\n".encode("latin-1") + body


CHUNKED = "Transfer-Encoding: chunked\r\n"

AMBIGUOUS = {
    "length and coding": post(f"Content-Length: 6\r\n{CHUNKED}", b"0\r\n\r\n"),
    "coding and length": post(f"{CHUNKED}Content-Length: 5\r\n", b"0\r\n\r\n"),
    "two lengths": post("Content-Length: 0\r\nContent-Length: 5\r\n", b""),
    "lengths in one field": post("Content-Length: 0, 5\r\n", b""),
    "length with sign": post("Content-Length: +0\r\n", b""),
    "negative length": post("Content-Length: -1\r\n", b""),
    "length in hexadecimal": post("Content-Length: 0x0\r\n", b""),
    "length with underscore": post("Content-Length: 0_0\r\n", b""),
    "empty length": post("Content-Length: \r\n", b""),
    "length in other digits": post("Content-Length: \xb2\r\n", b""),
    "blank before colon": post("Content-Length : 0\r\n", b""),
    "folded header": post("X-A: b\r\n Content-Length: 5\r\n", b""),
    "folded coding": post("Transfer-Encoding:\r\n chunked\r\n", b"0\r\n\r\n"),
    "coding twice": post(CHUNKED * 2, b"0\r\n\r\n"),
    "coding unknown": post("Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n"),
    "coding not last": post("Transfer-Encoding: chunked, gzip\r\n", b"0\r\n\r\n"),
    "coding with control": post("Transfer-Encoding: \x0bchunked\r\n", b"0\r\n\r\n"),
    "coding in HTTP/1.0": b"POST /demo/resource HTTP/1.0\r\n" + CHUNKED.encode() + b"\r\n0\r\n\r\n",
    "bare line feeds": b"POST /demo/resource HTTP/1.1\nHost: x\nContent-Length: 0\n\n",
    "bare line feed in a header": post("X-A: b\nContent-Length: 5\r\n", b""),
    "bare carriage return": post("X-A: b\rContent-Length: 5\r\n", b""),
    "NUL in a header": post("X-A: b\x00c\r\nContent-Length: 0\r\n", b""),
    "NUL in the target": b"POST /demo/\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
    "name with control": post("X\x01A: b\r\n", b""),
    "two hosts": b"GET /demo/resource HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
}
CHUNKS = {
    "size with prefix": b"0x5\r\n{   }\r\n0\r\n\r\n",
    "size with sign": b"+5\r\n{   }\r\n0\r\n\r\n",
    "negative size": b"-5\r\n{   }\r\n0\r\n\r\n",
    "size with underscore": b"0_5\r\n{   }\r\n0\r\n\r\n",
    "size that overflows": b"FFFFFFFFFFFFFFFFFFFFF5\r\n{   }\r\n0\r\n\r\n",
    "size without line": b"5",
    "endless size": b"0" * 100_000,
    "endless extension": b"5;" + b"a" * 100_000,
    "line feed in an extension": b"5;a\n{   }\r\n0\r\n\r\n",
    "carriage return in an extension": b"5;a\rb\r\n{   }\r\n0\r\n\r\n",
    "data longer than its size": b"2\r\n{   }\r\n0\r\n\r\n",
    "no end": b"5\r\n{   }",
    "endless trailer": b"0\r\n" + b"a: b\r\n" * 50_000,
    "size in another notation": "٥\r\n{   }\r\n0\r\n\r\n".encode(),
}


HOSTILE_PATHS = [
    "/demo/resource/key=a%0D%0ASet-Cookie:%20a=b",
    "/demo/resource/a%0D%0ASet-Cookie:%20a=b",
    "/demo%0D%0ASet-Cookie:%20a=b/resource",
    "/demo/resource?where=%0D%0ASet-Cookie:%20a=b",
    "/demo/resource/key=" + "%00",
    "/demo/resource?x=%FF",
    "/demo/resource?var.x=%ED%A0%80&where=key%3D:x",
    "/demo/resource/" + "a" * 8000,
    "/demo/resource?" + "&".join(f"arrayOfString={number}" for number in range(600)) + "&x=1",
    "/demo/resource/sorted-query-parameters?offset=10001",
    "/demo/resource/sorted-query-parameters?offset=1e300",
    "/demo/resource/sorted-query-parameters?offset=" + "9" * 5000,
    "/demo/resource/sorted-query-parameters?limit=-1",
    "/demo/resource/searchApiPattern?" + urlencode({"text." + "a" * 5000 + "!": "x"}),
    "/demo/resource/searchApiPattern?text.en=" + "%20" * 2000,
    "/demo/resource/searchApiPattern?" + "facet=version&" * 500,
    "/demo/resource/sorted-query-parameters?where=" + quote("not(" * 1500),
    "/demo/resource/sorted-query-parameters?" + "var.x=1&" * 900 + "where=key%20in%20:x",
]


def assert_refused(received: bytes) -> None:
    """Assert that at most one answer was received, an error."""
    assert re.match(rb"HTTP/1\.1 4\d\d |$", received), received
    assert len(re.findall(rb"^HTTP/1", received, re.MULTILINE)) <= 1, received
    assert b'"live"' not in received


@pytest.mark.parametrize("shape", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_ambiguous_requests_are_refused(service: Service, shape: bytes) -> None:
    assert_refused(sent_raw(service, shape + SMUGGLED))


@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
def test_malformed_chunks_are_refused(service: Service, token: str, chunks: bytes) -> None:
    head = f"Content-Type: application/json\r\nAuthorization: Bearer {token}\r\n{CHUNKED}"
    assert_refused(sent_raw(service, post(head, chunks) + SMUGGLED))
    assert_refused(sent_raw(service, post(CHUNKED, chunks) + SMUGGLED))


@pytest.mark.parametrize("path", HOSTILE_PATHS, ids=lambda path: path[:40])
def test_malicious_paths_and_parameters_are_refused_quickly(service: Service, token: str, path: str) -> None:
    answer = service.request("GET", path, token=token)
    assert 400 <= (answer.status or 0) < 500, answer
    assert answer.seconds < 2
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "in chunks"])
@pytest.mark.parametrize("known", [False, True], ids=["without a token", "with a token"])
def test_bodies_of_100_megabytes_are_refused(
    service: Service, token: str, report: Report, chunked: bool, known: bool
) -> None:
    before = [worker.memory_info().rss for worker in service.workers]
    bearer = f"Authorization: Bearer {token}\r\n" if known else ""
    coding = CHUNKED if chunked else f"Content-Length: {100 * 2**20}\r\n"
    piece = b" " * 2**20
    if chunked:
        piece = b"100000\r\n" + piece + b"\r\n"
    seen: list[bytes] = []

    def send(_: int) -> None:
        with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
            connection.sendall(post(f"Content-Type: application/json\r\n{bearer}{coding}", b""))
            with suppress(OSError):
                for _ in range(100):
                    connection.sendall(piece)
            with suppress(OSError):
                seen.append(connection.recv(65536))

    with ThreadPoolExecutor(8) as threads:
        sent = threads.map(send, range(8))
        beside = ordinary_client(service.port, "/demo/resource?limit=1", token, 2.0)
    list(sent)
    grown = max(worker.memory_info().rss - was for worker, was in zip(service.workers, before, strict=True))
    report(f"p99 beside {beside.p99 * 1000:.0f} ms, memory +{grown / 2**20:.0f} MiB")
    assert all(answer[:10] in (b"", b"HTTP/1.1 4") for answer in seen)
    assert beside.failed == 0
    assert beside.p99 < 2
    assert grown < 64 * 2**20


def test_memory_does_not_grow(service: Service, token: str, report: Report) -> None:
    """50,000 requests of all kinds, each different, so that anything kept for each of them would add up."""
    project = f"p-{uuid4().hex[:20]}"
    tokens = [service.token(f"manage_test:{project}", f"view_test:{project}") for _ in range(50)]

    def resident() -> int:
        return max(worker.memory_info().rss for worker in service.workers)

    _send_mixed(service, project, tokens, 5_000)
    first = resident()
    _send_mixed(service, project, tokens, 45_000)
    last = resident()
    report(f"{first / 2**20:.1f} MiB after 5,000 requests, {last / 2**20:.1f} MiB after 50,000")
    assert last < first * 1.2


def _send_mixed(service: Service, project: str, tokens: list[str], count: int) -> None:
    left = iter(range(count))

    def client(_: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=15)
        for number in left:
            method, path, body = _MIXED[number % len(_MIXED)](project)
            head = {"Authorization": f"Bearer {tokens[number % len(tokens)]}", "Content-Type": "application/json"}
            connection.request(method, path, None if body is None else json.dumps(body), head)
            answer = connection.getresponse()
            answer.read()
            assert answer.status < 500 or answer.status == 503
        connection.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(client, range(8)))


_MIXED: list[Callable[[str], tuple[str, str, Any]]] = [
    lambda project: ("GET", f"/{project}/resource/{uuid4()}", None),
    lambda project: ("GET", f"/{project}/resource/key={uuid4().hex}", None),
    lambda _: ("GET", f"/{uuid4().hex}/resource", None),
    lambda _: ("GET", f"/{uuid4().hex}", None),
    lambda project: ("GET", f"/{project}/resource?arrayOfString={uuid4().hex}&limit=1", None),
    lambda project: ("GET", f"/{project}/resource?{uuid4().hex}=1", None),
    lambda project: (
        "GET",
        f"/{project}/resource/sorted-query-parameters?limit=1&where=" + quote(f'key = "{uuid4().hex}" or version > 1'),
        None,
    ),
    lambda project: ("GET", f"/{project}/resource/sorted-query-parameters?where=" + quote(f"{uuid4().hex} ="), None),
    lambda project: ("GET", f"/{project}/resource/searchApiPattern?limit=1&text.en={uuid4().hex}", None),
    lambda project: ("GET", f"/{project}/resource/searchApiPattern?filter=" + quote(f'key:"{uuid4().hex}"'), None),
    lambda project: (
        "PUT",
        f"/{project}/resource",
        {"key": "the-one", "objectTypeProperty": {"arrayOfIntExample": [1]}},
    ),
    lambda project: ("POST", f"/{project}/resource", {uuid4().hex: 1}),
    lambda project: ("POST", f"/{project}/resource", {"key": "the-one", "objectTypeProperty": {}, "version": 0}),
    lambda project: ("DELETE", f"/{project}/resource/{uuid4()}", None),
]
