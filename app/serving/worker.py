"""gunicorn's worker: a greenlet for each connection, and JSON errors for requests that gunicorn cannot parse.

A connection uses a greenlet instead of a thread, and a database connection only during a statement. So clients that
send headers or bodies slowly, or do not read their answers, keep no other client waiting. gunicorn's parser refuses a
malformed request line, or a header that is too large, before Flask is called. gunicorn's own answer would be an HTML
page.
"""

import os
import re
import socket
import time
import uuid
from functools import partial
from http import HTTPStatus
from types import FrameType
from typing import Any, cast

import gevent
from gevent import socket as cooperative
from gevent.event import Event
from gevent.pool import Pool
from gevent.server import StreamServer
from gunicorn import util
from gunicorn.config import Config
from gunicorn.http.errors import ConfigurationProblem, LimitRequestHeaders, LimitRequestLine, ParseException
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.workers.ggevent import GeventWorker

from app import errors
from app.http.client_sockets import STALLED_S, Client, Clients, Phase
from app.http.hangups import has_hung_up
from app.telemetry.metrics import metrics
from app.values.strict_json import CONTENT_TYPE

_LINGER_S = 1.0
"""The time for which a stopping worker keeps idle connections, because a client may already be sending its next
request."""

_UNREAD_AT_MOST = 256 * 1024
"""The most bytes of an answer that the kernel buffers for a client that does not read. Its default is some megabytes.
"""

_DISCARDED_AT_MOST = 8 * 1024 * 1024
_DISCARDED_WITHIN_S = 5.0
"""The limits for reading the rest of a body that the application has refused. A client that is still sending it would
otherwise not read the answer with the reason."""

_HEADERS_AT_MOST = 56 * 1024
"""The most bytes of the header lines of a request. With the request line, whose limit is 8,190 bytes, they are at most
64 KiB.

gunicorn's own limits, on the length and on the number of lines, would allow 819 KB. gunicorn searches all of these
bytes whenever more arrive, so that 50 clients that sent such headers slowly stopped all other clients.
"""

_HOST = re.compile(r"([A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Fa-f:.]+\])(:[0-9]*)?", re.ASCII)
"""The form of a Host header (RFC 9110, section 7.2): a name or an address, which may be empty, and an optional port."""

_ALWAYS_ANSWERED = ("/health/live", "/health/ready", "/metrics")
"""The paths that are answered even while requests that are being worked on hold all ordinary connections."""


