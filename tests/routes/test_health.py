"""Liveness and readiness: the answers to probes, and their time, for each state of the database and its pool."""

import signal
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psutil
import psycopg
import pytest
from flask import Flask
from psycopg.errors import DiskFull, ReadOnlySqlTransaction
from werkzeug.test import TestResponse

from app.config import Settings
from app.database import admission, failures, migrate, readiness
from app.database.migrate import migration_files
from app.database.readiness import ANSWERED_WITHIN_S
from app.telemetry.metrics import metrics
from tests.support.api import codes
from tests.support.applications import open_app
from tests.support.cluster import Cluster
from tests.support.waiting import wait_until

SOON_S = ANSWERED_WITHIN_S + 10
"""The longest time of a probe, and a margin for a busy machine."""

ARCHIVED_WITHIN_S = 150.0
"""PostgreSQL waits a minute after three attempts to archive a segment that have failed."""


def ready(app: Flask) -> tuple[TestResponse, float]:
    """The answer to a readiness probe, and its time in seconds."""
    began = time.monotonic()
    return app.test_client().get("/health/ready"), time.monotonic() - began


def assert_not_ready(answer: TestResponse, message: str) -> None:
    assert (answer.status_code, codes(answer)) == (503, ["OverCapacity"])
    assert message in answer.get_json()["message"]
    assert answer.headers["Retry-After"] == "1"


