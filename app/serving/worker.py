"""Gunicorn's worker: greenlets, so that slow clients hold nothing of value, and refusals in the words of the service.

A connection costs a greenlet, not a thread, and a database connection only for the time of a statement. So clients
that drip their headers or their bodies, or that do not read what they asked for, keep nobody else waiting.

A malformed request line or a header that is too large ends in gunicorn's parser, before Flask sees anything, and
gunicorn would answer with a page of HTML.
"""

import os
import socket
import time
import uuid
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from types import FrameType
from typing import Any, Self, cast

import gevent
from gevent import socket as cooperative
from gevent.event import Event
from gevent.pool import Pool
from gevent.server import StreamServer
from gunicorn import util
from gunicorn.http.errors import ConfigurationProblem, LimitRequestHeaders, LimitRequestLine, ParseException
from gunicorn.workers.ggevent import GeventWorker

from app import errors
from app.telemetry.metrics import metrics

_STALLED_S = 20.0
"""Longest wait for the next bytes of a body, or for a client to take the next bytes of an answer."""

_LINGER_S = 1.0
"""How long a stopping worker keeps idle connections, on which a client may be sending its next request already."""

_UNREAD_AT_MOST = 256 * 1024
"""Bytes of an answer that the kernel keeps for a client that does not read; by itself it would keep megabytes."""

_DISCARDED_AT_MOST = 8 * 1024 * 1024
_DISCARDED_WITHIN_S = 5.0
"""Limits to what is read of a body that the application refused, so that the client gets to read why."""

_JOINED_AT_MOST = 64 * 1024
"""Bytes of a body that are copied behind their head."""

_SPARE_CONNECTIONS = 100
"""So many below ``worker_connections``, the client that has been idle for longest is hung up on for the next one."""


class Worker(GeventWorker):
    """Greenlets with keep-alive, a stop that is quick and loses nothing, and JSON for every refusal."""

    def patch(self) -> None:
        """Take over the listening sockets. The rest was patched by ``gunicorn.conf.py``, before anything else."""
        listeners: list[Any] = self.sockets
        self.sockets = [
            cooperative.socket(listener.FAMILY, socket.SOCK_STREAM, fileno=listener.sock.detach())
            for listener in listeners
        ]
        for listener in self.sockets:
            # Inherited by every connection.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNREAD_AT_MOST)

    def init_process(self) -> None:
        """Start the worker; returns when it ends."""
        self._told_to_stop = Event()
        self._lingered = False
        self._clients: dict[Any, socket.socket] = {}
        # Since when, by the monotonic clock; in that order.
        self._waiting: dict[socket.socket, float] = {}
        super().init_process()

    def run(self) -> None:
        """Serve until told to stop, then finish what is under way, for at most ``graceful_timeout``."""
        servers = [
            StreamServer(listener, handle=partial(self.handle, listener), spawn=Pool(self.worker_connections))
            for listener in self.sockets
        ]
        for server in servers:
            # One at a time, or the worker that wakes first takes all of a burst.
            server.max_accept = 1
            server.start()
        while self.alive:
            self.notify()
            self._hang_up_on_those_who_waited_too_long()
            self._told_to_stop.wait(1.0)
        for server in servers:
            server.close()
        gevent.spawn_later(_LINGER_S, self._hang_up_on_the_idle)
        deadline = time.monotonic() + self.cfg.graceful_timeout
        while self._clients and time.monotonic() < deadline:
            self.notify()
            gevent.sleep(0.02)
        for server in servers:
            server.stop(timeout=1.0)

    def notify(self) -> None:
        """Give a sign of life; stop if the master is gone."""
        self.tmp.notify()
        if self.ppid != os.getppid():
            self.handle_exit(0, None)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 -- a signal handler's signature
        """Stop gracefully, at once and not at the next sign of life."""
        self.alive = False
        self._told_to_stop.set()

    def handle(self, listener: Any, client: socket.socket, addr: Any) -> None:
        """Serve a connection to its end."""
        me = gevent.getcurrent()
        self._clients[me] = client
        try:
            client.settimeout(_STALLED_S)
            # Past GeventWorker's own method, which would take the limit off again.
            super(GeventWorker, self).handle(listener, client, addr)
        finally:
            del self._clients[me]

    def timeout_ctx(self) -> "_Wait":  # pyright: ignore[reportIncompatibleMethodOverride] -- declared as None
        """What gunicorn waits for the head of the next request in: at most as long as a connection may be idle."""
        return _Wait(self, self._clients[gevent.getcurrent()])

    def begin_to_wait(self, client: socket.socket) -> None:
        """Note a client that is to send its next request; if there are too many of them, hang up on the oldest."""
        self._waiting[client] = time.monotonic()
        if self._lingered:
            _hang_up_on(client)
        elif len(self._waiting) > self.worker_connections - _SPARE_CONNECTIONS:
            _hang_up_on(next(iter(self._waiting)))

    def end_wait(self, client: socket.socket) -> None:
        """Note that it has sent one, or that it will not."""
        self._waiting.pop(client, None)

    def _hang_up_on_those_who_waited_too_long(self) -> None:
        """Once a second, for all; a timer for each would cost a request more than it is worth."""
        began_at_most = time.monotonic() - self.cfg.keepalive
        for client, began in list(self._waiting.items()):
            if began > began_at_most:
                break
            _hang_up_on(client)

    def _hang_up_on_the_idle(self) -> None:
        """End the connections that wait for a request; those that come to wait later end at once."""
        self._lingered = True
        for client in list(self._waiting):
            _hang_up_on(client)

    def handle_request(self, listener_name: Any, req: Any, sock: socket.socket, addr: Any) -> bool:
        """Answer a request, and make the connection ready for the next one, or end it."""
        # StopIteration is how gunicorn ends a connection in silence.
        try:
            with _OneAnswer(sock) as answer:
                answered = super().handle_request(listener_name, req, cast("Any", answer), addr)
        except TimeoutError:
            # The client took nothing of the answer for too long.
            raise StopIteration from None
        if not _discard_rest_of(req.body):
            raise StopIteration
        return answered

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        """Answer a request that could not be parsed, or whose handling failed outside the application."""
        refusal = refusal_of(exc)
        correlation_id = str(uuid.uuid4())
        metrics.count_unparsed(refusal.status)
        if refusal.status < 500:
            peer = addr[0] if addr else "a unix socket"
            self.log.warning("Refused request from %s (%s): %s", peer, correlation_id, refusal)
        else:
            self.log.error("Error handling a request (%s)", correlation_id, exc_info=exc)
        try:
            answer = response(refusal, correlation_id, head_only=getattr(req, "method", None) == "HEAD")
            util.write_nonblock(client, answer)
        except OSError:
            self.log.debug("The client did not wait for the refusal.")


