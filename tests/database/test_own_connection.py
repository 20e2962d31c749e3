"""The connection for what the service itself has to know, and how long connections of the pool live."""

from dataclasses import replace
from time import monotonic

import psutil
import psycopg
import pytest

from app.config import Settings
from app.database import pool
from app.database.connection import Connection, connect
from app.database.pool import Database
from tests.support.waiting import wait_until


def test_a_session_that_ended_while_nobody_used_it_costs_no_request(settings: Settings, connection: Connection) -> None:
    database = Database(str(settings.database_url), settings)
    try:
        with database.own_connection() as own:
            first = own.info.backend_pid
        with database.own_connection() as own:
            assert own.info.backend_pid == first
        connection.execute("SELECT pg_terminate_backend(%s)", (first,))
        gone = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s"
        wait_until(lambda: connection.execute(gone, (first,)).fetchone() == (0,))
        with database.own_connection() as own:
            assert own.info.backend_pid != first
            assert own.execute("SELECT 1").fetchone() == (1,)
    finally:
        database.close()


def test_it_is_opened_anew_like_those_of_the_pool(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that others have replaced may live on. At the old one no revocation would be heard of."""
    database = Database(str(settings.database_url), settings)

    def backend() -> int:
        with database.own_connection() as own:
            return own.info.backend_pid

    try:
        first = backend()
        database.replace_read_only_connections(database._opened())
        second = backend()
        assert second != first
        assert backend() == second
        later = monotonic() + 3601
        monkeypatch.setattr(pool, "monotonic", lambda: later)
        assert backend() != second
    finally:
        database.close()


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


@pytest.mark.parametrize(("hosts", "lifetime_s"), [(1, 3600.0), (3, 300.0)])
def test_connections_to_several_hosts_are_replaced_soon(settings: Settings, hosts: int, lifetime_s: float) -> None:
    """So a host that was away gets its share of them back."""
    url = "host=" + ",".join(["127.0.0.1"] * hosts) + " port=1 dbname=x"
    database = Database(url, replace(settings, database_url=url))
    try:
        assert database._opened().max_lifetime == lifetime_s
    finally:
        database.close()
