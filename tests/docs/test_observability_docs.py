"""``docs/observability.md`` lists all fields of log lines, and all metrics with their labels and label values."""

import json
import logging
import re
from threading import Thread

import pytest
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

from app.config import Settings
from app.database.failures import UNAVAILABLE_REASONS
from app.telemetry.logs import JsonLines
from app.telemetry.metrics import TOKEN_CHECK_RESULTS, UNKNOWN_URL, UNPARSED, metrics
from tests.support.api import Api
from tests.support.applications import open_app
from tests.support.pages import Page
from tests.support.waiting import wait_until

PAGE = Page("docs/observability.md")


METRICS = {row[0]: row for row in PAGE.rows("Metrics")}


def test_docs_observability_lists_all_metrics_with_type_and_labels(app: Flask, api: Api) -> None:
    api.create()
    app.test_client().get("/health/ready")
    metrics.report_pool({}, {})
    exposed: dict[str, tuple[str, set[str]]] = {}
    others = {f"sample_resource_{name}" for name in metrics.of_extensions}  # tests in this process have switched it on
    for family in text_string_to_metric_families(metrics.exposition().decode()):
        if family.name in others:
            continue
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        exposed[family.name + ("_total" if family.type == "counter" else "")] = (family.type, labels)
    assert {name: (kind, set(re.findall(r"\w+", labels))) for name, (_, kind, labels, _) in METRICS.items()} == exposed


@pytest.mark.parametrize(
    ("metric", "values"),
    [
        ("database_refusals_total", set(UNAVAILABLE_REASONS)),
        ("token_checks_total", set(TOKEN_CHECK_RESULTS)),
        ("ready", {"database", "migrations", "pool"}),
        ("pool_connections", {"idle", "in_use"}),
        ("http_requests_total", {UNKNOWN_URL, UNPARSED}),
    ],
)
def test_docs_observability_lists_the_values_of_labels(metric: str, values: set[str]) -> None:
    assert values <= set(re.findall("`([^`]+)`", METRICS[f"sample_resource_{metric}"][3]))


ONLY_SOMETIMES = ("refusal", "region", "cloudProvider", "wait_ms", "lane")
"""Fields that the example does not have."""


def test_docs_observability_lists_all_fields_of_a_log_line(
    settings: Settings, api: Api, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("app"), "propagate", True)
    caplog.set_level(logging.INFO, "app.request")
    with open_app(settings, base_domain="example.com", connections=1) as app:
        database = app.extensions["database"]
        held = database.connection("another")
        held.__enter__()  # so that the request has to wait

        def release_when_it_waits() -> None:
            wait_until(lambda: database.admission.is_exhausted)
            held.__exit__(None, None, None)

        Thread(target=release_when_it_waits).start()
        headers = {"Authorization": f"Bearer {api.token}"}
        host = "http://api.europe-west1.gcp.example.com"
        assert app.test_client().get(f"/{api.project}/resource", base_url=host, headers=headers).status_code == 200
    with open_app(settings, database_url="host=/nowhere dbname=x") as app:
        assert app.test_client().get(f"/{api.project}/resource", headers=headers).status_code == 503
    lines = [list(json.loads(JsonLines().format(record))) for record in caplog.records if record.name == "app.request"]
    documented = [name for name, _ in PAGE.rows("Log")]
    assert {name for line in lines for name in line} == set(documented)
    for line in lines:
        assert line == [name for name in documented if name in line]
    assert list(json.loads(PAGE.block("json"))) == [name for name in documented if name not in ONLY_SOMETIMES]
