"""The embedded PostgreSQL: start, stop, databases, messages, and commands that use the running server."""

import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from app.serving import embedded, processes
from app.serving.embedded import EmbeddedPostgres, database, running
from app.serving.errors import EmbeddedError
from tests.support.embedded import FAST, ask
from tests.support.server import ROOT


def test_starts_stops_and_keeps_the_data(folder: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    server = start()
    conninfo = server.conninfo()
    assert ask(conninfo, "SHOW data_checksums") == "on"
    assert ask(conninfo, "SHOW listen_addresses") == ""
    assert ask(conninfo, "SHOW server_encoding") == "UTF8"
    assert ask(conninfo, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") is False
    for extension in ("btree_gin", "fuzzystrmatch", "pg_trgm", "unaccent"):
        ask(conninfo, f"CREATE EXTENSION {extension}")
    assert ask(conninfo, "SELECT lower('ÄÖ') || similarity('größe', 'GRÖSSE')::text") != "äö0"
    ask(conninfo, "CREATE TABLE kept AS SELECT 7 AS number")
    pid = server.pid
    assert pid is not None
    sockets = Path(psycopg.conninfo.conninfo_to_dict(conninfo)["host"])
    assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
    server.stop()
    assert processes.identity(pid) is None
    assert not sockets.exists()
    assert ask(start().conninfo(), "SELECT number FROM kept") == 7


def test_writes_are_durable_by_default(empty: Path) -> None:
    with EmbeddedPostgres(empty / "data") as server:
        assert ask(server.conninfo(), "SHOW fsync") == "on"
        assert ask(server.conninfo(), "SHOW synchronous_commit") == "on"
        assert ask(server.conninfo(), "SHOW full_page_writes") == "on"


def test_several_databases(folder: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    server = start()
    original = server.create_database("original")
    ask(original, "CREATE TABLE t AS SELECT 1 AS x")
    assert ask(server.create_database("copy", template="original"), "SELECT x FROM t") == 1
    server.drop_database("copy")
    with pytest.raises(psycopg.OperationalError):
        ask(server.conninfo("copy"), "SELECT 1")


@pytest.mark.parametrize("name", ["it's", 'a "quoted" \\ name', "two words"])
def test_any_database_name(start: Callable[..., EmbeddedPostgres], name: str) -> None:
    server = start()
    assert ask(server.create_database(name), "SELECT current_database()") == name
    server.create_database("a-copy", name)
    for made in (name, "a-copy", name):
        server.drop_database(made)
    with pytest.raises(psycopg.OperationalError):
        ask(server.conninfo(name), "SELECT 1")


def test_the_process_that_keeps_the_server_imports_no_driver(empty: Path) -> None:
    """It runs as long as the server does, and the driver would double its memory."""
    code = (
        "import sys, pathlib; import app.cli; from app.serving.embedded import EmbeddedPostgres as E\n"
        "with E(pathlib.Path(sys.argv[1]), {'fsync': 'off'}) as s:\n"
        "    print(s.pid is not None, 'psycopg' in sys.modules)"
    )
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code, str(empty / "data")],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "True False\n"


def test_a_first_start_that_fails_gives_the_reason_and_can_be_repeated(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "DATABASE", "two words")
    with pytest.raises(EmbeddedError, match=r"postgres failed with exit code 1:(?s:.*)unrecognized role option"):
        EmbeddedPostgres(empty / "data", FAST).start()
    monkeypatch.undo()
    with EmbeddedPostgres(empty / "data", FAST) as server:
        assert ask(server.conninfo(), "SELECT current_user || current_database()") == "sample_resource" * 2


def test_a_failed_start_shows_the_log_of_the_server(folder: Path) -> None:
    server = EmbeddedPostgres(folder / "data", {**FAST, "shared_buffers": "nonsense"})
    with pytest.raises(EmbeddedError, match=r"(?s)while it started.*shared_buffers.*postgresql\.log"):
        server.start()
    # The data folder is unlocked.
    with EmbeddedPostgres(folder / "data", FAST) as second:
        assert second.pid is not None


def test_commands_use_the_running_server_or_start_one(empty: Path) -> None:
    data_dir = empty / "data"
    assert running(data_dir) is None
    with database(data_dir) as conninfo:
        ask(conninfo, "CREATE TABLE kept AS SELECT 7 AS number")
        # In another process, since this one holds the lock.
        code = (
            "import sys, pathlib, psycopg; from app.serving.embedded import database\n"
            "with database(pathlib.Path(sys.argv[1])) as c:\n"
            "    print(psycopg.connect(c).execute('SELECT number FROM kept').fetchone()[0])"
        )
        other = subprocess.run(
            [sys.executable, "-c", code, str(data_dir)], capture_output=True, text=True, timeout=30, check=False
        )
        assert other.stdout == "7\n", other.stderr
    assert running(data_dir) is None


def test_variables_of_libpq_and_locale_have_no_effect(
    folder: Path, start: Callable[..., EmbeddedPostgres], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "PGHOSTADDR": "127.0.0.1",
        "PGSERVICE": "nowhere",
        "PGOPTIONS": "-c nonsense=1",
        "PGDATA": "/nonexistent",
        "LD_LIBRARY_PATH": "/nonexistent",
        "LC_ALL": "xx_XX",
    }.items():
        monkeypatch.setenv(name, value)
    assert ask(start().conninfo(), "SELECT 1") == 1


def test_a_socket_folder_of_another_user_is_not_used(
    folder: Path, start: Callable[..., EmbeddedPostgres], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start()
    first = Path(str(psycopg.conninfo.conninfo_to_dict(server.conninfo())["host"]))
    server.stop()
    first.symlink_to(folder)
    try:
        assert f"{first}-1" in start().conninfo()
    finally:
        first.unlink()


def test_temporary_folders_unfit_for_a_socket_are_not_used(
    folder: Path, start: Callable[..., EmbeddedPostgres], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("comma, and space", "long" * 30):
        (folder / name).mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(folder / name))
        server = start()
        assert ask(server.conninfo(), "SELECT 1") == 1
        server.stop()
