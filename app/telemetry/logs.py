"""Formats the application's log lines on standard error: as JSON objects, or as text on a terminal.

The lines go through Python's logging, as do those of psycopg's pool. The supervisor and gunicorn print a few lines of
text of their own: on what a start has found, on starts that fail, on processes that die, and on an answer that breaks
off. structlog was measured as an alternative: 20 to 29 µs
of processor time for a line if it also formats the lines of libraries, instead of 14 µs.
"""

import logging
import sys
import time
from datetime import UTC, datetime

import msgspec

from app.config import Settings

REQUESTS = logging.getLogger("app.request")
"""The logger of request lines."""

_encode = msgspec.json.Encoder().encode


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON: time, level, message, the members of ``extra={"fields": {...}}``, and the
    trace of an exception."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _encode(line).decode()


class TextLines(logging.Formatter):
    """Formats a record as text for a terminal: time, status or level, message, other fields, and lines with the trace
    of an exception."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record, and lines for its exception."""
        fields = dict(getattr(record, "fields", {}))
        head = record.levelname.lower()
        message = _printable(record.getMessage())
        if record.name == REQUESTS.name:
            head = fields.pop("status")
            route, duration_ms = fields.pop("route", "(no route)"), fields.pop("duration_ms")
            message = f"{fields.pop('method'):<6} {route} {duration_ms:.1f} ms"
            if "sql_count" in fields:
                message += f", sql {fields.pop('sql_count')} in {fields.pop('sql_ms'):.1f} ms"
        pairs = " ".join(f"{name}={_printable(str(value))}" for name, value in fields.items())
        text = f"{time.strftime('%H:%M:%S', time.localtime(record.created))} {head} {message} {pairs}".rstrip()
        trace = self.formatException(record.exc_info).splitlines() if record.exc_info else ()
        return "\n".join([text, *map(_printable, trace)])


def _printable(text: str) -> str:
    """Escape a text that contains control characters, or others that are not printable, because they can move the
    cursor of a terminal or change its colours. In such a text, all characters outside of ASCII and all backslashes are
    escaped, too. Any other text stays unchanged."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def configure_logging(settings: Settings) -> None:
    """Send the log lines of the application and of its connection pools to standard error. Only the first call in a
    process has an effect, even if later ones have other settings."""
    # No log line shows the thread, or a name of the process, so logging need not find them out ("Optimization" in its
    # documentation). logProcesses stays on, for gunicorn's own lines.
    logging.logThreads = logging.logMultiprocessing = False
    handler = logging.StreamHandler(sys.stderr)
    is_text = settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())
    handler.setFormatter(TextLines() if is_text else JsonLines())
    # At INFO, the pool logs each connection that is checked out.
    for name, level in (("app", logging.INFO), ("psycopg.pool", logging.WARNING)):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(handler)
            logger.setLevel(level)
            logger.propagate = False
