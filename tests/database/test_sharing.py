"""Requests that share the connections of a process: waits, refusals, and a database that is busy but not away."""

from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from threading import Event
from typing import Any

import psycopg
import pytest
from flask import Flask
from psycopg import conninfo, sql
from psycopg_pool import ConnectionPool, PoolTimeout

from app.config import Settings
from app.database import admission
from app.database.connection import Connection
from app.database.failures import Unavailable
from app.database.pool import Database
from app.database.pooled_connection import PooledConnection
from tests.support.api import Api
from tests.support.applications import open_app
from tests.support.cluster import Cluster
from tests.support.fixtures import TokenFor
from tests.support.waiting import wait_until

NOWHERE = "host=/nowhere dbname=x"


@contextmanager
def opened(url: str, settings: Settings, **options: Any) -> Generator[Database]:
    with closing(Database(url, settings, **options)) as database:
        yield database


def reason_of(future: Future[Any]) -> str:
    error = future.exception(20)
    assert isinstance(error, Unavailable), error
    return error.reason


def use(database: Database, seconds: float = 0.0, project: str = "a") -> None:
    with database.connection(project) as connection:
        connection.execute("SELECT pg_sleep(%s)", (seconds,))


def test_who_waits_for_a_database_that_is_away_is_told_so(settings: Settings) -> None:
    impatient = replace(settings, queue_timeout_ms=60_000, connections=2)
    with opened(NOWHERE, impatient) as database, ThreadPoolExecutor(40) as pool:
        waiting = [pool.submit(use, database) for _ in range(40)]
        assert {reason_of(future) for future in waiting} == {"away"}


