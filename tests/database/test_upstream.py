"""What ``app/database`` relies on inside psycopg and psycopg_pool.

A failure here means that an upgrade has changed something that the service overrides or uses beyond the documented
interface. The message says which code to look at.
"""

import inspect
import select
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import psycopg_pool
import pytest
from gevent import core  # pyright: ignore[reportAttributeAccessIssue] -- it is made when gevent is imported
from gevent.socket import wait_write
from psycopg import waiting
from psycopg.pq import TransactionStatus

from app.database.pooled_connection import _wait_in_greenlet

WAIT = "LimitedConnection.wait and _wait_in_greenlet in app/database have to be adapted"
CURSOR = "MeteredCursor.execute in app/database/pooled_connection.py has to be adapted"
POOL = "app/database/pool.py has to be adapted"
STATISTICS = "is_exhausted in app/database/admission.py and the pool's metrics in app/telemetry have to be adapted"


class RecordingConnection(psycopg.Connection[tuple[Any, ...]]):
    """Waits as psycopg does, in plain Python, and records what the generators yield."""

    yielded: list[int]
    waits: int

    def wait(self, gen: Any, *_given: Any, **_named: Any) -> Any:
        self.waits += 1
        try:
            events = next(gen)
            while True:
                self.yielded.append(events)
                readers: list[int] = [self.fileno()] if events & waiting.WAIT_R else []
                writers: list[int] = [self.fileno()] if events & waiting.WAIT_W else []
                readable, writable, _ = select.select(readers, writers, [], 10)
                events = gen.send((bool(readable) and waiting.READY_R) | (bool(writable) and waiting.READY_W))
        except StopIteration as done:
            return done.value


@pytest.fixture
def recording(database_url: str) -> Iterator[RecordingConnection]:
    with RecordingConnection.connect(database_url, autocommit=True) as connection:
        connection.yielded, connection.waits = [], 0
        yield connection


def test_connections_wait_through_a_method_with_a_timeout() -> None:
    parameters = inspect.signature(psycopg.Connection.wait).parameters
    assert list(parameters) == ["self", "gen", "interval", "timeout"], WAIT
    assert parameters["timeout"].default is None, WAIT


def test_a_wait_that_takes_too_long_ends_with_an_error_without_sqlstate(database_url: str) -> None:
    class Impatient(psycopg.Connection[tuple[Any, ...]]):
        def wait(self, gen: Any, *_: Any, **__: Any) -> Any:
            return super().wait(gen, 0.1, 0.2)

    with Impatient.connect(database_url, autocommit=True) as connection:
        with pytest.raises(psycopg.OperationalError) as raised:
            connection.execute("SELECT pg_sleep(5)")
        assert raised.value.sqlstate is None, WAIT
        connection.close()


def test_each_statement_is_one_wait(recording: RecordingConnection) -> None:
    assert recording.execute("SELECT 1").fetchone() == (1,)
    assert recording.waits == 1, WAIT
    with recording.transaction():
        recording.execute("SELECT 2")
    assert recording.waits == 4, WAIT
    assert recording.info.transaction_status == TransactionStatus.IDLE


def test_generators_yield_bits_and_take_those_that_are_ready(recording: RecordingConnection) -> None:
    row = recording.execute("SELECT repeat('x', 3000000), %(text)s", {"text": "y" * 3_000_000}).fetchone()
    assert row is not None
    assert [len(text) for text in row] == [3_000_000, 3_000_000]
    assert set(recording.yielded) <= {waiting.WAIT_R, waiting.WAIT_W, waiting.WAIT_R | waiting.WAIT_W}, WAIT
    assert waiting.WAIT_R in recording.yielded, WAIT


def test_gevent_has_the_watchers_that_the_wait_uses() -> None:
    loop: Any = core.loop
    assert callable(loop.io), WAIT
    assert callable(loop.timer), WAIT


def test_the_limit_of_a_wait_counts_from_its_beginning(database_url: str) -> None:
    ever: Any = (select.POLLIN for _ in iter(int, 1))
    with psycopg.connect(database_url) as silent:
        wait_write(silent.fileno())  # from here on the loop of gevent has this time
        time.sleep(0.3)
        began = time.monotonic()
        with pytest.raises(psycopg.OperationalError):
            _wait_in_greenlet(ever, silent.fileno(), 0.3)
        assert time.monotonic() - began >= 0.29


def test_cursors_execute_with_these_arguments() -> None:
    parameters = inspect.signature(psycopg.Cursor.execute).parameters
    assert list(parameters) == ["self", "query", "params", "prepare", "binary"], CURSOR
    assert all(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in ("prepare", "binary")), CURSOR


def test_a_connection_executes_through_its_cursor_class(database_url: str) -> None:
    executed: list[str] = []

    class Cursor(psycopg.Cursor[tuple[Any, ...]]):
        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            executed.append(query)
            return super().execute(query, params, **options)

    with psycopg.connect(database_url, autocommit=True, cursor_factory=Cursor) as connection:
        connection.execute("SELECT 1")
    assert executed == ["SELECT 1"], CURSOR


def test_the_pool_has_the_methods_and_arguments_that_are_used() -> None:
    pool = psycopg_pool.ConnectionPool
    assert list(inspect.signature(pool.getconn).parameters) == ["self", "timeout"], POOL
    assert list(inspect.signature(pool.putconn).parameters) == ["self", "conn"], POOL
    assert list(inspect.signature(pool.check).parameters) == ["self"], POOL
    assert list(inspect.signature(pool.wait).parameters) == ["self", "timeout"], POOL
    assert "timeout" in inspect.signature(pool.close).parameters, POOL
    arguments = ("connection_class", "configure", "kwargs", "min_size", "max_size", "timeout", "reconnect_timeout")
    assert {*arguments, "open", "name"} <= set(inspect.signature(pool).parameters), POOL
    assert issubclass(psycopg_pool.PoolTimeout, psycopg.OperationalError), POOL
    assert issubclass(psycopg_pool.PoolClosed, psycopg.OperationalError), POOL


def test_the_pools_statistics_have_the_keys_that_are_used(database_url: str) -> None:
    with psycopg_pool.ConnectionPool(database_url, min_size=1, max_size=1, timeout=0.2, open=True) as pool:
        held = pool.getconn(timeout=10)
        with pytest.raises(psycopg_pool.PoolTimeout):
            pool.getconn()
        found = set(pool.get_stats())
        pool.putconn(held)
    gauges = {"pool_size", "pool_available", "pool_max", "requests_waiting"}
    assert gauges | {"requests_num", "requests_queued", "requests_wait_ms", "requests_errors"} <= found, STATISTICS
