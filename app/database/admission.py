"""Admission: which request gets the next free database connection of a process.

Projects share the connections. The next free connection goes to the waiting project that holds the fewest connections;
among projects that hold equally many, to the one that has waited longest. Some connections are reserved for projects
that hold none. Otherwise stuck statements of one project, at a locked row or a frozen node, would hold all connections
until their time limit ends them.

Example: of eight connections two are reserved. Project A holds six, so its next request waits although two connections
are free. A request of project B gets one of the two at once. When A returns a connection, the connection goes to A's
waiting request, unless a request of B also waits and B holds fewer.

Requests that may be slow (:attr:`Lane.SLOW`) hold only a few connections at a time, so that fast requests of all
projects go on. More slow requests at once would not end sooner, because each uses a core of the database, or several.
Even a few slow requests can use all cores all the time. So after each of them its project rests before its next slow
request. The rest lasts as long as fast requests of other projects held connections during the slow request, and at most
as long as the slow request took.

A waiting request holds no connection, and under gevent no thread. The waiting time and the number of waiting requests
are limited.
"""

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from threading import Event, Timer
from time import monotonic
from typing import Any

from gevent import monkey

# The lock of the operating system, which costs a twentieth of gevent's. It is safe between greenlets, because the code
# that holds it never waits and so never switches greenlets. Between threads it is an ordinary lock.
_allocate_lock: Any = monkey.get_original("_thread", "allocate_lock")

QUEUE_LENGTH = 500
"""The most waiting requests of one project in each process. It is enough for a burst of 800 connections to two
processes."""


class Lane(Enum):
    """The class of a request by the time that its statements may take."""

    FAST = "fast"
    """Reads by id and key, writes, and pages and existence checks whose conditions an index serves."""
    SLOW = "slow"
    """Searches with texts or facets, conditions and orders that no index serves, and pages with a large offset or large
    documents."""


class QueueFull(Exception):
    """The error for a request whose project already has the most waiting requests."""


class QueueTimeout(Exception):
    """The error for a request for which no connection became free in time."""


class QueueClosed(Exception):
    """The error for a request that stops waiting, because the database is away."""


@dataclass(slots=True, eq=False)
class _Waiter:
    """A request that waits for its admission."""

    number: int
    """Numbers the waiting requests in the order of their arrival."""
    woken: Event = field(default_factory=Event)
    admitted: bool = False


@dataclass(slots=True, eq=False)
class _SlowRequest:
    """A request of the slow lane that holds a connection."""

    since: float
    """The time of its admission, by the monotonic clock."""
    others_s: float = 0.0
    """The time for which fast requests of other projects have held connections since then. Two connections held for one
    second are two seconds."""


_Queues = dict[Lane, deque[_Waiter]]


class Admission:
    """Admits requests to a number of connections.

    :param connections: the number of connections. Of eight or more, a quarter is reserved for projects that hold none;
        of two to seven, one.
    :param slow: the most connections that slow requests may hold; reduced to three quarters of the connections that are
        not reserved, if it is more.
    """

    def __init__(self, connections: int, slow: int) -> None:
        self._connections = connections
        self._reserved = connections // 4 if connections >= 8 else min(1, connections - 1)
        for_one_project = connections - self._reserved
        self._slow_at_most = max(1, min(slow, for_one_project - max(1, for_one_project // 4)))
        self._held = 0
        self._held_by: dict[str, int] = {}
        """The number of held connections by project, without projects that hold none."""
        self._queues: dict[str, _Queues] = {}
        """The waiting requests by project, without projects that have none."""
        self._slow: dict[str, deque[_SlowRequest]] = {}
        """The slow requests that hold a connection, by project, the oldest first."""
        self._elapsed_to = 0.0
        """The time up to which ``others_s`` of all slow requests is computed."""
        self._resting: dict[str, int] = {}
        """The number of unfinished rests by project. Each rest lowers the most slow requests of the project by one."""
        self._arrivals = 0
        self._refusals = 0
        self._waited_s = 0.0
        self._lock = _allocate_lock()

    def stats(self) -> dict[str, int]:
        """The statistics of waiting requests, under the names that psycopg's pool has for its own queue."""
        with self._lock:
            return {
                "requests_waiting": sum(len(queue) for queues in self._queues.values() for queue in queues.values()),
                "requests_queued": self._arrivals,
                "requests_wait_ms": round(self._waited_s * 1000),
                "requests_errors": self._refusals,
            }

    @property
    def is_exhausted(self) -> bool:
        """Whether all connections are held and requests are waiting."""
        return bool(self._queues) and self._held >= self._connections

    def enter(self, project: str, lane: Lane, timeout_s: float) -> float:
        """Wait until a request is admitted. The caller has to call :meth:`leave` at the end of the request.

        :return: the seconds that the request has waited; 0.0 if it was admitted at once.
        :raises QueueFull: if :data:`QUEUE_LENGTH` requests of the project are waiting.
        :raises QueueTimeout: if the request is not admitted within ``timeout_s``.
        :raises QueueClosed: if :meth:`send_away` was called during the wait.
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
        """End an admitted request, and admit the next waiting request."""
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
            # Not while the lock is held, because starting a thread switches greenlets.
            rest = Timer(rest_s, self._end_rest, (project,))
            rest.daemon = True
            rest.start()

    def send_away(self) -> None:
        """Make all waiting requests fail, because the database is away."""
        with self._lock:
            for queues in self._queues.values():
                for queue in queues.values():
                    while queue:
                        queue.popleft().woken.set()
            self._queues.clear()

    @property
    def _held_slow(self) -> int:
        """The number of slow requests that hold a connection."""
        return sum(map(len, self._slow.values()))

    def _is_free_for(self, project: str, lane: Lane) -> bool:
        reserved = self._reserved if project in self._held_by else 0
        if self._connections - self._held <= reserved:
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
        """Bring ``others_s`` of each slow request up to date. To be called before a request is admitted or ends."""
        now = monotonic()
        elapsed_s = now - self._elapsed_to
        fast = self._held - self._held_slow
        for project, requests in self._slow.items():
            fast_of_others = fast - (self._held_by[project] - len(requests))
            for request in requests:
                request.others_s += elapsed_s * fast_of_others
        self._elapsed_to = now

    def _end_slow(self, project: str) -> float:
        """End the oldest slow request of a project, and begin the project's rest.

        :return: the seconds of the rest, after which :meth:`_end_rest` has to be called; 0.0 if there is no rest.
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
        """Admit waiting requests as long as connections are free for them."""
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
