"""The database: a pool for each process, transactions, and the driver's errors in the service's own words.

The pool is opened on first use and not when the application is made, since gunicorn forks after that and a libpq
connection must not cross a fork. Connections are in autocommit mode: a read is one statement without a transaction
block around it, and so is a write of one statement.

The time limits of statements are the server's, which a server that is stopped or cut off does not keep. So the pool's
connections have a limit of their own, a little above: then they are closed, and nobody knows what became of the
statement.
"""

import math
import os
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from threading import Lock, Thread
from time import perf_counter
from types import TracebackType
from typing import Any, Self
from weakref import WeakSet

import psycopg
from gevent import get_hub, getcurrent, monkey
from psycopg.abc import RV, PQGen
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from app import errors
from app.config import Settings
from app.telemetry.metrics import metrics

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"
"""The folder of the SQL files that make the schema."""

Connection = psycopg.Connection[tuple[Any, ...]]


class SqlSpent:
    """What a request has spent on SQL so far."""

    __slots__ = ("count", "seconds")

    def __init__(self) -> None:
        self.count = 0
        """Statements that were sent."""
        self.seconds = 0.0
        """From sending them until their results were here whole; the wait for a connection is not in it."""


_spent: ContextVar[SqlSpent | None] = ContextVar("sql_spent", default=None)


def count_sql() -> SqlSpent:
    """Count, from now on, the SQL of this thread: of the request that it serves."""
    spent = SqlSpent()
    _spent.set(spent)
    return spent


class MeteredCursor(psycopg.Cursor[tuple[Any, ...]]):
    """A cursor that counts what it executes; at half a microsecond a statement."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride] -- passes on what it gets
        """Execute a statement, and add that to what the request has spent."""
        spent = _spent.get()
        if spent is None:
            return super().execute(query, params, **options)
        began = perf_counter()
        try:
            return super().execute(query, params, **options)
        finally:
            spent.count += 1
            spent.seconds += perf_counter() - began


_RECONNECT_TIMEOUT_S = 5.0
"""The pool's own attempts back off up to this long, then give up; the next request starts new ones."""


class Unavailable(errors.ApiError):
    """503: the database did not do what it was asked, for the time being.

    :param reason: one of :data:`REFUSAL_REASONS`.
    """

    def __init__(self, reason: str, message: str) -> None:
        refusal = errors.over_capacity(message)
        super().__init__(refusal.faults, refusal.headers)
        self.reason = reason
        metrics.database_refusals.labels(reason).inc()

    @property
    def away(self) -> bool:
        """Whether the database as a whole cannot be had."""
        return self.reason == "away"

    @property
    def elsewhere(self) -> bool:
        """Whether another copy of the data may do it: this one is away, or is in the way of its own replication."""
        return self.reason in ("away", "collision")


_SERVER_IS_LATE_S = 0.25
"""Beyond the server's own limit of a statement: time for its word to arrive."""


