"""The pool of database connections of each process, and the checkout of a connection for a statement.

A request is first admitted (:mod:`app.database.admission`), then it takes a connection. An admitted request finds a
free connection, unless connections are being opened or checked, or cannot be opened because the database is away or
allows no more.

The pool is opened on first use and not when the application is made, because gunicorn forks after that, and a libpq
connection must not be used on both sides of a fork. Connections are in autocommit mode, so that a read, or a write of
one statement, is sent without BEGIN and COMMIT.
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
from app.database.admission import Admission, Lane, ProjectBusy, SentAway
from app.database.connection import CONNECT_TIMEOUT_S, PREPARE_THRESHOLD, Connection, conninfo_with_timeouts
from app.database.pooled_connection import MeteredCursor, PooledConnection
from app.telemetry.metrics import metrics

_OPTIONS: dict[str, Any] = {"autocommit": True, "prepare_threshold": PREPARE_THRESHOLD, "cursor_factory": MeteredCursor}
"""The options of every connection."""

_OPENED_AT_ONCE = 2
"""The number of connections that the pool opens at first; it opens more when they are needed. Workers begin to open all
before they accept requests (:meth:`Database.open_ahead`)."""

_AWAY_TIMEOUT_S = 0.5
"""The longest wait for a connection while the database is known to be away. :meth:`Database.take` repeats waits of this
length until that is known, or a connection is free, or the time of the request is over."""

_RECONNECT_TIMEOUT_S = 5.0
"""The time after which the pool makes one last attempt to connect; attempts have growing pauses. Then the next request
that finds no idle connection makes the pool try again."""

_REPLACED_AT_MOST_EVERY_S = 5.0
"""The shortest time between two replacements of read-only connections. Without it, each write would open new
connections as long as the whole database is read-only."""

_LIFETIME_S = 3600.0
"""The lifetime of a connection. What a session keeps in memory grows with the statements that it has executed."""

_LIFETIME_WITH_SEVERAL_HOSTS_S = 300.0
"""The lifetime of a connection if the URL names several hosts. A host that was away gets connections again only when
old ones are replaced."""


class Database:
    """A pool of connections to one database. Each process opens its own when it first needs a connection.

    :param url: a connection string of libpq: a URL or ``key=value`` pairs.
    """

    def __init__(self, url: str, settings: Settings) -> None:
        self._settings = settings
        self._url = url
        self.queue_timeout_s = settings.queue_timeout_ms / 1000
        self.admission = Admission(settings.connections)
        self.is_away = False
        """Whether the database counts as away: no connection is open, and none could be opened while a request waited.
        Then requests wait only for :data:`_AWAY_TIMEOUT_S`."""
        self._failures_at_last_success = 0
        """The number of failed attempts to connect, by the pool's statistics, at the time of the last successful one.
        If the pool now counts more, an attempt has failed since."""
        self._connections = set[PooledConnection]()
        """The connections of the pool, and closed ones, which are removed when a new one opens."""
        self._own: PooledConnection | None = None
        """The connection for the service's own queries; see :meth:`own_connection`."""
        self._own_until = 0.0
        """The time after which that connection is replaced, by the monotonic clock."""
        self._is_closed = False
        self._replaced_at = float("-inf")
        """The time when read-only connections were last replaced, by the monotonic clock."""
        self._own_lock = Lock()
        """Held while the service's own connection is used."""
        self._pool: ConnectionPool[PooledConnection] | None = None
        self._lock = Lock()
        """Held while the pool is opened or closed."""
        self._checking = Lock()
        """Held by the thread that replaces broken connections."""
        self.around_writes: Callable[[str], AbstractContextManager[Connection] | None] = lambda _: None
        """The extension's function that gives a write to a project its connection
        (:meth:`app.extension.Extension.writing`). It returns None if an ordinary connection will do."""

    def connection(self, project: str = "", lane: Lane = Lane.FAST) -> "Checkout":
        """Check out a connection for a statement or a transaction: ``with database.connection(project) as connection``.

        :param project: the project of the request; empty for work of no project, such as requests to the OAuth
            endpoints, which share the connections as one more project.
        :raises Unavailable: if :meth:`close` has been called. :class:`Checkout` says when the block raises it.
        """
        return Checkout(self, self._opened(), project, lane)

    def writing(self, project: str) -> AbstractContextManager[Connection]:
        """Check out a connection for writes to a project: the extension's, by :attr:`around_writes`, if it gives one,
        so that it can act before and after the writes; else an ordinary one."""
        return self.around_writes(project) or self.connection(project)

    def take(self, pool: ConnectionPool[PooledConnection], deadline: float) -> PooledConnection:
        """Take a connection of the pool.

        It waits in steps of :data:`_AWAY_TIMEOUT_S`. After each it goes on, before the deadline, if any connection is
        open, or if the present attempt to open one may still succeed.

        :param deadline: the time by the monotonic clock after which no further wait in the pool begins.
        :raises Unavailable: if none can be opened, or if none becomes free in time.
        """
        began = monotonic()
        while True:
            try:
                # Not pool.connection(), which would also commit: connections are in autocommit mode.
                connection = pool.getconn()  # waits for _AWAY_TIMEOUT_S
            except PoolClosed:
                raise failures.away() from None
            except PoolTimeout:
                self._raise_if_hopeless(pool, began, deadline)
            else:
                self.is_away = False
                return connection

    def _raise_if_hopeless(self, pool: ConnectionPool[PooledConnection], began: float, deadline: float) -> None:
        """Decide after a wait in vain: return if the request should wait again, else raise why it gets no connection.

        :param began: the time when the request began to wait in the pool.
        """
        # The server may refuse further connections as too many. Then it is enough to wait until an open one is
        # returned.
        any_is_open = any(not each.closed for each in list(self._connections))
        # The pool's present attempt to connect is only slow if none has failed since the last success. Once the
        # database counts as away, no request waits again for it: it may hang.
        may_still_open = _failed_connections(pool) == self._failures_at_last_success and not self.is_away
        if monotonic() < deadline and (any_is_open or may_still_open):
            return
        if any_is_open:  # the server allows fewer connections than the pool may have, or all are being checked
            raise failures.project_busy() from None
        # A failed attempt shows that the database is away for all requests. So does a whole queue timeout in the pool;
        # time spent in the admission shows nothing.
        if not may_still_open or monotonic() >= began + self.queue_timeout_s:
            self.is_away = True
            self.admission.send_away()
        raise failures.away() from None

    def replace_read_only_connections(self, pool: ConnectionPool[PooledConnection]) -> None:
        """Replace all connections, because a write on one of them was refused as read-only, unless they were replaced
        less than :data:`_REPLACED_AT_MOST_EVERY_S` ago. Not reached are one
        that is being opened, until the next replacement, and one that :meth:`replace_broken_connections` is checking at
        this moment, until it has been used once more.

        A session stays read-only if the database was read-only when the session began
        (``default_transaction_read_only``). A session on a server that has become a standby stays on it. New
        connections find the present state of the database.
        """
        now = monotonic()
        if now - self._replaced_at > _REPLACED_AT_MOST_EVERY_S:
            self._replaced_at = now
            self._own_until = now  # also the service's own: on a standby it might not see a new revocation
            pool.drain()

    @contextmanager
    def own_connection(self) -> Generator[Connection]:
        """The connection for the service's own queries, such as the lookup of tokens. One caller uses it at a time.

        The queries need no admission, so they do not wait behind requests that wait for a connection.

        :raises Unavailable: if the database is away, and in place of a temporary error of the driver in the block.
        """
        with self._own_lock:
            if self._is_closed:
                raise failures.away()
            try:
                connection = self._own
                if connection is not None and (connection.has_ended() or monotonic() > self._own_until):
                    # A query on a dead connection fails, and is not retried here. So a connection that the server has
                    # ended, or that is old, is replaced before it is used.
                    connection.close()
                if connection is None or connection.closed:
                    conninfo = conninfo_with_timeouts(self._url, self._settings)
                    # Before it connects: replace_read_only_connections may set the time to now meanwhile, without this
                    # lock, and that has to count.
                    self._own_until = monotonic() + self._lifetime_s
                    connection = self._own = PooledConnection.connect(conninfo, **_OPTIONS)
                    connection.configure(self._settings)
                yield connection
            except psycopg.Error as error:
                unavailable = failures.error_for(error)
                if unavailable is None:
                    raise
                raise unavailable from error

    def open_ahead(self) -> None:
        """Open the service's own connection and the first one of the pool, and make the pool open the others, before
        requests are accepted.

        Waits at most :data:`CONNECT_TIMEOUT_S` for each address of the URL's hosts, and for their name resolution,
        until the own connection is open; then at most :data:`CONNECT_TIMEOUT_S` for the pool's first one. Requests that
        arrive before the other connections are open wait in the queue of the pool.
        """
        # First the own connection, because without it no token can be verified. If the role's connection limit is too
        # low, the pool lacks one instead.
        with suppress(failures.Unavailable, psycopg.Error), self.own_connection():
            pass
        pool = self._opened()
        # Resize first: it opens all connections above the first two, even if the pool has already begun a third for the
        # waiting getconn(), which would be one too many.
        pool.resize(self._settings.connections)
        with suppress(PoolTimeout):
            # Not pool.wait(), which closes the pool for ever if the database is away.
            pool.putconn(pool.getconn(CONNECT_TIMEOUT_S))

    def close(self) -> None:
        """Close all connections that are not in use; one of the pool that is in use is closed when it is returned.
        Waits for the service's own connection if that is in use. Later requests for a connection are refused."""
        with self._lock:
            self._is_closed = True
            if self._pool is not None:
                self._pool.close(timeout=2)  # seconds for each of the pool's threads
            self._pool = None
        with self._own_lock:
            if self._own is not None:
                self._own.close()
            self._own = None

    def _opened(self) -> ConnectionPool[PooledConnection]:
        """The pool, which is opened if it is not open.

        :raises Unavailable: if :meth:`close` has been called.
        """
        pool = self._pool
        if pool is not None:
            return pool
        with self._lock:
            if self._is_closed:
                raise failures.away()  # a thread still runs after close(), and nobody would close a new pool
            if self._pool is None:
                self._pool = self._open()
            return self._pool

    def _open(self) -> ConnectionPool[PooledConnection]:
        """Make the pool and open it, which starts its threads, and report it in the metrics if they are on."""
        settings = self._settings

        def configure(connection: PooledConnection) -> None:
            """Called by the pool for each new connection. An attempt to connect has succeeded, so failures are counted
            anew; closed connections are forgotten."""
            connection.configure(settings)
            self._failures_at_last_success = _failed_connections(pool)
            # A copy, because another thread may add a connection.
            self._connections.difference_update([each for each in list(self._connections) if each.closed])
            self._connections.add(connection)

        def statistics() -> dict[str, int] | None:
            """The statistics for the metrics; None, which ends the watching, if the pool is closed.

            Those of the admission's queue have the same names as those of the pool's own queue, and replace them.
            Requests wait in the pool's own queue only if no connection is open for them.
            """
            return None if pool.closed else {**pool.get_stats(), **self.admission.stats()}

        pool = ConnectionPool(
            conninfo_with_timeouts(self._url, settings),
            connection_class=PooledConnection,
            configure=configure,
            kwargs=_OPTIONS,
            min_size=min(_OPENED_AT_ONCE, settings.connections),
            max_size=settings.connections,
            timeout=_AWAY_TIMEOUT_S,
            reconnect_timeout=_RECONNECT_TIMEOUT_S,
            max_lifetime=self._lifetime_s,
            open=False,  # opened below, because ``configure`` uses the name ``pool``
            name="sample-resource",
        )
        pool.open()
        if settings.metrics_token is not None:
            metrics.watch_pool(statistics)
        return pool

    @property
    def _lifetime_s(self) -> float:
        """The seconds after which a connection is replaced."""
        given = conninfo_to_dict(self._url)
        has_several_hosts = any("," in str(given.get(name, "")) for name in ("host", "hostaddr"))
        return _LIFETIME_WITH_SEVERAL_HOSTS_S if has_several_hosts else _LIFETIME_S

    def replace_broken_connections(self, pool: ConnectionPool[PooledConnection]) -> None:
        """Check all idle connections in a thread, and make the pool replace the broken ones, because more are usually
        broken if one is.

        After a restart of an idle database all are broken, and without this check each would fail one request.
        """

        def check() -> None:
            try:
                pool.check()
            finally:
                self._checking.release()

        if self._checking.acquire(blocking=False):  # no other thread checks
            Thread(target=check, name="check-connections", daemon=True).start()


