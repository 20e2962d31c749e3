"""The open connections of the worker: their numbers, their header lines as they were sent, and the waits of their
requests.

gunicorn's worker records each connection and each request here (:class:`app.extension.NotedConnections`). Rules use the
connections to break them. Without a worker, as in Flask's test client, there are no connections.
"""

import itertools
import select
import struct
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from enum import Enum
from errno import EPIPE
from socket import SO_LINGER, SOL_SOCKET, socket
from threading import Event
from time import monotonic, time
from typing import Any

from gevent import get_hub, monkey

from app.http.hangups import has_hung_up

WAITS_AT_MOST = 400
"""The most requests of a worker that wait because of a rule at the same time. Further ones get an error at once. It is
half of the connections that a worker has for ordinary requests."""

# The poll of the operating system, because it returns at once with a timeout of 0. gevent's poll does not.
_poll = monkey.get_original("select", "poll")

_LOOK_S = 1.0
"""The seconds after which a waiting request checks again whether its wait has to end early."""


class Waited(Enum):
    """The ways in which a wait can end. ``WHOLE``: after its full time."""

    WHOLE = "whole"
    GONE = "gone"
    """The client has closed its connection."""
    ENDED = "ended"
    """The worker stops, or ``is_over`` has returned True."""


class ConnectionRecord:
    """The record of an open connection.

    :param number: the number of the connection, which no other connection of the service has.
    """

    __slots__ = ("client", "head", "number", "opened_at", "requests")

    def __init__(self, number: int, client: socket) -> None:
        self.number = number
        self.client = client
        self.opened_at = time()
        """The time when it was accepted, in seconds since 1970."""
        self.requests = 0
        """The number of requests that have been read from it."""
        self.head = b""
        """The header lines of the last request, as they were sent."""

    def begin_request(self, head: bytes) -> None:
        """Record the next request on the connection."""
        self.requests += 1
        self.head = head


class Connections:
    """The open connections of this process."""

    def __init__(self) -> None:
        self._records: dict[socket, ConnectionRecord] = {}
        self._numbers = itertools.count(1)
        self._waits: set[Event] = set()
        self._stopping = Event()
        self._listeners: tuple[Any, ...] = ()

    def listen(self, listeners: Sequence[Any]) -> None:
        """Record the sockets at which connections are accepted."""
        self._listeners = tuple(listeners)

    def opened(self, client: socket) -> ConnectionRecord:
        """Record an accepted connection, and return its record."""
        record = self._records[client] = ConnectionRecord(next(self._numbers), client)
        return record

    def begin_request(self, client: socket, head: bytes) -> None:
        """Record the next request on a connection."""
        record = self._records.get(client)
        if record is not None:
            record.begin_request(head)

    def closed(self, client: socket) -> None:
        """Remove the record of a closed connection."""
        self._records.pop(client, None)

    def of(self, environ: dict[str, Any]) -> ConnectionRecord | None:
        """The record of the connection of a request; None without a worker."""
        client: socket | None = environ.get("gunicorn.socket")
        return None if client is None else self._records.get(client)

    def pending(self, client: Any) -> tuple[dict[int, int], bool]:
        """Return the requests that have arrived on other connections but are not yet read, and whether connections
        wait.

        :return: the number of each request by the number of its connection; whether a connection waits to be accepted.
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
        """End all waits. Later waits end at once."""
        self._stopping.set()
        for woken in list(self._waits):
            woken.set()

    def pause(self, seconds: float) -> None:
        """Wait without counting towards :data:`WAITS_AT_MOST`. A stop of the worker ends the wait."""
        self._stopping.wait(seconds)

    def wait(self, seconds: float, client: Any = None, is_over: Callable[[], bool] = lambda: False) -> Waited:
        """Wait for some seconds, without holding a database connection or a lock.

        :param client: the socket of the client. The wait ends at once when the client closes its connection.
        :param is_over: called once a second; if it returns True, the wait ends.
        :raises TooManyWaits: if :data:`WAITS_AT_MOST` requests of the process are already waiting.
        """
        if len(self._waits) >= WAITS_AT_MOST:
            raise TooManyWaits
        woken = Event()
        self._waits.add(woken)
        try:
            with _watched(client, woken.set):
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


_READABLE = 1
"""The event of gevent's loop for a descriptor that can be read. A closed connection can be read, too."""


@contextmanager
def _watched(client: Any, wake: Callable[[], object]) -> Generator[None]:
    """Call a function once if the client sends bytes or closes its connection during the block.

    :param client: a cooperative socket, or an object with its ``fileno``; None if there is nothing to watch.
    :param wake: called by the event loop, so it must not block. ``has_hung_up`` then says which of the two has
        happened.
    """
    if client is None or client.fileno() < 0:
        yield
        return
    watcher: Any = get_hub().loop.io(client.fileno(), _READABLE)

    def ready() -> None:
        watcher.stop()  # otherwise it would be called again as long as unread bytes are there
        wake()

    watcher.start(ready)
    try:
        yield
    finally:
        watcher.stop()
        watcher.close()


class TooManyWaits(Exception):
    """The error if :data:`WAITS_AT_MOST` requests are already waiting."""


# What ends a connection


def end() -> BrokenPipeError:
    """The error that ends a connection if it is raised while an answer is sent. gunicorn takes it for a client that is
    gone."""
    return BrokenPipeError(EPIPE, "ended on order")


def reset(record: ConnectionRecord | None) -> None:
    """Close a connection by a reset (RST), not in order."""
    if record is not None:
        record.client.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        record.client.close()


def send_raw(record: ConnectionRecord | None, data: bytes) -> None:
    """Send bytes as they are on a connection."""
    if record is not None:
        record.client.sendall(data)