@pytest.fixture
def of_two_sessions(cluster: Cluster, project: str) -> Generator[str]:
    """The URL of a database that a role uses which may have two sessions; PostgreSQL refuses it a third one."""
    cluster.create_database(project)
    role = sql.Identifier(project)
    with psycopg.connect(cluster.conninfo_of("postgres", superuser=True), autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN CONNECTION LIMIT 2").format(role))
        yield conninfo.make_conninfo(cluster.conninfo_of(project), user=project)
        cluster.drop_database(project)
        admin.execute(sql.SQL("DROP ROLE {}").format(role))


@pytest.fixture
def vain_waits(monkeypatch: pytest.MonkeyPatch) -> list[PoolTimeout]:
    """Waits in a pool that got no connection in time, after one was refused."""
    refused = Event()
    found: list[PoolTimeout] = []
    connect, take = PooledConnection.connect, ConnectionPool[PooledConnection].getconn

    def connect_or_note(*arguments: Any, **options: Any) -> Any:
        try:
            return connect(*arguments, **options)
        except psycopg.OperationalError:
            refused.set()
            raise

    def take_or_note(pool: ConnectionPool[PooledConnection], timeout: float | None = None) -> PooledConnection:
        try:
            return take(pool, timeout)
        except PoolTimeout as error:
            if refused.is_set():
                found.append(error)
            raise

    monkeypatch.setattr(PooledConnection, "connect", connect_or_note)
    monkeypatch.setattr(ConnectionPool, "getconn", take_or_note)
    return found


def test_while_connections_work_one_that_is_refused_sends_nobody_away(
    of_two_sessions: str, settings: Settings, vain_waits: list[PoolTimeout]
) -> None:
    """Two of four can be opened, and are held for longer than requests wait for a database that is away."""
    patient = replace(settings, queue_timeout_ms=60_000, connections=4)
    with opened(of_two_sessions, patient) as database, ThreadPoolExecutor(6) as pool:
        with database.connection("a"), database.connection("b"):
            # Two wait for connections that cannot be opened, the others in the queue before.
            waiting = [pool.submit(use, database, project=f"{number}") for number in range(6)]
            wait_until(lambda: len(vain_waits) >= 6 or any(future.done() for future in waiting))
            assert not any(future.done() for future in waiting)
        for future in waiting:
            future.result()


def test_who_waits_too_long_for_connections_that_work_is_told_that_the_project_is_busy(
    of_two_sessions: str, settings: Settings, vain_waits: list[PoolTimeout]
) -> None:
    with opened(of_two_sessions, replace(settings, connections=4)) as database, ThreadPoolExecutor(1) as pool:
        with database.connection("a"), database.connection("b"):
            database.queue_timeout_s = 0.5
            reasons = [reason_of(pool.submit(use, database))]
            while not vain_waits:  # nothing was refused yet
                reasons.append(reason_of(pool.submit(use, database)))
            assert set(reasons) == {"project_busy"}
        use(database)


def test_the_wait_for_the_admission_is_a_part_of_the_longest_wait(
    of_two_sessions: str, settings: Settings, vain_waits: list[PoolTimeout], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(of_two_sessions, replace(settings, connections=4)) as database, ThreadPoolExecutor(1) as pool:
        clock, enter = [0.0], database.admission.enter

        def enter_late(*arguments: Any) -> None:
            enter(*arguments)
            clock[0] += database.queue_timeout_s

        with database.connection("a"), database.connection("b"):
            monkeypatch.setattr("app.database.pool.monotonic", lambda: clock[0])
            monkeypatch.setattr(database.admission, "enter", enter_late)
            assert reason_of(pool.submit(use, database)) == "project_busy"


def test_who_waited_for_the_admission_sends_nobody_away(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """No attempt to connect has failed yet, so who has time left can still get a connection."""
    connected = Event()
    monkeypatch.setattr(PooledConnection, "connect", lambda *_, **__: connected.wait(30))
    over = replace(settings, connections=1, queue_timeout_ms=-1000)  # the time of the request when it is admitted
    with opened(NOWHERE, over) as database, ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(database.admission, "enter", lambda *_: setattr(database, "queue_timeout_s", 60.0))
        assert (reason_of(pool.submit(use, database)), database.is_away) == ("away", False)
        connected.set()


def test_too_many_requests_of_one_project_are_refused_and_those_of_another_wait(
    database_url: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "WAITING_AT_MOST", 2)
    with opened(database_url, replace(settings, connections=1)) as database, ThreadPoolExecutor(8) as pool:
        with database.connection("a"):
            mine = [pool.submit(use, database) for _ in range(5)]
            refused = [future for future in mine if future in _done(mine, 3)]
            theirs = pool.submit(use, database, 0.0, "b")
            assert {reason_of(future) for future in refused} == {"project_busy"}
        for future in (theirs, *(future for future in mine if future not in refused)):
            future.result()


def _done(futures: list[Future[Any]], number: int) -> list[Future[Any]]:
    """Those that are done, as soon as there are so many."""
    wait_until(lambda: sum(future.done() for future in futures) >= number)
    return [future for future in futures if future.done()]


def test_tokens_are_checked_while_all_connections_are_in_use(settings: Settings, api: Api, token_for: TokenFor) -> None:
    with open_app(settings, connections=1) as app:
        verifier = app.extensions["authorization_server"].verifier
        with app.extensions["database"].connection("a"):
            assert verifier.verify(token_for(f"view_test:{api.project}")).client_id


def sessions(database_url: str) -> int:
    """How many sessions the service has in this database."""
    with psycopg.connect(database_url) as other:
        [(number,)] = other.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sample-resource' AND datname = %s",
            (other.info.dbname,),
        ).fetchall()
    return int(number)


def test_connections_are_opened_ahead(database_url: str, settings: Settings) -> None:
    with opened(database_url, replace(settings, connections=5)) as database:
        database.open_ahead()
        assert sessions(database_url) >= 1
        wait_until(lambda: sessions(database_url) >= 5)
        stats = database._opened().get_stats()
        assert stats["pool_size"] == stats["pool_max"] == 5


def test_a_search_leaves_connections_to_the_reads_of_its_project(app: Flask, settings: Settings, api: Api) -> None:
    api.create(key="a-key")
    with open_app(settings, connections=3, queue_timeout_ms=200) as own:
        busy = Api(own, api.project, api.token)
        with own.extensions["database"].connection(api.project, admission.Lane.SLOW):
            assert (busy.get("/key=a-key").status_code, busy.get().status_code) == (200, 200)
            refused = busy.get("/searchApiPattern?facet=key")
            assert refused.status_code == 503
            assert "No database connection became free" in refused.get_json()["message"]
            assert refused.headers["Retry-After"] == "1"
        assert busy.get("/searchApiPattern?facet=key").status_code == 200


@pytest.mark.parametrize("pool_size", [2, 8])
def test_writes_that_are_stuck_stop_no_other_project(
    settings: Settings, api: Api, other_project: Api, connection: Connection, pool_size: int
) -> None:
    resource = api.create(key="stuck")
    with open_app(settings, connections=pool_size, statement_timeout_ms=60_000) as own:
        hot, cool = (Api(own, each.project, each.token) for each in (api, other_project))
        database = own.extensions["database"]
        with ThreadPoolExecutor(2 * pool_size) as pool:
            with connection.transaction():
                connection.execute(
                    "SELECT FROM resource WHERE project_key = %s AND id = %s FOR UPDATE", (hot.project, resource["id"])
                )
                stuck = [
                    pool.submit(hot.put, {"id": resource["id"], "objectTypeProperty": {}}) for _ in range(2 * pool_size)
                ]
                wait_until(lambda: database.admission.stats()["requests_waiting"] >= pool_size)
                for number in range(10):
                    assert cool.create(key=f"cool-{number}")["key"] == f"cool-{number}"
                    assert cool.get(f"/key=cool-{number}").status_code == 200
                assert not any(future.done() for future in stuck)
            assert {future.result(30).status_code for future in stuck} == {200}
