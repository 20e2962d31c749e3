"""``DATABASE_READ_URL``: what is read from the replica, what from the primary, and what happens if the replica is away.

A second database stands in for the replica. Nothing is replicated to it, so an answer shows which one was read.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import psycopg
import pytest
from flask import Flask
from prometheus_client import Counter
from psycopg import sql

from app import create_app
from app.config import InvalidSetting, Settings
from app.database import migrate, replica
from app.database.replica import ReadingDatabase
from app.telemetry.metrics import metrics
from tests.support.api import Api, codes
from tests.support.cluster import Cluster
from tests.support.waiting import wait_until

LISTS = ("", "/sorted-query-parameters")


@contextmanager
def reading_from(url: str, settings: Settings, **further: int) -> Iterator[Flask]:
    app = create_app(replace(settings, database_read_url=url, **further))
    with closing(app.extensions["database"]), closing(app.extensions["reading_database"]):
        yield app


@pytest.fixture
def replica_url(cluster: Cluster, project: str) -> str:
    url = cluster.create_database(project)
    migrate.upgrade(url)
    return url


@pytest.fixture
def replicated(replica_url: str, settings: Settings, api: Api) -> Iterator[Api]:
    """A client of an application whose replica is empty."""
    with reading_from(replica_url, settings) as app:
        yield Api(app, api.project, api.token)


def reads(source: str) -> float:
    return metrics.registry.get_sample_value("sample_resource_replica_reads_total", {"source": source}) or 0.0


def test_lists_and_existence_are_read_from_the_replica(replicated: Api) -> None:
    created = replicated.create(key="a-key")
    before = reads("replica")
    for path in LISTS:
        assert replicated.get(path).get_json()["results"] == []
    assert replicated.head().status_code == 404
    assert reads("replica") - before == 3
    assert created["key"] == "a-key"


def test_a_resource_can_be_read_by_id_and_key_as_soon_as_it_is_written(replicated: Api) -> None:
    created = replicated.create(key="a-key")
    assert replicated.get(f"/{created['id']}").get_json() == created
    assert replicated.get("/key=a-key").get_json() == created
    assert replicated.update(created, {"action": "doSomeThing"})["version"] == 2
    assert replicated.delete(f"/{created['id']}").status_code == 200


def test_nothing_is_written_to_the_replica(replicated: Api, replica_url: str) -> None:
    with psycopg.connect(replica_url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(
            sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(sql.Identifier(name))
        )
    created = replicated.create()
    assert replicated.get().status_code == 200
    assert replicated.put(json={"id": created["id"], "objectTypeProperty": {}}).status_code == 200


def test_without_a_replica_everything_is_read_from_the_primary(api: Api) -> None:
    before = reads("replica"), reads("primary")
    created = api.create()
    assert [result["id"] for result in api.get().get_json()["results"]] == [created["id"]]
    assert (reads("replica"), reads("primary")) == before


def test_while_the_replica_is_away_the_primary_answers_without_delay(
    data_dir: Path, settings: Settings, api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(logging.getLogger("app"), "propagate", True)
    monkeypatch.setattr(replica, "RETRY_INTERVAL_S", 0.2)
    with Cluster(data_dir, {"fsync": "off"}) as server:
        url = server.conninfo()
        migrate.upgrade(url)
        with reading_from(url, settings, pool_timeout_ms=2_000) as app:
            replicated = Api(app, api.project, api.token)
            created = replicated.create()
            assert replicated.get().get_json()["results"] == []
            assert server.process is not None
            server.process.kill()
            server.process.wait()
            for _ in range(20):
                began = time.monotonic()
                for path in LISTS:
                    answer = replicated.get(path)
                    assert [result["id"] for result in answer.get_json()["results"]] == [created["id"]]
                assert replicated.head().status_code == 200
            assert time.monotonic() - began < 2, "none of the last reads waited for the replica"
            logged = {record.created: record.getMessage() for record in caplog.records if record.name == "app.replica"}
            assert list(logged.values()) == ["the replica is away, the primary answers in its place"]
            server.start()
            wait_until(lambda: replicated.get().get_json()["results"] == [])


def test_an_unexpected_error_does_not_end_the_tries_to_reach_the_replica(
    replica_url: str, settings: Settings, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "RETRY_INTERVAL_S", 0.05)
    faults = metrics.thread_failures.labels("replica")
    with psycopg.connect(replica_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE resource RENAME TO resource_elsewhere")
        with reading_from(replica_url, settings) as app:
            replicated = Api(app, api.project, api.token)
            created = replicated.create()

            def read() -> list[str]:
                return [result["id"] for result in replicated.get().get_json()["results"]]

            before = counted(faults)
            with monkeypatch.context() as broken:
                broken.setattr(replica, "_PROBE", None)  # the driver raises what it is not expected to
                assert read() == [created["id"]]
                wait_until(lambda: counted(faults) > before)
            connection.execute("ALTER TABLE resource_elsewhere RENAME TO resource")
            wait_until(lambda: read() == [])


def counted(counter: Counter) -> float:
    [family] = counter.collect()
    return family.samples[0].value


def test_a_replica_that_was_never_there(settings: Settings, api: Api) -> None:
    with reading_from("host=/nowhere dbname=x", settings, pool_timeout_ms=100) as app:
        replicated = Api(app, api.project, api.token)
        created = replicated.create()
        assert [result["id"] for result in replicated.get().get_json()["results"]] == [created["id"]]


def test_a_replica_without_the_newest_migrations_is_not_used(
    cluster: Cluster, project: str, settings: Settings, api: Api
) -> None:
    with reading_from(cluster.create_database(project), settings) as app:
        replicated = Api(app, api.project, api.token)
        created = replicated.create()
        for path in LISTS:
            assert [result["id"] for result in replicated.get(path).get_json()["results"]] == [created["id"]]


def test_both_away_is_503(settings: Settings, api: Api) -> None:
    away = replace(settings, database_url="host=/nowhere dbname=x", pool_timeout_ms=100)
    with reading_from("host=/nowhere dbname=y", away) as app:
        answer = Api(app, api.project, api.token).get()
        assert answer.status_code == 503
        assert codes(answer) == ["OverCapacity"]


def test_the_primary_does_not_take_over_for_a_busy_replica(replica_url: str, settings: Settings, api: Api) -> None:
    with reading_from(replica_url, settings, connections=1, queue_timeout_ms=100, statement_timeout_ms=200) as app:
        reading: ReadingDatabase = app.extensions["reading_database"]
        replicated = Api(app, api.project, api.token)
        before = reads("primary")
        with pytest.raises(Exception, match="took too long"):
            reading.read(lambda connection: connection.execute("SELECT pg_sleep(5)"))
        held, release = Event(), Event()

        def hold() -> None:
            reading.read(lambda _: (held.set(), release.wait(10)))

        holder = Thread(target=hold)
        holder.start()
        held.wait(10)
        assert replicated.get().status_code == 503
        release.set()
        holder.join()
        assert replicated.get().status_code == 200
        assert reads("primary") == before


def test_a_read_that_conflicts_with_replication_is_repeated_on_the_primary(
    replica_url: str, settings: Settings
) -> None:
    with reading_from(replica_url, settings) as app:
        reading: ReadingDatabase = app.extensions["reading_database"]
        databases: list[str] = []

        def query(connection: psycopg.Connection[tuple[object, ...]]) -> str:
            databases.append(connection.info.dbname)
            if len(databases) == 1:
                raise psycopg.errors.SerializationFailure("conflict with recovery")
            return "found"

        assert reading.read(query) == "found"
        assert len(set(databases)) == 2
        assert reading.read(lambda connection: connection.info.dbname) == databases[0]


def test_its_url_is_not_shown() -> None:
    with pytest.raises(InvalidSetting) as refused:
        Settings.from_environment({"DATABASE_READ_URL": "postgresql://user:password@host\n"})
    assert "password" not in str(refused.value)
    assert "password" not in repr(Settings(database_read_url="postgresql://user:password@host"))
