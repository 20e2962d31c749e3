"""The open connections of a worker, for the sandbox: their numbers, the heads that they sent, waits that a stop ends.

gunicorn's worker notes each connection and each request here if the application has asked for it; the sandbox reads it
and may misuse a connection as its rules say. Without a worker, as in a test client, there is nothing to read.
"""

import itertools
import struct
from collections.abc import Callable
from errno import EPIPE
from socket import SO_LINGER, SOL_SOCKET, socket
from threading import Event
from time import monotonic
from typing import Any

from app.http.hangups import client_is_gone

WAITS_AT_MOST = 400
"""Requests of a worker that wait on order at the same time; more get an error at once. Half of the connections that a
worker holds for ordinary requests."""

_LOOK_S = 1.0
"""How often a request that waits looks whether its client is still there."""


class ConnectionRecord:
    """An open connection.

    :param number: of the connection; those of one service differ.
    """

    __slots__ = ("client", "head", "number", "requests")

    def __init__(self, number: int, client: socket) -> None:
        self.number = number
        self.client = client
        self.requests = 0
        """How many requests have been read from it."""
        self.head = b""
        """The header lines of the last of them, as they were sent."""

    def begin_request(self, head: bytes) -> None:
        """Note the next request."""
        self.requests += 1
        self.head = head


class Connections:
    """The connections of this process."""

    def __init__(self) -> None:
        self._records: dict[socket, ConnectionRecord] = {}
        self._numbers = itertools.count(1)
        self._waiting = 0
        self._stopping = Event()

    def number_from(self, first: int) -> None:
        """Number the connections that follow from here, so that they differ from those of other workers."""
        self._numbers = itertools.count(first)

    def opened(self, client: socket) -> ConnectionRecord:
        """Note a connection that was accepted."""
        record = self._records[client] = ConnectionRecord(next(self._numbers), client)
        return record

    def begin_request(self, client: socket, head: bytes) -> None:
        """Note the next request on a connection."""
        record = self._records.get(client)
        if record is not None:
            record.begin_request(head)

    def closed(self, client: socket) -> None:
        """Forget a connection."""
        self._records.pop(client, None)

    def of(self, environ: dict[str, Any]) -> ConnectionRecord | None:
        """The connection of a request."""
        client: socket | None = environ.get("gunicorn.socket")
        return None if client is None else self._records.get(client)

    # Waits

    @property
    def is_stopping(self) -> bool:
        """Whether the worker is about to end."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """End all waits, and let no new one begin."""
        self._stopping.set()

    def pause(self, seconds: float) -> None:
        """Wait outside of any count, until the worker stops at the latest."""
        self._stopping.wait(seconds)

    def wait(self, seconds: float, is_over: Callable[[], bool] = lambda: False) -> bool:
        """Wait, holding nothing; False if that ended early, since the worker stops or the client has gone.

        :param is_over: another reason to end early; asked once a second.
        :raises TooManyWaits: if :data:`WAITS_AT_MOST` requests of the process wait.
        """
        if self._waiting >= WAITS_AT_MOST:
            raise TooManyWaits
        self._waiting += 1
        try:
            deadline = monotonic() + seconds
            while (left := deadline - monotonic()) > 0:
                if self._stopping.wait(min(left, _LOOK_S)) or client_is_gone() or is_over():
                    return False
            return not self._stopping.is_set()
        finally:
            self._waiting -= 1


class TooManyWaits(Exception):
    """As many requests wait as may."""


# What ends a connection


def end() -> BrokenPipeError:
    """An error that ends a connection if an answer raises it: gunicorn takes it for a client that has gone away."""
    return BrokenPipeError(EPIPE, "ended on order")


def reset(record: ConnectionRecord | None) -> None:
    """Close a connection with a reset (RST) in place of an orderly end."""
    if record is not None:
        record.client.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        record.client.close()


def send_raw(record: ConnectionRecord | None, data: bytes) -> None:
    """Send bytes that are no HTTP."""
    if record is not None:
        record.client.sendall(data)
