"""The correlation id and the request's log line."""

import io
import json
import logging
import re
import sys
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from flask import Flask

from app import create_app
from app.config import Settings
from app.http.request_log import route_template
from app.telemetry.logs import JsonLines, TextLines, configure_logging
from tests.support.api import Api


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    monkeypatch.setattr(logging.getLogger("app"), "propagate", True)
    caplog.set_level(logging.INFO, "app.request")
    return caplog


def test_a_correlation_id_of_the_client_comes_back(api: Api) -> None:
    given = "demo/0123-abc_DEF"
    assert api.get(headers={"X-Correlation-ID": given}).headers["X-Correlation-ID"] == given


@pytest.mark.parametrize("given", ["short", "x" * 257, "with blank", "evil;drop", "ümläut-long", ""])
def test_any_other_one_is_replaced(api: Api, given: str) -> None:
    UUID(api.get(headers={"X-Correlation-ID": given}).headers["X-Correlation-ID"])


@pytest.mark.parametrize("path", ["", "//unknown", "/key=nothing", "?x=y"])
def test_every_answer_and_its_log_line_carry_it(api: Api, lines: pytest.LogCaptureFixture, path: str) -> None:
    answer = api.get(path)
    (record,) = lines.records
    logged = record.__dict__["fields"]
    assert logged["correlation_id"] == answer.headers["X-Correlation-ID"]
    assert logged["status"] == answer.status_code
    assert logged["method"] == "GET"
    assert logged["duration_ms"] > 0


def test_the_line_tells_who_asked_what(api: Api, lines: pytest.LogCaptureFixture) -> None:
    created = api.create()
    lines.clear()
    api.get(f"/{created['id']}")
    logged = lines.records[0].__dict__["fields"]
    assert logged["route"] == "/{project_key}/resource/{resource_id}"
    assert (logged["project"], logged["client"]) == (api.project, "test-client")
    assert "region" not in logged


def test_routes_are_templates_without_their_converters(app: Flask) -> None:
    rules = {rule.rule for rule in app.url_map.iter_rules()}
    assert len({route_template(rule) for rule in rules}) == len(rules)
    assert not any(re.search("[<>:]", route_template(rule)) for rule in rules)
    assert route_template("/<a:b>/x=<filled:c>/<d>") == "/{b}/x={c}/{d}"


def test_the_line_tells_region_and_cloud_provider(
    settings: Settings, api: Api, lines: pytest.LogCaptureFixture
) -> None:
    app = create_app(replace(settings, base_domain="example.com"))
    answer = app.test_client().get("/openapi.json", base_url="http://api.europe-west1.gcp.example.com")
    assert answer.status_code == 200
    logged = lines.records[-1].__dict__["fields"]
    assert (logged["region"], logged["cloudProvider"]) == ("europe-west1", "gcp")


def test_the_line_tells_what_sql_cost(api: Api, lines: pytest.LogCaptureFixture) -> None:
    created = api.create(key="a-key")
    for expected, send in (
        (1, lambda _: api.get(f"/{created['id']}")),
        (2, lambda number: api.put(json={"key": f"b-key-{number}", "objectTypeProperty": {}})),
    ):
        lines.clear()
        for number in range(3):
            send(number)
        logged = [record.__dict__["fields"] for record in lines.records if record.name == "app.request"]
        # A statement of the token verifier may come on top, once in some seconds.
        assert min(fields["sql_count"] for fields in logged) == expected
        assert all(0 < fields["sql_ms"] < fields["duration_ms"] for fields in logged)
    lines.clear()
    assert api.get("?limit=-1").status_code == 400
    logged = lines.records[-1].__dict__["fields"]
    assert logged.get("sql_count", 0) <= 1


def _record(exc_info: bool = False) -> logging.LogRecord:
    record = logging.LogRecord("app", logging.INFO, "file", 1, "two\nlines", (), sys.exc_info() if exc_info else None)
    record.__dict__["fields"] = {"status": 200}
    return record


def test_a_json_line_is_one_line() -> None:
    text = JsonLines().format(_record())
    assert "\n" not in text
    assert json.loads(text)["message"] == "two\nlines"
    assert json.loads(text)["status"] == 200


def test_an_exception_is_in_the_line() -> None:
    try:
        raise RuntimeError("boom")
    except RuntimeError:
        record = _record(exc_info=True)
    assert "boom" in json.loads(JsonLines().format(record))["exception"]
    assert "boom" in TextLines().format(record)
    assert "status=200" in TextLines().format(record)


def _request_record(status: int, **further: Any) -> logging.LogRecord:
    record = logging.LogRecord("app.request", logging.INFO, "file", 1, "request", (), None)
    record.__dict__["fields"] = {"method": "GET", "status": status, "duration_ms": 3.14, **further}
    return record


def test_a_request_on_a_terminal_reads_in_columns() -> None:
    text = TextLines().format(_request_record(200, route="/{x}", sql_ms=1.26, sql_count=1, project="demo"))
    assert re.fullmatch(r"\d\d:\d\d:\d\d 200 GET    /\{x\} 3\.1 ms, sql 1 in 1\.3 ms project=demo", text)
    assert re.fullmatch(r"\S+ 404 GET    \(no route\) 3\.1 ms", TextLines().format(_request_record(404)))


def test_colours_tell_statuses_apart() -> None:
    coloured = TextLines(coloured=True)
    colours = {
        status: re.findall(rf"\033\[(\d+)m{status}\033\[0m", coloured.format(_request_record(status)))
        for status in (200, 304, 404, 503)
    }
    assert colours == {200: ["32"], 304: ["36"], 404: ["33"], 503: ["31"]}
    assert "\033[36minfo\033[0m" in coloured.format(_record())


def test_nothing_that_a_client_sends_moves_the_cursor() -> None:
    text = TextLines().format(_request_record(404, path="/a\033[2J\nfake line"))
    assert "\033" not in text
    assert "\n" not in text


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("log_format", "stream", "no_color", "expected"),
    [
        ("auto", io.StringIO, "", '{"time": '),
        ("json", _Terminal, "", '{"time": '),
        ("text", io.StringIO, "", "warning told"),
        ("auto", _Terminal, "", "\033[33mwarning\033[0m told"),
        ("auto", _Terminal, "1", "warning told"),
    ],
)
def test_lines_are_for_a_person_only_where_one_reads(
    log_format: str,
    stream: type[io.StringIO],
    no_color: str,
    expected: str,
    app_log: logging.Logger,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = stream()
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(app_log, "handlers", [])
    configure_logging(Settings(log_format=log_format))
    app_log.warning("told")
    assert expected in written.getvalue()
    assert ("\033" in written.getvalue()) == ("\033" in expected)
    for handler in app_log.handlers:
        assert handler.lock is not None  # which newer versions of Python enter without asking
        handler.flush()
