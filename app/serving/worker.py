"""gunicorn's worker for gevent, which serves each connection in a greenlet.

A connection uses a greenlet instead of a thread, and a database connection only during a statement. The subclass adds
what a proxy in front of the service cannot do for it: errors in the service's format for requests that gunicorn cannot
parse, a quick stop, and turns, so that a client that sends many requests or chunks at once delays no other client.
Slow, hostile and too many clients are the matter of the proxy (``docs/robustness.md``).
"""

import os
import select
import socket
import ssl
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import gevent
from gevent import monkey
from gevent import socket as cooperative
from gunicorn import util
from gunicorn.http.body import ChunkedReader
from gunicorn.http.errors import LimitRequestHeaders, ParseException, UnsupportedTransferCoding
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.workers.base_async import AsyncWorker
from gunicorn.workers.ggevent import GeventWorker

from app.errors import ApiError, invalid_input
from app.http.malformed import error_for
from app.http.request_log import log_unparsed
from app.telemetry.metrics import metrics
from app.values.strict_json import CONTENT_TYPE

_HEADERS_AT_MOST = 56 * 1024
"""The most bytes of the header lines of a request, or of a trailer. With the request line, whose limit is 8,190 bytes,
they are at most 64 KiB. gunicorn's own limits would allow 819 KB, all of which it searches whenever more bytes arrive.
"""

_DISCARDED_AT_MOST = 8 * 1024 * 1024
_DISCARDED_WITHIN_S = 5.0
"""The limits for reading what a client still sends after its answer. A client that is still sending would otherwise
not read the answer, and bytes that nobody has read make the kernel reset the connection, with the answer in it."""

_CHUNKS_IN_TURN = 100
"""The chunks of a body that are read before other connections get their turn: less than a millisecond."""

# The poll of the operating system, which returns at once with a timeout of 0. gevent's poll does not.
_poll = monkey.get_original("select", "poll")


class BoundedRequest(Request):
    """gunicorn's request, with a limit for all header lines together."""

    def parse(self, unreader: Any) -> Any:
        """Parse the request line and the header lines."""
        self.max_buffer_headers = _HEADERS_AT_MOST
        return super().parse(unreader)

    def parse_headers(self, data: bytes, from_trailer: bool = False) -> Any:
        """Parse header lines. gunicorn does not count the lines that it drops, although it parses them."""
        if len(data) > _HEADERS_AT_MOST or data.count(b"\r\n") >= self.limit_request_fields:
            raise LimitRequestHeaders("limit request headers")
        return super().parse_headers(data, from_trailer)


