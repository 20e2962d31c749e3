"""Alerts and dashboard in ``ops/`` query only metrics and labels that exist, and show every metric of the service.

And the files for Compose, Prometheus, Alertmanager and nginx agree with each other and with the service.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

from app.config import Settings
from app.telemetry.metrics import TOKEN_CHECK_RESULTS, metrics
from tests.support.api import Api
from tests.support.pages import Page

OPS = Path(__file__).resolve().parents[2] / "ops"

RULES: dict[str, dict[str, Any]] = {
    rule["alert"]: rule
    for group in yaml.safe_load((OPS / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
}
DASHBOARD: dict[str, Any] = json.loads((OPS / "grafana/dashboards/sample-resource.json").read_text())
QUERIES = {
    f"{panel['title']}: {target['legendFormat']}": target["expr"]
    for panel in DASHBOARD["panels"]
    for target in panel.get("targets", [])
}
EXPRESSIONS = {**{name: rule["expr"] for name, rule in RULES.items()}, **QUERIES}

EXPORTERS: dict[str, Any] = yaml.safe_load((OPS / "postgres-exporter.yml").read_text())
OF_OTHERS = {
    "up": {"job", "instance"},
    "pg_up": set[str](),
    "node_filesystem_avail_bytes": {"mountpoint"},
    "node_filesystem_size_bytes": {"mountpoint"},
    **{
        f"{name}_{metric}": set[str]()
        for name, asked in EXPORTERS.items()
        for each in asked["metrics"]
        for metric in each
    },
}
"""Metrics that the service and its proxy do not expose."""

NGINX = (OPS / "proxy/nginx.conf").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((OPS.parent / "docker-compose.yml").read_text())
WORDS = {
    *("sum", "min", "max", "by", "rate", "increase", "histogram_quantile", "avg_over_time", "absent", "vector"),
    *("and", "or", "le", "changes", "time"),
}
EVERYWHERE = {"job", "instance"}
"""Labels that Prometheus adds to every series."""


@pytest.fixture
def exposed(app: Flask, api: Api) -> dict[str, set[str]]:
    """The label names of every series of a scrape, after requests that create the series."""
    assert api.get(f"/{api.create()['id']}").status_code == 200
    assert app.test_client().get("/health/ready").status_code == 200
    metrics.report_pool({}, {})
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(metrics.exposition().decode()):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found | exposed_by_the_proxy()


def exposed_by_the_proxy() -> dict[str, set[str]]:
    """The same of the proxy, whose configuration contains the text of its answer."""
    (text,) = re.findall(r'location = /metrics \{\s+return 200 "(.*?)\n";', NGINX, re.DOTALL)
    text = re.sub(r"\$\w+", "1", text.replace('\\"', '"'))
    samples = [sample for family in text_string_to_metric_families(text + "\n") for sample in family.samples]
    return {sample.name: set(sample.labels) for sample in samples}


def selectors(expression: str) -> Iterator[tuple[str, set[str]]]:
    """The metrics in an expression, each with the labels that it is selected by."""
    for name, matchers in re.findall(
        r'\b([a-z_]+)\b(\{(?:[^"{}]|"[^"]*")*\})?', re.sub(r"\[[^]]*\]", "", without_grouping(expression))
    ):
        if name not in WORDS:
            yield name, set(re.findall(r'([a-z_]+)\s*(?:=~|!~|!=|=)\s*"', matchers))


def without_grouping(expression: str) -> str:
    """An expression without its ``by (...)`` clauses."""
    return re.sub(r"\bby\s*\([^)]*\)", "", expression)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_an_expression_names_only_exposed_metrics_and_labels(name: str, exposed: dict[str, set[str]]) -> None:
    expression = EXPRESSIONS[name]
    asked = dict(selectors(expression))
    assert asked
    known = exposed | OF_OTHERS
    assert set(asked) <= set(known)
    has = {label for metric in asked for label in known[metric]} | EVERYWHERE
    for metric, labels in asked.items():
        assert labels <= known[metric] | EVERYWHERE, metric
    for grouped in re.findall(r"\bby\s*\(([^)]*)\)", expression):
        assert {label.strip() for label in grouped.split(",")} <= has


@pytest.mark.parametrize(
    ("label", "known"),
    [
        ("result", set(TOKEN_CHECK_RESULTS)),
        ("check", {"database", "migrations", "pool", "archiving", "disk", "read_only"}),
        ("state", {"idle", "in_use"}),
    ],
)
def test_label_values_in_expressions_exist(label: str, known: set[str]) -> None:
    asked = {value for expression in EXPRESSIONS.values() for value in re.findall(rf'\b{label}="([^"]*)"', expression)}
    assert asked
    assert asked <= known


def test_every_metric_is_on_the_dashboard(exposed: dict[str, set[str]]) -> None:
    shown = {name for query in QUERIES.values() for name, _ in selectors(query)}

    def family(name: str) -> str:
        return re.sub("_(bucket|sum|count)$", "", name)

    assert {family(name) for name in exposed} - {family(name) for name in shown} == {
        "sample_resource_pool_requests_total"
    }


def test_docs_operations_lists_every_alert_with_severity_and_advice() -> None:
    rows = Page("docs/operations.md").rows("Alerts")
    assert [(name, severity) for name, severity, _, _ in rows] == [
        (name, rule["labels"]["severity"]) for name, rule in RULES.items()
    ]
    assert all(meaning and advice for _, _, meaning, advice in rows)


def test_compose_passes_every_setting_on_but_those_that_it_decides_itself() -> None:
    passed: dict[str, Any] = COMPOSE["services"]["app"]["environment"]
    settings = {item.metadata["variable"] for item in fields(Settings) if "variable" in item.metadata}
    from_outside = {name for name, value in passed.items() if str(value).startswith(f"${{{name}:-")}
    decided = {"BIND", "PORT", "DATA_DIR", "DATABASE_URL", "TRUSTED_PROXIES"}
    assert settings - from_outside == decided, "x-app-environment in docker-compose.yml lacks NAME: ${NAME:-}"
    # BIND and PORT are those of the proxy, and the image has its own; there is no embedded database.
    assert decided - set(passed) == {"BIND", "PORT", "DATA_DIR"}


def test_the_bodies_and_heads_in_the_proxy_leave_room_in_the_memory_of_its_container() -> None:
    proxy = COMPOSE["services"]["proxy"]
    (size,) = re.findall(r"^/tmp:size=(\d+)m,", proxy["tmpfs"][0])
    (limit,) = re.findall(r"^(\d+)m$", proxy["mem_limit"])
    (count, kilobytes) = re.findall(r"large_client_header_buffers (\d+) (\d+)k;", NGINX)[0]
    (processes,) = re.findall(r"^worker_processes (\d+);", NGINX, re.MULTILINE)
    (connections,) = re.findall(r"worker_connections (\d+);", NGINX)
    heads = int(processes) * int(connections) * int(count) * int(kilobytes) // 1024
    assert int(size) * 2 <= int(limit)
    assert heads * 4 <= int(limit)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"OUTER_PROXIES": "10.0.0.1; include /etc/passwd"}, "OUTER_PROXIES: '10.0.0.1;' is neither"),
        ({"OUTER_PROXIES": "proxy.example.com"}, "OUTER_PROXIES: 'proxy.example.com' is neither"),
        ({"CORS_ORIGINS": "https://a.example; x"}, "CORS_ORIGINS: 'https://a.example; x' is no origin"),
        ({"QUEUE_TIMEOUT_MS": "2s"}, "QUEUE_TIMEOUT_MS: '2s' is no number of milliseconds"),
    ],
)
def test_the_proxy_does_not_start_with_a_wrong_setting(environment: dict[str, str], message: str) -> None:
    command = ["sh", str(OPS / "proxy/start")]
    refused = subprocess.run(
        command, env={"PATH": os.defpath, **environment}, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"error: {message}")
