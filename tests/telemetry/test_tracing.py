"""Spans by OpenTelemetry: what a receiver gets from gunicorn's workers, and that none are made without the setting."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from app.config import InvalidSetting, Settings
from tests.support.collector import Collector, ReceivedSpan, collector
from tests.support.fixtures import TokenFor
from tests.support.gunicorn_server import Gunicorn, StartGunicorn
from tests.support.ports import free_port
from tests.support.server import ROOT
from tests.support.waiting import wait_until

CALLER = "b7ad6b7169203331"


@pytest.fixture
def received() -> Iterator[Collector]:
    with collector() as receiver:
        yield receiver


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def server(start_gunicorn: StartGunicorn, received: Collector, database_url: str, log: Path) -> Gunicorn:
    return start_gunicorn(
        "wsgi:app",
        log=log,
        WORKERS="2",
        CONNECTIONS="1",
        DATABASE_URL=database_url,
        LOG_FORMAT="json",
        OTEL_EXPORTER_OTLP_ENDPOINT=received.url,
        OTEL_BSP_SCHEDULE_DELAY="50",
    )


def send(server: Gunicorn, path: str, token: str, traceparent: str = "") -> int:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=15)
    headers = {"Authorization": f"Bearer {token}"} | ({"traceparent": traceparent} if traceparent else {})
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def spans_of(received: Collector, trace_id: str, number: int) -> dict[str, ReceivedSpan]:
    """The spans of a trace by their kind and name, as soon as there are so many.

    Without the statement by which each worker looks up a token that it sees for the first time.
    """

    def found() -> list[ReceivedSpan]:
        spans = received.of_trace(trace_id)
        return [span for span in spans if "revoked_token" not in str(span.attributes.get("db.statement"))]

    wait_until(lambda: len(found()) >= number, report=lambda: str(received.spans))
    spans = found()
    assert len(spans) == number, spans
    return {"statement" if span.kind == "client" else span.name: span for span in spans}


def log_lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


def test_a_request_is_a_span_with_its_admission_and_its_statement_below(
    server: Gunicorn, received: Collector, token_for: TokenFor, project: str, log: Path
) -> None:
    token = token_for(f"view_test:{project}")
    trace = uuid4().hex
    assert send(server, f"/{project}/resource?limit=7&var.secret=hidden", token, f"00-{trace}-{CALLER}-01") == 200
    spans = spans_of(received, trace, 3)
    request, admission, statement = (spans[name] for name in ("GET /{project_key}/resource", "admission", "statement"))
    assert (request.kind, request.parent_id, request.service) == ("server", CALLER, "sample-resource")
    assert request.attributes["http.route"] == "/{project_key}/resource"
    assert request.attributes["http.target"] == f"/{project}/resource", "without the query string"
    assert request.attributes["http.status_code"] == 200
    assert (admission.kind, admission.parent_id) == ("internal", request.span_id)
    assert admission.attributes == {"sample_resource.lane": "fast"}
    assert (statement.kind, statement.parent_id) == ("client", request.span_id)
    assert "FROM resource" in statement.attributes["db.statement"]
    assert project not in statement.attributes["db.statement"], "without values"
    assert request.seconds >= statement.seconds > 0
    assert [line["trace_id"] for line in log_lines(log) if line.get("status") == 200] == [trace]


def test_every_worker_sends_spans(server: Gunicorn, received: Collector, token_for: TokenFor, project: str) -> None:
    """What the master has made before the fork would not."""
    token = token_for(f"view_test:{project}")
    workers = {worker.pid for worker in server.workers}
    traces = [uuid4().hex for _ in range(40)]
    threads = [
        Thread(target=send, args=(server, f"/{project}/resource", token, f"00-{trace}-{CALLER}-01")) for trace in traces
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_until(lambda: {span.trace_id for span in received.spans} >= set(traces))
    assert {worker.pid for worker in server.workers} == workers


def test_a_request_without_header_begins_a_trace_that_its_log_line_names(
    server: Gunicorn, received: Collector, token_for: TokenFor, project: str, log: Path
) -> None:
    for traceparent in ("", f"00-{'0' * 32}-{CALLER}-01", "made-up"):
        assert send(server, f"/{project}/resource", token_for(f"view_test:{project}"), traceparent) == 200

    def roots() -> list[ReceivedSpan]:
        return [span for span in received.spans if span.kind == "server"]

    wait_until(lambda: len(roots()) >= 3, report=lambda: str(received.spans))
    assert [root.parent_id for root in roots()] == ["", "", ""]
    assert {root.trace_id for root in roots()} == {line["trace_id"] for line in log_lines(log) if "status" in line}


def test_a_trace_that_its_caller_does_not_record_has_no_spans_and_probes_have_none(
    server: Gunicorn, received: Collector, token_for: TokenFor, project: str
) -> None:
    token = token_for(f"view_test:{project}")
    assert send(server, f"/{project}/resource", token, f"00-{uuid4().hex}-{CALLER}-00") == 200
    assert send(server, "/health/ready", token) == 200
    trace = uuid4().hex
    assert send(server, f"/{project}/resource", token, f"00-{trace}-{CALLER}-01") == 200
    spans_of(received, trace, 3)
    assert server.stop() == 0, "which sends what is left"
    assert {span.trace_id for span in received.spans} == {trace}


def test_the_statements_of_a_recorded_trace_name_its_span_to_postgresql(
    server: Gunicorn, received: Collector, token_for: TokenFor, project: str, database_url: str
) -> None:
    trace = uuid4().hex
    assert send(server, f"/{project}/resource", token_for(f"view_test:{project}"), f"00-{trace}-{CALLER}-01") == 200
    request = spans_of(received, trace, 3)["GET /{project_key}/resource"]
    with psycopg.connect(database_url) as connection:
        row = connection.execute(
            "SELECT query FROM pg_stat_activity WHERE starts_with(query, %s)", (f"/*traceparent='00-{trace}",)
        ).fetchone()
    assert row is not None
    assert row[0].startswith(f"/*traceparent='00-{trace}-{request.span_id}-01'*/ ")


def test_the_service_works_and_stops_in_time_while_the_collector_is_away(
    start_gunicorn: StartGunicorn, token_for: TokenFor, project: str, database_url: str
) -> None:
    server = start_gunicorn(
        "wsgi:app", DATABASE_URL=database_url, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{free_port()}"
    )
    assert send(server, f"/{project}/resource", token_for(f"view_test:{project}")) == 200
    assert server.stop() == 0


def loaded(database_url: str, **environment: str) -> str:
    """The distributions that an application imports of these settings, as far as they belong to tracing."""
    script = (
        "import sys, app; app.create_app();"
        "print(*sorted({name.partition('.')[0] for name in sys.modules} & {'opentelemetry', 'google'}))"
    )
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={"PATH": os.defpath, "DATABASE_URL": database_url, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def test_without_the_setting_nothing_of_opentelemetry_is_imported(database_url: str) -> None:
    assert loaded(database_url) == ""
    assert loaded(database_url, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:4318") == "google opentelemetry"


def test_without_the_extra_the_start_ends_with_a_line_that_names_it(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app import create_app

    monkeypatch.delitem(sys.modules, "app.telemetry.tracing", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    settings = Settings(database_url=database_url, otlp_endpoint="http://127.0.0.1:4318")
    with pytest.raises(InvalidSetting, match=r"^OTEL_EXPORTER_OTLP_ENDPOINT: needs the extra 'otel'"):
        create_app(settings)


@pytest.mark.parametrize("url", ["collector:4318", "ftp://collector", "http://", "http://a b"])
def test_the_endpoint_has_to_be_a_url(url: str) -> None:
    with pytest.raises(InvalidSetting, match=r"^OTEL_EXPORTER_OTLP_ENDPOINT="):
        Settings.from_environment({"OTEL_EXPORTER_OTLP_ENDPOINT": url})
