"""Small traffic that holds connections, threads that die, clients that hang up: probes and other clients go on."""

import re
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.attack.cases_connections import ANONYMOUS_BODY, SILENCE, delayed_requests, hang_up
from tests.faults.attackers import Attackers, Kind, Probes, ordinary_client
from tests.faults.reports import Report
from tests.faults.service import Service

P99_S = 3.0
METRICS_TOKEN = "faults-metrics-token"


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    started = Service(SANDBOX="on", METRICS_TOKEN=METRICS_TOKEN)
    yield started
    started.remove()


def numbers(service: Service, name: str) -> dict[str, float]:
    """The values of a metric, by its labels."""
    text = service.request("GET", "/metrics", token=METRICS_TOKEN).body.decode()
    return {labels: float(value) for labels, value in re.findall(rf"^{name}(?:\{{(.*)\}})? (\S+)$", text, re.MULTILINE)}


# Each is anonymous, or waits on the order of a sandbox project.
SMALL = {
    "bodies": [(1900, "body")],
    "bodies and idle connections": [(300, "body"), (1600, "silence")],
    "delayed requests": [(1900, "delayed")],
}


@pytest.mark.parametrize("name", SMALL)
def test_small_traffic_keeps_nobody_from_being_served(service: Service, report: Report, name: str) -> None:
    token = service.token("manage_test:demo")
    kinds: dict[str, Kind] = {"body": ANONYMOUS_BODY, "silence": SILENCE}
    if name == "delayed requests":
        kinds["delayed"] = delayed_requests(service)
    with Probes(service) as probes, ExitStack() as opened:
        for count, kind in SMALL[name]:
            opened.enter_context(Attackers(service.port, kinds[kind], count, every_s=2.0))
        # A request behind a burst of new connections waits until those before it were accepted; a probe does not.
        taken = service.wait_until(lambda: service.request("GET", "/health/live").status == 200, within_s=30)
        seen = ordinary_client(service.port, "/demo/resource?limit=1", token, 5.0)
    report(
        f"{2 * len(probes.live)} probes, each within {probes.slowest_s * 1000:.0f} ms; burst taken after {taken:.1f} s"
    )
    report(f"{seen.count} answers, p99 {seen.p99 * 1000:.0f} ms")
    assert {probe.status for probe in probes.live} == {200}
    assert not probes.is_taken_out()
    assert probes.slowest_s < P99_S
    assert seen.failed == 0
    assert seen.p99 < P99_S


@pytest.mark.parametrize(
    "path", ["/resource?limit=500", "/resource/searchApiPattern?facet=version", "/resource/key=none"]
)
def test_who_hung_up_is_not_served(service: Service, report: Report, path: str) -> None:
    """The worker sees so at one of its looks, and another project does not wait for what nobody awaits."""
    token = service.token("manage_test:demo")
    before = numbers(service, "sample_resource_connections_ended_total")
    hang_up(service, path, 1500)
    answer = service.request("GET", "/demo/resource?limit=1", token=token)
    after = numbers(service, "sample_resource_connections_ended_total")
    seen = {
        labels: after[labels] - before.get(labels, 0) for labels in after if "hung_up" in labels and after[labels] > 0
    }
    report(f"another project waited {answer.seconds * 1000:.0f} ms; {seen}")
    assert answer.status == 200
    assert answer.seconds < P99_S
    assert sum(seen.values()) > 750
