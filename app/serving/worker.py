"""gunicorn's worker for gevent, which serves each connection in a greenlet.

A connection uses a greenlet instead of a thread, and a database connection only for its statements. The subclass adds
what a proxy in front of the service cannot do for it: errors in the service's format for requests that gunicorn cannot
parse, a quick stop, and turns, so that a client that sends many requests or chunks at once delays no other client.
Slow, hostile and too many clients are the matter of the proxy (``docs/robustness.md``).
"""

import os
import socket
from contextlib import suppress
from typing import Any

from gevent import GreenletExit
from gevent import socket as cooperative
from gunicorn import util
from gunicorn.http.body import ChunkedReader
from gunicorn.http.errors import LimitRequestHeaders
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.workers.base_async import AsyncWorker
from gunicorn.workers.ggevent import GeventWorker

from app.database.pooled_connection import is_readable
from app.http.malformed import refusal
from app.serving.turns import discard_rest, end_after_answer, in_turns, let_others_go
from app.telemetry.metrics import metrics

_HEADERS_AT_MOST = 56 * 1024
"""The most bytes of the header lines of a request, or of a trailer. With the request line, whose limit is 8,190 bytes,
they are at most 64 KiB. gunicorn's own limits would allow 819 KB, all of which it searches whenever more bytes arrive.
"""

_READ_AT_ONCE = 8192
"""The most bytes that gunicorn reads at once while it parses a head. With the last bytes of a head the first ones of a
body may arrive."""


class BoundedRequest(Request):
    """gunicorn's request, with a limit for all header lines together."""

    def parse(self, unreader: Any) -> Any:
        """Parse the head of the request, with a lower limit for its size than gunicorn's own.

        gunicorn reads until the head is complete. After each further read it counts the bytes after the request line,
        and refuses the request if they exceed ``max_buffer_headers``. This method sets that limit to a sum:

        - the largest size of all header lines together,
        - the four bytes that end the head,
        - the largest size of one read, because the read that completes the head may also bring the beginning of the
          body.
        """
        # The limit is set in this method, because gunicorn's __init__ sets its own and then calls this method at once.
        # 4: the head ends with CR LF CR LF.
        self.max_buffer_headers = _HEADERS_AT_MOST + 4 + _READ_AT_ONCE
        return super().parse(unreader)

    def parse_headers(self, data: bytes, from_trailer: bool = False) -> Any:
        """Parse header lines, unless they are too many, or too long together. They are counted here because gunicorn
        does not count those that it drops, such as names with an underscore, although it parses them."""
        lines = data.count(b"\r\n") + 1  # no line end follows the last line
        if len(data) > _HEADERS_AT_MOST or lines > self.limit_request_fields:
            raise LimitRequestHeaders("limit request headers")
        return super().parse_headers(data, from_trailer)


