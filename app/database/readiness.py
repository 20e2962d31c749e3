"""Readiness: the database answers in time, it has all migrations, the pool has free connections, and further checks.

A probe is answered within :data:`ANSWERED_WITHIN_S`, even if the database does not respond at all: the query runs in a
thread of its own, and the probe stops waiting for it after that time. There is at most one such thread, so probes do
not pile up. The probe asks for a connection as a project that holds none, so it gets the next free one, and the process
stays ready while only some projects wait.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from threading import Lock, Thread

from app import errors
from app.database.applied_migrations import missing_migrations
from app.database.connection import Connection
from app.database.migration_files import migration_ids
from app.database.pool import Database
from app.telemetry.metrics import metrics

ANSWERED_WITHIN_S = 0.5

Faults = Mapping[str, str]
"""What is wrong, by the check: ``database``, ``migrations``, ``pool`` or a further one. Empty if nothing is."""

Check = Callable[[Connection], str | None]
"""A further check: what is wrong, or None."""


class Readiness:
    """Checks a database for readiness probes.

    :param further: checks of what the database contains, by their names; made if it has all migrations.
    """

    def __init__(self, database: Database, further: Mapping[str, Check]) -> None:
        self._database = database
        self._further = further
        self._running: Future[Faults] | None = None
        self._lock = Lock()

    def faults(self) -> Faults:
        """What keeps this process from serving requests at the moment. Sets the metric ``ready`` too."""
        try:
            found = self._running_check().result(ANSWERED_WITHIN_S)
        except TimeoutError:
            if self._database.is_exhausted():
                found = {"pool": f"All database connections are in use, and none became free in {ANSWERED_WITHIN_S} s."}
            else:
                found = {"database": f"The database does not answer within {ANSWERED_WITHIN_S} s."}
        metrics.ready.labels("pool").set("pool" not in found)
        if "pool" in found:
            return found
        metrics.ready.labels("database").set("database" not in found)
        if "database" not in found:
            metrics.ready.labels("migrations").set("migrations" not in found)
            if "migrations" not in found:
                for name in self._further:
                    metrics.ready.labels(name).set(name not in found)
        return found

    def _running_check(self) -> Future[Faults]:
        """The check of the database that is under way, or else a new one."""
        with self._lock:
            if self._running is None or self._running.done():
                self._running = Future()
                Thread(target=self._run_check, args=(self._running,), name="readiness", daemon=True).start()
            return self._running

    def _run_check(self, result: Future[Faults]) -> None:
        try:
            result.set_result(self._check_database())
        except BaseException as error:  # noqa: BLE001 -- raised again in the thread that waits for the result
            result.set_exception(error)

    def _check_database(self) -> Faults:
        try:
            with self._database.connection() as connection:
                missing = missing_migrations(connection)
                if missing:
                    return {"migrations": f"The database lacks {len(missing)} of {len(migration_ids())} migrations."}
                faults = {name: check(connection) for name, check in self._further.items()}
        except errors.ApiError as error:
            return {"database": str(error)}
        return {name: fault for name, fault in faults.items() if fault is not None}