@pytest.fixture(autouse=True)
def nothing_met(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests in this process have met is no warning here."""
    monkeypatch.setattr(failures, "_met_at", dict[str, float]())


@pytest.fixture
def own_app(settings: Settings) -> Iterator[Flask]:
    """An application with a single connection, for which requests wait up to 10 s."""
    with open_app(settings, connections=1, queue_timeout_ms=10_000) as app:
        yield app


@contextmanager
def holding_the_connection(app: Flask) -> Generator[None]:
    """Keep the application's single connection in use."""
    held, release = Event(), Event()

    def hold() -> None:
        with app.extensions["database"].connection():
            held.set()
            release.wait(30)

    holder = Thread(target=hold)
    holder.start()
    held.wait(10)
    try:
        yield
    finally:
        release.set()
        holder.join()


def test_ready_and_live_are_200_with_a_migrated_database(app: Flask) -> None:
    answer, _ = ready(app)
    assert (answer.status_code, answer.get_json()) == (200, {"status": "ready"})
    assert app.test_client().get("/health/live").get_json() == {"status": "live"}


def test_readiness_is_503_after_half_a_second_if_no_connection_becomes_free(own_app: Flask) -> None:
    metrics.ready.labels("database").set(False)  # a check that has not ended cannot know better
    with holding_the_connection(own_app):
        answer, seconds = ready(own_app)
        assert_not_ready(answer, "are in use, none became free in 0.5 s")
        assert metrics.registry.get_sample_value("sample_resource_ready", {"check": "database"}) == 0
        assert ANSWERED_WITHIN_S <= seconds < SOON_S
        assert own_app.test_client().get("/health/live").status_code == 200
    assert ready(own_app)[0].status_code == 200


def test_readiness_does_not_wait_behind_requests_for_tokens(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They use the database for no project."""
    monkeypatch.setattr(admission, "WAITING_AT_MOST", 1)
    with open_app(replace(settings, connections=2)) as app:
        database = app.extensions["database"]

        def ask_for_a_token() -> None:
            with database.connection():
                pass

        with database.connection():
            waiting = Thread(target=ask_for_a_token)
            waiting.start()
            wait_until(lambda: database.admission.stats()["requests_waiting"] == 1)
            answer, _ = ready(app)
        waiting.join()
    assert answer.status_code == 200, answer.get_json()


def test_readiness_is_503_if_the_database_is_unreachable(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "ANSWERED_WITHIN_S", 20.0)  # as long as a connection is waited for on a busy machine
    with open_app(settings, database_url="host=/nowhere dbname=x") as app:
        assert_not_ready(ready(app)[0], "The database is not available.")
        assert app.test_client().get("/health/live").status_code == 200


def test_readiness_is_503_without_the_connection_that_looks_tokens_up(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_app(settings, connections=2) as app:
        assert ready(app)[0].status_code == 200

        def refused() -> Any:
            raise failures.away()

        monkeypatch.setattr(app.extensions["database"], "own_connection", refused)
        assert_not_ready(ready(app)[0], "The database is not available.")


def test_readiness_is_503_within_half_a_second_if_the_database_hangs(data_dir: Path) -> None:
    """After SIGSTOP PostgreSQL accepts connections and bytes, and answers nothing."""
    with Cluster(data_dir, {"fsync": "off"}) as server:
        url = server.conninfo()
        migrate.upgrade(url)
        with open_app(Settings(database_url=url, connections=2)) as app:
            assert ready(app)[0].status_code == 200
            assert server.pid is not None
            family = [psutil.Process(server.pid), *psutil.Process(server.pid).children()]
            for process in family:
                process.send_signal(signal.SIGSTOP)
            try:
                for _ in range(2):
                    answer, seconds = ready(app)
                    assert_not_ready(answer, "does not answer within 0.5 s")
                    assert seconds < SOON_S
            finally:
                for process in family:
                    process.send_signal(signal.SIGCONT)
            wait_until(lambda: ready(app)[0].status_code == 200)


def test_readiness_is_503_and_counts_missing_migrations(cluster: Cluster, project: str, settings: Settings) -> None:
    url = cluster.create_database(project)
    with open_app(settings, database_url=url) as app:
        count = len(migration_files())
        assert_not_ready(ready(app)[0], f"lacks {count} of {count} migrations")
        migrate.upgrade(url)
        assert ready(app)[0].status_code == 200
        with psycopg.connect(url, autocommit=True) as connection:
            last = max(migration_files())
            connection.execute("UPDATE migration SET id = '9999.newer' WHERE id = %s", (last,))
        assert_not_ready(ready(app)[0], f"lacks 1 of {count} migrations")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("INSERT INTO migration (id) VALUES (%(last)s)", {"last": last})
        # During a rolling update the database has a migration of the newer version beside all required ones.
        assert ready(app)[0].status_code == 200


def test_readiness_warns_of_archiving_that_fails_until_it_succeeds(data_dir: Path) -> None:
    may_archive = data_dir.parent / "may-archive"
    archive = {"archive_mode": "on", "archive_command": f"test -f {may_archive}", "archive_timeout": "1"}
    with Cluster(data_dir, {"fsync": "off"} | archive) as server:
        url = server.conninfo()
        migrate.upgrade(url)
        with open_app(Settings(database_url=url, connections=2)) as app:
            wait_until(lambda: "warnings" in ready(app)[0].get_json(), ARCHIVED_WITHIN_S)
            warnings = ready(app)[0].get_json()["warnings"]
            assert list(warnings) == ["archiving"]
            assert warnings["archiving"].startswith("The write-ahead log is not archived: ")
            assert warned("archiving") == 1
            may_archive.touch()
            wait_until(lambda: ready(app)[0].get_json() == {"status": "ready"}, ARCHIVED_WITHIN_S)
            assert warned("archiving") == 0


@pytest.mark.parametrize(
    ("error", "check", "warning"),
    [
        (DiskFull, "disk", "The database had no room for a write within the last 60 s."),
        (ReadOnlySqlTransaction, "read_only", "The database was read-only for a write within the last 60 s."),
    ],
)
def test_readiness_warns_of_writes_that_were_refused_a_minute_ago(
    app: Flask, monkeypatch: pytest.MonkeyPatch, error: type[psycopg.Error], check: str, warning: str
) -> None:
    assert failures.error_for(error()) is not None
    answer, _ = ready(app)
    assert answer.status_code == 200, "reads go on"
    assert (answer.get_json()["warnings"], warned(check)) == ({check: warning}, 1)
    now = time.monotonic()
    monkeypatch.setattr(failures, "monotonic", lambda: now + 61)
    assert (ready(app)[0].get_json(), warned(check)) == ({"status": "ready"}, 0)


def warned(check: str) -> float | None:
    """The value of the metric of a warning."""
    return metrics.registry.get_sample_value("sample_resource_warning", {"check": check})