class _Wait:
    """A context manager around a wait for a request, without the limit that there is to all other waits."""

    __slots__ = ("_client", "_worker")

    def __init__(self, worker: Worker, client: socket.socket) -> None:
        self._worker = worker
        self._client = client

    def __enter__(self) -> None:
        self._worker.begin_to_wait(self._client)
        self._client.settimeout(None)

    def __exit__(self, *_: object) -> None:
        self._worker.end_wait(self._client)
        self._client.settimeout(_STALLED_S)


class _OneAnswer:
    """A connection for the time of an answer, whose head goes out together with the beginning of its body.

    Gunicorn writes them one after the other. One packet instead of two spares both sides a system call each.
    """

    __slots__ = ("_client", "_held")

    def __init__(self, client: Any) -> None:
        self._client = client
        self._held: bytes | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Send the head of an answer without a body."""
        if self._held and (kind is None or issubclass(kind, StopIteration)):
            self._client.sendall(self._held)

    def sendall(self, data: bytes) -> None:
        """Keep what comes first, send the rest."""
        held = self._held
        self._held = b""
        if held is None:
            self._held = data
            return
        if held and len(data) > _JOINED_AT_MOST:
            self._client.sendall(held)
        elif held:
            data = held + data
        # Most fit at once, and sendall() would first ask how much that is.
        sent = self._client.send(data)
        if sent < len(data):
            self._client.sendall(memoryview(data)[sent:])

    def shutdown(self, how: int) -> None:
        """End the connection in the middle of an answer."""
        self._held = b""
        self._client.shutdown(how)


def _discard_rest_of(body: Any) -> bool:
    """Read what the application left of a body; False if that is too much, too slow or malformed.

    Gunicorn would do so too, without a limit, and as long as there is something to read, without letting others go on.
    """
    if getattr(body.reader, "length", None) == 0:
        return True  # as for most requests: there was none, or it has been read whole
    left = _DISCARDED_AT_MOST
    limit = gevent.Timeout.start_new(_DISCARDED_WITHIN_S)
    try:
        while left > 0:
            data = body.read(min(left, 65536))
            if not data:
                return True
            left -= len(data)
            gevent.sleep(0)
    except gevent.Timeout as timeout:
        if timeout is not limit:
            raise
    except (OSError, ParseException):
        pass
    finally:
        limit.close()
    return False


def _hang_up_on(client: socket.socket) -> None:
    """End a wait for a request as if the client had closed the connection."""
    with suppress(OSError):
        client.shutdown(socket.SHUT_RD)


def refusal_of(error: BaseException) -> errors.ApiError:
    """What gunicorn found wrong, as an entry of the catalogue."""
    # InvalidResponseHeader and its kin are the application's fault, though their base class says malformed header.
    # They are known by name since the type stubs of gunicorn do not have them.
    if isinstance(error, ConfigurationProblem) or type(error).__name__.startswith("InvalidResponse"):
        return errors.general()
    if isinstance(error, LimitRequestLine):
        return _rejected("The request line is too large.")
    if isinstance(error, LimitRequestHeaders):
        return _rejected("The request headers are too large.")
    if isinstance(error, ParseException):
        # Not the reason in full: it quotes the line, which may be an Authorization header without its colon.
        return errors.invalid_input(f"Malformed request: {type(error).__name__}.")
    return errors.general()


def _rejected(message: str) -> errors.ApiError:
    return errors.ApiError([errors.Fault("RequestRejected", message)])


def response(refusal: errors.ApiError, correlation_id: str, *, head_only: bool = False) -> bytes:
    """A whole HTTP response; the connection ends with it, since nobody knows where the next request would begin."""
    body = refusal.body()
    head = [
        f"HTTP/1.1 {refusal.status} {HTTPStatus(refusal.status).phrase}",
        f"Date: {util.http_date()}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        f"X-Correlation-ID: {correlation_id}",
        "Connection: close",
        *(f"{name}: {value}" for name, value in refusal.headers.items()),
    ]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + (b"" if head_only else body)
