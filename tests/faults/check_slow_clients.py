"""Slow clients of all kinds: an ordinary client at the same time waits little."""

from collections.abc import Iterator

import pytest

from tests.faults.attackers import Attackers, kinds, ordinary_client
from tests.faults.reports import Report
from tests.faults.service import Service

P99_S = 2.0


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    started = Service()
    yield started
    started.remove()


@pytest.mark.parametrize("index", range(len(kinds("", ""))), ids=[kind.name for kind in kinds("", "")])
def test_slow_clients_do_not_block_others(service: Service, report: Report, index: int) -> None:
    token = service.token("manage_test:demo")
    path = "/demo/resource?limit=1"
    with Attackers(service.port, kinds(token, "demo")[index], 200):
        seen = ordinary_client(service.port, path, token, 5.0)
    report(f"{seen.count} answers, median {seen.median * 1000:.0f} ms, p99 {seen.p99 * 1000:.0f} ms")
    assert seen.failed == 0
    assert seen.count > 20
    assert seen.p99 < P99_S


def test_more_idle_connections_than_the_workers_accept(service: Service, report: Report) -> None:
    token = service.token("manage_test:demo")
    idle = kinds(token, "demo")[-1]
    with Attackers(service.port, idle, 1000), Attackers(service.port, idle, 1000, every_s=30):
        seen = ordinary_client(service.port, "/demo/resource?limit=1", token, 5.0)
    report(f"2,000 connections: median {seen.median * 1000:.0f} ms, p99 {seen.p99 * 1000:.0f} ms")
    assert seen.failed == 0
    assert seen.p99 < P99_S
