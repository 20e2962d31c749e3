"""Slow clients, many connections, clients that hang up: probes and other clients go on."""

import socket
import time
from contextlib import ExitStack, suppress

import pytest

from tests.faults.attackers import Attackers, Kind, Probes, kinds, ordinary_client
from tests.faults.reports import Report
from tests.faults.service import Service

pytestmark = [pytest.mark.slow, pytest.mark.faults]

P99_S = 3.0


@pytest.mark.parametrize("index", range(len(kinds("", ""))), ids=[kind.name for kind in kinds("", "")])
def test_slow_clients_do_not_block_others(service: Service, report: Report, index: int) -> None:
    token = service.token("manage_test:demo")
    with Attackers(service.port, kinds(token, "demo")[index], 200):
        seen = ordinary_client(service.port, "/demo/resource?limit=1", token, 5.0)
    report(f"{seen.count} answers, median {seen.median * 1000:.0f} ms, p99 {seen.p99 * 1000:.0f} ms")
    assert seen.failed == 0
    assert seen.count > 20
    assert seen.p99 < P99_S


def test_more_idle_connections_than_the_workers_accept(service: Service, report: Report) -> None:
    token = service.token("manage_test:demo")
    with Attackers(service.port, SILENCE, 1000), Attackers(service.port, SILENCE, 1000, every_s=30):
        seen = ordinary_client(service.port, "/demo/resource?limit=1", token, 5.0)
    report(f"2,000 connections: median {seen.median * 1000:.0f} ms, p99 {seen.p99 * 1000:.0f} ms")
    assert seen.failed == 0
    assert seen.p99 < P99_S


ANONYMOUS_BODY = Kind(
    "bodies for the token endpoint",
    b"POST /oauth/token HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: 9999\r\n\r\ng",
    b"g",
)
SILENCE = Kind("connections that say nothing", b"", b"")


def assert_served_beside(service: Service, report: Report, *attacks: tuple[Kind, int]) -> None:
    """Open many connections: each probe is answered, and an ordinary client is as soon as the burst was accepted."""
    token = service.token("manage_test:demo")
    with Probes(service) as probes, ExitStack() as opened:
        for kind, count in attacks:
            opened.enter_context(Attackers(service.port, kind, count, every_s=2.0))
        taken = service.wait_until(lambda: service.request("GET", "/health/live").status == 200, within_s=30)
        seen = ordinary_client(service.port, "/demo/resource?limit=1", token, 5.0)
    slowest = f"{probes.slowest_s * 1000:.0f} ms"
    report(f"{2 * len(probes.live)} probes, each within {slowest}; burst accepted after {taken:.1f} s")
    report(f"{seen.count} answers, p99 {seen.p99 * 1000:.0f} ms")
    assert {probe.status for probe in probes.live} == {200}
    assert not probes.is_taken_out()
    assert probes.slowest_s < P99_S
    assert seen.failed == 0
    assert seen.p99 < P99_S


def test_1900_bodies_without_a_token_keep_nobody_from_being_served(service: Service, report: Report) -> None:
    assert_served_beside(service, report, (ANONYMOUS_BODY, 1900))


def test_bodies_and_idle_connections_keep_nobody_from_being_served(service: Service, report: Report) -> None:
    assert_served_beside(service, report, (ANONYMOUS_BODY, 300), (SILENCE, 1600))


def test_a_body_that_comes_by_a_byte_each_second_is_ended_within_half_a_minute(service: Service) -> None:
    with ExitStack() as opened:
        left = [
            opened.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=5)) for _ in range(10)
        ]
        for one in left:
            one.sendall(ANONYMOUS_BODY.opening)
        began = time.monotonic()
        while left and time.monotonic() - began < 30:
            time.sleep(1)
            for one in list(left):
                try:
                    one.sendall(b"g")
                    one.setblocking(False)
                    with suppress(BlockingIOError):
                        if one.recv(1):
                            left.remove(one)
                    one.settimeout(5)
                except OSError:
                    left.remove(one)
        assert left == []


@pytest.mark.parametrize(
    "path", ["/resource?limit=500", "/resource/searchApiPattern?facet=version", "/resource/key=none"]
)
def test_who_hung_up_is_not_served(service: Service, report: Report, path: str) -> None:
    """The worker sees so at one of its looks, and another project does not wait for what nobody awaits."""

    def seen() -> float:
        looks = ("parsing", "work")
        return sum(service.metric("connections_ended_total", reason=f"hung_up_before_{look}") for look in looks)

    token, other = service.token("manage_test:hung-up"), service.token("manage_test:demo")
    head = f"GET /hung-up{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    before = seen()
    for _ in range(1500):
        with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
            connection.sendall(head)
    answer = service.request("GET", "/demo/resource?limit=1", token=other)
    report(f"another project waited {answer.seconds * 1000:.0f} ms; {seen() - before:.0f} of 1,500 were not served")
    assert answer.status == 200
    assert answer.seconds < P99_S
    service.wait_until(lambda: seen() - before > 1400)