class Worker(GeventWorker):
    """gunicorn's GeventWorker, with overrides that each keep a promise which GeventWorker does not keep.

    ==================  ================================================================================================
    ``check_config``    No plain HTTP where TLS was asked for: ``run`` ignores settings for TLS, so they are refused.
    ``init_process``    Settings for TLS are refused after a reload, too; the other overrides get their state.
    ``patch``           A client that does not read its answer holds little memory. All modules are patched before.
    ``run``             A stop is quick, finishes requests in flight, and closes idle connections. All workers accept
                        evenly.
    ``notify``          A worker whose master was killed finishes its requests, too.
    ``handle_exit``     A stop begins at once, not after up to a second.
    ``handle``          A client that sends a body or reads an answer too slowly is disconnected; the client for which
                        the worker has waited longest is disconnected to make room; a client that has hung up is
                        not served.
    ``timeout_ctx``     Idle connections make room for new ones, and end with the worker.
    ``handle_request``  A client that has hung up is not served. A request without a valid Host is refused. Probes are
                        answered whatever else the worker does. A refused body is read up to a limit, so that the
                        client gets the answer.
    ``handle_error``    Errors that gunicorn finds are answered in the service's format, counted and logged.
    ==================  ================================================================================================

    ``tests/serving/test_upstream.py`` fails if gunicorn changes the internals on which the overrides rely.
    """

    @classmethod
    def check_config(cls, cfg: Config, log: Any) -> None:  # noqa: ARG003 -- gunicorn's signature
        """Refuse settings for TLS, however they were set. gunicorn calls this before it forks.

        :raises RuntimeError: naming the settings; gunicorn prints it and ends.
        """
        given = sorted(
            name
            for name, setting in cfg.settings.items()
            if (setting.section == "SSL" or name == "ssl_context") and setting.get() != setting.default
        )
        if given:
            raise RuntimeError(
                f"gunicorn's setting {', '.join(given)}: the service speaks HTTP only. "
                "TLS belongs to a proxy in front of it, see docs/security.md."
            )

    def init_process(self) -> None:
        """Run the worker until it ends."""
        self.check_config(self.cfg, self.log)
        self._told_to_stop = Event()
        self._lingered = False
        self._clients = Clients(self.worker_connections)
        self._served: dict[Any, Client] = {}
        """The client that each greenlet serves."""
        super().init_process()

    def patch(self) -> None:
        """Make the listening sockets cooperative. ``gunicorn_settings`` has patched the rest, before any import."""
        listeners: list[Any] = self.sockets
        self.sockets = [
            cooperative.socket(listener.FAMILY, socket.SOCK_STREAM, fileno=listener.sock.detach())
            for listener in listeners
        ]
        for listener in self.sockets:
            # Every accepted connection inherits this buffer size.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNREAD_AT_MOST)

    def run(self) -> None:
        """Serve until the worker is told to stop, then finish requests in flight, for at most ``graceful_timeout``."""
        RequestParser.mesg_class = BoundedRequest
        servers = [
            StreamServer(listener, handle=partial(self.handle, listener), spawn=Pool(self.worker_connections))
            for listener in self.sockets
        ]
        for server in servers:
            # Accept one connection at a time; otherwise the worker that wakes first accepts all connections of a burst.
            server.max_accept = 1
            server.start()
        while self.alive:
            self.notify()
            self._disconnect_after_keepalive()
            self._told_to_stop.wait(1.0)
        for server in servers:
            server.close()
        gevent.spawn_later(_LINGER_S, self._disconnect_idle)
        deadline = time.monotonic() + self.cfg.graceful_timeout
        while len(self._clients) and time.monotonic() < deadline:
            self.notify()
            gevent.sleep(0.02)
        for server in servers:
            server.stop(timeout=1.0)

    def notify(self) -> None:
        """Report to the master that this worker is alive. Stop if the master is gone."""
        self.tmp.notify()
        if self.ppid != os.getppid():
            self.handle_exit(0, None)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 -- a signal handler's signature
        """Stop gracefully, and wake the main loop at once."""
        self.alive = False
        self._told_to_stop.set()

    def handle(self, listener: Any, client: socket.socket, addr: Any) -> None:
        """Serve a connection to its end."""
        if has_hung_up(client):
            metrics.connections_ended.labels("hung_up_before_parsing").inc()
            util.close(client)
            return
        me = gevent.getcurrent()
        wrapped = self._served[me] = Client(client, self._clients)
        self._clients.add(wrapped)
        try:
            self._clients.make_room()
            # Skip GeventWorker's method, which would remove the timeout.
            super(GeventWorker, self).handle(listener, cast("socket.socket", wrapped), addr)
        finally:
            del self._served[me]
            self._clients.remove(wrapped)

    def timeout_ctx(self) -> "_IdleWait":  # pyright: ignore[reportIncompatibleMethodOverride] -- declared as None
        """The context in which gunicorn reads the header section of the next request, for at most ``keepalive``
        seconds."""
        return _IdleWait(self, self._served[gevent.getcurrent()])

    def begin_idle(self, client: Client) -> None:
        """Note that the worker waits for the next request of a client."""
        client.begin(Phase.HEAD)
        self._clients.begin_wait(client)
        if self._lingered:
            client.disconnect()

    def end_idle(self, client: Client) -> None:
        """Note that a client has sent its next request, or is gone."""
        self._clients.end_wait(client)
        client.begin_request()

    def _disconnect_after_keepalive(self) -> None:
        """Disconnect clients that are idle for too long. It runs once a second, because a timer for each would cost
        every request."""
        for client in self._clients.idle(time.monotonic() - self.cfg.keepalive):
            client.disconnect()

    def _disconnect_idle(self) -> None:
        """Disconnect all idle clients, and from now on each client that becomes idle."""
        self._lingered = True
        for client in self._clients.idle(time.monotonic()):
            client.disconnect()

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> bool:
        """Answer a request. Then prepare the connection for the next request, or end it."""
        if has_hung_up(sock):
            metrics.connections_ended.labels("hung_up_before_work").inc()
            raise StopIteration
        _raise_if_host_is_wrong(req)
        if not self._clients.make_room() and req.path not in _ALWAYS_ANSWERED:
            metrics.connections_ended.labels("no_room").inc()
            raise errors.over_capacity("The service is busy: all connections are held by requests that it works on.")
        # StopIteration makes gunicorn end a connection without logging an error.
        try:
            answered = super().handle_request(listener_name, req, sock, addr)
        except TimeoutError:
            # The client has read the answer too slowly.
            raise StopIteration from None
        if not _discard_rest_of(req.body):
            raise StopIteration
        return answered

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        """Answer a request that could not be parsed, or that failed outside of the application."""
        error = error_for(exc)
        correlation_id = str(uuid.uuid4())
        metrics.count_unparsed(error.status)
        if isinstance(exc, errors.ApiError):
            self.log.debug("Refused request: %s", error)  # the metrics count them; there may be thousands
        elif error.status < 500:
            peer = addr[0] if addr else "a unix socket"
            self.log.warning("Refused request from %s (%s): %s", peer, correlation_id, error)
        else:
            self.log.error("Error handling a request (%s)", correlation_id, exc_info=exc)
        try:
            answer = error_response(error, correlation_id, head_only=getattr(req, "method", None) == "HEAD")
            util.write_nonblock(client, answer)
        except OSError:
            self.log.debug("The client did not wait for the error.")


