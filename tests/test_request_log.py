"""The correlation id and the request's log line."""

import json
import logging
import sys
from uuid import UUID

import pytest

from app.observability import _JsonLines, _TextLines
from tests.api import Api


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
    assert logged["ms"] > 0


def test_the_line_tells_who_asked_what(api: Api, lines: pytest.LogCaptureFixture) -> None:
    created = api.create()
    lines.clear()
    api.get(f"/{created['id']}")
    logged = lines.records[0].__dict__["fields"]
    assert logged["route"] == "/<project_key:project_key>/resource/<resource_id:resource_id>"
    assert (logged["project"], logged["client"]) == (api.project, "test-client")


def _record(exc_info: bool = False) -> logging.LogRecord:
    record = logging.LogRecord("app", logging.INFO, "file", 1, "two\nlines", (), sys.exc_info() if exc_info else None)
    record.__dict__["fields"] = {"status": 200}
    return record


def test_a_json_line_is_one_line() -> None:
    text = _JsonLines().format(_record())
    assert "\n" not in text
    assert json.loads(text)["message"] == "two\nlines"
    assert json.loads(text)["status"] == 200


def test_an_exception_is_in_the_line() -> None:
    try:
        raise RuntimeError("boom")
    except RuntimeError:
        record = _record(exc_info=True)
    assert "boom" in json.loads(_JsonLines().format(record))["exception"]
    assert "boom" in _TextLines().format(record)
    assert "status=200" in _TextLines().format(record)
