"""The migration files, and how they are applied, also by several processes at once."""

import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from psycopg import sql

from app.config import Settings
from app.database import migrate
from app.database.migrate import MigrationFailed
from app.extension import installed_package
from tests.support.api import Api
from tests.support.applications import open_app
from tests.support.cluster import Cluster
from tests.support.pages import ROOT

FILES = sorted(path.name for path in migrate.FOLDER.glob("*.sql"))
FOLDERS = (migrate.FOLDER, *installed_package().migrations)


@pytest.fixture
def url(cluster: Cluster, project: str) -> str:
    """A database without tables."""
    return cluster.create_database(project)


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_are_numbered_without_gaps_and_none_waits_without_limit(folder: Path) -> None:
    names = sorted(path.name for path in folder.glob("*.sql"))
    assert [int(re.sub("^[a-z]+[.]", "", name).split(".")[0]) for name in names] == list(range(1, len(names) + 1))
    for name in names:
        text = (folder / name).read_text()
        seconds = re.search(r"^SET LOCAL lock_timeout = '(\d+)s';$", text, re.MULTILINE)
        assert seconds, f"{name} may wait for a lock without limit"
        assert int(seconds[1]) <= 2 or name == names[0], f"requests wait behind {name} for {seconds[1]} s"
        assert "statement_timeout" in text, f"{name} may run without limit"


def test_no_file_is_read_in_the_encoding_of_the_locale() -> None:
    sources = [*(ROOT / "app").rglob("*.py"), *ROOT.glob("workbench/*/src/**/*.py")]
    assert [path for path in sources if "read_text()" in path.read_text("utf-8")] == []


