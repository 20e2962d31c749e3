"""The embedded PostgreSQL: start, stop, databases, messages, and commands that use the running server."""

import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from app.serving import EmbeddedError, embedded
from app.serving.embedded import EmbeddedPostgres, database, running
from tests.support.embedded import FAST, ask, is_running


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
    sockets = Path(str(conninfo_to_dict(conninfo)["host"]))
    assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
    server.stop()
    assert not is_running(pid)
    assert not sockets.exists()
    assert ask(start().conninfo(), "SELECT number FROM kept") == 7


def test_writes_are_durable_by_default(empty: Path) -> None:
    with EmbeddedPostgres(empty / "data") as server:
        assert ask(server.conninfo(), "SHOW fsync") == "on"
        assert ask(server.conninfo(), "SHOW synchronous_commit") == "on"
        assert ask(server.conninfo(), "SHOW full_page_writes") == "on"


def test_a_first_start_that_fails_gives_the_reason_and_can_be_repeated(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "DATABASE", "two words")
    with pytest.raises(EmbeddedError, match=r"postgres failed with exit code 1:(?s:.*)unrecognized role option"):
        EmbeddedPostgres(empty / "data", FAST).start()
    monkeypatch.undo()
    with EmbeddedPostgres(empty / "data", FAST) as server:
        assert ask(server.conninfo(), "SELECT current_user || current_database()") == "sample_resource" * 2


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
    (data_dir / "postgresql/postmaster.pid").write_text("1\n/\n2\n5432\n\n")  # as a server that starts writes it first
    assert running(data_dir) is None


def sockets_of(server: EmbeddedPostgres) -> Path:
    return Path(str(conninfo_to_dict(server.conninfo())["host"]))


@pytest.fixture
def temporary(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files, as open as that of the system."""
    made = Path(tempfile.mkdtemp(prefix="t-", dir="/tmp"))
    made.chmod(0o1777)
    monkeypatch.setenv("TMPDIR", str(made))
    yield made
    shutil.rmtree(made)


def test_the_path_of_the_socket_is_absolute(
    temporary: Path, start: Callable[..., EmbeddedPostgres], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(temporary.parent)
    monkeypatch.setenv("TMPDIR", temporary.name)
    assert sockets_of(start()).parent == temporary


def test_a_server_that_is_started_again_has_the_same_socket(
    temporary: Path, start: Callable[..., EmbeddedPostgres]
) -> None:
    """gunicorn and its workers know its path."""
    server = start()
    path = sockets_of(server)
    assert server.process is not None
    server.process.kill()
    server.process.wait()
    server.start()
    assert sockets_of(server) == path
    assert ask(server.conninfo(), "SELECT 1") == 1
    assert server.process is not None
    server.process.kill()
    server.process.wait()
    shutil.rmtree(path)
    with pytest.raises(EmbeddedError, match=f"{path}, the folder of PostgreSQL's socket, was removed"):
        server.start()
    path.symlink_to(temporary)  # as another account could
    with pytest.raises(EmbeddedError, match=f"{path}, the folder of PostgreSQL's socket, was removed"):
        server.start()
