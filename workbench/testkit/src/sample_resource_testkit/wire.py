"""Sends requests byte by byte as they are given, and reads the answers.

A check may need a target that no library would send: ``%2F``, ``%zz``, a byte beyond ASCII, an unknown method, a header
twice. So requests are written here byte by byte, and h11 only parses the answers. By default each request has a
separate connection. So any worker of a server may accept the connection, and a lost answer is not mistaken for a
connection that was closed while idle.
"""

import contextlib
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import h11

_LARGEST_ANSWER = 64 * 1024 * 1024
"""The largest answer in bytes. A server that sends more is reported, so that it does not fill the memory."""

_PATIENCE = 10
"""How many requests may run into their time limit. After that, requests wait ``_IMPATIENT_S`` at most."""

_IMPATIENT_S = 2.0

_WAIT_FOR_EXTRA_S = 0.25
"""How long to wait for bytes after an answer without a body, such as an answer to HEAD."""

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it is sent.

    :param method: any text without spaces.
    :param target: the request target, sent unchanged: characters beyond ASCII as UTF-8, and lone surrogates as the
        bytes that they stand for with ``surrogateescape``.
    :param headers: the headers in order, which may repeat. ``Host``, ``Content-Length`` and ``Connection`` are added if
        they are missing.
    """

    method: str
    target: str
    headers: Headers = ()
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer as it was received.

    :param headers: the headers in their order and spelling.
    :param extra: bytes after the end of the answer, such as a body after an answer to HEAD.
    :param elapsed_s: the seconds from before the connection was opened to the last byte.
    """

    status: int
    reason: str
    http_version: str
    headers: Headers
    body: bytes
    extra: bytes = b""
    elapsed_s: float = 0.0


class NoAnswer(Exception):
    """The server gave no complete HTTP answer. The message says what happened instead."""


class NotConnected(NoAnswer):
    """No connection to the server could be opened."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The scheme, host and port of a URL, and its path, which begins all request targets.

    :param prefix: the path of the URL without a slash at its end.
    """

    scheme: str
    host: str
    port: int
    prefix: str = ""

    @classmethod
    def of(cls, url: str) -> "Origin":
        """The origin of a URL.

        :raises ValueError: if the URL is not http or https, has no host, or has a query; the message says so.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no URL with http:// or https:// and a host")
        if parts.query or parts.fragment or parts.username is not None:
            raise ValueError(f"{url!r} has a user, a query or a fragment, and none is allowed here")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return cls(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))

    @property
    def authority(self) -> str:
        """The value of the ``Host`` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.scheme == "https" else 80) else f"{host}:{self.port}"

    @property
    def base(self) -> str:
        """Scheme and authority, as a URL without a path."""
        return f"{self.scheme}://{self.authority}"


