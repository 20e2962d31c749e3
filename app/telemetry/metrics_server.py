"""``/metrics`` on a port of its own (``METRICS_BIND``), which is not meant for the public.

gunicorn's master opens the port, and a thread of each worker accepts connections from it: the first worker that is free
answers for all of them. So the port stays open while workers come and go, an address in use is an error at the start,
and no thread runs in the master, which forks. Each worker has a thread for it because metrics are needed most when all
of the worker's other threads are busy.
"""

import errno
import logging
import socket
import time
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from app.telemetry.lasting_threads import keep_running
from app.telemetry.metrics import CONTENT_TYPE, Metrics

_CLIENT_TIMEOUT_S = 5.0
_PORT_S = 5.0
"""Longest wait for the port, which the previous master may be about to close."""

_log = logging.getLogger("app.metrics")


class MetricsServer:
    """The open port, made in gunicorn's master before it forks, and a thread in each worker that answers on it.

    :raises OSError: if the address is in use after five seconds, or is none of this machine.
    """

    def __init__(self, host: str, port: int) -> None:
        deadline = time.monotonic() + _PORT_S
        while True:
            try:
                self._listener = listener_on(host, port)
            except PermissionError:
                raise
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                return

    def serve(self, metrics: Metrics, refresh: Callable[[], object]) -> None:
        """Answer requests from a thread of this process.

        :param refresh: called before each answer, to update metrics that are known only when somebody looks.
        """
        server = _Server(self._listener, metrics, refresh)
        keep_running("metrics", partial(server.serve_forever, 60.0))


def listener_on(host: str, port: int) -> socket.socket:
    """A listener on the first address of a host that this machine has.

    A name can have several addresses: in a network of containers, all instances of the service share one.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, kind, protocol, _, address in found[:-1]:
        try:
            return _listening(family, kind, protocol, address)
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:
                raise
    family, kind, protocol, _, address = found[-1]
    return _listening(family, kind, protocol, address)


def _listening(family: int, kind: int, protocol: int, address: Any) -> socket.socket:
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(16)
        # Each connection wakes all workers, and one gets it; accept() must not block the others.
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


class _Server(HTTPServer):
    def __init__(self, listener: socket.socket, metrics: Metrics, refresh: Callable[[], object]) -> None:
        super().__init__(("", 0), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.metrics = metrics
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
        assert isinstance(self.server, _Server)  # noqa: S101 -- for the type checker: only _Server makes handlers
        self.server.metrics.ensure_folder()
        self.server.refresh()
        body = self.server.metrics.exposition()
        self.send_response(200)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class's name for it
        """Log nothing: a line for each scrape, every few seconds, would bury the others."""
