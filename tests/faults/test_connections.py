"""Slow clients, and clients that send much at once: other clients go on."""

from contextlib import ExitStack

import pytest

from tests.faults.attackers import Attackers, Flood, crowding, kinds, ordinary_client
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


PIPELINED = b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n"
WITH_MANY_LINES = b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-A: %b\r\n" % (b"a" * 500) * 90 + b"\r\n"
IN_CHUNKS = b"POST /demo/resource HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 100_000


@pytest.mark.parametrize("connections", [1, 8])
@pytest.mark.parametrize(
    "data",
    [PIPELINED * 100, b"HEAD /health/live HTTP/1.1\r\nHost: x\r\n\r\n" * 100, WITH_MANY_LINES * 8, IN_CHUNKS],
    ids=["unknown URLs", "probes", "many header lines", "chunks of one byte"],
)
def test_clients_that_send_at_once_take_turns(service: Service, report: Report, data: bytes, connections: int) -> None:
    """Each sends without end. The other client waits at most 100 ms on two free cores."""
    token = service.token("manage_test:demo")
    with ExitStack() as stack:
        for _ in range(connections):
            stack.enter_context(Flood(service.port, data))
        seen = ordinary_client(service.port, "/demo/resource?limit=1", token, 5.0)
    report(f"{seen.count} answers, median {seen.median * 1000:.0f} ms, p99 {seen.p99 * 1000:.0f} ms")
    assert seen.failed == 0
    assert seen.p99 < 0.1 * crowding() * 3
