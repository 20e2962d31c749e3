"""Formats of log lines: JSON, and text on a terminal."""

import io
import logging
import re
import sys
from typing import Any

import pytest

from app.config import Settings
from app.telemetry.logs import TextLines, configure_logging


def request_record(status: int, **further: Any) -> logging.LogRecord:
    """The log record of a request."""
    record = logging.LogRecord("app.request", logging.INFO, "file", 1, "request", (), None)
    record.__dict__["fields"] = {"method": "GET", "status": status, "duration_ms": 3.14, **further}
    return record


def test_text_log_lines_of_requests_have_columns() -> None:
    text = TextLines().format(request_record(200, route="/{x}", sql_ms=1.26, sql_count=1, project="demo"))
    assert re.fullmatch(r"\d\d:\d\d:\d\d 200 GET    /\{x\} 3\.1 ms, sql 1 in 1\.3 ms project=demo", text)
    assert re.fullmatch(r"\S+ 404 GET    \(no route\) 3\.1 ms", TextLines().format(request_record(404)))


def test_text_log_lines_contain_no_control_characters_of_the_request() -> None:
    text = TextLines().format(request_record(404, path="/a\033[2J\nfake line"))
    assert "\033" not in text
    assert "\n" not in text


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("log_format", "stream", "expected"),
    [
        ("auto", io.StringIO, '{"time":'),
        ("json", Terminal, '{"time":'),
        ("text", io.StringIO, "warning told"),
        ("auto", Terminal, "warning told"),
    ],
)
def test_log_format_auto_is_text_on_a_terminal_and_json_elsewhere(
    log_format: str, stream: type[io.StringIO], expected: str, app_log: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = stream()
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setattr(app_log, "handlers", [])
    configure_logging(Settings(log_format=log_format))
    app_log.warning("told")
    assert expected in written.getvalue()
    assert app_log.makeRecord("gunicorn.error", logging.ERROR, "file", 1, "", (), None).process, "gunicorn shows it"
    for handler in app_log.handlers:
        assert handler.lock is not None  # Python 3.13 acquires the lock without a check for None
        handler.flush()
