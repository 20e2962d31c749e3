"""Readiness: whether the database answers in time and has all migrations, and whether connections are free.

A probe is answered within :data:`ANSWERED_WITHIN_S`, even if the database does not respond. The queries run in a
thread, and the probe stops waiting for the thread after that time. All probes share one thread, so that they do not
pile up. The thread asks for a connection in the name of a project that holds none, so at most one waiting request of
each other project goes before it. Therefore the process stays ready while requests of some projects wait for
connections, unless those that hold the connections, and one request of each project that waits, need longer than the
probe waits.
"""

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from typing import LiteralString

import psycopg

from app.database.connection import Connection
from app.database.failures import Unavailable, recent_warning
from app.database.migrate import migration_files, missing_migrations
from app.database.pool import Database
from app.telemetry.metrics import metrics

ANSWERED_WITHIN_S = 0.5

_PROBES = "/health/ready"
"""The name under which probes ask for a connection. No project can have it, and requests for tokens use another."""

_log = logging.getLogger("app.database")

Faults = Mapping[str, str]
"""The faults by the names of the checks that found them; empty if there are none."""


@dataclass(frozen=True, slots=True)
class Health:
    """The faults and warnings that the checks have found.

    :ivar faults: faults for which the process should get no requests: ``database``, ``migrations``, ``pool`` or
        ``stopping``.
    :ivar warnings: faults that an operator has to mend although requests are served: ``archiving``, ``disk``,
        ``read_only``.
    """

    faults: Faults = field(default_factory=dict[str, str])
    warnings: Faults = field(default_factory=dict[str, str])


class Readiness:
    """Checks a database for readiness probes.

    :param migrations: the folders with the migrations of extensions.
    """

    def __init__(self, database: Database, migrations: tuple[Path, ...] = ()) -> None:
        self._database = database
        self._migrations = migrations
        self.is_stopping: Callable[[], bool] = lambda: False
        """Returns whether a stop of the service has begun. The process still answers requests then, but will soon
        accept no more. Workers of gunicorn replace the function (:mod:`app.serving.gunicorn_settings`); without
        gunicorn it always returns False."""
        self._running: Future[Health] | None = None
        """The latest check, which may have ended; None before the first one."""
        self._lock = Lock()

    def health(self) -> Health:
        """Check whether this process can serve requests at the moment. If it can, the result has no faults.

        The method also sets the metrics ``ready`` and ``warning``:

        - The checks end at the first fault, so the metrics of the later checks keep their values.
        - If the checks do not end in time, only the metric of the reported fault is set.
        - If the service is stopping, nothing is checked, and no metric is set.
        """
        if self.is_stopping():
            return Health({"stopping": "The service is stopping."})
        try:
            found = self._running_check().result(ANSWERED_WITHIN_S)
        except TimeoutError:
            # If requests hold all connections, the fault is "pool". The database may be silent, too: that cannot be
            # told apart from slow requests.
            name, why = "database", f"The database does not answer within {ANSWERED_WITHIN_S} s."
            if self._database.admission.is_exhausted:
                name, why = "pool", f"All database connections are in use, none became free in {ANSWERED_WITHIN_S} s."
            metrics.ready.labels(name).set(False)  # nothing is known of the others, because the check has not ended
            return Health({name: why})
        # The loop goes through the checks in the order in which _check_database makes them. It sets the metric of each
        # check that has passed to True, and that of the first fault to False. Then it stops, and the metrics of the
        # later checks keep their values.
        # There is one exception to the order. If the pool gives a connection, but a statement on this connection fails,
        # the pool has passed its check, and _check_database reports the failed statement as "database". The loop then
        # stops at "database", so the metric of "pool" keeps its value, too.
        for name in ("database", "pool", "migrations"):
            metrics.ready.labels(name).set(name not in found.faults)
            if name in found.faults:
                break  # the later metrics keep their values
        if not found.faults:
            for name in _WARNINGS:
                metrics.warning.labels(name).set(name in found.warnings)
        return found

    def _running_check(self) -> Future[Health]:
        """The running check of the database; a new one is started if none is running."""
        with self._lock:
            if self._running is None or self._running.done():
                running: Future[Health] = Future()
                Thread(target=self._run_check, args=(running,), name="readiness", daemon=True).start()
                self._running = running
            return self._running

    def _run_check(self, result: Future[Health]) -> None:
        """Check the database, and store the result, or the error, in a Future for which all probes wait. This runs in a
        thread that :meth:`_running_check` starts for each check."""
        try:
            result.set_result(self._check_database())
        except BaseException as error:  # noqa: BLE001 -- raised again in the thread that waits for the result
            result.set_exception(error)

    def _check_database(self) -> Health:
        """Check the service's own connection, the pool and the migrations, in this order, and then look for warnings.
        The first fault ends the checks."""
        try:
            with self._database.own_connection():
                pass  # tokens are looked up on this connection, which is not one of the pool's
            with self._database.connection(_PROBES) as connection:
                missing = missing_migrations(connection, self._migrations)
                if missing:
                    needed = len(migration_files(self._migrations))
                    fault = f"The database lacks {len(missing)} of {needed} migrations, first {missing[0]}."
                    return Health({"migrations": fault})
                found = {name: check(connection) for name, check in _WARNINGS.items()}
                return Health(warnings={name: fault for name, fault in found.items() if fault is not None})
        except Unavailable as error:
            # project_busy has two causes. Here it means that no connection of the pool became free in time. The other
            # cause, too many waiting requests of the same project, is impossible: only checks use the name _PROBES, and
            # they run one at a time.
            return Health({"pool" if error.reason == "project_busy" else "database": str(error)})
        except psycopg.Error as error:
            # Usually a privilege is missing. The fault is public, so it does not quote the message of the server.
            _log.warning("the database refused a check", extra={"fields": {"reason": str(error).strip()}})
            return Health({"database": f"The database refuses what the service needs: {type(error).__name__}."})


_ARCHIVING: LiteralString = """
    SELECT failed_count, last_failed_time FROM pg_stat_archiver
    WHERE last_failed_time > coalesce(last_archived_time, '-infinity') AND current_setting('archive_mode') <> 'off'"""


def _archiving_fault(connection: Connection) -> str | None:
    """The fault of archiving, if its last attempt has failed. Then segments of the write-ahead log fill the disk."""
    row = connection.execute(_ARCHIVING).fetchone()
    if row is None:
        return None
    failures, last = row
    return f"The write-ahead log is not archived: {failures} failures, the last at {last.isoformat()}."


_WARNINGS: Mapping[str, Callable[[Connection], str | None]] = {
    "archiving": _archiving_fault,
    "disk": lambda _: recent_warning("disk_full", "The database had no room for a write"),
    "read_only": lambda _: recent_warning("read_only", "The database was read-only for a write"),
}
