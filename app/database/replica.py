"""Where lists, existence and search read: a replica of the database if there is one, else the database itself.

Reads by id and key stay on the primary, so that a client reads its own writes; a replica is some moments behind.

If the replica is away, the primary answers in its place. Clients notice nothing; the primary has to be able to carry
that load, or the service would only be as available as two servers at once. What it need not carry is a replica that is
merely busy: when all of its connections are in use, or a statement runs into its timeout, the answer is 503 as it is
for the primary, since the same work once more would bring down the other one too.

A replica that is away costs one request of each process its wait for a connection, and the others nothing: from then on
a thread looks every :data:`TRIED_AGAIN_AFTER_S` whether it is back.
"""

import logging
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import TypeVar

import psycopg

from app import errors
from app.database.pool import Connection, Database, Unavailable
from app.telemetry.metrics import metrics

TRIED_AGAIN_AFTER_S = 5.0

Result = TypeVar("Result")

_log = logging.getLogger("app.replica")


class ReadingDatabase:
    """The database for reads that may be some moments behind.

    :param replica: None if there is none.
    """

    def __init__(self, primary: Database, replica: Database | None) -> None:
        self._primary = primary
        self._replica = replica
        self._is_away = False
        self._lock = Lock()
        self._closed = Event()

    def read(self, query: Callable[[Connection], Result]) -> Result:
        """What a query finds; it may be called twice, and has to do nothing but read.

        :raises ApiError: 503, as :meth:`app.database.pool.Database.connection` does.
        """
        replica = self._replica
        if replica is not None and not self._is_away:
            try:
                with replica.connection() as connection:
                    found = query(connection)
            except Unavailable as error:
                if not error.elsewhere:
                    raise
                if error.away:
                    self._note_away(replica, str(error))
            except (
                psycopg.errors.UndefinedTable,
                psycopg.errors.UndefinedColumn,
                psycopg.errors.UndefinedFunction,
            ) as error:
                self._note_away(replica, f"It has not received the newest migrations yet: {error}")
            else:
                metrics.replica_reads.labels("replica").inc()
                return found
        with self._primary.connection() as connection:
            found = query(connection)
        if replica is not None:
            metrics.replica_reads.labels("primary").inc()
        return found

    def close(self) -> None:
        """Close the replica's pool; the primary has another owner."""
        self._closed.set()
        if self._replica is not None:
            self._replica.close()

    def _note_away(self, replica: Database, reason: str) -> None:
        with self._lock:
            if self._is_away:
                return
            self._is_away = True
        fields = {"reason": reason.strip(), "tried_again_after_s": TRIED_AGAIN_AFTER_S}
        _log.warning("the replica is away, the primary answers in its place", extra={"fields": fields})
        Thread(target=self._look_for, args=(replica,), name="replica", daemon=True).start()

    def _look_for(self, replica: Database) -> None:
        while not self._closed.wait(TRIED_AGAIN_AFTER_S):
            try:
                with replica.connection() as connection:
                    # Of no project, so that a distributed database asks one machine.
                    connection.execute("SELECT FROM resource WHERE project_key = '' LIMIT 0")
            except (errors.ApiError, psycopg.Error):
                continue
            _log.warning("the replica is back")
            self._is_away = False
            return
