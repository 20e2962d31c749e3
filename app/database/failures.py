"""Errors of the driver and of the pool as answers: 503 with ``Retry-After``.

Errors are told apart by SQLSTATE and exception class, never by the text of a message, which depends on the server's
version and language. Citus raises some temporary errors as internal ones, which have only the name of the C function in
which they were raised to tell them by.
"""

from time import monotonic

import psycopg

from app import errors
from app.telemetry.metrics import metrics

_AWAY = "The database is not available."
_COLLISION = "The write collided with another one."
_NOT_MIGRATED = ("not_migrated", "The database lacks migrations of this version.")
_MOVED = ("collision", "The project is being moved to another machine.")

_UNAVAILABLE_BY_SQLSTATE: dict[str, tuple[str, str]] = {
    "57014": ("statement_timeout", "The statement took too long."),  # query_canceled, by statement_timeout
    "55P03": ("lock_timeout", "The resource is being written by others."),  # lock_not_available, by lock_timeout
    "40P01": ("collision", _COLLISION),  # deadlock_detected
    "40001": ("collision", _COLLISION),  # serialization_failure
    # Citus: an intermediate result was not found, since a shard has moved or a worker was lost
    "CIINF": _MOVED,
    "25P03": ("transaction_timeout", "The transaction took too long."),  # idle_in_transaction_session_timeout
    # read_only_sql_transaction: a standby
    "25006": ("read_only", "The database accepts no writes at the moment."),
    "42P01": _NOT_MIGRATED,  # undefined_table
    "42703": _NOT_MIGRATED,  # undefined_column
    "53100": ("disk_full", "The database has no room left."),
}
"""Temporary errors: the reason and the message of each. :func:`error_for` adds whole classes of SQLSTATEs."""

_INTERNAL_ERRORS_OF_CITUS: dict[str, tuple[str, str]] = {
    # A worker was lost within a transaction, or while it committed.
    **dict.fromkeys(
        (
            "CheckRemoteTransactionsHealth",
            "ErrorIfPostCommitFailedShardPlacements",
            "MarkRemoteTransactionFailed",
        ),
        ("away", _AWAY),
    ),
    # A shard is no longer where it was when the statement was planned.
    **dict.fromkeys(
        (
            "ActiveShardPlacement",
            "LoadGroupShardPlacement",
            "LookupShardIdCacheEntry",
            "LookupShardRelationFromCatalog",
        ),
        _MOVED,
    ),
}
"""Errors of SQLSTATE XX000 by the C function that raises them (Citus 14.0)."""

UNAVAILABLE_REASONS = (
    "queue_full",
    "queue_timeout",
    "client_gone",
    "away",
    *dict.fromkeys(reason for reason, _ in _UNAVAILABLE_BY_SQLSTATE.values()),
)
"""All values of the label ``reason``. They are known in advance, so that every series can start at 0."""


_REMEMBERED_FOR_S = 60.0

_met_at: dict[str, float] = {}
"""When this process last met each reason, by the monotonic clock."""


def disk_fault() -> str | None:
    """What is wrong with the disk of the database, as far as this process knows; None: nothing."""
    return _lately("disk_full", "The database had no room for a write")


def read_only_fault() -> str | None:
    """That the database takes no writes, as far as this process knows; None: it does."""
    return _lately("read_only", "The database was read-only for a write")


def _lately(reason: str, said: str) -> str | None:
    if monotonic() - _met_at.get(reason, float("-inf")) > _REMEMBERED_FOR_S:
        return None
    return f"{said} within the last {_REMEMBERED_FOR_S:g} s."


class Unavailable(errors.ApiError):
    """503: the database cannot do this at the moment. Each instance is counted by its reason.

    :param reason: one of :data:`UNAVAILABLE_REASONS`.
    """

    def __init__(self, reason: str, message: str) -> None:
        answer = errors.over_capacity(message)
        super().__init__(answer.faults, answer.headers)
        self.reason = reason
        _met_at[reason] = monotonic()
        metrics.database_refusals.labels(reason).inc()

    @property
    def is_collision(self) -> bool:
        """Whether another write, or replication, has cancelled the statement; it would have its way if sent again."""
        return self.reason == "collision"

    @property
    def is_read_only(self) -> bool:
        """Whether the session accepts no writes."""
        return self.reason == "read_only"

    @property
    def may_succeed_elsewhere(self) -> bool:
        """Whether another copy of the data may answer.

        It may if this one is away or has not received the newest migrations yet, or if the query was cancelled because
        it conflicted with replication.
        """
        return self.reason in ("away", "collision", "not_migrated")


def away() -> Unavailable:
    """The error for a database that cannot be reached."""
    return Unavailable("away", _AWAY)


def queue_full() -> Unavailable:
    """The error for a request whose project has as many requests waiting as it may."""
    return Unavailable("queue_full", "Too many requests of this project are waiting.")


def queue_timeout() -> Unavailable:
    """The error for a request that has waited too long for a connection that others use."""
    return Unavailable("queue_timeout", "The service is busy: no database connection became free in time.")


def client_gone() -> Unavailable:
    """The error for a request whose client hung up while it waited; nobody reads it."""
    return Unavailable("client_gone", "The client has closed the connection.")


def error_for(driver_error: psycopg.Error) -> Unavailable | None:
    """The answer to a temporary error of the driver; None for any other error, which is a bug and becomes a 500."""
    state = driver_error.sqlstate
    if state is None:
        # libpq gives no SQLSTATE if the connection is lost or cannot be made.
        is_lost = isinstance(driver_error, psycopg.OperationalError | psycopg.InterfaceError)
        return away() if is_lost else None
    if state in _UNAVAILABLE_BY_SQLSTATE:
        return Unavailable(*_UNAVAILABLE_BY_SQLSTATE[state])
    # 08 connection exception, 53 insufficient resources, 57P operator intervention, 58 system error
    if state[:2] in ("08", "53", "58") or state.startswith("57P"):
        return away()
    if state == "XX000":
        of_citus = _INTERNAL_ERRORS_OF_CITUS.get(driver_error.diag.source_function or "")
        return Unavailable(*of_citus) if of_citus else None
    return None
