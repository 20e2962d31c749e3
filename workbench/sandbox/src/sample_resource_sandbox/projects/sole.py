"""The lock by which only one instance uses the sandbox of a database: an advisory lock, held by a connection.

The locks of projects, their rules and the journal are in the memory of one process, which another process cannot see.
"""

import logging
import time
from typing import LiteralString

import psycopg

from app.config import Settings
from app.database.connection import Connection, connect

_PATIENCE_S = 30.0
"""The longest wait of a worker for the end of the previous one, which may still be answering its last requests after a
restart."""

_LOCK_ID = 0x53616E64626F78
"""The number of the advisory lock: "Sandbox" in ASCII. Any number that no other advisory lock has would do."""

_LOCK: LiteralString = "SELECT pg_try_advisory_lock(%(lock_id)s)"

_ALIVE: LiteralString = "SELECT"

_log = logging.getLogger("app.sandbox")


class SoleInstance:
    """The lock of the sandbox, as this instance holds it or waits for it."""

    def __init__(self, url: str, settings: Settings) -> None:
        self._url = url
        self._settings = settings
        self._connection: Connection | None = None

    def take(self, patience_s: float = _PATIENCE_S) -> bool:
        """Take the lock. Return False if another instance still holds it after ``patience_s``.

        :raises psycopg.Error: if the database is away.
        """
        connection = connect(self._url, self._settings)
        deadline = time.monotonic() + patience_s
        is_told = False
        while connection.execute(_LOCK, {"lock_id": _LOCK_ID}).fetchone() != (True,):
            if time.monotonic() >= deadline:
                connection.close()
                return False
            if not is_told:
                _log.warning("another instance has the sandbox of this database; waiting for its end")
                is_told = True
            time.sleep(0.1)
        self._connection = connection
        return True

    def keep(self) -> bool:
        """Take the lock if it is not held, because the database was away at the start or the lock's connection has
        ended. Return False if another instance has the lock.

        :raises psycopg.Error: if the database is away.
        """
        try:
            if self._connection is not None:
                self._connection.execute(_ALIVE)
                return True
        except psycopg.OperationalError:
            self._connection = None
        return self.take(0)

    def release(self) -> None:
        """Release the lock."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
