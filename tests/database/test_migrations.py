"""The migration files, and how they are applied, also by several processes at once."""

import os
import re
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from app.database import migrate, migration_files
from app.database.migration_files import UnsupportedServer
from app.serving.embedded import EmbeddedPostgres

FILES = sorted(path.name for path in migration_files.FOLDER.glob("*.sql") if not path.name.endswith(".rollback.sql"))


def test_files_are_numbered_without_gaps_and_each_depends_on_the_one_before() -> None:
    assert [int(name.split(".")[0]) for name in FILES] == list(range(1, len(FILES) + 1))
    previous = ""
    for name in FILES:
        text = (migration_files.FOLDER / name).read_text()
        found = re.search(r"^-- depends:(.*)$", text, re.MULTILINE)
        assert found, name
        assert found.group(1).strip() == previous
        assert "lock_timeout" in text, f"{name} may wait for a lock without limit"
        assert "statement_timeout" in text, f"{name} may run without limit"
        assert (migration_files.FOLDER / name.replace(".sql", ".rollback.sql")).exists()
        previous = name.removesuffix(".sql")


def test_of_several_processes_that_start_at_once_one_migrates(cluster: EmbeddedPostgres, project: str) -> None:
    url = cluster.create_database(project)
    with ThreadPoolExecutor(8) as pool:
        applied = list(pool.map(lambda _: migrate.upgrade(url), range(8)))
    assert sorted(len(names) for names in applied) == [0] * 7 + [len(FILES)]
    assert all(migration.applied for migration in migrate.status(url))


def test_an_account_without_a_name_can_migrate(
    cluster: EmbeddedPostgres, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(_uid: int) -> None:
        raise KeyError("uid not found")

    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(variable, "")
    monkeypatch.setattr("pwd.getpwuid", nobody)
    url = cluster.create_database(project)
    assert len(migrate.upgrade(url)) == len(FILES)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT DISTINCT username FROM _yoyo_log").fetchall() == [(str(os.getuid()),)]


def test_every_key_and_index_of_the_resource_begins_with_the_project(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'resource'").fetchall()
    assert len(rows) >= 6
    for name, definition in rows:
        assert re.search(r"USING \w+ \(project_key\b", definition), name


def test_an_old_server_is_refused_by_its_version() -> None:
    with pytest.raises(UnsupportedServer, match="PostgreSQL 14; 15 or newer"):
        migrate.raise_if_too_old(140_011)
    migrate.raise_if_too_old(150_000)


def test_a_database_of_a_version_before_0_2_is_refused(cluster: EmbeddedPostgres, project: str) -> None:
    url = cluster.create_database(project)
    migrate.upgrade(url)
    with psycopg.connect(url) as connection:
        connection.execute("DELETE FROM _yoyo_migration WHERE migration_id <> '0001.schema'")
        connection.execute("UPDATE _yoyo_migration SET migration_id = '0001.resource'")
    with pytest.raises(UnsupportedServer, match=r"before 0\.2\.0\. Export its projects with that version"):
        migrate.upgrade(url)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT migration_id FROM _yoyo_migration").fetchall() == [("0001.resource",)]


def test_a_rollback_leaves_nothing(cluster: EmbeddedPostgres, project: str) -> None:
    url = cluster.create_database(project)
    migrate.upgrade(url)
    with psycopg.connect(url) as connection:
        for path in sorted(migration_files.FOLDER.glob("*.rollback.sql"), reverse=True):
            connection.execute(path.read_bytes())
        left = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname !~ 'yoyo'"
        ).fetchall()
        assert left == []


def test_the_status_of_a_database_without_tables_leaves_it_without(cluster: EmbeddedPostgres, project: str) -> None:
    url = cluster.create_database(project)
    listed = migrate.status(url)
    assert [f"{migration.id}.sql" for migration in listed] == FILES
    assert not any(migration.applied for migration in listed)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT FROM pg_tables WHERE schemaname = 'public'").fetchall() == []


def test_a_worker_of_a_cluster_is_not_migrated(cluster: EmbeddedPostgres, project: str) -> None:
    url = cluster.create_database(project)
    with psycopg.connect(url) as connection:  # Citus' own table: which node this is; the coordinator is 0
        connection.execute("CREATE TABLE pg_dist_local_group AS SELECT 2 AS groupid")
    with pytest.raises(UnsupportedServer, match=r"a worker of a Citus cluster\. Name the coordinator first"):
        migrate.upgrade(url)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT to_regclass('_yoyo_migration')").fetchone() == (None,)
        connection.execute("UPDATE pg_dist_local_group SET groupid = 0")
    assert len(migrate.upgrade(url)) == len(FILES)
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE pg_dist_local_group SET groupid = 2")
    assert migrate.upgrade(url) == []  # a worker serves, once the coordinator is migrated


def test_of_several_hosts_the_first_one_is_migrated(cluster: EmbeddedPostgres, project: str) -> None:
    url = cluster.create_database(project)
    parameters = conninfo_to_dict(url)
    host, port = parameters["host"], parameters["port"]
    nowhere = make_conninfo(
        url, host=f"{host},{host}", port=f"{port},1", load_balance_hosts="random", connect_timeout=5
    )
    assert len(migrate.upgrade(nowhere)) == len(FILES)
    assert all(migration.applied for migration in migrate.status(nowhere))
