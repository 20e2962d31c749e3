"""Connections: how they are opened, and the time limits that PostgreSQL enforces for them.

Commands import this module and not :mod:`app.database.pooled_connection`, which needs gevent.
"""

import math
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from app.config import InvalidSetting, Settings

Connection = psycopg.Connection[tuple[Any, ...]]

_APPLICATION_NAME = "sample-resource"

_ANSWER_GRACE_S = 0.25
"""Added to the server's limit of a statement for the limit of a connection: the server's error needs time to arrive."""


class LimitedConnection(Connection):
    """A connection with a time limit of its own for each statement.

    PostgreSQL enforces the limits of :func:`conninfo_with_timeouts`. A server that is stopped, replaced, or cut off
    from the network enforces nothing, nor does a server that a proxy has lost without telling its clients.
    When this limit is reached, the connection is closed, and it is unknown whether the statement was carried out.
    """

    statement_limit_s = math.inf

    def configure(self, settings: Settings) -> None:
        """Set the limit of a statement, a little longer than PostgreSQL's own."""
        self.statement_limit_s = settings.statement_timeout_ms / 1000 + _ANSWER_GRACE_S

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Run one of psycopg's generators, which does a statement's network traffic, to its end.

        :param timeout: of a wait for notifications, whose end is no fault; the limit then does not apply.
        :raises OperationalError: if it takes longer than ``statement_limit_s``; the connection is closed then.
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
        """Wait as psycopg does."""
        return super().wait(gen, interval, limit_s)


NO_LIMITS: LiteralString = """
    SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true),
        set_config('idle_in_transaction_session_timeout', '0', true)"""
"""Until the end of the transaction, the time limits of the session do not apply."""


@contextmanager
def unlimited(connection: Connection) -> Generator[None]:
    """A transaction of a command, which may take as long as it takes.

    Behind a pooler the time limits are those of the account, so they apply to commands too, which ask for none. A
    setting of the transaction reaches no other client of the pooler.
    """
    with connection.transaction():
        connection.execute(NO_LIMITS)
        yield


def check_conninfo(variable: str, url: str) -> None:
    """Check that libpq can parse a connection string, without connecting.

    :raises InvalidSetting: if it cannot. The message does not have libpq's words, which can contain the password.
    """
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise InvalidSetting(
            variable,
            None,
            "is no connection string of libpq, as postgresql://USER@HOST/DATABASE or host=HOST dbname=DATABASE",
        ) from None


def connect(url: str, settings: Settings, *, limited: bool = True) -> Connection:
    """Open a single connection in autocommit mode, for work outside of requests.

    :param limited: whether the time limits of requests apply.
    """
    conninfo = (
        conninfo_with_timeouts(url, settings) if limited else make_conninfo(url, application_name=_APPLICATION_NAME)
    )
    connection = LimitedConnection.connect(conninfo, autocommit=True, prepare_threshold=settings.prepare_threshold)
    if limited:
        connection.configure(settings)
    return connection


def conninfo_with_timeouts(url: str, settings: Settings) -> str:
    """The connection string with the time limits of requests.

    A pooler in transaction mode refuses ``options``, since the settings of one client would then apply to others.
    Behind a pooler the limits have to be set for the account (``ALTER ROLE ... SET``).
    """
    limits = {} if settings.database_pooler else {"options": _server_limits(settings)}
    return make_conninfo(
        url,
        connect_timeout=settings.connect_timeout_s,
        application_name=_APPLICATION_NAME,
        # Detect a server that vanished without closing the connection in seconds; the system's defaults take hours.
        keepalives_idle=5,
        keepalives_interval=2,
        keepalives_count=3,
        tcp_user_timeout=10_000,
        **limits,
    )


def _server_limits(settings: Settings) -> str:
    return (
        f"-c statement_timeout={settings.statement_timeout_ms}"
        f" -c lock_timeout={settings.lock_timeout_ms}"
        f" -c idle_in_transaction_session_timeout={settings.statement_timeout_ms * 2}"
        " -c timezone=UTC"
    )