class Worker(GeventWorker):
    """The worker class. ``tests/serving/test_upstream.py`` fails if gunicorn changes what the overrides rely on."""

    def init_process(self) -> None:
        """Run the worker until it ends."""
        RequestParser.mesg_class = BoundedRequest
        self._open = set[socket.socket]()
        self._working = set[socket.socket]()
        """The connections whose request is being worked on."""
        super().init_process()

    def patch(self) -> None:
        """Make the listening sockets cooperative. ``gunicorn_settings`` has patched the modules before any import."""
        listeners: list[Any] = self.sockets
        self.sockets = [
            cooperative.socket(listener.FAMILY, socket.SOCK_STREAM, fileno=listener.sock.detach())
            for listener in listeners
        ]

    def notify(self) -> None:
        """Tell the master once a second that this worker is alive. During a stop, end the idle connections.

        If the master was killed, the worker finishes its requests before it ends.
        """
        self.tmp.notify()
        metrics.sample_pools()
        self.alive = self.alive and self.ppid == os.getppid()
        if not self.alive:
            for client in self._open - self._working:
                # By another socket of the same connection: gevent would wake the greenlet that waits with an error.
                with suppress(OSError), socket.fromfd(client.fileno(), client.family, client.type) as same:
                    same.shutdown(socket.SHUT_RD)

    def handle(self, listener: Any, client: socket.socket, addr: Any) -> None:
        """Serve a connection to its end. It ends if its client sends or reads nothing for ``keepalive`` seconds, which
        gunicorn would limit only for the head of a request."""
        client.settimeout(self.cfg.keepalive or None)
        self._open.add(client)
        try:
            AsyncWorker.handle(self, listener, client, addr)  # GeventWorker's would remove the time limit
        finally:
            self._open.discard(client)

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> bool:
        """Answer a request, and read what is left of its body. Then let other connections have their turn, if the next
        request has arrived."""
        if "#" in req.uri:  # gunicorn would drop a fragment, with a condition that the client has put behind it
            raise invalid_input("Malformed request: The request target contains a #. Percent-encode it: %23.")
        for name, value in req.headers:
            # gunicorn knows Connection only as one line with one option.
            if name == "CONNECTION" and "close" in (option.strip(" \t") for option in value.lower().split(",")):
                req.force_close()
            if name == "TRANSFER-ENCODING" and value.lower() != "chunked":  # gunicorn would not decode the others
                raise UnsupportedTransferCoding(value)
        if isinstance(req.body.reader, ChunkedReader):
            req.body.reader.parser = _in_turns(req.body.reader.parser, sock)
        self._working.add(sock)
        is_last = False
        try:
            super().handle_request(listener_name, req, sock, addr)
        except StopIteration:  # gunicorn's sign that the connection ends after this answer
            is_last = True
        except TimeoutError:  # the client does not read its answer
            raise StopIteration from None
        finally:
            self._working.discard(sock)
        is_read = getattr(req.body.reader, "length", None) == 0 or _reads_to_end(req.body.read)
        if is_last or not is_read:
            raise StopIteration
        if req.unreader.buf.getbuffer().nbytes or _is_readable(sock):
            _let_others_go(sock)
        return True

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Answer a request that could not be parsed, or that failed outside of the application."""
        if isinstance(exc, ssl.SSLError):
            self.log.debug("Closing a connection without TLS: %s", exc)
            return
        error, correlation_id = error_for(exc), str(uuid4())
        log_unparsed(error, correlation_id, addr[0] if addr else "", exc if error.status >= 500 else None)
        with suppress(OSError):  # the client may be gone
            is_head = getattr(req, "method", None) == "HEAD"
            util.write_nonblock(client, error_response(error, correlation_id, head_only=is_head))
            client.shutdown(socket.SHUT_WR)
            _reads_to_end(client.recv)


def _is_readable(sock: Any) -> bool:
    poll = _poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


def _let_others_go(sock: Any) -> None:
    """Let the event loop look at all connections before this one goes on.

    ``sleep(0)`` would not do so: the event loop runs up to fifty waiting greenlets before it looks. It looks when it
    waits for a socket. This one is ready to be written to, unless its client does not read its answers.
    """
    cooperative.wait_write(sock.fileno(), sock.gettimeout())


def _in_turns(chunks: Iterator[bytes] | None, sock: Any) -> Generator[bytes]:
    """The chunks of a body, with a turn for other connections every :data:`_CHUNKS_IN_TURN` chunks."""
    for number, chunk in enumerate(chunks or ()):
        if number % _CHUNKS_IN_TURN == _CHUNKS_IN_TURN - 1:
            _let_others_go(sock)
        yield chunk


def _reads_to_end(read: Callable[[int], bytes]) -> bool:
    """Read and discard bytes up to the end. Return False if they are too many, too slow or malformed."""
    left = _DISCARDED_AT_MOST
    with suppress(OSError, ParseException), gevent.Timeout(_DISCARDED_WITHIN_S, TimeoutError):
        while left > 0:
            data = read(min(left, 65536))
            if not data:
                return True
            left -= len(data)
            gevent.sleep(0.001)  # a timer, so that the event loop looks at other connections
    return False


def error_response(error: ApiError, correlation_id: str, *, head_only: bool = False) -> bytes:
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
