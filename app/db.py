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
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import psycopg
from gevent import get_hub, monkey
from gevent.timeout import Timeout
from psycopg.abc import RV, PQGen
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from app import errors
from app.config import Settings

Connection = psycopg.Connection[tuple[Any, ...]]

_RECONNECT_TIMEOUT_S = 5.0
"""The pool's own attempts back off up to this long, then give up; the next request starts new ones."""


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


_READ, _WRITE = 1, 2
"""Bits of what libpq waits for and of what happened, in psycopg as in gevent."""


def _wait_as_greenlet(gen: PQGen[RV], descriptor: int, limit_s: float) -> RV:
    """What psycopg's own functions do, with one event and one switch for each wait.

    Those that gevent can patch build an object of poll() and a timer each time, a tenth of what a read costs.
    """
    hub = get_hub()
    try:
        events = next(gen)
        with Timeout(limit_s, psycopg.OperationalError("the server is silent")):
            while True:
                watcher = hub.loop.io(descriptor, events)
                try:
                    hub.wait(watcher)
                finally:
                    watcher.close()
                events = gen.send(events)
    except StopIteration as done:
        return done.value


class Database:
    """A pool of connections to one database, opened by the process that first asks for one.

    :param url: anything that libpq takes: a URL or ``key=value`` pairs.
    """

    def __init__(self, url: str, settings: Settings) -> None:
        self._settings = settings
        self._url = url
        self._pool: ConnectionPool[_PooledConnection] | None = None
        self._pool_owner = 0
        self._lock = Lock()

    def _opened(self) -> ConnectionPool[_PooledConnection]:
        pool = self._pool
        if pool is not None and self._pool_owner == os.getpid():
            return pool
        with self._lock:
            if self._pool is None or self._pool_owner != os.getpid():
                self._pool = self._open()
                self._pool_owner = os.getpid()
            return self._pool

    def _open(self) -> ConnectionPool[_PooledConnection]:
        settings = self._settings
        pool = ConnectionPool(
            conninfo_with_timeouts(self._url, settings),
            connection_class=_PooledConnection,
            configure=self._configure,
            kwargs={"autocommit": True, "prepare_threshold": 2},
            min_size=min(2, settings.connections),
            max_size=settings.connections,
            # Who waits is bounded by the server's connections, and how long by this; more than that need not be.
            timeout=settings.pool_timeout_ms / 1000,
            reconnect_timeout=_RECONNECT_TIMEOUT_S,
            open=False,
            name="sample-resource",
        )
        pool.open()
        return pool

    def _configure(self, connection: _PooledConnection) -> None:
        connection.patience_s = self._settings.statement_timeout_ms / 1000 + _SERVER_IS_LATE_S

    @contextmanager
    def connection(self) -> Generator[Connection]:
        """A connection for a statement or a transaction.

        :raises ApiError: 503 if there is none within the pool's timeout, if the database goes away, or if a
            statement or lock timeout strikes.
        """
        try:
            with self._opened().connection() as connection:
                yield connection
        except PoolTimeout:
            raise errors.over_capacity("No database connection is available.") from None
        except psycopg.Error as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            raise refusal from error

    def close(self) -> None:
        """Close the pool, if this process has one."""
        with self._lock:
            if self._pool is not None and self._pool_owner == os.getpid():
                self._pool.close(timeout=2)
            self._pool = None


def conninfo_with_timeouts(url: str, settings: Settings) -> str:
    """The connection string with the time limits of every connection."""
    return make_conninfo(
        url,
        connect_timeout=settings.connect_timeout_s,
        application_name="sample-resource",
        options=(
            f"-c statement_timeout={settings.statement_timeout_ms}"
            f" -c lock_timeout={settings.lock_timeout_ms}"
            f" -c idle_in_transaction_session_timeout={settings.statement_timeout_ms * 2}"
            " -c timezone=UTC"
        ),
        # A peer that vanished without a word is noticed in seconds, not in hours.
        keepalives_idle=5,
        keepalives_interval=2,
        keepalives_count=3,
        tcp_user_timeout=10_000,
    )


_RETRY_LATER: dict[str, str] = {
    "57014": "The statement took too long.",  # query_canceled, by statement_timeout
    "55P03": "The resource is being written by others.",  # lock_not_available, by lock_timeout
    "40P01": "The write collided with another one.",  # deadlock_detected
    "40001": "The write collided with another one.",  # serialization_failure
    "25P03": "The transaction took too long.",  # idle_in_transaction_session_timeout
    "25006": "The database accepts no writes at the moment.",  # read_only_sql_transaction: a standby
}
"""SQLSTATEs of faults that pass by themselves; whole classes are in :func:`refusal_of`."""


def refusal_of(error: psycopg.Error) -> errors.ApiError | None:
    """A driver error as an answer, by SQLSTATE and constraint name; None if it is a fault of the service."""
    state = error.sqlstate
    if state is None:
        # The connection is gone or could not be made: libpq has no SQLSTATE for that.
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            return errors.over_capacity("The database is not available.")
        return None
    if state in _RETRY_LATER:
        return errors.over_capacity(_RETRY_LATER[state])
    # 08 connection exception, 53 insufficient resources, 57P operator intervention, 58 system error
    if state[:2] in ("08", "53", "58") or state.startswith("57P"):
        return errors.over_capacity("The database is not available.")
    return None
