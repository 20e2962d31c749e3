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
        """The pool's count of failed attempts to connect, as it was when an attempt last succeeded. If the count is
        higher now, an attempt has failed since then."""
        self._connections = set[PooledConnection]()
        """The connections that the pool has opened. A closed connection stays in this set until the pool opens a new
        one."""
        self._own: PooledConnection | None = None
        """The connection for the service's own queries; see :meth:`own_connection`."""
        self._own_until = 0.0
        """The time, by the monotonic clock, after which :meth:`own_connection` replaces the connection ``_own``."""
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
        """A function that takes the key of a project. It returns a context manager with the connection for one write,
        or it returns None if the write uses an ordinary connection. This default always returns None; ``create_app``
        replaces it by the extension's function (:meth:`app.extension.Extension.writing`)."""

    def connection(self, project: str = "", lane: Lane = Lane.FAST) -> "Checkout":
        """Check out a connection for a statement or a transaction: ``with database.connection(project) as connection``.

        :param project: the project of the request; empty for work of no project, such as requests to the OAuth
            endpoints. The admission (:mod:`app.database.admission`) counts all such work as one more project.
        :param lane: the class of the request by the time that its statements may take.
        :raises Unavailable: if :meth:`close` has been called. :class:`Checkout` says when the block raises it.
        """
        return Checkout(self, self._opened(), project, lane)

    def writing(self, project: str) -> AbstractContextManager[Connection]:
        """Check out a connection for writes to a project. The extension may provide the connection
        (:attr:`around_writes`), so that it can act before and after the writes. Otherwise it is an ordinary
        connection."""
        return self.around_writes(project) or self.connection(project)

    def take(self, pool: ConnectionPool[PooledConnection], deadline: float) -> PooledConnection:
        """Take a connection of the pool.

        The pool waits for a free connection for at most :data:`_AWAY_TIMEOUT_S`. If the pool gives none in this time,
        :meth:`_raise_if_hopeless` decides whether the request waits again. It waits again if the deadline has not
        passed, and a connection of the pool is open or the present attempt to open one may still succeed.

        :param deadline: the time by the monotonic clock after which no further wait begins.
        :raises Unavailable: if no connection can be opened, if none becomes free in time, or if the pool is closed.
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
        """Decide what follows a wait in the pool that gave no connection: return if the request should wait again, else
        raise the error of the request.

        The request waits again if the deadline has not passed, and a connection is open or the present attempt to open
        one may still succeed. Otherwise the request fails.

        If the request fails while no connection is open, there are two cases in which this method also marks the
        database as away (:attr:`is_away`) and makes all requests that wait for their admission fail:

        - An attempt to connect has failed since one last succeeded, or the database is marked as away already.
        - This request has waited in the pool for a whole queue timeout.

        :param began: the time when the request began to wait in the pool, after its admission.
        :param deadline: the time after which no further wait begins: one queue timeout after the request began to wait
            for its admission.
        :raises Unavailable: as project_busy if any connection is open, else as away.
        """
        # An open connection is enough to wait again: another request may return it, even if the server refuses further
        # connections as too many.
        any_is_open = any(not each.closed for each in list(self._connections))
        # If no attempt to connect has failed since the last success, the present attempt may just be slow, and may
        # still succeed. But an attempt may also hang. So while the database counts as away, no request waits again for
        # the present attempt.
        may_still_open = _failed_connections(pool) == self._failures_at_last_success and not self.is_away
        if monotonic() < deadline and (any_is_open or may_still_open):
            return
        if any_is_open:  # the server allows fewer connections than the pool may have, or all are being checked
            raise failures.project_busy() from None
        # A request that has spent a part of its time on the admission can reach its deadline before it has waited in
        # the pool for a whole queue timeout. If no attempt has failed, the present attempt may still succeed. So only
        # this request fails, and the database is not marked as away.
        if not may_still_open or monotonic() >= began + self.queue_timeout_s:
            self.is_away = True
            self.admission.send_away()
        raise failures.away() from None

    def replace_read_only_connections(self, pool: ConnectionPool[PooledConnection]) -> None:
        """Replace all connections, because a write on one of them was refused as read-only. Does nothing if this was
        done less than :data:`_REPLACED_AT_MOST_EVERY_S` ago.

        New connections find the present state of the database. Old ones may not, for two reasons. A session stays
        read-only if the database was read-only when the session began (``default_transaction_read_only``). And if a
        server becomes a standby, the sessions on it stay there.

        The pool replaces its idle connections at once, and each connection in use when the request returns it. The
        service's own connection is replaced before its next use.

        Two kinds of connections in the pool are replaced later, so another write may still be refused:

        - A connection that the pool is opening during this call. It may be read-only, too. But the pool replaces
          only connections that were open before the call, so it keeps this one until the next replacement or the end of
          its lifetime.
        - A connection that :meth:`replace_broken_connections` has taken out of the pool for its check. The check puts
          the connection back without replacing it. The next request that takes the connection may still be refused, and
          the pool replaces the connection when that request returns it.
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

        :raises Unavailable: if :meth:`close` has been called, if the database is away, and in place of a temporary
            error of the driver in the block.
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
                    # _own_until is set before connect(), not after it. replace_read_only_connections does not take this
                    # lock, so it may run during connect(). Then it sets _own_until to the present time, and the next
                    # caller replaces this new connection, which may lead to a standby, too. An assignment after
                    # connect() would overwrite that time, and this connection would stay for its whole lifetime.
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
        requests are accepted. If the database cannot be reached, this method returns without an error.

        The method waits for the own connection, at most :data:`CONNECT_TIMEOUT_S` for each address of the URL's hosts.
        This limit does not include the resolution of the hosts' names, which takes place before. Then the method waits
        for the first connection of the pool, at most :data:`CONNECT_TIMEOUT_S`. It does not wait for the others:
        requests that arrive before these are open wait in the queue of the pool.
        """
        # The own connection comes first, because without it no token can be verified. If the role's connection limit
        # does not allow all connections, one of the pool's is then missing, and not this one.
        with suppress(failures.Unavailable, psycopg.Error), self.own_connection():
            pass
        pool = self._opened()
        # resize() raises the pool's size from ``min_size``, at most _OPENED_AT_ONCE, to the maximum. It opens as many
        # connections as the two sizes differ, even if the pool has already more than ``min_size``. A getconn() that
        # waits can make the pool open one more than ``min_size``. So getconn() comes after resize(): before it, the
        # pool would get one connection more than its maximum.
        pool.resize(self._settings.connections)
        with suppress(PoolTimeout):
            # Not pool.wait(), which closes the pool for ever if the database is away.
            pool.putconn(pool.getconn(CONNECT_TIMEOUT_S))

    def close(self) -> None:
        """Close the connections of the pool and the service's own one, and refuse all requests for a connection from
        now on, also those that already wait for one.

        If a connection of the pool is in use, it is closed when it is returned. If the service's own connection is in
        use, this method waits until it is free, and closes it then.
        """
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
            """Called by the pool after each successful attempt to connect. Applies the settings to the new connection,
            and updates what :meth:`_raise_if_hopeless` needs to decide whether a request should wait on.

            One is the number of attempts that have failed before this success: if the pool counts more later, an
            attempt has failed since. The other is the set of open connections.
            """
            connection.configure(settings)
            self._failures_at_last_success = _failed_connections(pool)
            # A copy, because another thread may add a connection.
            self._connections.difference_update([each for each in list(self._connections) if each.closed])
            self._connections.add(connection)

        def statistics() -> dict[str, int] | None:
            """The statistics for the metrics. None if the pool is closed; then the metrics stop watching it.

            The counts of waiting requests are those of the admission. They replace the pool's own counts, which have
            the same names and miss most waits: requests wait for their admission before they ask the pool. In the pool
            they wait only while connections are being opened or checked, or cannot be opened.
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
        """Start a thread in which the pool checks its idle connections and replaces the broken ones. Does nothing if
        such a thread is still running.

        Called when a request has found its connection broken: then others are usually broken, too. For example, a
        restart of the database breaks all connections. Without this check, each idle one would make the request fail
        that uses it next.
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
        """Wait for the admission, then for a connection of the pool.

        Both waits have one deadline, the end of the queue timeout. There are two exceptions:

        - The wait in the pool has steps of :data:`_AWAY_TIMEOUT_S` (:meth:`Database.take`). A step that begins just
          before the deadline may end up to :data:`_AWAY_TIMEOUT_S` after the deadline.
        - If the database counts as away when the request arrives, the wait for the admission takes at most
          :data:`_AWAY_TIMEOUT_S`.

        :raises Unavailable: in three cases:

            - The request is not admitted in time, or too many requests of its project wait (ProjectBusy). The error is
              ``away`` if the database counts as away at that moment, else ``project_busy``.
            - Another request finds the database away during the wait for the admission (SentAway): ``away``.
            - The request is admitted, and :meth:`Database.take` raises the error.
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
        """Return the connection to the pool, and end the admission. If the connection is broken, the idle ones are
        checked. If the database was read-only for a write, all connections are replaced.

        :raises Unavailable: in place of a temporary error of the driver.
        """
        is_broken = self._connection.closed  # read before putconn(), which also closes a connection that is merely old
        # putconn() comes before leave(): leave() may admit a waiting request, which then finds the connection.
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
