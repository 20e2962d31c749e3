"""The pool of database connections of each process, and the checkout of a connection for a statement.

The pool is opened on first use and not when the application is made: gunicorn forks after that, and a libpq
connection must not be used on both sides of a fork. Connections are in autocommit mode, so a read is one statement
without BEGIN and COMMIT around it, and so is a write of one statement.
"""

import os
from contextlib import suppress
from threading import Lock, Thread
from types import TracebackType
from weakref import WeakSet

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from app.config import Settings
from app.database import failures
from app.database.connection import Connection, conninfo_with_timeouts
from app.database.failures import Unavailable
from app.database.pooled_connection import MeteredCursor, PooledConnection
from app.telemetry.metrics import metrics

_RECONNECT_TIMEOUT_S = 5.0
"""How long the pool goes on trying to connect, ever less often; after that the next request makes it try again."""

ANSWER_GRACE_S = 0.25
"""Added to the server's limit of a statement for the limit of a connection: the server's error needs time to arrive."""


class Database:
    """A pool of connections to one database, opened by the process that first asks for a connection.

    :param url: anything that libpq takes: a URL or ``key=value`` pairs.
    :param name: the pool's name in the metrics.
    """

    def __init__(self, url: str, settings: Settings, name: str = "primary") -> None:
        self._settings = settings
        self._url = url
        self._name = name
        self._checked_out: set[Connection] = set()
        """Needs no lock: adding to a set and removing from it are atomic."""
        self._pool: ConnectionPool[PooledConnection] | None = None
        self._inherited: ConnectionPool[PooledConnection] | None = None
        self._lock = Lock()
        self._checking = Lock()

    def connection(self) -> "Checkout":
        """A connection for a statement or a transaction: ``with database.connection() as connection``."""
        return Checkout(self, self._opened())

    def check_out(self, pool: ConnectionPool[PooledConnection]) -> PooledConnection:
        """Take a connection out of the pool; :meth:`return_connection` has to follow.

        :raises Unavailable: if no connection becomes free within the pool's timeout.
        """
        try:
            # Not pool.connection(), which would also commit: connections are in autocommit mode.
            connection = pool.getconn()
        except PoolTimeout:
            raise self._timeout_error() from None
        except PoolClosed:
            raise failures.away() from None
        self._checked_out.add(connection)
        return connection

    def return_connection(self, pool: ConnectionPool[PooledConnection], connection: PooledConnection) -> None:
        """Return a connection to the pool, which replaces it if it is broken."""
        self._checked_out.discard(connection)
        pool.putconn(connection)
        if connection.closed:
            self._replace_broken_connections(pool)

    def is_exhausted(self) -> bool:
        """Whether all connections are checked out and requests wait for one."""
        if len(self._checked_out) < self._settings.connections:
            return False
        return self._opened().get_stats().get("requests_waiting", 0) > 0

    def close(self) -> None:
        """Close the pool, if this process has opened one."""
        with self._lock:
            if self._pool is not None:
                self._pool.close(timeout=2)
            self._pool = None

    def reset_after_fork(self) -> None:
        """In a forked child: leave the pool to the parent.

        The reference is kept, since the pool would close the parent's connections when it is garbage-collected.
        """
        self._inherited, self._pool = self._pool, None
        self._checked_out = set()
        self._lock, self._checking = Lock(), Lock()

    def _opened(self) -> ConnectionPool[PooledConnection]:
        pool = self._pool
        if pool is not None:
            return pool
        with self._lock:
            if self._pool is None:
                self._pool = self._open()
                _with_pools.add(self)
            return self._pool

    def _open(self) -> ConnectionPool[PooledConnection]:
        settings = self._settings
        pool = ConnectionPool(
            conninfo_with_timeouts(self._url, settings),
            connection_class=PooledConnection,
            configure=self._configure,
            kwargs={
                "autocommit": True,
                "prepare_threshold": settings.prepare_threshold,
                "cursor_factory": MeteredCursor,
            },
            min_size=min(2, settings.connections),
            max_size=settings.connections,
            # This limits how long a request waits, and gunicorn's limit of connections how many wait: no max_waiting.
            timeout=settings.pool_timeout_ms / 1000,
            reconnect_timeout=_RECONNECT_TIMEOUT_S,
            open=False,
            name="sample-resource",
        )
        pool.open()
        if settings.metrics_are_on:
            metrics.watch_pool(self._name, pool)
        return pool

    def _configure(self, connection: PooledConnection) -> None:
        connection.statement_limit_s = self._settings.statement_timeout_ms / 1000 + ANSWER_GRACE_S

    def _replace_broken_connections(self, pool: ConnectionPool[PooledConnection]) -> None:
        """Check all idle connections in a thread, since where one is broken there are usually more.

        After a restart of an idle database all are broken, and without this check each would fail one request.
        """

        def check() -> None:
            try:
                with suppress(psycopg.Error):  # the pool was closed in the meantime
                    pool.check()
            finally:
                self._checking.release()

        if self._checking.acquire(blocking=False):
            Thread(target=check, name="check-connections", daemon=True).start()

    def _timeout_error(self) -> Unavailable:
        """The error of a request that waited in vain: all connections are in use, or no connection can be made."""
        if len(self._checked_out) >= self._settings.connections:
            return failures.pool_exhausted()
        return failures.away()


_with_pools = WeakSet[Database]()


def _reset_all_after_fork() -> None:
    for database in _with_pools:
        database.reset_after_fork()


os.register_at_fork(after_in_child=_reset_all_after_fork)


class Checkout:
    """A context manager that checks a connection out and returns it; a generator would make a read 2 % slower.

    Entering raises :class:`~app.database.failures.Unavailable` if no connection becomes free within the pool's
    timeout. Leaving raises it in place of a driver's error that is temporary: the database went away, a statement or
    lock timeout struck, two writes collided.
    """

    __slots__ = ("_connection", "_database", "_pool")

    def __init__(self, database: Database, pool: ConnectionPool[PooledConnection]) -> None:
        self._database = database
        self._pool = pool

    def __enter__(self) -> Connection:
        self._connection = self._database.check_out(self._pool)
        return self._connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.return_connection(self._pool, self._connection)
        if isinstance(error, psycopg.Error):
            unavailable = failures.error_for(error)
            if unavailable is not None:
                raise unavailable from error