class Worker(GeventWorker):
    """The worker class. ``tests/serving/test_upstream.py`` fails if gunicorn changes what the overrides rely on."""

    def init_process(self) -> None:
        """Make gunicorn parse each request as a :class:`BoundedRequest`, and run the worker until it ends. gunicorn
        calls this method once in each worker process. Its own ``init_process`` contains the main loop."""
        RequestParser.mesg_class = BoundedRequest
        self._open = set[socket.socket]()
        """The connections of clients."""
        self._busy = set[socket.socket]()
        """Those of them whose request is being answered."""
        super().init_process()

    def patch(self) -> None:
        """Replace the listening sockets of the master by sockets of gevent, for the event loop of this process.

        This overrides gunicorn's method, which would also patch all modules that gevent patches by default.
        ``gunicorn_settings`` has already patched them, except those that have to stay as they are.
        """
        listeners: list[Any] = self.sockets
        self.sockets = [
            cooperative.socket(listener.FAMILY, socket.SOCK_STREAM, fileno=listener.sock.detach())
            for listener in listeners
        ]

    def notify(self) -> None:
        """Tell the master that this worker is alive, and update the metrics of the pool. gunicorn calls this once a
        second.

        During a stop, end each connection on which no request is being answered. Such a connection is idle, or the head
        of its next request has not arrived in full.

        If the master was killed, the worker stops, too, after its requests in flight.
        """
        self.tmp.notify()  # not super().notify(), which would exit at once without the master
        metrics.sample_pools()
        self.alive = self.alive and self.ppid == os.getppid()
        if not self.alive:
            for client in self._open - self._busy:
                # A greenlet waits on ``client`` for the next request. client.shutdown() would raise an error in this
                # greenlet, because gevent does so in each greenlet that waits on the socket object. So a second socket
                # object for the connection, ``duplicate``, is shut down. Then the greenlet sees an ordinary end of the
                # connection.
                with suppress(OSError), socket.fromfd(client.fileno(), client.family, client.type) as duplicate:
                    duplicate.shutdown(socket.SHUT_RD)

    def handle(self, listener: Any, client: socket.socket, addr: Any) -> None:
        """Serve a connection to its end, with a time limit of ``keepalive`` seconds for each wait for the client.

        The connection ends if the client sends nothing for this time, or does not take a piece of an answer within it.
        A JSON body is one piece; a file is sent in blocks, and each block is a piece. The socket gets the time limit
        here, because gunicorn itself applies ``keepalive`` only while it reads the head of a request.
        """
        client.settimeout(self.cfg.keepalive or None)  # a time limit of 0 would make the socket non-blocking
        self._open.add(client)
        try:
            AsyncWorker.handle(self, listener, client, addr)  # GeventWorker's would remove the time limit
        finally:
            self._open.discard(client)

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> bool:
        """Answer a request by :meth:`_answer`. Until it is answered, :meth:`notify` does not end its connection.

        Two things differ from gunicorn. If a header ``Connection`` has the option ``close``, the connection ends after
        the answer, even if the header has other options, too, or is not the first ``Connection`` of the request. And
        while a body in the chunked transfer coding is read, other connections get their turns.

        :raises StopIteration: gunicorn's sign that the connection ends.
        """
        for name, value in req.headers:
            # gunicorn reads only the first Connection header, and takes its whole value for one option.
            if name == "CONNECTION" and "close" in (option.strip(" \t") for option in value.lower().split(",")):
                req.force_close()
        reader = req.body.reader
        # A client that sends many chunks must not delay others. The parser is None only after the end of the body, so
        # it is not None here; the type checker does not know that.
        if isinstance(reader, ChunkedReader) and reader.parser is not None:
            reader.parser = in_turns(reader.parser, sock)
        self._busy.add(sock)
        try:
            if not self._answer(listener_name, req, sock, addr):
                raise StopIteration
        # The client does not take its answer, or the time of a stop is over.
        except (TimeoutError, GreenletExit):
            raise StopIteration from None
        finally:
            self._busy.discard(sock)
        return True

    def _answer(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> bool:
        """Answer a request, and discard what is left of its body. If the client's next request has already begun to
        arrive, give other connections a turn before gunicorn reads that request.

        :return: whether the connection stays open for a further request.
        """
        is_last = False
        try:
            AsyncWorker.handle_request(self, listener_name, req, sock, addr)  # GeventWorker's would catch GreenletExit
        except StopIteration:  # gunicorn's sign that the connection ends after this answer
            is_last = True
        if not discard_rest(req.body, sock):
            return False
        if is_last:  # the client may have sent further requests already
            end_after_answer(sock)
            return False
        if req.unreader.buf.getbuffer().nbytes or is_readable(sock):  # the next request: read already, or arrived
            return let_others_go(sock)  # False if the client does not read its answers: then the connection ends
        return True

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:  # noqa: ARG002 -- gunicorn's signature
        """Answer a request whose head could not be parsed, or that failed outside of the application."""
        with suppress(OSError):  # the client may be gone
            util.write_nonblock(client, refusal(exc, addr[0] if addr else ""))
        end_after_answer(client)
