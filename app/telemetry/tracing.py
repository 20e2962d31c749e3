"""Spans by OpenTelemetry, sent by OTLP over HTTP: of each request, its wait for a connection, and its statements.

Imported only if ``OTEL_EXPORTER_OTLP_ENDPOINT`` is set, because it needs the extra ``otel``. OpenTelemetry's own
instrumentations of Flask and psycopg make the spans of requests and statements; the SDK reads its other variables
(``OTEL_SERVICE_NAME``, ``OTEL_TRACES_SAMPLER``, ``OTEL_EXPORTER_OTLP_HEADERS`` and so on) from the environment.

The application is instrumented before gunicorn forks. What exports the spans has a thread, which a fork would leave
behind, so :meth:`Tracing.start` makes it in each worker.
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
"""Patterns of URLs: probes come every few seconds."""

_FLUSHED_WITHIN_S = 2.0
"""The longest wait for the last spans of a worker that ends; the exporter alone would try for half a minute."""


class Tracing:
    """The spans of one application.

    It has to be made before the application's hooks are installed, so that they find the span of the request.

    :param route_template: how routes are written in the names of spans, made of Flask's rule.
    """

    def __init__(self, app: Flask, route_template: Callable[[str], str]) -> None:
        self._route_template = route_template
        FlaskInstrumentor.instrument_app(
            app, response_hook=self._describe, excluded_urls=_WITHOUT_SPANS, enable_commenter=False
        )
        # For all connections that this process will open. Spans have the text of statements and not their values.
        PsycopgInstrumentor().instrument(skip_dep_check=True)
        self._tracer = trace.get_tracer("app.database.admission")
        self._provider: TracerProvider | None = None

    def start(self) -> None:
        """Export spans from now on, in this process; after the last fork."""
        # Not Resource.create(): it waits in a queue.SimpleQueue for a thread, which in a process of greenlets, whose
        # queues are left as they are for gunicorn's master, waits for ever. The environment takes precedence.
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
        """Send the spans that are left, and end; a collector that is away delays this by two seconds at most."""
        if self._provider is not None:
            ending = Thread(target=self._provider.shutdown, name="last-spans", daemon=True)
            ending.start()
            ending.join(_FLUSHED_WITHIN_S)

    def _describe(self, span: Span | None, _status: str, _headers: Any) -> None:
        """Name the span by the route as logs and metrics do, and take out the query string.

        Clients may have put into the query what nobody should keep, and the log does not have it either.
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
        """Make a span of a wait for a connection that is over.

        :param refusal: what ended the wait, if no connection was granted.
        """
        now = time.time_ns()
        span = self._tracer.start_span(
            "admission", start_time=now - int(waited_s * 1e9), attributes={"sample_resource.lane": lane}
        )
        if refusal is not None:
            span.set_status(Status(StatusCode.ERROR, type(refusal).__name__))
        span.end(now)


class _OfRequests(BatchSpanProcessor):
    """Sends the spans of requests and of what they do, and not the statements that the service sends for itself."""

    def on_end(self, span: ReadableSpan) -> None:
        if span.parent is None and span.kind is not SpanKind.SERVER:
            return
        super().on_end(span)