def _failed_connections(pool: ConnectionPool[PooledConnection]) -> int:
    """The number of a pool's failed attempts to connect."""
    return pool.get_stats().get("connections_errors", 0)


class Checkout:
    """A context manager that checks out a connection and returns it to the pool.

    Entering raises :class:`~app.database.failures.Unavailable` if the request gets no connection. Leaving raises it in
    place of a temporary error of the driver, for example when the database went away, a time limit was reached, or two
    writes collided. It is a class, because a generator would make a read 2 % slower.
    """

    __slots__ = ("_connection", "_database", "_lane", "_pool", "_project")

    def __init__(self, database: Database, pool: ConnectionPool[PooledConnection], project: str, lane: Lane) -> None:
        self._database = database
        self._pool = pool
        self._project = project
        self._lane = lane

    def __enter__(self) -> Connection:
        """Wait for the admission, then for a connection of the pool: together at most the queue timeout plus
        :data:`_AWAY_TIMEOUT_S`, because a last wait in the pool may begin just before the deadline. While the database
        counts as away, the wait for the admission is short.

        SentAway: another request found the database away while this one waited for its admission. ProjectBusy: not
        admitted in time, or too many wait; answered as away if the database counts as away by now.
        """
        database = self._database
        deadline = monotonic() + database.queue_timeout_s
        try:
            timeout_s = min(database.queue_timeout_s, _AWAY_TIMEOUT_S if database.is_away else float("inf"))
            database.admission.enter(self._project, self._lane, timeout_s)
        except ProjectBusy:
            raise (failures.away() if database.is_away else failures.project_busy()) from None
        except SentAway:
            raise failures.away() from None
        try:
            self._connection = database.take(self._pool, deadline)
        except BaseException:
            database.admission.leave(self._project, self._lane)
            raise
        return self._connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Return the connection and end the admission. If the connection is broken, have the others checked; a
        temporary error of the driver becomes :class:`~app.database.failures.Unavailable`."""
        is_broken = self._connection.closed  # before putconn, which closes a connection that is only old
        # Before leave, so that the request that leave admits finds the connection.
        self._pool.putconn(self._connection)
        self._database.admission.leave(self._project, self._lane)
        if is_broken:
            self._database.replace_broken_connections(self._pool)
        if isinstance(error, psycopg.Error):
            unavailable = failures.error_for(error)
            if unavailable is not None:
                if unavailable.reason == "read_only":
                    self._database.replace_read_only_connections(self._pool)
                raise unavailable from error
