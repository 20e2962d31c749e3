"""Records OpenTelemetry spans of each request, its wait for a connection and its statements, and sends them by OTLP.

This module is imported only if ``OTEL_EXPORTER_OTLP_ENDPOINT`` is set, because it needs the extra ``otel``.
OpenTelemetry's instrumentations of Flask and psycopg make the spans of requests and statements. The SDK reads its other
variables (``OTEL_SERVICE_NAME``, ``OTEL_TRACES_SAMPLER``, ``OTEL_EXPORTER_OTLP_HEADERS`` and so on) from the
environment.

The application is instrumented before gunicorn forks. The exporter has a thread, which does not survive a fork, so
:meth:`Tracing.start` makes the exporter in each worker.
"""

import time
from collections.abc import Callable
from threading import Thread
from typing import Any

from flask import Flask, request
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.flask import FlaskInstrumentor
from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from app.telemetry.trace_context import TraceContext

_WITHOUT_SPANS = "/health/,/metrics$"
"""Patterns of the URLs whose requests get no spans: probes and metrics are requested every few seconds."""

_FLUSHED_WITHIN_S = 2.0
"""The longest wait for sending the last spans of an ending worker. The exporter itself would try for half a minute."""


class Tracing:
    """Records the spans of one application.

    It has to be made before the hooks of the application are installed, so that the hooks find the span of a request.

    :param route_template: converts Flask's rule to the route in the names of spans.
    """

    def __init__(self, app: Flask, route_template: Callable[[str], str]) -> None:
        self._route_template = route_template
        FlaskInstrumentor.instrument_app(
            app, response_hook=self._describe, excluded_urls=_WITHOUT_SPANS, enable_commenter=False
        )
        # For all connections that this process will open. Spans contain the text of statements, but not the values.
        PsycopgInstrumentor().instrument(skip_dep_check=True)
        self._tracer = trace.get_tracer("app.database.admission")
        self._provider: TracerProvider | None = None

    def start(self) -> None:
        """Begin to export spans in this process. To be called after the last fork."""
        # Not Resource.create(), which waits in a queue.SimpleQueue for a thread: with gevent it would wait for ever,
        # because queues are not patched, for the sake of gunicorn's master. Values from the environment take
        # precedence.
        own = {
            "service.name": "sample-resource",
            "telemetry.sdk.language": "python",
            "telemetry.sdk.name": "opentelemetry",
        }
        resource = Resource(own).merge(OTELResourceDetector().detect())
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(_OfRequests(OTLPSpanExporter()))
        trace.set_tracer_provider(self._provider)

    def stop(self) -> None:
        """Send the remaining spans, and stop exporting. If the collector is away, this takes at most two seconds."""
        if self._provider is not None:
            ending = Thread(target=self._provider.shutdown, name="last-spans", daemon=True)
            ending.start()
            ending.join(_FLUSHED_WITHIN_S)

    def _describe(self, span: Span | None, _status: str, _headers: Any) -> None:
        """Name the span of a request by its route, as logs and metrics do, and remove the query string from it.

        The query may contain secrets of clients. The request log does not contain it, either.
        """
        if span is None or not span.is_recording():
            return
        if request.url_rule is not None:
            route = self._route_template(request.url_rule.rule)
            span.update_name(f"{request.method} {route}")
            span.set_attribute("http.route", route)
        attributes = (span.attributes or {}) if isinstance(span, ReadableSpan) else {}
        for name in ("http.target", "http.url", "url.query"):  # of both generations of the semantic conventions
            text = attributes.get(name)
            if isinstance(text, str):
                span.set_attribute(name, "" if name == "url.query" else text.partition("?")[0])

    @staticmethod
    def current() -> TraceContext | None:
        """The span of the current request; None if the request has none."""
        context = trace.get_current_span().get_span_context()
        if not context.is_valid:
            return None
        return TraceContext(
            trace.format_trace_id(context.trace_id),
            trace.format_span_id(context.span_id),
            sampled=context.trace_flags.sampled,
        )

    def note_admission(self, waited_s: float, lane: str, refusal: BaseException | None) -> None:
        """Record the span of a wait for a connection, after the wait has ended.

        :param refusal: the error that ended the wait; None if the request got a connection.
        """
        now = time.time_ns()
        span = self._tracer.start_span(
            "admission", start_time=now - int(waited_s * 1e9), attributes={"sample_resource.lane": lane}
        )
        if refusal is not None:
            span.set_status(Status(StatusCode.ERROR, type(refusal).__name__))
        span.end(now)


class _OfRequests(BatchSpanProcessor):
    """Exports the spans of requests and the spans inside of them, but not those of the service's own statements."""

    def on_end(self, span: ReadableSpan) -> None:
        if span.parent is None and span.kind is not SpanKind.SERVER:
            return
        super().on_end(span)
