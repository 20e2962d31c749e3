"""The lock of a project: writes share it, and a reset or removal holds it exclusively.

So a write is either committed before a reset, which undoes it, or it begins after the reset. After a removal no write
begins. A waiting write holds no connection.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Condition

from app.database.failures import Unavailable


class ProjectLock:
    """The lock of one project.

    :param patience_s: the longest wait for the lock.
    """

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._changed = Condition()
        self._writes = 0
        self._is_closed = False

    @contextmanager
    def shared(self) -> Generator[None]:
        """Hold the lock for a write, together with other writes.

        :raises Unavailable: if the project is being replaced for too long.
        """
        with self._changed:
            self._wait_until(lambda: not self._is_closed)
            self._writes += 1
        try:
            yield
        finally:
            with self._changed:
                self._writes -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Generator[None]:
        """Hold the lock exclusively: wait until the running writes have ended, and let no write begin.

        :raises Unavailable: if the writes, or another exclusive holder of the lock, do not end in time.
        """
        with self._changed:
            self._wait_until(lambda: not self._is_closed)
            self._is_closed = True
        try:
            with self._changed:
                self._wait_until(lambda: not self._writes)
            yield
        finally:
            with self._changed:
                self._is_closed = False
                self._changed.notify_all()

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        if not self._changed.wait_for(condition, self._patience_s):
            raise Unavailable("lock_timeout", "The project is being reset or removed.")
