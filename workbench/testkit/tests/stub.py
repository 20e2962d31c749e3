"""A server of a few lines, which answers what a test tells it to."""

import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from sample_resource_testkit.wire import Origin, Transport

RESET = b"reset"
"""As an answer: the connection is reset instead."""


@dataclass
class Received:
    """A request as it arrived."""

    line: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def method(self) -> str:
        return self.line.split(" ")[0]

    @property
    def target(self) -> str:
        return self.line.split(" ")[1]


def http(status: int, body: str = "", *headers: str) -> bytes:
    """An answer of HTTP with a length."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body.encode())}", *headers]
    return "\r\n".join([*lines, "", body]).encode()


Answers = Callable[[Received], "bytes | None"]


@dataclass
class Stub:
    """The server: ``answer`` gives the bytes for each request; None closes the connection."""

    answer: Answers = lambda _: http(404)
    received: list[Received] = field(default_factory=list[Received])
    connections: int = 0

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def transport(self) -> Transport:
        return Transport(Origin.of(self.url), timeout_s=5)

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as reader:
            while line := reader.readline():
                headers: list[tuple[str, str]] = []
                while (header := reader.readline().decode("latin-1").rstrip("\r\n")) != "":
                    name, _, value = header.partition(":")
                    headers.append((name, value.strip()))
                length = int({name.lower(): value for name, value in headers}.get("content-length", "0"))
                request = Received(line.decode("latin-1").strip(), headers, reader.read(length))
                self.received.append(request)
                answered = self.answer(request)
                if answered == RESET:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return
                if answered is None:
                    return
                connection.sendall(answered)
