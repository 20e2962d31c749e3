"""Translates temporary errors of the driver and of the pool into answers: 503 with ``Retry-After``.

Errors are identified by SQLSTATE and exception class, never by the text of a message, which depends on the server's
version and language. Citus raises some temporary errors with the SQLSTATE of an internal error; they are identified by
the C function that raised them.
"""

from time import monotonic

import psycopg

from app import errors
from app.telemetry.metrics import metrics

_AWAY = ("away", "The database is not available.")
_COLLISION = ("collision", "It collided with another transaction.")
_SLOW_TRANSACTION = ("transaction_timeout", "The transaction took too long.")
_NOT_MIGRATED = ("not_migrated", "The database lacks migrations of this version.")
_MOVED = ("collision", "The project is being moved to another machine, or one was lost.")

_UNAVAILABLE_BY_SQLSTATE: dict[str, tuple[str, str]] = {
    "57014": ("statement_timeout", "The statement took too long."),  # query_canceled, usually by statement_timeout
    "55P03": ("lock_timeout", "What the statement needs is locked by others."),  # lock_not_available
    "40P01": _COLLISION,  # deadlock_detected
    "40001": _COLLISION,  # serialization_failure
    # Citus: an intermediate result was not found, because a shard has moved or a worker was lost
    "CIINF": _MOVED,
    "25P03": _SLOW_TRANSACTION,  # idle_in_transaction_session_timeout
    "25P04": _SLOW_TRANSACTION,  # transaction_timeout, since PostgreSQL 17
    "25006": ("read_only", "The database accepts no writes at the moment."),  # read_only_sql_transaction: a standby
    "42P01": _NOT_MIGRATED,  # undefined_table
    "42703": _NOT_MIGRATED,  # undefined_column
    "53100": ("disk_full", "The database has no room left."),
}
"""The reason and the message of temporary errors, by SQLSTATE. :func:`error_for` adds whole classes of SQLSTATEs."""

_INTERNAL_ERRORS_OF_CITUS: dict[str, tuple[str, str]] = {
    # A worker was lost during a transaction, or during its commit.
    "CheckRemoteTransactionsHealth": _AWAY,
    "ErrorIfPostCommitFailedShardPlacements": _AWAY,
    "MarkRemoteTransactionFailed": _AWAY,
    # A shard has moved since the statement was planned.
    "ActiveShardPlacementLists": _MOVED,
    "LoadGroupShardPlacement": _MOVED,
    "LookupShardIdCacheEntry": _MOVED,
    "LookupShardRelationFromCatalog": _MOVED,
}
"""The reason and the message of temporary errors with SQLSTATE XX000, by the raising C function of Citus 14.0."""

UNAVAILABLE_REASONS = ("project_busy", "away", *dict.fromkeys(name for name, _ in _UNAVAILABLE_BY_SQLSTATE.values()))
"""All values of the metric's label ``reason``. They are listed, so that every series can start at 0."""


_REMEMBERED_FOR_S = 60.0

_met_at: dict[str, float] = {}
"""The time of the last error with each reason in this process, by the monotonic clock."""


def recent_warning(reason: str, text: str) -> str | None:
    """Return a warning for the readiness check, if this process has met an error with this reason in the last minute;
    else None.

    :param reason: one of :data:`UNAVAILABLE_REASONS`.
    :param text: the beginning of the warning, to which "within the last 60 s." is added.
    """
    if monotonic() - _met_at.get(reason, float("-inf")) > _REMEMBERED_FOR_S:
        return None
    return f"{text} within the last {_REMEMBERED_FOR_S:g} s."


class Unavailable(errors.ApiError):
    """The error 503 for a request that the database cannot serve at the moment. Each instance is counted in the
    metrics, and its time is kept for :func:`recent_warning`.

    :param reason: one of :data:`UNAVAILABLE_REASONS`.
    """

    def __init__(self, reason: str, message: str) -> None:
        error = errors.over_capacity(message)  # a 503 with Retry-After; this error gets its fault and its headers
        super().__init__(error.faults, error.headers)
        self.reason = reason
        _met_at[reason] = monotonic()
        metrics.database_refusals.labels(reason).inc()


def away() -> Unavailable:
    """The error for a database that cannot be reached."""
    return Unavailable(*_AWAY)


def project_busy() -> Unavailable:
    """The error for a request that gets no database connection, although the database can be reached. Either no
    connection that the request may hold (:mod:`app.database.admission`) becomes free in time, or too many requests of
    the same project are waiting already."""
    return Unavailable("project_busy", "No database connection became free in time.")


def error_for(driver_error: psycopg.Error) -> Unavailable | None:
    """The error 503 for a temporary error of the driver; None for any other error, which becomes a 500 unless a caller
    handles it.

    An OperationalError or InterfaceError without SQLSTATE counts as a lost connection. Only the text of its message
    could show another cause, and texts are not compared.
    """
    state = driver_error.sqlstate
    if state is None:
        # There is no SQLSTATE if no connection can be made, or if it is lost before the server has sent an error.
        return away() if isinstance(driver_error, psycopg.OperationalError | psycopg.InterfaceError) else None
    if state in _UNAVAILABLE_BY_SQLSTATE:
        return Unavailable(*_UNAVAILABLE_BY_SQLSTATE[state])
    # 08 connection exception, 53 insufficient resources, 57P operator intervention, 58 system error
    if state.startswith(("08", "53", "58", "57P")):
        return away()
    if state == "XX000":
        of_citus = _INTERNAL_ERRORS_OF_CITUS.get(driver_error.diag.source_function or "")
        return Unavailable(*of_citus) if of_citus else None
    return None
