"""A small server for answers that the service never gives. A scenario scripts each of them, byte by byte."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import h11

from sample_resource_testkit.client.messages import Sent

_SILENT_S = 60.0
"""How long a connection stays silent at most. It ends with the scenario."""

_BACKLOG = 64


@dataclass(frozen=True, slots=True)
class Reply:
    """A scripted answer.

    :param body: a text or bytes, which are sent unchanged, or any other value, sent as JSON.
    :param headers: headers in addition to Content-Type and Content-Length, or instead of them; None leaves a header
        out.
    :param wire: how it is sent. ``whole``; ``cut``: half of the body, then the connection is closed; ``chunked``, and
        ``chunked-cut`` without its end; ``drip``: byte by byte; ``head``: status line and headers, and then nothing;
        ``head-cut``: half of status line and headers, then the connection is closed.
    :param closes: whether the connection is closed after the answer, without a header that says so.
    """

    status: int = 200
    body: Any = b""
    headers: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    wire: str = "whole"
    closes: bool = False

    @property
    def content(self) -> bytes:
        """The body as it is sent."""
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body, ensure_ascii=False)).encode()

    def head(self) -> bytes:
        """The status line and the headers."""
        headers: dict[str, str | None] = {"Content-Type": "application/json; charset=utf-8"}
        if self.wire.startswith("chunked"):
            headers["Transfer-Encoding"] = "chunked"
        else:
            headers["Content-Length"] = str(len(self.content))
        headers |= self.headers
        lines = [
            f"HTTP/1.1 {self.status} X",
            *(f"{name}: {value}" for name, value in headers.items() if value is not None),
        ]
        return "\r\n".join([*lines, "", ""]).encode()


TOKEN = Reply(body={"access_token": "token-of-a-script", "token_type": "Bearer", "expires_in": 172_800, "scope": "any"})
"""The answer of the token endpoint."""


class Scripted:
    """The scripted server. It uses each reply once, and the last one for all further requests.

    A client that requests a token gets one. Requests are kept unchanged, unlike in the journal of the sandbox:
    scenarios look for secrets in them.
    """

    def __init__(self, replies: Sequence[Reply]) -> None:
        self._replies = list(replies)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._connections: list[socket.socket] = []
        self.received: list[Sent] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """End the server and all connections."""
        self._ended.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        for number in range(10_000):
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._connections.append(connection)
            threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError, h11.RemoteProtocolError), connection:
            received = b""
            while (found := _read(connection, received)) is not None:
                request, body, received = found
                reply = TOKEN if b"/oauth/token" in request.target else self._next()
                self._record(reply, number, request, body)
                if not self._answer(connection, reply, request.method == b"HEAD"):
                    return

    def _next(self) -> Reply:
        with self._lock:
            return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    def _record(self, reply: Reply, connection: int, request: h11.Request, body: bytes) -> None:
        now = time.time()
        answered = reply.wire != "head-cut"
        sent = Sent(
            number=len(self.received) + 1,
            operation="getToken" if reply is TOKEN else "",
            method=request.method.decode(),
            target=request.target.decode("latin-1"),
            headers=tuple((name.decode(), value.decode("latin-1")) for name, value in request.headers.raw_items()),
            body=body,
            began=now,
            ended=now,
            status=reply.status if answered else None,
            answer_headers=tuple((name, str(value)) for name, value in reply.headers.items() if value is not None),
            answer=reply.content.decode("utf-8", "backslashreplace") if answered else f"no answer ({reply.wire})",
            connection=connection,
        )
        with self._lock:
            self.received.append(sent)

    def _answer(self, connection: socket.socket, reply: Reply, is_head: bool) -> bool:
        """Send a reply; False if the connection ends with it."""
        body, head = reply.content, reply.head()
        if is_head or reply.status in (204, 304):
            connection.sendall(head)
            return not reply.closes
        if reply.wire == "head":
            connection.sendall(head)
            self._ended.wait(_SILENT_S)
        elif reply.wire == "head-cut":
            connection.sendall(head[: len(head) // 2])
        elif reply.wire == "cut":
            connection.sendall(head + body[: len(body) // 2])
        elif reply.wire == "drip":
            return self._drip(connection, head + body)
        elif reply.wire in ("chunked", "chunked-cut"):
            middle = len(body) // 2
            connection.sendall(head + _chunk(body[:middle]))
            if reply.wire == "chunked":
                connection.sendall(_chunk(body[middle:]) + b"0\r\n\r\n")
                return True
        elif reply.wire == "whole":
            connection.sendall(head + body)
            return not reply.closes
        return False

    def _drip(self, connection: socket.socket, data: bytes) -> bool:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for position in range(len(data)):
            connection.sendall(data[position : position + 1])
            if self._ended.wait(0.002):
                return False
        return True


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _read(connection: socket.socket, received: bytes) -> tuple[h11.Request, bytes, bytes] | None:
    """The next request with its body, and the bytes after it; None if the connection has ended.

    :param received: the bytes that came after the previous request.
    """
    parser = h11.Connection(h11.SERVER)
    if received:  # h11 takes empty data for the end of the connection
        parser.receive_data(received)
    request, body = None, b""
    while True:
        event = parser.next_event()
        if event is h11.NEED_DATA:
            if parser.they_are_waiting_for_100_continue:
                connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            parser.receive_data(connection.recv(65_536))
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif request is not None and isinstance(event, h11.EndOfMessage):
            return request, body, parser.trailing_data[0]
        else:
            return None
