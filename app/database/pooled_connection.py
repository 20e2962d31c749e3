"""The connections and cursors of pools, with two overrides:

- :meth:`MeteredCursor.execute`, of psycopg's method, counts statements and their time for the request log and the
  metrics, and prepares no long statement;
- :meth:`PooledConnection.wait_within` lets other greenlets run during the wait. It is called by
  :meth:`app.database.connection.LimitedConnection.wait`, which overrides psycopg's and which commands use, too.

``tests/database/test_upstream.py`` checks the internals of psycopg on which the overrides rely, and ``setup.cfg`` names
the lowest version that has them.
"""

import select
from contextvars import ContextVar
from time import perf_counter
from typing import Any, Self

import psycopg
from gevent import get_hub, getcurrent, monkey
from psycopg.abc import RV, PQGen

from app.database.connection import LimitedConnection

# Counting the SQL of a request


class SqlUsage:
    """What a request has used of the database so far: its wait for the admission to a connection, and the number and
    the time of its SQL statements, without BEGIN and COMMIT."""

    __slots__ = ("count", "lane", "seconds", "waited_s")

    def __init__(self) -> None:
        self.waited_s = 0.0
        """The time that the request has waited for its admission to a connection (:mod:`app.database.admission`),
        whether or not it was admitted in the end."""
        self.lane = ""
        """The lane in which the request has waited, a value of :class:`app.database.admission.Lane`; empty if it has
        not waited."""
        self.count = 0
        """The number of statements."""
        self.seconds = 0.0
        """The time of all statements together, each from its sending until its result has arrived, without the wait for
        a connection."""


_usage: ContextVar[SqlUsage | None] = ContextVar("sql_usage", default=None)


def count_sql() -> SqlUsage:
    """Begin to count the SQL of the current request, and return the object that contains the counts."""
    usage = SqlUsage()
    _usage.set(usage)
    return usage


def note_wait(seconds: float, lane: str) -> None:
    """Add a wait for admission to the usage of the current request."""
    usage = _usage.get()
    if usage is not None:
        usage.waited_s += seconds
        usage.lane = lane


PREPARED_LENGTH_AT_MOST = 8_192
"""The most characters of a statement that is prepared, if it is a text, as all statements of requests are. A session
keeps a hundred prepared statements, and 50 to 120 bytes for each character of them: at most 80 MiB were measured.
Longer statements come from searches with many filters or facets, which are rare."""


class MeteredCursor(psycopg.Cursor[tuple[Any, ...]]):
    """A cursor that counts its statements, which costs half a microsecond for each, and prepares no long statement."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride] -- passes on all arguments
        """Execute a statement, and count it for the current request even if it fails."""
        if _is_long(query):
            options["prepare"] = False
        usage = _usage.get()
        if usage is None:
            return super().execute(query, params, **options)
        began = perf_counter()
        try:
            return super().execute(query, params, **options)
        finally:
            usage.count += 1
            usage.seconds += perf_counter() - began


# Not a part of ``execute``: after an isinstance there, the type checker would refuse to pass ``query`` on to psycopg.
def _is_long(query: Any) -> bool:
    """Whether a statement is a text that is too long to be prepared."""
    return isinstance(query, str) and len(query) > PREPARED_LENGTH_AT_MOST


# The wait for the server

# The poll of the operating system, because it returns at once with a timeout of 0. gevent's poll does not.
_poll = monkey.get_original("select", "poll")


def is_readable(connection: Any) -> bool:
    """Whether bytes, or the end of the stream, have arrived on a connection or socket."""
    poll = _poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))


class PooledConnection(LimitedConnection):
    """A connection that lets other greenlets run while it waits for the server."""

    def has_ended(self) -> bool:
        """Whether the connection is closed, or the server has ended the session. To be called between statements.

        Between statements the server owes no answer. If bytes or the end of the stream have arrived nevertheless, the
        session counts as ended: the bytes are usually the error that the server sends before it ends a session.
        """
        return self.closed or is_readable(self)

    def wait_within(self, gen: PQGen[RV], interval: float, limit_s: float) -> RV:
        """Run a generator. If gevent has patched this process, other greenlets run during the wait."""
        if monkey.is_module_patched("select"):
            return _wait_in_greenlet(gen, self.fileno(), limit_s)
        return super().wait_within(gen, interval, limit_s)


def _wait_in_greenlet(gen: PQGen[RV], descriptor: int, limit_s: float) -> RV:
    """Run a generator as :func:`psycopg.waiting.wait` does, with one I/O watcher and one switch of greenlets for each
    wait.

    The wait functions of psycopg that gevent can patch create a poll() object and a timer for each wait. With them a
    GET of one resource takes 7 % longer.

    :param limit_s: the time limit of all waits together.
    :raises OperationalError: without SQLSTATE at the limit, so that :meth:`LimitedConnection.wait` closes the
        connection.
    """
    try:
        events = next(gen)
    except StopIteration as done:
        return done.value
    hub = get_hub()
    limit = hub.loop.timer(limit_s)
    try:
        # update: the time limit counts from now. Without it, the limit counts from the time that the event loop read
        # last. This time is old if a greenlet has computed for long, and the limit would be reached too early.
        limit.start(getcurrent().throw, psycopg.OperationalError, "the server is silent", update=True)
        while True:
            # psycopg and gevent use the same bits of events: 1 to read, 2 to write.
            watcher = hub.loop.io(descriptor, events)
            try:
                hub.wait(watcher)
            finally:
                watcher.close()
            # The hub does not say which event has come, so the generator is told all that it asked for. If it finds
            # nothing to read or write, it does not block, but asks again.
            events = gen.send(events)
    except StopIteration as done:
        return done.value
    finally:
        limit.close()
