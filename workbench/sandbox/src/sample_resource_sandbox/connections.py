"""What the sandbox knows and does about connections, and the waits of requests.

A connection is known by the WSGI environment: its socket is ``gunicorn.socket``, its number is ``REMOTE_PORT``. Without
gunicorn, as in Flask's test client, there are no connections.
"""

import select
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

from gevent import get_hub, monkey

from app import errors

WAITS_AT_MOST = 450
"""The most requests that wait at the same time: half of the connections that a worker of the service has."""

WAITS_OF_A_PROJECT = 100
"""The most requests to one project, or about it, that wait at the same time."""

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
        self._counts: WeakKeyDictionary[Any, int] = WeakKeyDictionary()

    def next_on(self, environ: dict[str, Any]) -> tuple[int, int] | None:
        """The number of a request's connection, and the number of the request on it; None without a connection."""
        client, port = environ.get("gunicorn.socket"), environ.get("REMOTE_PORT", "")
        if client is None or not port.isdecimal():
            return None
        self._counts[client] = number = self._counts.get(client, 0) + 1
        return int(port), number


# Waits


class Waits:
    """The waits of requests that rules or expectations order."""

    def __init__(self) -> None:
        self.is_stopping: Callable[[], bool] = lambda: False
        """Returns whether the service is stopping, which ends all waits."""
        self._waiting: Counter[str] = Counter()

    @contextmanager
    def begin(self, project_key: str, client: Any) -> Generator["Wait"]:
        """Count a request among those that wait, until the end of the block. It holds no database connection.

        :param client: the socket of its client; None without a connection.
        :raises ApiError: 503 if too many requests already wait.
        """
        if self._waiting.total() >= WAITS_AT_MOST:
            raise errors.over_capacity(f"{WAITS_AT_MOST} requests already wait in the sandbox, which are the most.")
        if self._waiting[project_key] >= WAITS_OF_A_PROJECT:
            raise errors.over_capacity(
                f"{WAITS_OF_A_PROJECT} requests to the project '{project_key}' already wait, which are the most."
            )
        self._waiting[project_key] += 1
        try:
            wait = Wait(client, self.is_stopping)
            with _watched(client, wait.woken.set):
                yield wait
        finally:
            self._waiting -= Counter([project_key])  # this removes the key of a project when its count is 0

    def wait(self, seconds: float, project_key: str, client: Any, is_over: Callable[[], bool] = lambda: False) -> bool:
        """Wait for some seconds, or until the client closes its connection. Return whether the client is still there.

        :param is_over: called once a second; if it returns True, the wait ends.
        :raises ApiError: 503 if too many requests already wait.
        """
        with self.begin(project_key, client) as wait:
            deadline = monotonic() + seconds
            while (left := deadline - monotonic()) > 0 and wait.pause(left) and not is_over():
                pass
        return not has_hung_up(client)


class Wait:
    """A request that waits.

    :ivar woken: an event that ends the present pause when another part of the sandbox sets it.
    """

    def __init__(self, client: Any, is_stopping: Callable[[], bool]) -> None:
        self._client = client
        self._is_stopping = is_stopping
        self.woken = Event()

    def pause(self, seconds: float) -> bool:
        """Wait for some seconds, at most one, or until :attr:`woken` is set. Return whether the request may go on to
        wait: not if its client has closed the connection, or if the service stops."""
        self.woken.wait(min(seconds, _LOOK_S))
        self.woken.clear()
        return not has_hung_up(self._client) and not self._is_stopping()


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
