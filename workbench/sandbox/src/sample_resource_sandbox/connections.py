"""What the sandbox knows and does about connections, and the waits of requests.

A connection is known by the WSGI environment: its socket is ``gunicorn.socket``, its number is ``REMOTE_PORT``. Without
gunicorn, as in Flask's test client, there are no connections.
"""

import select
import struct
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import Enum
from errno import EPIPE
from socket import SO_LINGER, SOL_SOCKET
from threading import Event
from time import monotonic
from typing import Any

from gevent import get_hub, monkey

from app import errors

_HELD_BYTES = 64 * 1024 * 1024
"""The most bytes of answers that wait to be sent."""

WAITS_AT_MOST = 450
"""The most requests that wait at the same time: half of the connections that a worker of the service has."""

WAITS_OF_A_PROJECT = 100
"""The most requests to one project, or about it, that wait at the same time."""

_COUNTED_AT_MOST = 5000
"""The most connections whose requests are counted."""

_LOOK_S = 1.0
"""The seconds after which a waiting request checks again whether its wait has to end early."""

_READABLE = 1
"""The event of gevent's loop for a descriptor that can be read. A closed connection can be read, too."""

# The poll of the operating system, because it returns at once and reports a closed sending half. gevent's does not.
_poll = monkey.get_original("select", "poll")

_HUNG_UP = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)


def has_hung_up(client: Any) -> bool:
    """Whether the other end of a connection has closed it, or its sending half; False without a connection."""
    descriptor = -1 if client is None else client.fileno()
    if descriptor < 0:
        return False
    waiting = _poll()
    waiting.register(descriptor, _HUNG_UP)
    return bool(waiting.poll(0))


class RequestCounts:
    """Counts the requests to sandbox projects on each open connection."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[Any, int]] = {}

    def next_on(self, environ: dict[str, Any]) -> tuple[int, int] | None:
        """The number of a request's connection, and the number of the request on it; None without a connection."""
        client, port = environ.get("gunicorn.socket"), environ.get("REMOTE_PORT", "")
        if client is None or not port.isdecimal():
            return None
        peer = f"{environ.get('REMOTE_ADDR')} {port}"
        # Another socket means another connection, which has got the port of an earlier one.
        former, requests = self._counts.pop(peer, (None, 0))
        self._counts[peer] = client, requests + 1 if former is client else 1
        if len(self._counts) > _COUNTED_AT_MOST:
            del self._counts[next(iter(self._counts))]
        return int(port), self._counts[peer][1]


# Waits


class Waited(Enum):
    """The ways in which a wait can end. ``WHOLE``: after its full time."""

    WHOLE = "whole"
    GONE = "gone"
    """The client has closed its connection."""
    ENDED = "ended"
    """The service stops, or ``is_over`` has returned True."""


class Waits:
    """The waits of requests that rules or expectations order."""

    def __init__(self) -> None:
        self.is_stopping: Callable[[], bool] = lambda: False
        """Returns whether the service is stopping, which ends all waits."""
        self._waiting: Counter[str] = Counter()
        self._held_bytes = 0

    @contextmanager
    def begin(self, project_key: str, client: Any, held_bytes: int = 0) -> Generator["Wait"]:
        """Count a request among those that wait, until the end of the block. It holds no database connection.

        :param client: the socket of its client; None without a connection.
        :param held_bytes: the size of an answer that waits to be sent.
        :raises ApiError: 503 if too many requests already wait.
        """
        if self._waiting.total() >= WAITS_AT_MOST:
            raise errors.over_capacity(f"{WAITS_AT_MOST} requests already wait in the sandbox, which are the most.")
        if self._waiting[project_key] >= WAITS_OF_A_PROJECT:
            raise errors.over_capacity(
                f"{WAITS_OF_A_PROJECT} requests to the project '{project_key}' already wait, which are the most."
            )
        if held_bytes and self._held_bytes + held_bytes > _HELD_BYTES:
            raise errors.over_capacity(
                f"Answers of {_HELD_BYTES} bytes already wait in the sandbox, which are the most."
            )
        self._waiting[project_key] += 1
        self._held_bytes += held_bytes
        try:
            wait = Wait(client, self.is_stopping)
            with _watched(client, wait.woken.set):
                yield wait
        finally:
            self._held_bytes -= held_bytes
            self._waiting[project_key] -= 1
            if not self._waiting[project_key]:
                del self._waiting[project_key]

    def wait(
        self,
        seconds: float,
        project_key: str,
        client: Any,
        *,
        held_bytes: int = 0,
        is_over: Callable[[], bool] = lambda: False,
    ) -> Waited:
        """Wait for some seconds. The wait ends at once when the client closes its connection.

        :param is_over: called once a second; if it returns True, the wait ends.
        :raises ApiError: 503 if too many requests already wait.
        """
        with self.begin(project_key, client, held_bytes) as wait:
            deadline = monotonic() + seconds
            while (left := deadline - monotonic()) > 0:
                waited = wait.pause(min(left, _LOOK_S))
                if waited is not Waited.WHOLE:
                    return waited
                if is_over():
                    return Waited.ENDED
            return Waited.WHOLE


class Wait:
    """A request that waits.

    :ivar woken: an event that ends the present pause when another part of the sandbox sets it.
    """

    def __init__(self, client: Any, is_stopping: Callable[[], bool]) -> None:
        self._client = client
        self._is_stopping = is_stopping
        self.woken = Event()

    def pause(self, seconds: float) -> Waited:
        """Wait for some seconds, until :attr:`woken` is set, or until the client closes its connection."""
        self.woken.wait(min(seconds, _LOOK_S))
        self.woken.clear()
        if has_hung_up(self._client):
            return Waited.GONE
        return Waited.ENDED if self._is_stopping() else Waited.WHOLE


@contextmanager
def _watched(client: Any, wake: Callable[[], object]) -> Generator[None]:
    """Call a function once if the client sends bytes or closes its connection during the block.

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


# What ends a connection


def end() -> BrokenPipeError:
    """The error that ends a connection if it is raised while an answer is sent. gunicorn takes it for a client that is
    gone."""
    return BrokenPipeError(EPIPE, "ended on order")


def reset(client: Any) -> None:
    """Close a connection by a reset (RST), not in order."""
    if client is not None:
        client.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        client.close()


def send_raw(client: Any, data: bytes) -> None:
    """Send bytes as they are on a connection."""
    if client is not None:
        client.sendall(data)
