"""Admission: which request gets the next free database connection of a process.

The projects share the connections of a process. Each project holds at most three quarters of them, so that statements
that are stuck, at a locked row or on a frozen node, leave connections to the other projects. Reads that may read a
whole project (:attr:`Lane.SLOW`) hold at most a quarter, whatever project they belong to. Both limits are rounded down,
but are at least one connection. The next free connection goes to the projects that wait, in turn.

A waiting request holds no connection, and under gevent no thread.
"""

from collections import Counter, deque
from dataclasses import dataclass, field
from enum import Enum
from threading import Event, Lock
from time import monotonic

from app.database.pooled_connection import note_wait

WAITING_AT_MOST = 500
"""The most waiting requests of one project in each process. Each of them holds a connection of a client, and a flood of
one project has to leave some to others. The limit is high enough for a burst of 800 requests to two processes."""


class Lane(Enum):
    """The class of a request by the time that its statements may take."""

    FAST = "fast"
    """Reads by id and key, writes, and pages and existence checks whose conditions and order an index serves."""
    SLOW = "slow"
    """All other reads: with texts or facets, with conditions or an order that no index serves, or with a large offset.
    """


class ProjectBusy(Exception):
    """The error for a request that is not admitted in time, or whose project has too many waiting requests."""


class SentAway(Exception):
    """The error for a request that stops waiting, because the database is away."""


@dataclass(slots=True, eq=False)
class _Waiter:
    """A request that waits for its admission."""

    lane: Lane
    woken: Event = field(default_factory=Event)
    """Set when the request is admitted or sent away; both also remove it from its queue."""
    is_admitted: bool = False


class Admission:
    """Admits requests to a number of connections."""

    def __init__(self, connections: int) -> None:
        self._of_project_at_most = max(1, connections * 3 // 4)
        self._slow_at_most = max(1, connections // 4)
        self._free = connections
        self._held = Counter[str]()
        """The connections that each project holds."""
        self._slow = 0
        """The connections that requests of the slow lane hold."""
        self._queues: dict[str, deque[_Waiter]] = {}
        """The waiting requests by project. The project whose turn is next comes first."""
        self._waits, self._refusals, self._waited_s = 0, 0, 0.0
        self._lock = Lock()

    def stats(self) -> dict[str, int]:
        """The statistics of waiting requests, under the names that psycopg's pool has for its own queue."""
        with self._lock:
            return {
                "requests_waiting": sum(map(len, self._queues.values())),
                "requests_queued": self._waits,
                "requests_wait_ms": round(self._waited_s * 1000),
                "requests_errors": self._refusals,
            }

    @property
    def is_exhausted(self) -> bool:
        """Whether all connections are held and requests are waiting."""
        return bool(self._queues) and not self._free

    def enter(self, project: str, lane: Lane, timeout_s: float) -> None:
        """Wait until a request is admitted. The caller has to call :meth:`leave` at the end of the request.

        :raises ProjectBusy: if the request is not admitted within ``timeout_s``, or at once if
            :data:`WAITING_AT_MOST` requests of its project are waiting.
        :raises SentAway: if :meth:`send_away` was called during the wait.
        """
        with self._lock:
            # The request may pass the queues: ``leave`` admits every waiting request that may hold a connection, so no
            # request that still waits could use the connection.
            if self._may_hold(project, lane):
                self._hold(project, lane)
                return
            queue = self._queues.setdefault(project, deque())
            if len(queue) >= WAITING_AT_MOST:
                self._refusals += 1
                raise ProjectBusy
            waiter = _Waiter(lane)
            queue.append(waiter)
            self._waits += 1
        began = monotonic()
        # The wait ends by an admission or by ``send_away``, which both remove the waiter from its queue, or by the
        # timeout, after which the code below removes it. Only the end of the process could interrupt the wait.
        waiter.woken.wait(timeout_s)
        waited_s = monotonic() - began
        note_wait(waited_s, lane.value)
        with self._lock:
            self._waited_s += waited_s
            if waiter.is_admitted:
                return
            self._refusals += 1
            if waiter.woken.is_set():
                raise SentAway
            self._remove(project, waiter)
            raise ProjectBusy

    def leave(self, project: str, lane: Lane) -> None:
        """End an admitted request, and admit waiting requests for which a connection is free now."""
        with self._lock:
            self._free += 1
            self._held[project] -= 1
            if not self._held[project]:
                del self._held[project]
            self._slow -= lane is Lane.SLOW
            # The end of one request may admit two others. For example, a slow request of project A ends while another
            # connection is free. Project A was at its limit, so a fast request of A waited; it is admitted now. The
            # slow lane was at its limit, so a slow request of project B waited; it is admitted now, too.
            while self._admit_one():
                pass

    def send_away(self) -> None:
        """Make all waiting requests fail, because the database is away."""
        with self._lock:
            for queue in self._queues.values():
                for waiter in queue:
                    waiter.woken.set()
            self._queues.clear()

    def _may_hold(self, project: str, lane: Lane) -> bool:
        """Whether a connection is free, and neither the limit of the project nor that of the slow lane is reached."""
        return (
            self._free > 0
            and self._held[project] < self._of_project_at_most
            and (lane is Lane.FAST or self._slow < self._slow_at_most)
        )

    def _hold(self, project: str, lane: Lane) -> None:
        """Count a connection as held."""
        self._free -= 1
        self._held[project] += 1
        self._slow += lane is Lane.SLOW

    def _admit_one(self) -> bool:
        """Admit one waiting request and return True, or return False if no waiting request may hold a connection.

        The projects are tried in the order of their turns. Of the first project with requests that may hold a
        connection, the oldest such request is admitted.
        """
        for project, queue in self._queues.items():
            # All requests of a lane have the same limits. So the limits are checked once for each lane, and a queue,
            # which can be long, is searched only if some lane may hold a connection.
            lanes = [lane for lane in Lane if self._may_hold(project, lane)]
            waiter = next((each for each in queue if each.lane in lanes), None) if lanes else None
            if waiter is not None:
                self._remove(project, waiter)
                if project in self._queues:  # its turn comes again after the others'
                    self._queues[project] = self._queues.pop(project)
                self._hold(project, waiter.lane)
                waiter.is_admitted = True
                waiter.woken.set()
                return True
        return False

    def _remove(self, project: str, waiter: _Waiter) -> None:
        """Remove a request from its queue. An empty queue is removed, too: it would look like a waiting project."""
        queue = self._queues[project]
        queue.remove(waiter)
        if not queue:
            del self._queues[project]
