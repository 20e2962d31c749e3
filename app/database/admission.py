"""Admission: which request gets the next free database connection of a process.

Projects share the connections. A project that is alone may use all of them; when others ask, the next free one goes to
the project that holds the fewest, among equals to the one that has waited longest. Requests that may be slow
(:attr:`Lane.SLOW`) hold only few at a time, so that the others of their project and of all projects go on. More of them
at once would not be done sooner: each uses a core of the database.

What waits holds no connection, and under gevent no thread. The wait and the number of requests that wait are bounded.
"""

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from threading import Event
from time import monotonic
from typing import Any

from gevent import monkey

# The lock of the system, which costs a twentieth of gevent's. No greenlet can be switched to while it is held, since
# nothing waits meanwhile; between threads it is an ordinary lock.
_allocate_lock: Any = monkey.get_original("_thread", "allocate_lock")

QUEUE_LENGTH = 500
"""Requests of one project that wait at most, in each process: more than a burst of 800 connections to two processes."""


class Lane(Enum):
    """How long the statements of a request may take, by what it asks."""

    FAST = "fast"
    """Reads by id and key, writes, and pages that an index serves."""
    SLOW = "slow"
    """Searches with texts or facets, conditions that no index serves, and far pages."""


class QueueFull(Exception):
    """As many requests of the project wait as may."""


class QueueTimeout(Exception):
    """No connection became free in time."""


class QueueClosed(Exception):
    """The database is away, so it is no use to wait."""


@dataclass(slots=True, eq=False)
class _Waiter:
    """A request that waits."""

    number: int
    """In the order of arrival."""
    woken: Event = field(default_factory=Event)
    admitted: bool = False


_Queues = dict[Lane, deque[_Waiter]]


class Admission:
    """Admits requests to a number of connections.

    :param connections: how many there are.
    :param slow: how many of them slow requests may hold; at most three quarters of all.
    """

    def __init__(self, connections: int, slow: int) -> None:
        self._connections = connections
        self._slow_at_most = max(1, min(slow, connections - max(1, connections // 4)))
        self._held = 0
        self._held_slow = 0
        self._held_by: dict[str, int] = {}
        """By project; without those that hold none."""
        self._queues: dict[str, _Queues] = {}
        """By project; without those of which none waits."""
        self._arrivals = 0
        self._refusals = 0
        self._waited_s = 0.0
        self._lock = _allocate_lock()

    def stats(self) -> dict[str, int]:
        """What has waited and what waits, by the names of psycopg's pool, which sees nothing of it."""
        with self._lock:
            return {
                "requests_waiting": sum(len(queue) for queues in self._queues.values() for queue in queues.values()),
                "requests_queued": self._arrivals,
                "requests_wait_ms": round(self._waited_s * 1000),
                "requests_errors": self._refusals,
            }

    @property
    def is_exhausted(self) -> bool:
        """Whether all connections are held and requests wait for one."""
        return bool(self._queues) and self._held >= self._connections

    def enter(self, project: str, lane: Lane, timeout_s: float) -> float:
        """Wait until the request is admitted; :meth:`leave` has to follow.

        :return: the seconds that it has waited; 0.0 if it did not have to.
        :raises QueueFull: if as many requests of the project wait as may.
        :raises QueueTimeout: if it is not admitted in time.
        :raises QueueClosed: if :meth:`send_away` was called meanwhile.
        """
        with self._lock:
            if self._is_free_for(lane):
                self._hold(project, lane)
                return 0.0
            queues = self._queues.setdefault(project, {each: deque() for each in Lane})
            if sum(map(len, queues.values())) >= QUEUE_LENGTH:
                self._refusals += 1
                raise QueueFull
            self._arrivals += 1
            waiter = _Waiter(self._arrivals)
            queues[lane].append(waiter)
        began = monotonic()
        waiter.woken.wait(timeout_s)
        waited_s = monotonic() - began
        with self._lock:
            self._waited_s += waited_s
            if waiter.admitted:
                return waited_s
            self._refusals += 1
            if waiter.woken.is_set():
                raise QueueClosed
            queues[lane].remove(waiter)
            self._drop_if_empty(project)
            raise QueueTimeout

    def leave(self, project: str, lane: Lane) -> None:
        """Give the place back, and admit whoever is next."""
        with self._lock:
            left = self._held_by[project] - 1
            if left:
                self._held_by[project] = left
            else:
                del self._held_by[project]
            self._held -= 1
            self._held_slow -= lane is Lane.SLOW
            if self._queues:
                self._admit()

    def send_away(self) -> None:
        """Let all requests that wait fail, since the database is away."""
        with self._lock:
            for queues in self._queues.values():
                for queue in queues.values():
                    while queue:
                        queue.popleft().woken.set()
            self._queues.clear()

    def _is_free_for(self, lane: Lane) -> bool:
        return self._held < self._connections and (lane is Lane.FAST or self._held_slow < self._slow_at_most)

    def _hold(self, project: str, lane: Lane) -> None:
        self._held_by[project] = self._held_by.get(project, 0) + 1
        self._held += 1
        self._held_slow += lane is Lane.SLOW

    def _admit(self) -> None:
        """Admit requests as long as places are free for them."""
        while True:
            heads = [
                (self._held_by.get(project, 0), queue[0].number, project, lane)
                for project, queues in self._queues.items()
                for lane, queue in queues.items()
                if queue and self._is_free_for(lane)
            ]
            if not heads:
                return
            *_, project, lane = min(heads, key=lambda head: head[:2])
            waiter = self._queues[project][lane].popleft()
            self._drop_if_empty(project)
            self._hold(project, lane)
            waiter.admitted = True
            waiter.woken.set()

    def _drop_if_empty(self, project: str) -> None:
        if not any(self._queues[project].values()):
            del self._queues[project]
