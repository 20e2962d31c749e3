"""The pool of database connections of each process, and the checkout of a connection for a statement.

A request is first admitted (:mod:`app.database.admission`), then it takes a connection, which is always free,
unless connections are being opened, or cannot be opened because the database is away.

The pool is opened on first use and not when the application is made: gunicorn forks after that, and a libpq
connection must not be used on both sides of a fork. Connections are in autocommit mode, so a read is one statement
without BEGIN and COMMIT around it, and so is a write of one statement.
"""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import Lock, Thread
from time import monotonic
from types import TracebackType
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from app.config import Settings
from app.database import failures
from app.database.admission import Admission, Lane, QueueClosed, QueueFull, QueueTimeout
from app.database.connection import Connection, conninfo_with_timeouts
from app.database.leisure import Leisure
from app.database.pooled_connection import MeteredCursor, PooledConnection, note_wait
from app.telemetry.metrics import metrics

_OPENED_AT_ONCE = 2

_RECONNECT_TIMEOUT_S = 5.0
"""How long the pool goes on trying to connect, ever less often; after that the next request makes it try again."""

_READ_ONLY_FOR_S = 5.0
"""How long connections are kept on which a write was refused since they are read-only. Each write that is refused while
the whole database is must not cost a new one."""

_LIFETIME_S = 3600.0
_LIFETIME_WITH_SEVERAL_HOSTS_S = 300.0
"""After this time a connection is replaced. Only so does a host that was away get its share of them back."""


def _no_care(_project: str, _lane: Lane) -> None:
    """All projects are written alike."""


