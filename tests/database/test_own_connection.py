"""The connection for what the service itself has to know, and how long connections of the pool live."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import monotonic

import psutil
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from app.config import Settings
from app.database import migrate, pool
from app.database.connection import Connection, connect
from app.database.pool import Database
from tests.support.cluster import Cluster
from tests.support.folders import NOT_DURABLE
from tests.support.gunicorn_server import StartGunicorn
from tests.support.oauth import issue
from tests.support.waiting import wait_until


def test_a_session_that_ended_while_nobody_used_it_costs_no_request(settings: Settings, connection: Connection) -> None:
    with closing(Database(str(settings.database_url), settings)) as database:
        with database.own_connection() as own:
            first = own.info.backend_pid
        with database.own_connection() as own:
            assert own.info.backend_pid == first
        connection.execute("SELECT pg_terminate_backend(%s::int)", (first,))
        gone = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s"
        wait_until(lambda: connection.execute(gone, (first,)).fetchone() == (0,))
        with database.own_connection() as own:
            assert own.info.backend_pid != first
            assert own.execute("SELECT 1").fetchone() == (1,)


def test_it_is_opened_anew_like_those_of_the_pool(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that others have replaced may live on. At the old one no revocation would be heard of."""
    with closing(Database(str(settings.database_url), settings)) as database:

        def backend() -> int:
            with database.own_connection() as own:
                return own.info.backend_pid

        first = backend()
        database.replace_read_only_connections(database._opened())
        second = backend()
        assert second != first
        assert backend() == second
        later = monotonic() + 3601
        monkeypatch.setattr(pool, "monotonic", lambda: later)
        assert backend() != second


def test_a_single_connection_does_not_wait_for_ever_for_a_server_that_is_silent(settings: Settings) -> None:
    with connect(str(settings.database_url), replace(settings, statement_timeout_ms=300)) as silent:
        assert list(silent.notifies(timeout=1)) == [], "that nobody notifies it is no fault"
        server = psutil.Process(silent.info.backend_pid)
        server.suspend()
        try:
            with pytest.raises(psycopg.OperationalError):
                silent.execute("SELECT 1")
        finally:
            server.resume()
        assert silent.closed


def test_a_process_opens_it_first_and_does_with_one_less_for_requests(
    data_dir: Path, start_gunicorn: StartGunicorn
) -> None:
    """Without it no token can be verified, and most requests would be 503."""
    with Cluster(data_dir, NOT_DURABLE) as server:
        url = server.conninfo()
        migrate.upgrade(url)
        with psycopg.connect(url, autocommit=True) as connection:
            token = issue(connection, "view_test:p", client_id="t", lifetime_s=3600)
        with psycopg.connect(server.conninfo_of("postgres", superuser=True), autocommit=True) as superuser:
            account = sql.Identifier(str(conninfo_to_dict(url)["user"]))
            superuser.execute(sql.SQL("ALTER ROLE {} CONNECTION LIMIT 4").format(account))
        service = start_gunicorn("wsgi:app", DATABASE_URL=url, CONNECTIONS="4")
        assert [service.get("/p/resource", token) for _ in range(20)] == [200] * 20
        assert service.get("/health/ready") == 200
        service.stop()


@pytest.mark.parametrize(("hosts", "lifetime_s"), [(1, 3600.0), (3, 300.0)])
def test_connections_to_several_hosts_are_replaced_soon(settings: Settings, hosts: int, lifetime_s: float) -> None:
    """So a host that was away gets its share of them back."""
    url = "host=" + ",".join(["127.0.0.1"] * hosts) + " port=1 dbname=x"
    with closing(Database(url, replace(settings, database_url=url))) as database:
        assert database._opened().max_lifetime == lifetime_s


def test_options_of_the_url_are_kept_beside_the_time_limits(settings: Settings) -> None:
    url = make_conninfo(str(settings.database_url), options="-c search_path=elsewhere")
    with connect(url, replace(settings, statement_timeout_ms=2000)) as connection:
        assert connection.execute("SHOW search_path").fetchone() == ("elsewhere",)
        assert connection.execute("SHOW lock_timeout").fetchone() == ("1500ms",)
