"""Lists, existence checks and searches read from a replica of the database, if there is one.

Reads by id and key use the primary, so that a client reads its own writes. The lag of the replica is neither measured
nor limited here.

If the replica is away, the primary answers in its place, and the client does not notice. The primary has to be able to
carry this load; otherwise the service would depend on both servers. The primary does not replace a busy replica: if
all connections to the replica are in use, or a statement reaches its timeout, the answer is 503. Repeating the work
would overload the primary, too.

When the replica goes away, one request of each process waits for a connection in vain. After that a thread tries to
reach the replica every :data:`RETRY_INTERVAL_S`. Until it succeeds, requests go to the primary at once.
"""

import logging
from collections.abc import Callable
from functools import partial
from threading import Event, Lock
from typing import LiteralString, TypeVar

import psycopg

from app import errors
from app.database.admission import Lane
from app.database.connection import Connection
from app.database.failures import Unavailable
from app.database.pool import Database
from app.telemetry.lasting_threads import keep_running
from app.telemetry.metrics import metrics

RETRY_INTERVAL_S = 5.0

_PRIMARY_MAY_ANSWER = ("away", "not_migrated", "collision")
"""The reasons for which the primary may answer a query in place of the replica. A collision is a conflict with
replication that has cancelled the query."""

Result = TypeVar("Result")

_log = logging.getLogger("app.replica")


# With a project in its WHERE clause, so that a distributed database sends the query to one machine.
_PROBE: LiteralString = "SELECT FROM resource WHERE project_key = '' LIMIT 0"


class ReadingDatabase:
    """The database for reads that may return an older state: the replica, or the primary in its place.

    :param replica: None if all reads use the primary.
    """

    def __init__(self, primary: Database, replica: Database | None) -> None:
        self._primary = primary
        self._replica = replica
        self._is_away = False
        self._lock = Lock()
        self._closed = Event()

    def read(self, query: Callable[[Connection], Result], project: str = "", lane: Lane = Lane.FAST) -> Result:
        """Run a query on the replica and return its result; if the replica is away, run it on the primary.

        :param query: must only read, because it may be called twice.
        :param project: the project of the request; empty for the service itself.
        :raises Unavailable: as :meth:`app.database.pool.Database.connection` does.
        """
        replica = self._replica
        if replica is not None and not self._is_away:
            try:
                with replica.connection(project, lane) as connection:
                    found = query(connection)
            except Unavailable as error:
                if error.reason not in _PRIMARY_MAY_ANSWER:
                    raise
                if error.reason != "collision":
                    self._note_away(replica, str(error))
            except psycopg.errors.UndefinedFunction as error:
                self._note_away(replica, f"It has not received the newest migrations yet: {error}")
            else:
                metrics.replica_reads.labels("replica").inc()
                return found
        with self._primary.connection(project, lane) as connection:
            found = query(connection)
        if replica is not None:
            metrics.replica_reads.labels("primary").inc()
        return found

    def close(self) -> None:
        """Close the pool of the replica. The pool of the primary is closed by its owner."""
        self._closed.set()
        if self._replica is not None:
            self._replica.close()

    def _note_away(self, replica: Database, reason: str) -> None:
        with self._lock:
            if self._is_away:
                return
            self._is_away = True
        fields = {"reason": reason.strip(), "tried_again_after_s": RETRY_INTERVAL_S}
        _log.warning("the replica is away, the primary answers in its place", extra={"fields": fields})
        keep_running("replica", partial(self._wait_until_back, replica))

    def _wait_until_back(self, replica: Database) -> None:
        while not self._closed.wait(RETRY_INTERVAL_S):
            try:
                with replica.connection() as connection:
                    connection.execute(_PROBE)
            except (errors.ApiError, psycopg.Error):
                continue
            _log.warning("the replica is back")
            self._is_away = False
            return
