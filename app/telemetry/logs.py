"""Log lines: one JSON object each, or text in columns on a terminal; to standard error.

All lines go through Python's logging, as those of psycopg's pool and of gunicorn do, and are formatted here. The line
of a request alone is written past logging's records and handlers, see :func:`write_request_line`. structlog was
measured in its place (processor time of a request's line): 12 us on its own against 14 us, but 20 to 29 us where it
also formats the lines of libraries, so it would mean either a second pipeline or a slower one.
"""

import json
import logging
import os
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any, TextIO

from app.config import Settings

REQUESTS = logging.getLogger("app.request")
"""The logger of request lines."""

_application_log = logging.getLogger("app")

_PLAIN, _DIM, _RED, _GREEN, _YELLOW, _CYAN = "\033[0m", "\033[2m", "\033[31m", "\033[32m", "\033[33m", "\033[36m"


@lru_cache(maxsize=2)
def _second(seconds: int) -> str:
    """A time in ISO 8601 without its fraction; all lines of one second share it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


class JsonLines(logging.Formatter):
    """A record as one line of JSON: time, level, message, and the members of ``extra={"fields": {...}}``."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = getattr(record, "fields", {})
        if record.exc_info:
            fields = {**fields, "exception": self.formatException(record.exc_info)}
        return json_line(record.created, record.levelno, record.getMessage(), fields)


def json_line(created: float, level: int, message: str, fields: Mapping[str, Any]) -> str:
    """One line of JSON.

    :param fields: names that need no escapes in JSON, to values.
    """
    seconds = int(created)
    line = (
        f'{{"time": "{_second(seconds)}.{int((created - seconds) * 1000):03}+00:00",'
        f' "level": "{_level_name(level)}", "message": {_quoted(message)}'
    )
    for name, value in fields.items():
        kind = type(value)
        text = _quoted(value) if kind is str else repr(value) if kind is float or kind is int else json.dumps(value)
        line += f', "{name}": {text}'
    return line + "}"


@cache
def _level_name(level: int) -> str:
    return logging.getLevelName(level).lower()


class TextLines(logging.Formatter):
    """A record as text for a terminal: time, status or level and message in columns, then the other fields as pairs.

    :param coloured: whether status or level have colours.
    """

    def __init__(self, *, coloured: bool = False) -> None:
        super().__init__()
        self._coloured = coloured

    def format(self, record: logging.LogRecord) -> str:
        fields = dict(getattr(record, "fields", {}))
        head, colour = record.levelname.lower(), _colour_of_level(record.levelno)
        message = _printable(record.getMessage())
        if record.name == REQUESTS.name:
            status = fields.pop("status")
            head, colour = str(status), _colour_of_status(status)
            route, duration_ms = fields.pop("route", "(no route)"), fields.pop("duration_ms")
            message = f"{fields.pop('method'):<6} {route} {duration_ms:.1f} ms"
            if "sql_count" in fields:
                message += f", sql {fields.pop('sql_count')} in {fields.pop('sql_ms'):.1f} ms"
        pairs = " ".join(f"{name}={_printable(str(value))}" for name, value in fields.items())
        time_of_day = f"{datetime.fromtimestamp(record.created).astimezone():%H:%M:%S}"
        if self._coloured:
            head, pairs = f"{colour}{head}{_PLAIN}", pairs and f"{_DIM}{pairs}{_PLAIN}"
            time_of_day = f"{_DIM}{time_of_day}{_PLAIN}"
        text = f"{time_of_day} {head} {message} {pairs}".rstrip()
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


class LineHandler(logging.StreamHandler[TextIO]):
    """A handler that takes no lock: each line is one call of ``write``, which other threads cannot interrupt."""

    def handle(self, record: logging.LogRecord) -> bool:
        passed = self.filter(record)
        if passed:
            self.emit(record)
        return passed

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.write(self.format(record))
        except Exception:  # noqa: BLE001 -- a line that cannot be written must not fail a request
            self.handleError(record)

    def write(self, line: str) -> None:
        """Write a line; standard error flushes itself after each."""
        self.stream.write(line + "\n")


def _printable(text: str) -> str:
    """Text with its control characters escaped, since those can move a terminal's cursor or change its colours."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def _colour_of_level(level: int) -> str:
    if level >= logging.ERROR:
        return _RED
    return _YELLOW if level >= logging.WARNING else _CYAN


def _colour_of_status(status: int) -> str:
    if status >= 500:
        return _RED
    if status >= 400:
        return _YELLOW
    return _GREEN if status < 300 else _CYAN


def configure_logging(settings: Settings) -> None:
    """Send the log lines of the application and of its connection pool to standard error; once a process."""
    # No line shows these, so logging need not find them out (see "Optimization" in its documentation).
    logging.logThreads = logging.logMultiprocessing = False
    handler = LineHandler(sys.stderr)
    on_terminal = sys.stderr.isatty()
    if settings.log_format == "text" or (settings.log_format == "auto" and on_terminal):
        # The convention of no-color.org: set to anything, it forbids colours.
        handler.setFormatter(TextLines(coloured=on_terminal and not os.environ.get("NO_COLOR")))
    else:
        handler.setFormatter(JsonLines())
    # At INFO, the pool logs each connection that is checked out.
    for name, level in (("app", logging.INFO), ("psycopg.pool", logging.WARNING)):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(handler)
            logger.setLevel(level)
            logger.propagate = False


def write_request_line(level: int, fields: dict[str, Any]) -> None:
    """Log a request.

    If the only handler writes JSON lines, the line is written without logging's records and handlers, which would add
    40 us of processor time to a get by id, a tenth of the request. A test handler, a second handler or propagation
    brings the ordinary way back.

    :param level: a level of :mod:`logging`.
    """
    handlers = _application_log.handlers
    if len(handlers) == 1 and not (REQUESTS.handlers or _application_log.propagate):
        handler = handlers[0]
        if isinstance(handler, LineHandler) and isinstance(handler.formatter, JsonLines):
            handler.write(json_line(time.time(), level, "request", fields))
            return
    REQUESTS.handle(REQUESTS.makeRecord(REQUESTS.name, level, "", 0, "request", (), None, extra={"fields": fields}))
