"""A database that is away, busy or locked: a prompt 503 with Retry-After, and normal service as soon as it is back."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psutil
import psycopg
import pytest
from flask import Flask
from psycopg import sql
from werkzeug.test import TestResponse

from app import create_app
from app.config import Settings
from app.database import migrate
from app.database import pool as pool_module
from app.database.failures import Unavailable
from app.database.pool import Database
from tests.support.api import EXAMPLE, Api, codes
from tests.support.applications import open_app
from tests.support.cluster import Cluster
from tests.support.oauth import issue
from tests.support.waiting import wait_until

SOON_S = 5.0


@pytest.fixture
def impatient(settings: Settings) -> Iterator[Flask]:
    """The application with short time limits and a single database connection."""
    with open_app(settings, connections=1, queue_timeout_ms=100, statement_timeout_ms=300) as app:
        yield app


@pytest.fixture
def impatient_api(impatient: Flask, api: Api) -> Api:
    return Api(impatient, api.project, api.token)


def assert_unavailable(answer: TestResponse) -> None:
    assert (answer.status_code, codes(answer)) == (503, ["OverCapacity"])
    assert int(answer.headers["Retry-After"]) >= 1


def test_the_wait_for_a_locked_resource_is_limited(impatient_api: Api, database_url: str) -> None:
    created = impatient_api.create()
    with psycopg.connect(database_url) as other:
        other.execute("SELECT FROM resource WHERE project_key = %s FOR UPDATE", (impatient_api.project,))
        answer = impatient_api.post(f"/{created['id']}", json={"version": 1, "actions": [{"action": "doSomeThing"}]})
        assert_unavailable(answer)
        assert impatient_api.get(f"/{created['id']}").status_code == 200
    assert impatient_api.update(created, {"action": "doSomeThing"})["version"] == 2


def test_a_statement_that_takes_too_long_is_cancelled(impatient: Flask) -> None:
    @impatient.get("/slow")
    def slow() -> str:
        with impatient.extensions["database"].connection() as connection:
            connection.execute("SELECT pg_sleep(10)")
        return "never"

    impatient.view_functions["slow"].accepted_scopes = ()
    assert_unavailable(impatient.test_client().get("/slow"))


def test_when_all_connections_are_broken_only_one_request_fails(settings: Settings, database_url: str) -> None:
    with closing(Database(database_url, replace(settings, connections=6))) as database:

        def backends() -> set[int]:
            with ExitStack() as held:
                connections = [held.enter_context(database.connection(f"project {number}")) for number in range(6)]
                return {connection.info.backend_pid for connection in connections}

        with psycopg.connect(database_url, autocommit=True) as other:
            for pid in backends():
                other.execute("SELECT pg_terminate_backend(%s::int, 5000)", (pid,))
        with pytest.raises(Unavailable), database.connection() as connection:
            connection.execute("SELECT 1")
        for thread in threading.enumerate():
            if thread.name == "check-connections":
                thread.join(SOON_S)
        for _ in range(12):
            with database.connection() as connection:
                connection.execute("SELECT 1")


def test_sessions_that_began_while_the_database_was_read_only_do_not_stay_so(
    cluster: Cluster, project: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operator, or a server whose disk is almost full, makes a database read-only for a while like this."""
    monkeypatch.setattr(pool_module, "_REPLACED_AT_MOST_EVERY_S", 0.5)
    url = cluster.create_database(project)
    name = sql.Identifier(project)

    def write() -> str | None:
        try:
            with database.connection() as connection:
                connection.execute("CREATE TABLE IF NOT EXISTS written ()")
        except Unavailable as error:
            return error.reason
        return None

    limited = replace(settings, connections=3)
    with closing(Database(url, limited)) as database, psycopg.connect(url, autocommit=True) as other:
        other.execute(sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name))
        assert {write() for _ in range(20)} == {"read_only"}
        other.execute("SET default_transaction_read_only = off")
        other.execute(sql.SQL("ALTER DATABASE {} RESET default_transaction_read_only").format(name))
        time.sleep(0.6)
        assert write() in ("read_only", None), "the first after it may be refused"
        wait_until(lambda: write() is None, SOON_S)
        assert {write() for _ in range(20)} == {None}


def test_an_application_that_is_made_opens_nothing(settings: Settings) -> None:
    """gunicorn makes it and then forks: a connection must not be used on both sides, and a thread ends on one."""

    def sockets_and_threads() -> tuple[int, int]:
        return len(psutil.Process().net_connections("all")), threading.active_count()

    before = sockets_and_threads()
    with open_app(settings):
        assert sockets_and_threads() == before


def test_with_an_exhausted_pool_a_request_does_not_wait_long(impatient: Flask, impatient_api: Api) -> None:
    held, release = Event(), Event()

    def hold() -> None:
        with impatient.extensions["database"].connection():
            held.set()
            release.wait(60)

    impatient_api.create()
    holder = Thread(target=hold)
    holder.start()
    held.wait(SOON_S)
    assert_unavailable(impatient_api.get())
    assert holder.is_alive(), "the answer did not wait for the connection"
    release.set()
    holder.join()
    assert impatient_api.get().status_code == 200


def test_a_killed_database_is_503_and_then_back_without_a_restart(data_dir: Path) -> None:
    # Without fsync commits survive a killed server, which is enough here, though not a crash of the machine.
    server = Cluster(data_dir, {"fsync": "off"})
    url = server.start()
    try:
        migrate.upgrade(url)
        with psycopg.connect(url, autocommit=True) as connection:
            token = issue(connection, "manage_test:p", client_id="test", lifetime_s=3600)
        app = create_app(Settings(database_url=url, connections=4))
        api = Api(app, "p", token)
        created = api.create()

        assert server.pid is not None
        backends = psutil.Process(server.pid).children()
        os.kill(server.pid, signal.SIGKILL)
        # The server's child processes go on serving their connections for a moment.
        assert psutil.wait_procs(backends, timeout=10)[1] == []
        for send in (
            lambda: api.get(f"/{created['id']}"),
            lambda: api.post(json={"objectTypeProperty": EXAMPLE}),
            lambda: api.request("GET", "//health/ready"),
            lambda: api.get(),
        ):
            began = time.monotonic()
            assert_unavailable(send())
            assert time.monotonic() - began < SOON_S
        assert api.request("GET", "//health/live").status_code == 200

        server.start()
        began = time.monotonic()
        answer: Any = None
        while time.monotonic() - began < 10:
            answer = api.get(f"/{created['id']}")
            if answer.status_code == 200:
                break
            assert_unavailable(answer)
            time.sleep(0.1)
        assert answer.get_json() == created
        app.extensions["database"].close()
    finally:
        server.stop()