@dataclass(slots=True)
class Transport:
    """Opens connections to one origin.

    :param timeout_s: the longest wait for a connection, and for a whole answer.
    :param headers: headers that every request gets after its own.
    :param rewrites: regular expressions and their replacements, applied in order to the path of each target.
    """

    origin: Origin
    timeout_s: float = 10.0
    headers: Headers = ()
    rewrites: Sequence[tuple[re.Pattern[str], str]] = ()
    _timeouts: int = field(default=0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _tls: ssl.SSLContext | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.origin.scheme == "https":
            self._tls = ssl.create_default_context()

    def complete(self, request: Request) -> Request:
        """A request with a rewritten path, the prefix of the origin, and the headers of all requests."""
        path, mark, query = request.target.partition("?")
        for pattern, replacement in self.rewrites:
            path = pattern.sub(replacement, path)
        prefix = self.origin.prefix if path.startswith("/") else ""
        return Request(request.method, f"{prefix}{path}{mark}{query}", request.headers + self.headers, request.body)

    @property
    def patience_s(self) -> float:
        """The time limit of the next request. It is shorter once many requests got no answer."""
        return self.timeout_s if self._timeouts < _PATIENCE else min(self.timeout_s, _IMPATIENT_S)

    def exchange(self, request: Request, before_sending: Callable[[], object] = lambda: None) -> RawAnswer:
        """Send a complete request on a separate connection, and read the answer.

        :param before_sending: called when the connection is open.
        :raises NoAnswer: if no complete answer comes.
        """
        with self.connection() as connection:
            before_sending()
            return connection.exchange(request, last=True)

    @contextmanager
    def connection(self) -> Generator["Connection"]:
        """A connection for several requests one after the other.

        :raises NotConnected: if the server does not accept it.
        """
        began = time.monotonic()
        wait_s = self.patience_s
        try:
            opened = socket.create_connection((self.origin.host, self.origin.port), timeout=wait_s)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                opened = self._tls.wrap_socket(opened, server_hostname=self.origin.host)
        except TimeoutError:
            self.count_timeout()
            raise NotConnected(f"no connection to {self.origin.base} within {wait_s:g} s") from None
        except OSError as error:
            raise NotConnected(f"no connection to {self.origin.base}: {error.strerror or error}") from None
        with contextlib.closing(opened):
            yield Connection(self, opened, began)

    def count_timeout(self) -> None:
        """Count a request that got no answer in time."""
        with self._lock:
            self._timeouts += 1


def written(request: Request, authority: str, *, last: bool) -> bytes:
    """The bytes of a request."""
    names = {name.lower() for name, _ in request.headers}
    lines = [request.method.encode() + b" " + request.target.encode("utf-8", "surrogateescape") + b" HTTP/1.1"]
    if "host" not in names:
        lines.append(b"Host: " + authority.encode())
    lines += [f"{name}: {value}".encode("utf-8", "surrogateescape") for name, value in request.headers]
    if request.body is not None and not names & {"content-length", "transfer-encoding"}:
        lines.append(b"Content-Length: %d" % len(request.body))
    if last and "connection" not in names:
        lines.append(b"Connection: close")
    return b"\r\n".join([*lines, b"", request.body or b""])


class Connection:
    """An open connection."""

    def __init__(self, transport: Transport, opened: socket.socket, began: float) -> None:
        self._transport = transport
        self._socket = opened
        self._began = began
        self._state = h11.Connection(h11.CLIENT, max_incomplete_event_size=256 * 1024)
        self._deadline = 0.0
        self._used = False

    def exchange(self, request: Request, *, last: bool = False) -> RawAnswer:
        """Send a complete request, and read the answer.

        :param last: whether to ask the server to close the connection.
        :raises NoAnswer: if no complete answer comes.
        """
        if self._used:
            self._began = time.monotonic()
            if self._state.our_state is not h11.DONE or self._state.their_state is not h11.DONE:
                raise NoAnswer("the server ended the connection after the answer before")
            self._state.start_next_cycle()
        self._used = True
        wait_s = self._transport.patience_s
        self._deadline = time.monotonic() + wait_s
        lost = ""
        try:
            self._socket.settimeout(wait_s)
            self._socket.sendall(written(request, self._transport.origin.authority, last=last))
        except TimeoutError:
            self._transport.count_timeout()
            raise NoAnswer(f"the server did not read the request within {wait_s:g} s") from None
        except OSError as error:
            # A server may answer before it has read the whole body, and close.
            lost = f", and the request could not be sent whole: {error.strerror or error}"
        # h11 has to know the method, because an answer to HEAD has no body. The bytes that it returns are not sent.
        method = request.method if request.method in ("HEAD", "GET") else "POST"
        closing = [("Connection", "close")] if last else []
        self._state.send(h11.Request(method=method, target="/", headers=[("Host", "h"), *closing]))
        self._state.send(h11.EndOfMessage())
        try:
            return self._receive(request)
        except TimeoutError:
            self._transport.count_timeout()
            raise NoAnswer(f"no complete answer within {wait_s:g} s{lost}") from None
        except h11.RemoteProtocolError as error:
            raise NoAnswer(f"what came is no complete answer of HTTP: {error}{lost}") from None
        except OSError as error:
            raise NoAnswer(f"the connection broke: {error.strerror or error}{lost}") from None

    def _receive(self, request: Request) -> RawAnswer:
        head: h11.Response | None = None
        body = bytearray()
        while True:
            event = self._state.next_event()
            if event is h11.NEED_DATA:
                data = self._read()
                if not data and head is None and self._state.trailing_data[0] == b"":
                    raise NoAnswer("the server closed the connection without an answer")
                self._state.receive_data(data)
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > _LARGEST_ANSWER:
                    raise NoAnswer(f"the body is longer than {_LARGEST_ANSWER} bytes")
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                break
        elapsed_s = time.monotonic() - self._began
        extra = bytes(self._state.trailing_data[0])
        if not extra and (request.method == "HEAD" or head.status_code in (204, 304)):
            extra = self._extra()
        return RawAnswer(
            status=head.status_code,
            reason=head.reason.decode("latin-1"),
            http_version=head.http_version.decode(),
            headers=tuple(
                (name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers.raw_items()
            ),
            body=bytes(body),
            extra=extra,
            elapsed_s=elapsed_s,
        )

    def _read(self) -> bytes:
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self._socket.settimeout(left_s)
        return self._socket.recv(65536)

    def _extra(self) -> bytes:
        """The bytes that the server sends after the end of the answer."""
        self._deadline = time.monotonic() + _WAIT_FOR_EXTRA_S
        try:
            return self._read()
        except OSError:
            return b""
