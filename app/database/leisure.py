"""Work that can wait: a thread does it after the requests that added it.

The thread takes a small part of the time of its process, so requests hardly notice it. If work piles up, the thread
takes half of the time, so the work has a bound. The admission counts the thread as one more request of the project.
"""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Event, Lock, Thread
from time import monotonic

from app.database.connection import Connection

_DELAY_S = 0.25
"""The time after the first request that leaves work, in which more comes together."""

_PAUSE_S = 5.0
"""The pause after work that failed, for example since the database is away."""

_REST = 19
"""The thread rests for this many times as long as it works: 5 % of the time are for work."""

_MUCH = 5_000
"""With more left than this the thread works for half of the time."""

Work = Callable[[Connection, str], int]
"""A small piece of the work that a project has left, a few milliseconds long; returns how much is left."""

_log = logging.getLogger("app.leisure")


class Leisure:
    """The work that the projects of a database have left to one process.

    :param connect: opens a connection for a project.
    """

    def __init__(self, connect: Callable[[str], AbstractContextManager[Connection]]) -> None:
        self._connect = connect
        self._waiting: dict[tuple[str, Work], None] = {}
        """Work by its project, the first to come first."""
        self._lock = Lock()
        self._thread: Thread | None = None
        self._closed = Event()

    def add(self, project: str, work: Work) -> None:
        """Add work for a project. Several requests for the same work are one; the call returns at once."""
        if (project, work) in self._waiting:
            return
        with self._lock:
            self._waiting[project, work] = None
            if self._thread is None and not self._closed.is_set():
                # Not earlier: gunicorn forks after the database was made, and a fork has no threads.
                self._thread = Thread(target=self._run, name="leisure", daemon=True)
                self._thread.start()

    @property
    def is_working(self) -> bool:
        """Whether there is work, or a pause after some."""
        return self._thread is not None

    def close(self) -> None:
        """Begin no more work, and wait for the piece that is being done."""
        self._closed.set()
        thread = self._thread
        if thread is not None:
            thread.join(_PAUSE_S)

    def _run(self) -> None:
        """Do what waits, in turns, and end when there is nothing left."""
        pause_s = _DELAY_S
        while not self._closed.wait(pause_s):
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                project, work = next(iter(self._waiting))
                # What a request leaves from now on is more work.
                del self._waiting[project, work]
            pause_s = self._do(project, work)

    def _do(self, project: str, work: Work) -> float:
        """Do a piece of work, and return the pause that has to follow."""
        began = monotonic()
        try:
            with self._connect(project) as connection:
                began = monotonic()  # without the wait
                left = work(connection, project)
        except Exception as error:  # noqa: BLE001 -- whatever it is, the thread has to live for other work
            _log.warning("work for a project's leisure failed", extra={"fields": {"project": project}}, exc_info=error)
            self.add(project, work)
            return _PAUSE_S
        if left:
            self.add(project, work)
        return (monotonic() - began) * (1 if left > _MUCH else _REST)
