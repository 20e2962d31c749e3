"""The open connections of the worker: their numbers, the heads that they sent, waits that a stop ends.

gunicorn's worker notes each connection and each request here (:class:`app.extension.NotedConnections`), and rules may
misuse a connection. Without a worker, as in a test client, there is nothing to read.
"""

import itertools
import select
import struct
from collections.abc import Callable, Sequence
from enum import Enum
from errno import EPIPE
from socket import SO_LINGER, SOL_SOCKET, socket
from threading import Event
from time import monotonic, time
from typing import Any

from gevent import monkey

from app.http.hangups import has_hung_up, watched

WAITS_AT_MOST = 400
"""Requests of a worker that wait on order at the same time; more get an error at once. Half of the connections that a
worker holds for ordinary requests."""

# The poll of the system and not gevent's: it returns at once.
_poll = monkey.get_original("select", "poll")

_LOOK_S = 1.0
"""How often a request that waits looks whether there is another reason to end it."""


class Waited(Enum):
    """How a wait ended."""

    WHOLE = "whole"
    GONE = "gone"
    """The client has closed its connection."""
    ENDED = "ended"
    """The worker stops, or there is another reason."""


class ConnectionRecord:
    """An open connection.

    :param number: of the connection; those of one service differ.
    """

    __slots__ = ("client", "head", "number", "opened_at", "requests")

    def __init__(self, number: int, client: socket) -> None:
        self.number = number
        self.client = client
        self.opened_at = time()
        """When it was accepted, in seconds since 1970."""
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
        self._waits: set[Event] = set()
        self._stopping = Event()
        self._listeners: tuple[Any, ...] = ()

    def listen(self, listeners: Sequence[Any]) -> None:
        """Note the sockets at which connections are accepted."""
        self._listeners = tuple(listeners)

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

    def pending(self, client: Any) -> tuple[dict[int, int], bool]:
        """On which other connections a request has arrived that was not begun, and whether connections wait.

        :return: the number of the request by that of its connection; whether one waits to be accepted.
        """
        waiting = _poll()
        records = {record.client.fileno(): record for each, record in list(self._records.items()) if each is not client}
        listeners = {listener.fileno() for listener in self._listeners}
        for descriptor in (*records, *listeners):
            if descriptor >= 0:
                waiting.register(descriptor, select.POLLIN)
        found = [descriptor for descriptor, events in waiting.poll(0) if events & select.POLLIN]
        pending = {records[each].number: records[each].requests + 1 for each in found if each in records}
        return pending, any(each in listeners for each in found)

    # Waits

    @property
    def is_stopping(self) -> bool:
        """Whether the worker is about to end."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """End all waits, and let no new one begin."""
        self._stopping.set()
        for woken in list(self._waits):
            woken.set()

    def pause(self, seconds: float) -> None:
        """Wait outside of any count, until the worker stops at the latest."""
        self._stopping.wait(seconds)

    def wait(self, seconds: float, client: Any = None, is_over: Callable[[], bool] = lambda: False) -> Waited:
        """Wait, holding nothing.

        :param client: the socket of the client; that it closes its connection is noticed at once.
        :param is_over: another reason to end early; asked once a second.
        :raises TooManyWaits: if :data:`WAITS_AT_MOST` requests of the process wait.
        """
        if len(self._waits) >= WAITS_AT_MOST:
            raise TooManyWaits
        woken = Event()
        self._waits.add(woken)
        try:
            with watched(client, woken.set):
                deadline = monotonic() + seconds
                while (left := deadline - monotonic()) > 0:
                    woken.wait(min(left, _LOOK_S))
                    woken.clear()
                    if has_hung_up(client):
                        return Waited.GONE
                    if self.is_stopping or is_over():
                        return Waited.ENDED
            return Waited.ENDED if self.is_stopping else Waited.WHOLE
        finally:
            self._waits.discard(woken)


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
