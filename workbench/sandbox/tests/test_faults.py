"""Delayed requests beside the requests of others, in numbers that only a slow test can send."""

from collections.abc import Iterator

import pytest

from tests.faults.attackers import Attackers, Kind, ordinary_client
from tests.faults.conftest import report as report
from tests.faults.reports import Report
from tests.faults.service import Service
from tests.faults.test_connections import P99_S

pytestmark = [pytest.mark.slow, pytest.mark.faults]


@pytest.fixture
def sandboxed() -> Iterator[Service]:
    """A service with the sandbox, which has one worker."""
    started = Service(SANDBOX="on", WORKERS="1")
    yield started
    started.remove()


def delayed_requests(service: Service) -> Kind:
    """Requests of a sandbox project that its rules delay by a minute; the hundred that wait are answered at its end."""
    project = service.request("POST", "/sandbox/projects", {}).json()
    key = project["projectKey"]
    answer = service.request("PUT", f"/sandbox/projects/{key}/rules", {"rules": [{"delayMs": 60000}]})
    assert answer.status == 204, answer
    request = (
        f"GET /{key}/resource HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {project['accessToken']}\r\n\r\n"
    )
    return Kind("delayed", request.encode(), b"")


def test_800_requests_that_the_sandbox_delays_keep_nobody_from_being_served(sandboxed: Service, report: Report) -> None:
    token = sandboxed.token("manage_test:demo")
    with Attackers(sandboxed.port, delayed_requests(sandboxed), 800):
        seen = ordinary_client(sandboxed.port, "/demo/resource?limit=1", token, 5.0)
    report(f"{seen.count} answers, median {seen.median * 1000:.0f} ms, p99 {seen.p99 * 1000:.0f} ms")
    assert seen.failed == 0
    assert seen.p99 < P99_S
