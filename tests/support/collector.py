"""A server that takes what OpenTelemetry exports by OTLP over HTTP, as a collector does."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class Collector:
    """Keeps the exports that it receives.

    :param url: where it takes them.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.exports: list[bytes] = []
        """The bodies of the exports of spans, each an ``ExportTraceServiceRequest``."""


@contextmanager
def collector() -> Iterator[Collector]:
    """A server that receives exports until the end of the ``with``."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/v1/traces":
                received.exports.append(body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] -- it takes any
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        received = Collector(f"http://127.0.0.1:{server.server_port}")
        Thread(target=server.serve_forever, daemon=True).start()
        yield received
        server.shutdown()
