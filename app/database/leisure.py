"""Background work: requests add it, and a thread of the process does it later.

The thread works for a small part of the time, so that requests hardly notice it. If much work is left, the thread works
for half of the time, so that the work cannot grow without limit. The admission counts the thread as one more request of
the project.
"""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Event, Lock, Thread
from time import monotonic

from app.database.connection import Connection

_DELAY_S = 0.25
"""The time between the first added work and its beginning, in which more work of the same kind is collected."""

_PAUSE_S = 5.0
"""The pause after work that failed, for example because the database is away."""

_REST = 19
"""The thread rests 19 times as long as it works, so that it works for 5 % of the time."""

_MUCH = 5_000
"""The amount of work that is left, as :data:`Work` returns it, above which the thread works for half of the time."""

Work = Callable[[Connection, str], int]
"""Does one piece of the work of a project, which takes a few milliseconds, and returns how much work is left."""

_log = logging.getLogger("app.leisure")


class Leisure:
    """The background work of one process for the projects of a database.

    :param connect: opens a connection for a project.
    """

    def __init__(self, connect: Callable[[str], AbstractContextManager[Connection]]) -> None:
        self._connect = connect
        self._waiting: dict[tuple[str, Work], None] = {}
        """Pairs of a project and its work, in the order in which they were added."""
        self._lock = Lock()
        self._thread: Thread | None = None
        self._closed = Event()

    def add(self, project: str, work: Work) -> None:
        """Add work for a project, without waiting for it. Work that is already waiting is not added twice."""
        if (project, work) in self._waiting:
            return
        with self._lock:
            self._waiting[project, work] = None
            if self._thread is None and not self._closed.is_set():
                # The thread starts only now, because gunicorn forks after the application is made, and a fork has no
                # threads.
                self._thread = Thread(target=self._run, name="leisure", daemon=True)
                self._thread.start()

    @property
    def is_working(self) -> bool:
        """Whether work is waiting or being done, or the thread rests after it."""
        return self._thread is not None

    def close(self) -> None:
        """Begin no more work, and wait until the current piece ends."""
        self._closed.set()
        thread = self._thread
        if thread is not None:
            thread.join(_PAUSE_S)

    def _run(self) -> None:
        """Do the waiting work, project after project, until none is left."""
        pause_s = _DELAY_S
        while not self._closed.wait(pause_s):
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                project, work = next(iter(self._waiting))
                # Work that a request adds from now on counts as new.
                del self._waiting[project, work]
            pause_s = self._do(project, work)

    def _do(self, project: str, work: Work) -> float:
        """Do a piece of work, and return the pause that has to follow."""
        began = monotonic()
        try:
            with self._connect(project) as connection:
                began = monotonic()  # without the wait for a connection
                left = work(connection, project)
        except Exception as error:  # noqa: BLE001 -- whatever it is, the thread has to live for other work
            _log.warning("work for a project's leisure failed", extra={"fields": {"project": project}}, exc_info=error)
            self.add(project, work)
            return _PAUSE_S
        if left:
            self.add(project, work)
        return (monotonic() - began) * (1 if left > _MUCH else _REST)