class Database:
    """A pool of connections to one database, opened by the process that first asks for a connection.

    :param url: anything that libpq takes: a URL or ``key=value`` pairs.
    :param name: the pool's name in the metrics.
    :param client_is_gone: whether nobody waits for the current request any more; asked after a wait.
    """

    def __init__(
        self,
        url: str,
        settings: Settings,
        name: str = "primary",
        *,
        client_is_gone: Callable[[], bool] = lambda: False,
    ) -> None:
        self._settings = settings
        self._url = url
        self._name = name
        self._client_is_gone = client_is_gone
        self._admission = Admission(settings.connections, settings.slow)
        self._is_away = False
        self._failures_before = 0
        """Attempts to connect that had failed, by the pool's statistics, when one last succeeded."""
        self._connections = set[PooledConnection]()
        """Those of the pool, and some that are closed."""
        self._watched: _WatchedPool | None = None
        self._own: PooledConnection | None = None
        self._own_until = 0.0
        """When it is replaced by a new one, by the monotonic clock."""
        self._is_closed = False
        self._read_only_at = float("-inf")
        """When connections were last opened anew since a write was refused."""
        self._own_lock = Lock()
        self._pool: ConnectionPool[PooledConnection] | None = None
        self._lock = Lock()
        self._checking = Lock()
        self.note_admission: Callable[[float, str, BaseException | None], None] | None = None
        """Told how long each request waited for a connection that others used, in which lane, and what refused it."""
        self.around_writes: Callable[[str, Lane], AbstractContextManager[Connection] | None] = _no_care
        """Gives connections for writes to the projects that have to be written with care, and None for others."""
        self.leisure = Leisure(self._connection_at_leisure)
        """What requests leave to be done after them."""

    def connection(self, project: str = "", lane: Lane = Lane.FAST) -> "Checkout":
        """A connection for a statement or a transaction: ``with database.connection(project) as connection``.

        :param project: the project that asks; empty for the service itself, which shares as one more project.
        """
        return Checkout(self, self._opened(), project, lane)

    def writing(self, project: str, lane: Lane = Lane.FAST) -> AbstractContextManager[Connection]:
        """A connection for writes to a project, as :attr:`around_writes` gives it."""
        return self.around_writes(project, lane) or self.connection(project, lane)

    def _connection_at_leisure(self, project: str) -> AbstractContextManager[Connection]:
        return self.writing(project, Lane.SLOW)

    def check_out(self, pool: ConnectionPool[PooledConnection], project: str, lane: Lane) -> PooledConnection:
        """Be admitted, and take a connection out of the pool; :meth:`return_connection` has to follow.

        :raises Unavailable: if too many requests of the project wait, if none becomes free within the timeout, if the
            database is away, or if the client has hung up meanwhile.
        """
        timeout_ms = self._settings.pool_timeout_ms if self._is_away else self._settings.queue_timeout_ms
        try:
            waited_s = self._enter(project, lane, timeout_ms / 1000)
        except QueueFull:
            raise failures.queue_full() from None
        except QueueTimeout:
            raise (failures.away() if self._is_away else failures.queue_timeout()) from None
        except QueueClosed:
            raise failures.away() from None
        try:
            if waited_s:
                note_wait(waited_s, lane.value)
                if self._client_is_gone():
                    raise failures.client_gone()
            return self._take(pool)
        except BaseException:
            self._admission.leave(project, lane)
            raise

    def _enter(self, project: str, lane: Lane, timeout_s: float) -> float:
        """Be admitted, after a wait of this many seconds, and tell :attr:`note_admission`."""
        note = self.note_admission
        if note is None:
            return self._admission.enter(project, lane, timeout_s)
        began = monotonic()
        refusal = None
        try:
            return self._admission.enter(project, lane, timeout_s)
        except BaseException as error:
            refusal = error
            raise
        finally:
            note(monotonic() - began, lane.value, refusal)

    def _take(self, pool: ConnectionPool[PooledConnection]) -> PooledConnection:
        """Take a connection; wait while one is being opened, but not if that fails and none is open."""
        slice_s = self._settings.pool_timeout_ms / 1000
        deadline = None
        while True:
            try:
                # Not pool.connection(), which would also commit: connections are in autocommit mode.
                connection = pool.getconn()
            except PoolClosed:
                raise failures.away() from None
            except PoolTimeout:
                now = monotonic()
                deadline = deadline or now - slice_s + self._settings.queue_timeout_ms / 1000
                # The server may refuse the others as too many. Then a connection that works becomes free.
                others_work = any(not each.closed for each in list(self._connections))
                # A server that is busy, or a machine that is, takes its time to open a connection.
                is_opening = _failed_connections(pool) == self._failures_before and not self._is_away
                if now < deadline and (others_work or is_opening):
                    continue
                if others_work:
                    raise failures.queue_timeout() from None
                self._is_away = True
                self._admission.send_away()
                raise failures.away() from None
            self._is_away = False
            return connection

    def return_connection(
        self, pool: ConnectionPool[PooledConnection], connection: PooledConnection, project: str, lane: Lane
    ) -> None:
        """Return a connection to the pool, which replaces it if it is broken."""
        pool.putconn(connection)
        self._admission.leave(project, lane)
        if connection.closed:
            self._replace_broken_connections(pool)

    def replace_read_only_connections(self, pool: ConnectionPool[PooledConnection]) -> None:
        """Have all connections opened anew, since on one of them a write was refused.

        A session stays read-only if the database was when it began (``default_transaction_read_only``), and a session
        at a server that became a standby stays there. New ones find the database as it is.
        """
        now = monotonic()
        if now - self._read_only_at > _READ_ONLY_FOR_S:
            self._read_only_at = now
            self._own_until = now  # at a server that was replaced it would hear of no revocation
            pool.drain()

    @contextmanager
    def own_connection(self) -> Generator[Connection]:
        """The connection for what the service itself has to know: it waits for no request.

        :raises Unavailable: as :meth:`connection` does, if the database is away.
        """
        with self._own_lock:
            if self._is_closed:
                raise failures.away()
            try:
                connection = self._own
                if connection is not None and (connection.has_ended() or monotonic() > self._own_until):
                    # A request that finds a dead connection in the pool is tried again with another one. Nobody would
                    # try again here, so a connection that has ended or is old is not used at all.
                    connection.close()
                if connection is None or connection.closed:
                    conninfo = conninfo_with_timeouts(self._url, self._settings)
                    connection = self._own = PooledConnection.connect(conninfo, **self._options())
                    self._own_until = monotonic() + self._lifetime_s
                    connection.configure(self._settings)
                yield connection
            except psycopg.Error as error:
                unavailable = failures.error_for(error)
                if unavailable is None:
                    raise
                raise unavailable from error

    def open_ahead(self) -> None:
        """Wait a moment for the first connection, and have the pool open the others: before requests are accepted.

        Requests that come before the others are open wait in the queue, as they do when all connections are in use.
        """
        pool = self._opened()
        # First: a pool that has begun to grow by itself, since somebody waits, would open one more than it may have.
        pool.resize(self._settings.connections)
        with suppress(PoolTimeout):
            # Not pool.wait(), which closes a pool whose database is away, for ever.
            pool.putconn(pool.getconn(self._settings.connect_timeout_s))

    def is_exhausted(self) -> bool:
        """Whether all connections are in use and requests wait for one."""
        return self._admission.is_exhausted

    def close(self) -> None:
        """Close the connections, if this process has opened any, for ever: a thread that asks later gets none."""
        self.leisure.close()
        with self._lock:
            self._is_closed = True
            if self._pool is not None:
                self._pool.close(timeout=2)
            self._pool = None
        with self._own_lock:
            if self._own is not None:
                self._own.close()
            self._own = None

    def _opened(self) -> ConnectionPool[PooledConnection]:
        """The pool, which is opened if it is not.

        :raises Unavailable: if this object is closed.
        """
        pool = self._pool
        if pool is not None:
            return pool
        with self._lock:
            if self._is_closed:
                raise failures.away()  # asked by a thread that outlives the others: nobody would close it
            if self._pool is None:
                self._pool = self._open()
            return self._pool

    def _open(self) -> ConnectionPool[PooledConnection]:
        settings = self._settings

        def configure(connection: PooledConnection) -> None:
            connection.configure(settings)
            self._failures_before = _failed_connections(pool)
            self._connections.difference_update([each for each in list(self._connections) if each.closed])
            self._connections.add(connection)

        pool = ConnectionPool(
            conninfo_with_timeouts(self._url, settings),
            connection_class=PooledConnection,
            configure=configure,
            kwargs=self._options(),
            min_size=min(_OPENED_AT_ONCE, settings.connections),  # the others follow when they are needed
            max_size=settings.connections,
            timeout=settings.pool_timeout_ms / 1000,
            reconnect_timeout=_RECONNECT_TIMEOUT_S,
            max_lifetime=self._lifetime_s,
            open=False,
            name="sample-resource",
        )
        self._failures_before = 0
        pool.open()
        if settings.metrics_are_on:
            self._watched = _WatchedPool(pool, self._admission)
            metrics.watch_pool(self._name, self._watched)
        return pool

    @property
    def _lifetime_s(self) -> float:
        has_several_hosts = "," in str(conninfo_to_dict(self._url).get("host", ""))
        return _LIFETIME_WITH_SEVERAL_HOSTS_S if has_several_hosts else _LIFETIME_S

    def _options(self) -> dict[str, Any]:
        return {
            "autocommit": True,
            "prepare_threshold": self._settings.prepare_threshold,
            "cursor_factory": MeteredCursor,
        }

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


