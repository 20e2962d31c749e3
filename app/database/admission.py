"""Admission: which request gets the next free database connection of a process.

Projects share the connections. The next free connection goes to the project that holds the fewest, among equals to the
project that has waited longest. Some connections are kept for projects that hold none. Otherwise stuck statements of
one project, at a locked row or a frozen node, would hold all connections until their time limit ends them.

Example: of eight connections two are kept. Project A holds six, and its next request waits, though two are free: these
serve a request of project B at once. A connection that A returns goes to A again, unless B waits and holds fewer.

Requests that may be slow (:attr:`Lane.SLOW`) hold only few connections at a time, so that other requests of all
projects go on. More slow requests at once would not end sooner, because each uses a core of the database, or several.
Even few can use all cores all the time, so a project rests after each slow request: as long as others have used
connections during it, at most as long as the request took.

A waiting request holds no connection, and under gevent no thread. The wait and the number of waiting requests are
bounded.
"""

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from threading import Event, Timer
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
    """Reads by id and key, writes, and pages and existence checks that an index answers."""
    SLOW = "slow"
    """Searches with texts or facets, conditions and orders that no index answers, and far pages."""


class QueueFull(Exception):
    """The project has its largest number of waiting requests."""


class QueueTimeout(Exception):
    """No connection became free in time."""


class QueueClosed(Exception):
    """The database is away, so waiting is useless."""


@dataclass(slots=True, eq=False)
class _Waiter:
    """A request that waits."""

    number: int
    """In the order of arrival."""
    woken: Event = field(default_factory=Event)
    admitted: bool = False


@dataclass(slots=True, eq=False)
class _SlowRequest:
    """A slow request that holds a connection."""

    since: float
    """By the monotonic clock."""
    others_s: float = 0.0
    """How long fast requests of other projects have held connections meanwhile, in seconds of one connection."""


_Queues = dict[Lane, deque[_Waiter]]


class Admission:
    """Admits requests to a number of connections.

    :param connections: how many there are. One is kept for projects that hold none, of eight or more a quarter; a
        single one is not kept.
    :param slow: how many of them slow requests may hold; at most three quarters of those that are not kept.
    """

    def __init__(self, connections: int, slow: int) -> None:
        self._connections = connections
        self._kept = connections // 4 if connections >= 8 else min(1, connections - 1)
        for_one_project = connections - self._kept
        self._slow_at_most = max(1, min(slow, for_one_project - max(1, for_one_project // 4)))
        self._held = 0
        self._held_by: dict[str, int] = {}
        """By project; projects without connections are not in it."""
        self._queues: dict[str, _Queues] = {}
        """By project; projects without waiting requests are not in it."""
        self._slow: dict[str, deque[_SlowRequest]] = {}
        """By project, the oldest first; projects without slow requests are not in it."""
        self._elapsed_to = 0.0
        """Up to when ``others_s`` is known."""
        self._resting: dict[str, int] = {}
        """By project, how many places for slow requests it leaves empty for now, if any."""
        self._arrivals = 0
        self._refusals = 0
        self._waited_s = 0.0
        self._lock = _allocate_lock()

    def stats(self) -> dict[str, int]:
        """Requests that have waited or wait, by the names of psycopg's pool, which does not see them."""
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
            if self._is_free_for(project, lane):
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
        rest_s = 0.0
        with self._lock:
            if self._slow:
                self._elapse()
            left = self._held_by[project] - 1
            if left:
                self._held_by[project] = left
            else:
                del self._held_by[project]
            self._held -= 1
            if lane is Lane.SLOW:
                rest_s = self._end_slow(project)
            if self._queues:
                self._admit()
        if rest_s:
            # Not under the lock: starting a thread switches greenlets.
            rest = Timer(rest_s, self._end_rest, (project,))
            rest.daemon = True
            rest.start()

    def send_away(self) -> None:
        """Let all requests that wait fail, since the database is away."""
        with self._lock:
            for queues in self._queues.values():
                for queue in queues.values():
                    while queue:
                        queue.popleft().woken.set()
            self._queues.clear()

    @property
    def _held_slow(self) -> int:
        """How many slow requests hold a connection."""
        return sum(map(len, self._slow.values()))

    def _is_free_for(self, project: str, lane: Lane) -> bool:
        kept = self._kept if project in self._held_by else 0
        if self._connections - self._held <= kept:
            return False
        if lane is Lane.FAST:
            return True
        used = len(self._slow.get(project, ())) + self._resting.get(project, 0)
        return self._held_slow < self._slow_at_most and used < self._slow_at_most

    def _hold(self, project: str, lane: Lane) -> None:
        if self._slow or lane is Lane.SLOW:
            self._elapse()
        self._held_by[project] = self._held_by.get(project, 0) + 1
        self._held += 1
        if lane is Lane.SLOW:
            self._slow.setdefault(project, deque()).append(_SlowRequest(self._elapsed_to))

    def _elapse(self) -> None:
        """Add up what has been held since the last change, before the next one."""
        now = monotonic()
        elapsed_s = now - self._elapsed_to
        fast = self._held - self._held_slow
        for project, requests in self._slow.items():
            fast_of_others = fast - (self._held_by[project] - len(requests))
            for request in requests:
                request.others_s += elapsed_s * fast_of_others
        self._elapsed_to = now

    def _end_slow(self, project: str) -> float:
        """End a slow request, whose place may have to be left empty for a while.

        :return: the seconds after which :meth:`_end_rest` has to be called; 0.0 if the place is free at once.
        """
        requests = self._slow[project]
        request = requests.popleft()
        if not requests:
            del self._slow[project]
        rest_s = min(self._elapsed_to - request.since, request.others_s)
        if rest_s:
            self._resting[project] = self._resting.get(project, 0) + 1
        return rest_s

    def _end_rest(self, project: str) -> None:
        with self._lock:
            left = self._resting[project] - 1
            if left:
                self._resting[project] = left
            else:
                del self._resting[project]
            self._admit()

    def _admit(self) -> None:
        """Admit requests as long as places are free for them."""
        while True:
            heads = [
                (self._held_by.get(project, 0), queue[0].number, project, lane)
                for project, queues in self._queues.items()
                for lane, queue in queues.items()
                if queue and self._is_free_for(project, lane)
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