class _PooledConnection(Connection):
    """A connection that does not wait for a silent server, and that lets other greenlets go on while it waits."""

    patience_s = math.inf

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Let libpq go on whenever it can, until a statement is done.

        :raises OperationalError: if the server is silent for too long; the connection is closed then.
        """
        limit = self.patience_s if timeout is None else timeout
        try:
            if monkey.is_module_patched("select"):
                return _wait_as_greenlet(gen, self.fileno(), limit)
            return super().wait(gen, interval, limit)
        except psycopg.OperationalError as error:
            if error.sqlstate is None:
                self.close()
            raise


def _wait_as_greenlet(gen: PQGen[RV], descriptor: int, limit_s: float) -> RV:
    """What psycopg's own functions do, with one event and one switch for each wait.

    Those that gevent can patch build an object of poll() and a timer each time, a tenth of what a read costs. The bits
    for reading and writing are the same in psycopg and in gevent.
    """
    try:
        events = next(gen)
    except StopIteration as done:
        return done.value
    hub = get_hub()
    limit = hub.loop.timer(limit_s)
    try:
        limit.start(getcurrent().throw, psycopg.OperationalError, "the server is silent")
        while True:
            watcher = hub.loop.io(descriptor, events)
            try:
                hub.wait(watcher)
            finally:
                watcher.close()
            events = gen.send(events)
    except StopIteration as done:
        return done.value
    finally:
        limit.close()


class Database:
    """A pool of connections to one database, opened by the process that first asks for one.

    :param url: anything that libpq takes: a URL or ``key=value`` pairs.
    :param name: what the pool is called in the metrics.
    """

    def __init__(self, url: str, settings: Settings, name: str = "primary") -> None:
        self._settings = settings
        self._url = url
        self._name = name
        self._lent: set[Connection] = set()
        """A set, whose additions and removals need no lock."""
        self._pool: ConnectionPool[_PooledConnection] | None = None
        self._inherited: ConnectionPool[_PooledConnection] | None = None
        self._lock = Lock()
        self._checking = Lock()

    def _opened(self) -> ConnectionPool[_PooledConnection]:
        pool = self._pool
        if pool is not None:
            return pool
        with self._lock:
            if self._pool is None:
                self._pool = self._open()
                _with_pools.add(self)
            return self._pool

    def forget(self) -> None:
        """In a process that was just forked: leave the pool to its owner, whom it would be closed for otherwise."""
        self._inherited, self._pool = self._pool, None
        self._lent = set()
        self._lock, self._checking = Lock(), Lock()

    def _open(self) -> ConnectionPool[_PooledConnection]:
        settings = self._settings
        pool = ConnectionPool(
            conninfo_with_timeouts(self._url, settings),
            connection_class=_PooledConnection,
            configure=self._configure,
            kwargs={
                "autocommit": True,
                "prepare_threshold": settings.prepare_threshold,
                "cursor_factory": MeteredCursor,
            },
            min_size=min(2, settings.connections),
            max_size=settings.connections,
            # Who waits is bounded by the server's connections, and how long by this; more than that need not be.
            timeout=settings.pool_timeout_ms / 1000,
            reconnect_timeout=_RECONNECT_TIMEOUT_S,
            open=False,
            name="sample-resource",
        )
        pool.open()
        if settings.metrics_are_on:
            metrics.watch_pool(self._name, pool)
        return pool

    def _configure(self, connection: _PooledConnection) -> None:
        connection.patience_s = self._settings.statement_timeout_ms / 1000 + _SERVER_IS_LATE_S

    def connection(self) -> "Loan":
        """A connection for a statement or a transaction, for the length of a ``with``."""
        return Loan(self, self._opened())

    def borrow(self, pool: ConnectionPool[_PooledConnection]) -> _PooledConnection:
        """Take a connection from the pool; it has to be given back.

        :raises ApiError: 503 if there is none within the pool's timeout.
        """
        try:
            # Not pool.connection(), which would also commit: connections are in autocommit mode.
            connection = pool.getconn()
        except PoolTimeout:
            raise self._none_to_be_had() from None
        except PoolClosed:
            raise Unavailable("away", _AWAY) from None
        self._lent.add(connection)
        return connection

    def give_back(self, pool: ConnectionPool[_PooledConnection], connection: _PooledConnection) -> None:
        """Give back what was borrowed."""
        self._lent.discard(connection)
        pool.putconn(connection)
        if connection.closed:
            self._check_others(pool)

    def _check_others(self, pool: ConnectionPool[_PooledConnection]) -> None:
        """Replace all idle connections that are broken, in a thread: one that is seldom comes alone.

        After a restart of the database in a quiet moment all are, and each would cost a request.
        """

        def check() -> None:
            try:
                with suppress(psycopg.Error):  # closed meanwhile
                    pool.check()
            finally:
                self._checking.release()

        if self._checking.acquire(blocking=False):
            Thread(target=check, name="check-connections", daemon=True).start()

    def _none_to_be_had(self) -> Unavailable:
        """Either all connections are lent, or there are fewer than there should be, since none can be made."""
        if len(self._lent) >= self._settings.connections:
            return Unavailable("pool_exhausted", "No database connection is available.")
        return Unavailable("away", _AWAY)

    def is_exhausted(self) -> bool:
        """Whether all connections are lent, and requests wait for one."""
        if len(self._lent) < self._settings.connections:
            return False
        return self._opened().get_stats().get("requests_waiting", 0) > 0

    def close(self) -> None:
        """Close the pool, if this process has one."""
        with self._lock:
            if self._pool is not None:
                self._pool.close(timeout=2)
            self._pool = None


_with_pools = WeakSet[Database]()


def _forget_all() -> None:
    for database in _with_pools:
        database.forget()


os.register_at_fork(after_in_child=_forget_all)


class Loan:
    """A connection for the length of a ``with``; a class, since a generator would cost a read 2 % more.

    On entering and on leaving it raises 503 if there is none within the pool's timeout, if the database goes away, or
    if a statement or lock timeout strikes.
    """

    __slots__ = ("_connection", "_database", "_pool")

    def __init__(self, database: Database, pool: ConnectionPool[_PooledConnection]) -> None:
        self._database = database
        self._pool = pool

    def __enter__(self) -> Connection:
        self._connection = self._database.borrow(self._pool)
        return self._connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.give_back(self._pool, self._connection)
        if isinstance(error, psycopg.Error):
            refusal = refusal_of(error)
            if refusal is not None:
                raise refusal from error


def conninfo_with_timeouts(url: str, settings: Settings) -> str:
    """The connection string with the time limits of every connection.

    A pooler in transaction mode refuses ``options``, since what one client sets would be in force for others. Behind
    it the limits are those of the account (``ALTER ROLE ... SET``).
    """
    limits = {} if settings.database_pooler else {"options": _limits(settings)}
    return make_conninfo(
        url,
        connect_timeout=settings.connect_timeout_s,
        application_name="sample-resource",
        # A peer that vanished without a word is noticed in seconds, not in hours.
        keepalives_idle=5,
        keepalives_interval=2,
        keepalives_count=3,
        tcp_user_timeout=10_000,
        **limits,
    )


def _limits(settings: Settings) -> str:
    return (
        f"-c statement_timeout={settings.statement_timeout_ms}"
        f" -c lock_timeout={settings.lock_timeout_ms}"
        f" -c idle_in_transaction_session_timeout={settings.statement_timeout_ms * 2}"
        " -c timezone=UTC"
    )


def connect(url: str, settings: Settings, *, limited: bool = True) -> Connection:
    """A single connection in autocommit mode, for work outside of requests.

    :param limited: whether the time limits of requests hold.
    """
    conninfo = (
        conninfo_with_timeouts(url, settings) if limited else make_conninfo(url, application_name="sample-resource")
    )
    return Connection.connect(conninfo, autocommit=True, prepare_threshold=settings.prepare_threshold)


_AWAY = "The database is not available."
_COLLISION = "The write collided with another one."

_RETRY_LATER: dict[str, tuple[str, str]] = {
    "57014": ("statement_timeout", "The statement took too long."),  # query_canceled, by statement_timeout
    "55P03": ("lock_timeout", "The resource is being written by others."),  # lock_not_available, by lock_timeout
    "40P01": ("collision", _COLLISION),  # deadlock_detected
    "40001": ("collision", _COLLISION),  # serialization_failure
    "25P03": ("transaction_timeout", "The transaction took too long."),  # idle_in_transaction_session_timeout
    # read_only_sql_transaction: a standby
    "25006": ("read_only", "The database accepts no writes at the moment."),
}
"""SQLSTATEs of faults that pass by themselves, each with its name in the metrics; classes are in :func:`refusal_of`."""

REFUSAL_REASONS = ("pool_exhausted", "away", *dict.fromkeys(reason for reason, _ in _RETRY_LATER.values()))
"""Why the database did not do what it was asked: values of a label, known beforehand so that each begins at 0."""


def refusal_of(error: psycopg.Error) -> Unavailable | None:
    """A driver error as an answer, by SQLSTATE and constraint name; None if it is a fault of the service."""
    state = error.sqlstate
    if state is None:
        # The connection is gone or could not be made: libpq has no SQLSTATE for that.
        return (
            Unavailable("away", _AWAY) if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) else None
        )
    if state in _RETRY_LATER:
        return Unavailable(*_RETRY_LATER[state])
    # 08 connection exception, 53 insufficient resources, 57P operator intervention, 58 system error
    if state[:2] in ("08", "53", "58") or state.startswith("57P"):
        return Unavailable("away", _AWAY)
    return None
