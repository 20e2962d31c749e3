"""Opens connections, with the time limits of their statements.

Commands import this module and not :mod:`app.database.pooled_connection`, which needs gevent.
"""

import math
from typing import Any, LiteralString
from weakref import WeakKeyDictionary

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from app.config import InvalidSetting, Settings

Connection = psycopg.Connection[tuple[Any, ...]]

# The encoding, because pages are sent on as PostgreSQL returns them.
_COMMON = {"application_name": "sample-resource", "client_encoding": "UTF8"}

CONNECT_TIMEOUT_S = 3
"""The longest wait for a new connection to one address of a host. Connections of :func:`conninfo_without_timeouts` have
the limit of psycopg, or that of the URL."""

PREPARE_THRESHOLD = 2
"""The number of executions after which a connection prepares a statement."""

_ANSWER_GRACE_S = 0.25
"""The time by which the client's limit of a statement exceeds PostgreSQL's, so that PostgreSQL's error can arrive. The
client's limit covers preparation and execution together; PostgreSQL times each anew."""


class LimitedConnection(Connection):
    """A connection that enforces a time limit for each statement on the side of the client.

    PostgreSQL enforces the limits of :func:`conninfo_with_timeouts`, but not if it is stopped, replaced or cut off from
    the network, nor if a proxy has lost it without closing the client's connection. When the client's limit is reached,
    the connection is closed, and it is unknown whether the statement was executed.
    """

    statement_limit_s = math.inf

    def configure(self, settings: Settings) -> None:
        """Set the time limit of a statement, a little longer than PostgreSQL's limit."""
        self.statement_limit_s = settings.statement_timeout_ms / 1000 + _ANSWER_GRACE_S

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Run one of psycopg's generators to its end, for at most ``statement_limit_s`` seconds. At this limit the
        connection is closed. A generator does the network traffic of a statement, or of one part of a COPY.

        :param timeout: the caller's limit in place of ``statement_limit_s``. At the caller's limit the connection stays
            open. Only psycopg's ``notifies(timeout=...)`` has such a limit, and the service does not call ``notifies``.
        :raises OperationalError: without SQLSTATE if ``statement_limit_s`` is reached, or if the connection is lost and
            the server has sent no error. In both cases the connection is closed.
        """
        if timeout is not None:
            return self.wait_within(gen, interval, timeout)
        try:
            return self.wait_within(gen, interval, self.statement_limit_s)
        except psycopg.OperationalError as error:
            if error.sqlstate is None:
                self.close()
            raise

    def wait_within(self, gen: PQGen[RV], interval: float, limit_s: float) -> RV:
        """Run one of psycopg's generators to its end. A subclass may override how it waits for the server.

        :raises OperationalError: without SQLSTATE, if the generator takes longer than ``limit_s``. A method that
            overrides this one has to raise the same error: only after an error without SQLSTATE does :meth:`wait` close
            the connection.
        """
        return super().wait(gen, interval, limit_s)


HAS_CITUS: LiteralString = "SELECT current_setting('citus.shard_count', true) IS NOT NULL"
"""The setting exists if the server has loaded the library, whether or not the tables are distributed already. Until
they are, writes and triggers both add words, which does no harm, and no process has to notice the distribution."""


_known_of_citus = WeakKeyDictionary[Connection, bool]()
"""Whether the server of a connection has Citus, for each connection that has asked."""


def has_citus(connection: Connection) -> bool:
    """Whether the server has Citus.

    Without Citus, triggers add the words of a written resource to the dictionary of the text search (the table
    ``word``). A table that Citus distributes cannot have triggers, so with Citus each write adds the words by a
    statement of its own.

    Each connection is asked once: a server gets Citus only by a restart, which ends its connections.
    """
    known = _known_of_citus.get(connection)
    if known is None:
        known = _known_of_citus[connection] = connection.execute(HAS_CITUS).fetchone() == (True,)
    return known


def check_database_url(settings: Settings) -> str:
    """Check that there is a connection string that libpq can parse, without connecting, and return it.

    :raises InvalidSetting: if there is none. libpq's message is left out, because it can contain the password.
    """
    if settings.database_url is None:
        raise InvalidSetting(
            "DATABASE_URL", None, "is not set; gunicorn by itself starts no PostgreSQL, 'sample-resource serve' does"
        )
    try:
        conninfo_to_dict(settings.database_url)
    except (psycopg.ProgrammingError, UnicodeError):
        reason = "is no connection string of libpq, as postgresql://USER@HOST/DATABASE or host=HOST dbname=DATABASE"
        raise InvalidSetting("DATABASE_URL", None, reason) from None
    return settings.database_url


def connect(url: str, settings: Settings, *, has_time_limits: bool = True) -> Connection:
    """Open a single connection in autocommit mode, for work outside of requests.

    :param has_time_limits: whether the time limits of requests apply.
    :raises psycopg.Error: if the connection cannot be made. :func:`check_database_url` has to have checked the URL, so
        that no message contains a part of a password.
    """
    conninfo = conninfo_with_timeouts(url, settings) if has_time_limits else conninfo_without_timeouts(url)
    connection = LimitedConnection.connect(conninfo, autocommit=True, prepare_threshold=PREPARE_THRESHOLD)
    if has_time_limits:
        connection.configure(settings)
    return connection


def conninfo_with_timeouts(url: str, settings: Settings) -> str:
    """The connection string with the time limits of requests."""
    return make_conninfo(
        url,
        connect_timeout=CONNECT_TIMEOUT_S,
        **_COMMON,
        # Detect within seconds that a server vanished without closing the connection. The defaults of the system take
        # hours.
        keepalives_idle=5,
        keepalives_interval=2,
        keepalives_count=3,
        tcp_user_timeout=10_000,
        options=_options(
            url,
            statement_timeout=settings.statement_timeout_ms,
            # Less than the limit of the statement, so that a wait for a lock has an error of its own. 0 is no limit.
            lock_timeout=settings.statement_timeout_ms * 3 // 4 or 1,
            # Ends the transactions of processes that have vanished.
            # ``db remove-words`` relies on the factor 2. The command removes words that no resource has, but it does
            # not see the resource of a write that is not committed. If this resource has a word that is already in the
            # dictionary, the write does not add the word, and the command may remove it. So after the removal the
            # command waits until all such writes have ended, and then adds the words of all resources again. It waits
            # for 3 * STATEMENT_TIMEOUT_MS: the statement of a write that adds words may take STATEMENT_TIMEOUT_MS, and
            # after the statement the transaction may be idle for twice that time.
            idle_in_transaction_session_timeout=settings.statement_timeout_ms * 2,
            timezone="UTC",
        ),
    )


def conninfo_without_timeouts(url: str) -> str:
    """The connection string for commands and migrations, which may take long.

    Each time limit below is set to 0, which means no limit. Otherwise a limit of the database role would apply
    (``ALTER ROLE ... SET``). ``transaction_timeout`` is not set, so a limit of the role applies: PostgreSQL before 17
    does not know this setting, and refuses unknown settings.
    """
    limits = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "idle_session_timeout")
    return make_conninfo(url, **_COMMON, options=_options(url, **dict.fromkeys(limits, 0)))


def _options(url: str, **settings: int | str) -> str:
    """The value of ``options`` in a connection string: the options in the URL, then the given settings, which win,
    because PostgreSQL uses the last value of each setting. libpq ignores PGOPTIONS if a connection string has
    ``options``."""
    given = conninfo_to_dict(url).get("options", "")
    return " ".join([str(given), *(f"-c {name}={value}" for name, value in settings.items())]).lstrip()
