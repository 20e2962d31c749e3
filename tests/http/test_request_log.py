"""The correlation id, and the log line of each request."""

import json
import logging
import re
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest
from flask import Flask

from app.config import Settings
from app.http.request_log import route_template
from app.resource.reading import reads
from tests.support.api import Api
from tests.support.applications import open_app
from tests.support.fixtures import TokenFor, on_cluster
from tests.support.service import running_service


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    """Captures the log lines of requests."""
    monkeypatch.setattr(logging.getLogger("app"), "propagate", True)
    caplog.set_level(logging.INFO, "app.request")
    return caplog


@pytest.mark.parametrize("path", ["", "//unknown", "/key=nothing", "?x=y"])
def test_the_log_line_has_the_correlation_id_of_answers(api: Api, lines: pytest.LogCaptureFixture, path: str) -> None:
    answer = api.get(path)
    (record,) = lines.records
    logged = record.__dict__["fields"]
    assert logged["correlation_id"] == answer.headers["X-Correlation-ID"]
    assert (logged["status"], logged["method"]) == (answer.status_code, "GET")
    assert logged["duration_ms"] > 0


def test_the_line_of_a_traceback_has_the_correlation_id(
    api: Api, lines: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(reads, "get_by_key", fail)
    answer = api.get("/key=any")
    assert answer.status_code == 500
    traceback, _ = lines.records
    assert traceback.exc_info is not None
    assert traceback.__dict__["fields"] == {"correlation_id": answer.headers["X-Correlation-ID"]}


def test_a_refused_large_body_leaves_one_line(database_url: str, token_for: TokenFor, tmp_path: Path) -> None:
    log = tmp_path / "log"
    settings = {"DATABASE_URL": database_url, "LOG_FORMAT": "json"}
    with running_service(log, **settings) as port, closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        headers = {"Authorization": f"Bearer {token_for('manage_test:refused')}", "Content-Type": "application/json"}
        connection.request("POST", "/refused/resource", "1" * 40_000, headers)
        answer = connection.getresponse()
        assert answer.status == 400
        answer.read()
    printed = log.read_text()
    assert "Traceback" not in printed
    (line,) = [line for line in printed.splitlines() if '"POST"' in line]
    assert json.loads(line)["status"] == answer.status


def test_the_log_line_has_route_project_and_client(api: Api, lines: pytest.LogCaptureFixture) -> None:
    created = api.create()
    lines.clear()
    api.get(f"/{created['id']}")
    logged = lines.records[0].__dict__["fields"]
    assert logged["route"] == "/{project_key}/resource/{resource_id}"
    assert (logged["project"], logged["client"]) == (api.project, "test-client")
    assert "region" not in logged


def test_logged_routes_are_templates_without_converters(app: Flask) -> None:
    rules = {rule.rule for rule in app.url_map.iter_rules()}
    assert len({route_template(rule) for rule in rules}) == len(rules)
    assert not any(re.search("[<>:]", route_template(rule)) for rule in rules)
    assert route_template("/<a:b>/x=<filled:c>/<d>") == "/{b}/x={c}/{d}"


def test_the_log_line_has_region_and_cloud_provider(
    settings: Settings, api: Api, lines: pytest.LogCaptureFixture
) -> None:
    with open_app(settings, base_domain="example.com") as app:
        answer = app.test_client().get("/openapi.json", base_url="http://api.europe-west1.gcp.example.com")
    assert answer.status_code == 200
    logged = lines.records[-1].__dict__["fields"]
    assert (logged["region"], logged["cloudProvider"]) == ("europe-west1", "gcp")


def test_the_log_line_has_count_and_time_of_sql_statements(api: Api, lines: pytest.LogCaptureFixture) -> None:
    created = api.create(key="a-key")
    for expected, send in (
        (1, lambda _: api.get(f"/{created['id']}")),
        (3 if on_cluster() else 2, lambda number: api.put(json={"key": f"b-key-{number}", "objectTypeProperty": {}})),
    ):
        lines.clear()
        for number in range(3):
            send(number)
        logged = [record.__dict__["fields"] for record in lines.records if record.name == "app.request"]
        # The token verifier adds a statement to one request every few seconds.
        assert min(fields["sql_count"] for fields in logged) == expected
        assert all(0 < fields["sql_ms"] < fields["duration_ms"] for fields in logged)
    lines.clear()
    assert api.get("?limit=-1").status_code == 400
    assert lines.records[-1].__dict__["fields"].get("sql_count", 0) <= 1
