"""``/metrics`` on a port of its own (``METRICS_BIND``), which the public never sees.

The gunicorn master opens the port, and a thread of each worker takes requests from it: whichever is free first answers
for all of them. So the port is there as long as the service is, however many workers come and go; an address that is
taken is told at the start; and no thread runs in the master, which forks. Threads of their own, since the metrics are
wanted most when all of the workers' other threads are busy.
"""

import logging
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from app.telemetry import metrics

_CLIENT_TIMEOUT_S = 5.0
_PORT_S = 5.0
"""Longest wait for the port, which a predecessor may be just leaving."""

_log = logging.getLogger("app.metrics")
_listener: socket.socket | None = None


def listen(host: str, port: int) -> None:
    """Open the port; to be called once, by the master.

    :raises OSError: if the address is taken, or none of this machine.
    """
    global _listener
    if _listener is not None:
        return
    deadline = time.monotonic() + _PORT_S
    while True:
        try:
            _listener = _bound(host, port)
        except PermissionError:
            raise
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(16)
        # All workers wake up for a request, and only one gets it.
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


def serve(refresh: Callable[[], object]) -> None:
    """Answer on the port that the master has opened, if it has, from a thread of this process.

    :param refresh: called before each answer, for what is only known when it is looked at.
    """
    if _listener is not None:
        server = _Server(_listener, refresh)
        threading.Thread(target=server.serve_forever, args=(60.0,), name="metrics", daemon=True).start()


class _Server(HTTPServer):
    def __init__(self, listener: socket.socket, refresh: Callable[[], object]) -> None:
        super().__init__(("", 0), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.refresh = refresh

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = self.socket.accept()
        connection.settimeout(_CLIENT_TIMEOUT_S)
        return connection, address

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 -- the base class's signature
        _log.warning("a request for metrics was not answered", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server_version = "sample-resource"
    sys_version = ""

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(404)
            return
        metrics.keep_place()
        if isinstance(self.server, _Server):
            self.server.refresh()
        body = metrics.exposition()
        self.send_response(200)
        self.send_header("Content-Type", metrics.CONTENT_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class's name for it
        """Scrapes come every few seconds and would bury the rest."""