def test_of_several_processes_that_start_at_once_one_migrates(url: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        applied = list(pool.map(lambda _: migrate.upgrade(url), range(8)))
    assert sorted(len(names) for names in applied) == [0] * 7 + [len(FILES)]
    assert all(migrate.status(url).values())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the migrations, to which a test adds its own."""
    for name in FILES:
        shutil.copy(migrate.FOLDER / name, tmp_path)
    monkeypatch.setattr(migrate, "FOLDER", tmp_path)
    migrate.migration_files.cache_clear()
    yield tmp_path
    migrate.migration_files.cache_clear()


def add(folder: Path, name: str, text: str) -> None:
    """Add a migration after the process has looked for them."""
    (folder / name).write_text(text)
    migrate.migration_files.cache_clear()


@pytest.mark.parametrize("name", FILES)
def test_each_statement_of_a_file_ends_with_a_semicolon_at_the_end_of_a_line(name: str) -> None:
    lines = (migrate.FOLDER / name).read_text().splitlines()
    statements = list(migrate.statements("\n".join(lines)))
    assert len(statements) > 2
    for number, statement in statements:
        assert statement.endswith(";"), statement
        assert lines[number - 1] == statement.splitlines()[0]


def test_a_migration_that_fails_leaves_no_trace_and_those_before_it_applied(url: str, folder: Path) -> None:
    (folder / "9998.wrong.sql").write_text("CREATE TABLE half (a int);\n-- Why.\nSELECT 1 -- one;\n  / 0;")
    (folder / "9999.later.sql").write_text("CREATE TABLE later (a int);")
    with pytest.raises(MigrationFailed) as raised:
        migrate.upgrade(url)
    assert str(raised.value) == (
        "Migration 9998.wrong, line 3 (SELECT 1 -- one; / 0;): division by zero\n"
        "Nothing of this migration is applied; those before it are."
    )
    assert [name for name, applied in migrate.status(url).items() if not applied] == ["9998.wrong", "9999.later"]
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT to_regclass('half'), to_regclass('later')").fetchone() == (None, None)
    (folder / "9998.wrong.sql").write_text("CREATE TABLE half (a int);")
    assert migrate.upgrade(url) == ["9998.wrong", "9999.later"]


WAITING = "SET LOCAL lock_timeout = '50ms';\nALTER TABLE resource ADD COLUMN added int;\n"


def test_a_migration_that_gets_no_lock_lets_requests_pass_and_tries_again(
    url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dump, for example, is one long transaction that has read the table."""
    migrate.upgrade(url)
    add(folder, "9999.waits.sql", WAITING)
    pauses = 0
    with psycopg.connect(url) as dump, psycopg.connect(url, autocommit=True) as request:
        dump.execute("SELECT FROM resource")

        def pause(_seconds: float) -> None:
            nonlocal pauses
            pauses += 1
            request.execute("SET statement_timeout = '30s'; SELECT FROM resource")
            if pauses == 3:
                dump.commit()

        monkeypatch.setattr(migrate, "time", SimpleNamespace(sleep=pause))
        assert migrate.upgrade(url) == ["9999.waits"]
    assert pauses == 3


def test_an_index_that_was_built_by_hand_and_not_to_its_end_is_refused(url: str, folder: Path) -> None:
    migrate.upgrade(url)
    add(folder, "9999.by_hand.sql", "CREATE INDEX IF NOT EXISTS by_hand ON resource (project_key);\n")
    concurrently = "CREATE INDEX CONCURRENTLY by_hand ON resource (project_key)"
    with psycopg.connect(url, autocommit=True) as operator:
        with psycopg.connect(url) as writer:
            writer.execute("LOCK TABLE resource IN ROW EXCLUSIVE MODE")
            operator.execute("SET lock_timeout = '50ms'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                operator.execute(concurrently)
        with pytest.raises(MigrationFailed, match="The index by_hand is invalid"):
            migrate.upgrade(url)
        operator.execute("DROP INDEX by_hand; SET lock_timeout = 0")
        operator.execute(concurrently)
    assert migrate.upgrade(url) == ["9999.by_hand"]


def test_a_deadlock_with_a_writer_is_tried_again(url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    migrate.upgrade(url)
    raising = "DO $$ BEGIN RAISE EXCEPTION 'as PostgreSQL does' USING ERRCODE = 'deadlock_detected'; END $$;\n"
    add(folder, "9999.deadlock.sql", raising)

    def pause(_seconds: float) -> None:
        (folder / "9999.deadlock.sql").write_text("SELECT 1;\n")

    monkeypatch.setattr(migrate, "time", SimpleNamespace(sleep=pause))
    assert migrate.upgrade(url) == ["9999.deadlock"]


def test_a_migration_gives_up_when_it_never_gets_the_lock(
    url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate.upgrade(url)
    add(folder, "9999.waits.sql", WAITING)
    monkeypatch.setattr(migrate, "LOCK_ATTEMPTS", 2)
    monkeypatch.setattr(migrate, "time", SimpleNamespace(sleep=lambda _: None))
    with psycopg.connect(url) as export:
        export.execute("SELECT FROM resource")
        with pytest.raises(MigrationFailed, match=r"line 2 .*another transaction held the lock in all of 2 attempts"):
            migrate.upgrade(url)
    assert [name for name, applied in migrate.status(url).items() if not applied] == ["9999.waits"]


def test_a_database_with_another_encoding_is_refused(cluster: Cluster, project: str) -> None:
    name = sql.Identifier(project)
    with psycopg.connect(cluster.conninfo_of("postgres", superuser=True), autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0").format(name)
        )
    with pytest.raises(MigrationFailed, match="the encoding SQL_ASCII; UTF8 is needed"):
        migrate.upgrade(cluster.conninfo_of(project))


def test_the_migrations_of_an_extension_follow_those_of_the_service(url: str, tmp_path: Path) -> None:
    (tmp_path / "another.0001.schema.sql").write_text("CREATE TABLE of_another (a int);")
    ids = [name.removesuffix(".sql") for name in FILES]
    assert migrate.upgrade(url) == ids
    assert [name for name, applied in migrate.status(url, (tmp_path,)).items() if not applied] == [
        "another.0001.schema"
    ]
    assert migrate.upgrade(url, (tmp_path,)) == ["another.0001.schema"]
    assert migrate.upgrade(url) == []  # it is off again


def test_the_status_of_a_database_without_tables_leaves_it_without(url: str) -> None:
    listed = migrate.status(url)
    assert [f"{name}.sql" for name in listed] == FILES
    assert not any(listed.values())
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT FROM pg_tables WHERE schemaname = 'public'").fetchall() == []


def test_requests_to_a_database_without_tables_are_503(url: str, settings: Settings, api: Api) -> None:
    with open_app(settings, database_url=url) as app:
        answer = Api(app, api.project, api.token).get()
        assert answer.status_code == 503
        assert answer.get_json()["message"] == "The database lacks migrations of this version."
        assert "migrations" in app.test_client().get("/health/ready").get_json()["message"]
