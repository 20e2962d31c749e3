"""The profile ``monitoring`` of ``docker-compose.yml``: rules, targets, dashboard, and an alert during an outage."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.compose.engine import ANY, ROOT, Answer, Stack, docker
from tests.ops.test_ops import OF_OTHERS
from tests.support.ports import free_port

pytestmark = [pytest.mark.slow, pytest.mark.compose]

OPS = ROOT / "ops"
DASHBOARD = json.loads((OPS / "grafana/dashboards/sample-resource.json").read_text())
EXPRESSIONS = {
    f"{panel['title']}: {target['refId']}": target["expr"]
    for panel in DASHBOARD["panels"]
    for target in panel.get("targets", [])
}
NEEDS_ARCHIVE, NEEDS_CGROUPS_2 = "sample_resource_base_copy", "sample_resource_database_memory"
"""Metrics of which there are no samples without the archive, or where the container engine uses cgroups v1."""

RATE_INTERVAL = "1m"
"""Four times the scrape interval, the least that Grafana inserts for ``$__rate_interval``."""


class Monitored(Stack):
    """The stack with Prometheus and Grafana, and queries to both without an account."""

    def ask(self, port: str, path: str, **query: str) -> Answer:
        """Send a GET to the container whose port this setting publishes."""
        other = Stack(self.compose, port=self.ports[port])
        return other.send("GET", f"{path}?{urlencode(query)}" if query else path)

    def query(self, expression: str) -> list[Any]:
        """The samples of an expression, queried through Grafana's data source."""
        answer = self.ask(
            "GRAFANA_PORT",
            "/api/datasources/proxy/uid/prometheus/api/v1/query",
            query=expression.replace("$__rate_interval", RATE_INTERVAL),
        )
        assert answer.status == 200, f"{expression}: {answer}"
        return answer.json["data"]["result"]

    def told(self) -> set[str]:
        """The alerts that Alertmanager has."""
        return {alert["labels"]["alertname"] for alert in self.ask("ALERTMANAGER_PORT", "/api/v2/alerts").json}

    def targets(self) -> list[tuple[str, str]]:
        """The job and the health of each address that Prometheus scrapes."""
        found = self.ask("PROMETHEUS_PORT", "/api/v1/targets").json["data"]["activeTargets"]
        return sorted((target["labels"]["job"], target["health"]) for target in found)

    def alerts(self) -> dict[str, str]:
        """The state of each alert that is pending or firing."""
        answer = self.ask("PROMETHEUS_PORT", "/api/v1/alerts")
        return {alert["labels"]["alertname"]: alert["state"] for alert in answer.json["data"]["alerts"]}


@pytest.fixture(scope="module")
def stack(compose: list[str]) -> Iterator[Monitored]:
    ports = {name: free_port() for name in ("PROMETHEUS_PORT", "ALERTMANAGER_PORT", "GRAFANA_PORT")}
    token = {"METRICS_TOKEN": "monitoring-test-only"}
    with Monitored(compose, profile="monitoring", ports=ports, settings=token).up() as stack:
        assert isinstance(stack, Monitored)
        yield stack


def test_prometheus_scrapes_the_service_and_no_alert_stays_active(stack: Monitored) -> None:
    all_four = [(job, "up") for job in ("node", "postgres", "sample-resource", "sample-resource-proxy")]
    stack.wait_until(lambda: stack.targets() == all_four, "Prometheus asking the service, the proxy and the exporters")
    absent = (
        (NEEDS_ARCHIVE,) if docker("info", "--format={{.CgroupVersion}}") == "2" else (NEEDS_ARCHIVE, NEEDS_CGROUPS_2)
    )
    database = [metric for metric in OF_OTHERS if not metric.startswith(absent)]
    stack.wait_until(lambda: all(map(stack.query, database)), "figures of the database")
    stack.wait_until(lambda: stack.query("sample_resource_ready") != [], "the first sample")
    assert {sample["value"][1] for sample in stack.query("sample_resource_ready")} == {"1"}
    # Before its first scrape Prometheus takes the service for unreachable, and the alert for that is pending.
    stack.wait_until(lambda: stack.alerts() == {}, "an end of all alerts")


def test_prometheus_scrapes_each_instance_of_the_service(stack: Monitored) -> None:
    def instances() -> int:
        return stack.targets().count(("sample-resource", "up"))

    def scale(number: int) -> None:
        stack.run("up", "-d", "--no-deps", "--no-recreate", "--scale", f"app={number}", "app")

    scale(2)
    stack.wait_until(lambda: instances() == 2, "Prometheus asking both instances", within_s=90)
    scale(1)
    stack.wait_until(lambda: instances() == 1 and len(stack.targets()) == 4, "the end of one", within_s=90)


def test_every_dashboard_panel_has_series(stack: Monitored) -> None:
    number = 0

    def use() -> None:
        nonlocal number
        number += 1
        created = stack.create(key=f"key-{number}")
        assert stack.update(created["id"], 1).status == 200
        assert stack.update(created["id"], 1).status == 409
        assert stack.send("GET", "key=none").status == 404
        assert stack.send("GET", "?limit=5").status == 200
        assert stack.send("GET", "searchApiPattern?text.en=dog").status == 200
        assert stack.send("GET", "", Authorization="Bearer made-up").status == 401

    def without_series() -> set[str]:
        use()
        return {name for name, expression in EXPRESSIONS.items() if not stack.query(expression)}

    expected = {name for name, expression in EXPRESSIONS.items() if needs_failure(expression)}
    stack.wait_until(lambda: without_series() <= expected, f"series of all panels but {expected}")


def needs_failure(expression: str) -> bool:
    """Whether an expression counts failures."""
    return re.search(r'status="5|database_refusals', expression) is not None


def test_alert_database_unreachable_fires_during_an_outage_and_ends_after_it(stack: Monitored) -> None:
    stack.run("kill", "-s", "SIGKILL", "db")
    try:
        stack.wait_until(lambda: "DatabaseUnreachable" in stack.alerts(), "the alert pending", within_s=90)
        # The alert fires after it was pending for the minute that its rule states.
        stack.wait_until(lambda: stack.alerts()["DatabaseUnreachable"] == "firing", "the alert firing", within_s=120)
        stack.wait_until(lambda: "DatabaseUnreachable" in stack.told(), "Alertmanager being told")
    finally:
        stack.run("start", "db")
    stack.wait_until(lambda: "DatabaseUnreachable" not in stack.alerts(), "the end of the alert", within_s=90)
    # A request that gets a broken idle connection from the pool fails once.
    stack.wait_until(lambda: stack.send("POST", "", ANY).status == 201, "an end of the dead connections")
