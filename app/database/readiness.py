"""Whether this process can serve requests: the database answers in time, it has all migrations, connections are free.

The question is answered within :data:`ANSWERED_WITHIN_S` whatever the database does, also nothing at all: a thread of
its own asks, and whoever wants to know waits for it only so long. There is one such thread at a time, so that probes
do not pile up, and it does not queue for a connection behind requests that wait already.
"""

from collections.abc import Mapping
from concurrent.futures import Future
from functools import cache
from threading import Lock, Thread

import psycopg

from app import errors
from app.database.pool import MIGRATIONS, Database
from app.telemetry.metrics import metrics

ANSWERED_WITHIN_S = 0.5

Faults = Mapping[str, str]
"""By the name of the check, ``database``, ``migrations`` or ``pool``, what is wrong. No entry: nothing is."""


class Readiness:
    """Looks at a database on behalf of probes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._running: Future[Faults] | None = None
        self._lock = Lock()

    def faults(self) -> Faults:
        """What keeps this process from serving requests, now; it becomes the metric ``ready`` too."""
        if self._database.is_exhausted():
            metrics.ready.labels("pool").set(0)
            return {"pool": "All database connections are in use, and requests wait for one."}
        metrics.ready.labels("pool").set(1)
        try:
            found = self._asked().result(ANSWERED_WITHIN_S)
        except TimeoutError:
            found = {"database": f"The database does not answer within {ANSWERED_WITHIN_S} s."}
        metrics.ready.labels("database").set("database" not in found)
        if "database" not in found:
            metrics.ready.labels("migrations").set("migrations" not in found)
        return found

    def _asked(self) -> Future[Faults]:
        """The question that is under way, else a new one."""
        with self._lock:
            if self._running is None or self._running.done():
                self._running = Future()
                Thread(target=self._ask, args=(self._running,), name="readiness", daemon=True).start()
            return self._running

    def _ask(self, answer: Future[Faults]) -> None:
        try:
            answer.set_result(self._found())
        except BaseException as error:  # noqa: BLE001 -- whoever waits for the answer gets it
            answer.set_exception(error)

    def _found(self) -> Faults:
        needed = migration_ids()
        try:
            with self._database.connection() as connection:
                rows = connection.execute(
                    "SELECT migration_id FROM _yoyo_migration WHERE migration_id = ANY (%(needed)s)",
                    {"needed": list(needed)},
                ).fetchall()
        except errors.ApiError as error:
            return {"database": str(error)}
        except psycopg.errors.UndefinedTable:
            rows = []
        missing = needed - {row[0] for row in rows}
        if missing:
            return {"migrations": f"The database lacks {len(missing)} of {len(needed)} migrations."}
        return {}


@cache
def migration_ids() -> frozenset[str]:
    """The migrations that this version of the service needs. More than these do no harm: a newer version's."""
    suffix, undoes = ".sql", ".rollback.sql"
    return frozenset(
        path.name.removesuffix(suffix) for path in MIGRATIONS.glob(f"*{suffix}") if not path.name.endswith(undoes)
    )