class BoundedRequest(Request):
    """gunicorn's request, with a limit for all header lines together, and for the lines of a trailer."""

    def parse(self, unreader: Any) -> Any:
        """Parse the request line and the header lines."""
        self.max_buffer_headers = _HEADERS_AT_MOST
        return super().parse(unreader)

    def parse_headers(self, data: bytes, from_trailer: bool = False) -> Any:
        """Parse header lines. Lines that gunicorn drops also count towards the limit, although gunicorn does not count
        them."""
        if len(data) > _HEADERS_AT_MOST or data.count(b"\r\n") >= self.limit_request_fields:
            raise LimitRequestHeaders("limit request headers")
        return super().parse_headers(data, from_trailer)


class _IdleWait:
    """The context of a wait for the next request. The socket has no timeout then, as the worker limits the wait."""

    __slots__ = ("_client", "_worker")

    def __init__(self, worker: Worker, client: Client) -> None:
        self._worker = worker
        self._client = client

    def __enter__(self) -> None:
        self._client.settimeout(None)
        self._worker.begin_idle(self._client)

    def __exit__(self, *_: object) -> None:
        self._worker.end_idle(self._client)
        self._client.settimeout(STALLED_S)


def _raise_if_host_is_wrong(req: Any) -> None:
    """Refuse a request without a valid Host, as RFC 9112, section 3.2 demands. gunicorn refuses two Host headers.

    :raises ApiError: 400 for HTTP/1.1 without Host, and for a Host that is no host.
    """
    host = next((value for name, value in req.headers if name == "HOST"), None)
    if host is None:
        if req.version >= (1, 1):
            raise errors.invalid_input("Malformed request: HTTP/1.1 needs a Host header.")
    elif not _HOST.fullmatch(host):
        raise errors.invalid_input("Malformed request: the Host header is no host.")


def _discard_rest_of(body: Any) -> bool:
    """Read the rest of a body that the application has not read. Return False if it is too long, too slow or malformed.

    gunicorn would also read it, but without a limit, and without letting other greenlets run while bytes arrive.
    """
    if getattr(body.reader, "length", None) == 0:
        return True  # most requests have no body, or the application has read all of it
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


def error_for(exception: BaseException) -> errors.ApiError:
    """The error of the catalogue for an exception that gunicorn's parser or worker raised."""
    # InvalidResponseHeader and InvalidResponseHeaderName are faults of the application, though gunicorn derives them
    # from faults of a request. They are compared by name because the type stubs of gunicorn lack them.
    if isinstance(exception, errors.ApiError):
        return exception
    if isinstance(exception, ConfigurationProblem) or type(exception).__name__.startswith("InvalidResponse"):
        return errors.general()
    if isinstance(exception, LimitRequestLine):
        return errors.target_too_long()
    if isinstance(exception, LimitRequestHeaders):
        return errors.headers_too_large()
    if isinstance(exception, ParseException):
        # Without the text of the exception, which quotes the line. It may be an Authorization header without its colon.
        return errors.invalid_input(f"Malformed request: {type(exception).__name__}.")
    return errors.general()


def error_response(error: errors.ApiError, correlation_id: str, *, head_only: bool = False) -> bytes:
    """The bytes of a whole HTTP response that ends the connection, because the beginning of the next request is
    unknown."""
    body = error.body()
    head = [
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}",
        f"Date: {util.http_date()}",
        f"Content-Type: {CONTENT_TYPE}",
        f"Content-Length: {len(body)}",
        f"X-Correlation-ID: {correlation_id}",
        "Connection: close",
        *(f"{name}: {value}" for name, value in error.headers.items()),
    ]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + (b"" if head_only else body)
