"""Clients that occupy connections by being slow, and an ordinary client at the same time."""

import http.client
import socket
import threading
import time
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass

_SETTLED_AFTER_S = 3.0

HEAD = b"GET /demo/resource HTTP/1.1\r\nHost: x\r\n"


@dataclass(frozen=True)
class Kind:
    """A way of being slow."""

    name: str
    opening: bytes
    """Sent at once."""
    drip: bytes
    """Sent again and again, so that no wait for the next bytes exceeds its limit."""
    small_window: bool = False


def kinds(token: str, project: str) -> list[Kind]:
    """All ways of being slow that are checked."""
    post = f"POST /{project}/resource HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    bearer = f"Authorization: Bearer {token}\r\n"
    return [
        Kind("headers that drip", HEAD, b"X-A: b\r\n"),
        Kind("bodies that drip", f"{post}{bearer}Content-Length: 100000\r\n\r\n{{".encode(), b" "),
        Kind("bodies that drip, no token", f"{post}Content-Length: 100000\r\n\r\n{{".encode(), b" "),
        Kind(
            "chunks that drip", f"{post}{bearer}Transfer-Encoding: chunked\r\n\r\n1\r\n{{\r\n".encode(), b"1\r\n \r\n"
        ),
        # The largest file that needs no token, far more than the kernel buffers.
        Kind("answers not read", b"GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n" * 4, b"", True),
        Kind("silence", b"", b""),
    ]


class Attackers(AbstractContextManager["Attackers"]):
    """Connections that are slow in one way. When the service closes one, another is opened.

    :param count: of connections.
    :param every_s: seconds between two rounds of sending on all connections.
    """

    def __init__(self, port: int, kind: Kind, count: int, every_s: float = 0.5) -> None:
        self._port = port
        self._kind = kind
        self._every_s = every_s
        self._stopped = threading.Event()
        self._sockets: list[socket.socket] = []
        self._count = count
        self._thread = threading.Thread(target=self._drip)

    def __enter__(self) -> "Attackers":
        for _ in range(self._count):
            with suppress(OSError):
                self._sockets.append(self._opened())
        self._thread.start()
        # Accepting them takes time, too, which is not measured.
        time.sleep(_SETTLED_AFTER_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()
        for one in self._sockets:
            one.close()

    def _opened(self) -> socket.socket:
        opened = socket.socket()
        if self._kind.small_window:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        opened.settimeout(2)
        opened.connect(("127.0.0.1", self._port))
        opened.setblocking(False)
        with suppress(BlockingIOError):
            opened.send(self._kind.opening)
        return opened

    def _drip(self) -> None:
        while not self._stopped.wait(self._every_s):
            for index, one in enumerate(self._sockets):
                try:
                    if self._kind.drip:
                        one.send(self._kind.drip)
                except BlockingIOError:
                    pass
                except OSError:
                    one.close()
                    with suppress(OSError):
                        self._sockets[index] = self._opened()


class Flood(AbstractContextManager["Flood"]):
    """A connection that sends the same bytes again and again, as fast as the service takes them.

    When the service closes it, another is opened."""

    def __init__(self, port: int, data: bytes) -> None:
        self._port = port
        self._data = data
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._send)

    def __enter__(self) -> "Flood":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _send(self) -> None:
        while not self._stopped.is_set():
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=2) as connection:
                while not self._stopped.is_set():
                    connection.sendall(self._data)
                    connection.setblocking(False)
                    with suppress(BlockingIOError):
                        while connection.recv(65536):
                            pass
                    connection.settimeout(2)


def crowding() -> float:
    """How many times as long as its processor time a computation takes now: 1 on a machine without other work."""
    began, used = time.monotonic(), time.process_time()
    while time.process_time() - used < 0.3:
        pass
    return max(1.0, (time.monotonic() - began) / 0.3)


@dataclass(frozen=True)
class Patience:
    """How long an ordinary client had to wait for its answers, in seconds."""

    count: int
    failed: int
    median: float
    p99: float


def ordinary_client(port: int, path: str, token: str, seconds: float, timeout_s: float = 5.0) -> Patience:
    """Send requests for some seconds, each on a new connection, since slow clients occupy connections."""
    waited: list[float] = []
    failed = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            answer.read()
            failed += answer.status != 200
        except (OSError, http.client.HTTPException):
            failed += 1
        finally:
            connection.close()
        waited.append(time.monotonic() - began)
        time.sleep(0.01)
    waited.sort()
    return Patience(len(waited), failed, waited[len(waited) // 2], waited[len(waited) * 99 // 100])
