"""The request log: a correlation id for each request, and a log line and metrics for each answer, except that probes
that succeed have no line, and that an answer which a hook after the view makes impossible has neither.

:func:`start` is the first hook before a view, and :func:`finish` one of the last hooks after it; ``app.application``
has the order of all hooks. Other hooks add fields to the log line by :func:`add_log_fields`.
"""

import logging
import re
import time
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from flask import Request, Response, g
from uuid_utils import uuid4

from app.database.admission import Lane
from app.database.failures import UNAVAILABLE_REASONS
from app.database.pooled_connection import SqlUsage, count_sql
from app.errors import CATALOGUE, ApiError
from app.extension import Extension
from app.telemetry.logs import REQUESTS
from app.telemetry.metrics import OTHER_METHOD, TOKEN_CHECK_RESULTS, UNKNOWN_URL, UNPARSED, metrics

_log = logging.getLogger("app.http")

_CORRELATION_ID = re.compile("[A-Za-z0-9_/-]{8,256}", re.ASCII)


@cache
def route_template(rule: str) -> str:
    """A URL rule without converters: ``/{project_key}/resource`` for ``/<project_key:project_key>/resource``."""
    return re.sub("<(?:[^:>]+:)?([^>]+)>", r"{\1}", rule)


@dataclass(slots=True)
class RequestRecord:
    """The facts about a request for its log line. ``g.record`` is the record of the current request.

    :param fields: further fields of the log line.
    """

    correlation_id: str
    fields: dict[str, str] = field(default_factory=dict[str, str])
    sql: SqlUsage = field(default_factory=count_sql)
    started: float = field(default_factory=time.perf_counter)


def add_log_fields(**fields: str) -> None:
    """Add fields to the log line of the current request."""
    record: RequestRecord = g.record
    record.fields.update(fields)


def correlation_fields() -> dict[str, str]:
    """The correlation id of the current request, as a field for other log lines."""
    record: RequestRecord = g.record
    return {"correlation_id": record.correlation_id}


def create_metric_series(extension: Extension) -> None:
    """Create, before the first request, the series of each metric whose label has a known set of values. Calling
    ``labels`` creates a series with the value 0.

    Prometheus compares a value with the one before it. A series that began with its first count would have no value
    before this count, so Prometheus would miss it.
    """
    for name, (meaning, label, values) in extension.counted.items():
        for value in values:
            metrics.counter_of(name, meaning, label).labels(value)
    for metric, values in (
        (metrics.refusals, CATALOGUE),
        (metrics.database_refusals, UNAVAILABLE_REASONS),
        (metrics.token_checks, TOKEN_CHECK_RESULTS),
        (metrics.waits, [lane.value for lane in Lane]),
    ):
        for value in values:
            metric.labels(value)


def log_unparsed(error: ApiError, correlation_id: str, address: str, cause: BaseException | None) -> None:
    """Count and log a request that gunicorn could not parse, or that failed outside of the application.

    :param error: the error that the client gets.
    :param address: the address of the client, or of the proxy; empty behind a Unix socket.
    :param cause: the exception of a failure, for the log; None if the request is at fault.
    """
    metrics.count_request(OTHER_METHOD, UNPARSED, error.status)  # the method may be what could not be parsed
    metrics.refusals.labels(error.faults[0].code).inc()
    fields = {"status": error.status, "reason": str(error), "address": address, "correlation_id": correlation_id}
    if cause is None:
        _log.info("refused a request that could not be parsed", extra={"fields": fields})
    else:
        _log.error("a request failed outside of the application", exc_info=cause, extra={"fields": fields})


def start(request: Request) -> None:
    """Make the record of the current request, which starts its clock and its count of SQL statements.

    Its correlation id is that of the header ``X-Correlation-ID`` if it has a valid form, else a new one.
    """
    given = request.headers.get("X-Correlation-ID", "")
    g.record = RequestRecord(given if _CORRELATION_ID.fullmatch(given) else str(uuid4()))


def finish(request: Request, answer: Response) -> Response:
    """Put the correlation id into the answer, count the request and log it."""
    record: RequestRecord = g.record
    answer.headers["X-Correlation-ID"] = record.correlation_id
    seconds = time.perf_counter() - record.started
    method, rule, status, sql = request.method, request.url_rule, answer.status_code, record.sql
    route = UNKNOWN_URL if rule is None else route_template(rule.rule)
    metrics.count_request(method, route, status, seconds, sql.seconds if sql.count else None)
    if sql.waited_s:  # for a connection of the database, in the lane of the request
        metrics.waits.labels(sql.lane).observe(sql.waited_s)
    # Probes come every few seconds; at INFO they would hide the other lines.
    level = logging.DEBUG if status == 200 and route.startswith("/health/") else logging.INFO
    if not REQUESTS.isEnabledFor(level):
        return answer
    fields: dict[str, Any] = {"method": method}
    if rule is not None:
        fields["route"] = route
    fields["status"] = status
    fields["duration_ms"] = round(seconds * 1000, 2)
    if sql.count:
        fields["sql_ms"] = round(sql.seconds * 1000, 2)
        fields["sql_count"] = sql.count
    if sql.waited_s:
        fields["wait_ms"] = round(sql.waited_s * 1000, 2)
        fields["lane"] = sql.lane
    arguments = request.view_args
    if arguments and "project_key" in arguments:
        fields["project"] = arguments["project_key"]
    fields |= record.fields
    if request.remote_addr:  # behind a Unix socket there is none
        fields["address"] = request.remote_addr
    fields["correlation_id"] = record.correlation_id
    REQUESTS.log(level, "request", extra={"fields": fields})
    return answer
