"""One log line for each request, and the correlation id that ties it to the answer."""

import json
import logging
import re
import sys
import time
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from flask import Flask, Response, g, request

from app.config import Settings

_CORRELATION_ID = re.compile("[A-Za-z0-9_/-]{8,256}", re.ASCII)

_log = logging.getLogger("app.request")


class _JsonLines(logging.Formatter):
    """A record as one line of JSON: time, level, message, and what ``extra={"fields": {...}}`` adds."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


class _TextLines(logging.Formatter):
    """A record for the eye."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = getattr(record, "fields", {})
        pairs = " ".join(f"{name}={value}" for name, value in fields.items())
        text = f"{datetime.fromtimestamp(record.created, UTC):%H:%M:%S} {record.levelname.lower()} "
        text += f"{record.getMessage()} {pairs}".rstrip()
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


def configure_logging(settings: Settings) -> None:
    """Send the log lines of the application and of its pool to standard error, once a process."""
    handler = logging.StreamHandler(sys.stderr)
    as_text = settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())
    handler.setFormatter(_TextLines() if as_text else _JsonLines())
    # The pool tells of every connection that it lends as an information.
    for name, level in (("app", logging.INFO), ("psycopg.pool", logging.WARNING)):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(handler)
            logger.setLevel(level)
            logger.propagate = False


def install_request_log(app: Flask) -> None:
    """Give every request a correlation id, answer it, and log the request under it."""

    @app.before_request
    def start() -> None:  # pyright: ignore[reportUnusedFunction] -- Flask calls it
        g.started = time.perf_counter()
        given = request.headers.get("X-Correlation-ID", "")
        g.correlation_id = given if _CORRELATION_ID.fullmatch(given) else str(uuid4())

    @app.after_request
    def finish(answer: Response) -> Response:  # pyright: ignore[reportUnusedFunction] -- Flask calls it
        answer.headers["X-Correlation-ID"] = g.correlation_id
        fields = {
            "method": request.method,
            "route": str(request.url_rule) if request.url_rule else None,
            "status": answer.status_code,
            "ms": round((time.perf_counter() - g.started) * 1000, 2),
            "project": (request.view_args or {}).get("project_key"),
            "client": g.principal.client_id if "principal" in g else None,
            **g.get("host_parts", {}),
            "correlation_id": g.correlation_id,
        }
        # Probes come every few seconds and would bury the rest.
        level = logging.DEBUG if request.path.startswith("/health/") and answer.status_code == 200 else logging.INFO
        _log.log(
            level, "request", extra={"fields": {name: value for name, value in fields.items() if value is not None}}
        )
        return answer