def _failed_connections(pool: ConnectionPool[PooledConnection]) -> int:
    """How many attempts of a pool to connect have failed."""
    return pool.get_stats().get("connections_errors", 0)


class _WatchedPool:
    """The statistics of a pool, with those of the queue before it in place of the pool's own, which is always empty."""

    def __init__(self, pool: ConnectionPool[PooledConnection], admission: Admission) -> None:
        self._pool = pool
        self._admission = admission

    @property
    def closed(self) -> bool:
        return self._pool.closed

    def get_stats(self) -> dict[str, int]:
        return {**self._pool.get_stats(), **self._admission.stats()}


class Checkout:
    """A context manager that checks a connection out and returns it; a generator would make a read 2 % slower.

    Entering raises :class:`~app.database.failures.Unavailable` if the request gets no connection. Leaving raises it in
    place of a driver's error that is temporary: the database went away, a statement or lock timeout struck, two writes
    collided.
    """

    __slots__ = ("_connection", "_database", "_lane", "_pool", "_project")

    def __init__(self, database: Database, pool: ConnectionPool[PooledConnection], project: str, lane: Lane) -> None:
        self._database = database
        self._pool = pool
        self._project = project
        self._lane = lane

    def __enter__(self) -> Connection:
        self._connection = self._database.check_out(self._pool, self._project, self._lane)
        return self._connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.return_connection(self._pool, self._connection, self._project, self._lane)
        if isinstance(error, psycopg.Error):
            unavailable = failures.error_for(error)
            if unavailable is not None:
                if unavailable.is_read_only:
                    self._database.replace_read_only_connections(self._pool)
                raise unavailable from error
