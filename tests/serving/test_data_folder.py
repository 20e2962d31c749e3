"""Data folders of the embedded PostgreSQL: odd names, other users, and what is refused."""

import errno
import os
import pwd
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.serving import DataDirInUse, EmbeddedError, processes, server_programs
from app.serving.data_folder import find_data_folder
from app.serving.embedded import EmbeddedPostgres
from tests.support.embedded import FAST, as_root, ask
from tests.support.server import NOT_MEASURED, ROOT


@pytest.mark.parametrize(
    "name",
    ["with spaces, commas and 'both' \"quotes\" $HOME `x` \\", "Größe 数据 ➜", "/".join(["long" * 50] * 3)],
    ids=["quotes", "unicode", "long"],
)
def test_any_folder_name(empty: Path, start: Callable[..., EmbeddedPostgres], name: str) -> None:
    server = start(empty / name)
    assert ask(server.conninfo(), "SELECT 1") == 1
    assert server.home == empty / name


@pytest.mark.parametrize("name", ["/".join(["long" * 50] * 6), "new\nline"], ids=["too-long", "newline"])
def test_folder_names_that_postgresql_cannot_use(
    empty: Path, store: Path, start: Callable[..., EmbeddedPostgres], name: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = start(empty / name)
    ask(server.conninfo(), "CREATE TABLE kept AS SELECT 7 AS number")
    assert server.home.parent == store
    assert str(server.home) in (empty / name / "postgresql-is-elsewhere").read_text()
    assert str(server.home) in caplog.text
    server.stop()
    # The pointer moves along with the folder.
    (empty / name).rename(empty / "moved")
    moved = start(empty / "moved")
    assert ask(moved.conninfo(), "SELECT number FROM kept") == 7
    moved.stop()
    # A new folder of the old name starts with an empty database, and a warning names the old data.
    (empty / name).mkdir()
    caplog.clear()
    begun_anew = start(empty / name)
    assert ask(begun_anew.conninfo(), "SELECT to_regclass('kept')") is None
    assert f"still in {server.home}" in caplog.text


@as_root
def test_under_root_data_and_programs_move_to_where_the_account_can_reach_them(
    empty: Path, store: Path, start: Callable[..., EmbeddedPostgres], monkeypatch: pytest.MonkeyPatch
) -> None:
    private = empty / "private"
    private.mkdir(mode=0o700)
    monkeypatch.setattr(server_programs, "can_run", lambda _account, programs: store in programs.parents)
    server = start(private / "data")
    assert ask(server.conninfo(), "SELECT 1") == 1
    assert server.home.parent == store
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert server.pid is not None
    # Not /proc/.../exe: root in a container may not follow the links of other accounts' processes.
    program = Path(f"/proc/{server.pid}/cmdline").read_text().partition("\0")[0]
    assert store in Path(program).parents
    assert Path(f"/proc/{server.pid}").stat().st_uid != 0


@as_root
def test_under_root_the_owner_of_the_folder_runs_it(empty: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    owner = pwd.getpwnam("daemon")
    data_dir = empty / "data"
    data_dir.mkdir(mode=0o700)
    os.chown(data_dir, owner.pw_uid, owner.pw_gid)
    server = start(data_dir)
    assert ask(server.conninfo(), "SELECT 1") == 1
    assert {path.stat().st_uid for path in data_dir.iterdir()} == {owner.pw_uid}


@as_root
def test_an_ordinary_user_runs_it(empty: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(empty, nobody.pw_uid, nobody.pw_gid)
    code = (
        "import sys, os, pathlib, psycopg; from app.serving.embedded import EmbeddedPostgres as E\n"
        "with E(pathlib.Path(sys.argv[1]), {'fsync': 'off'}) as s:\n"
        "    print(psycopg.connect(s.conninfo()).execute('SELECT 41 + 1').fetchone()[0], os.geteuid())"
    )
    # Only root may be able to reach the interpreter of the tests; then that of the machine is used.
    environment = {"HOME": "/nonexistent", "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    for interpreter in (sys.executable, "/usr/bin/python3"):
        known = processes.run_as(
            (nobody.pw_uid, nobody.pw_gid), [interpreter, "-c", "import app.serving.embedded"], environment
        )
        if known.returncode == 0:
            break
    else:
        pytest.skip("no interpreter of this version is within nobody's reach")
    done = processes.run_as((nobody.pw_uid, nobody.pw_gid), [interpreter, "-c", code, str(empty / "data")], environment)
    assert done.stdout == f"42 {nobody.pw_uid}\n", done.stderr
    # Root starts it as the same user.
    with EmbeddedPostgres(empty / "data", FAST) as server:
        assert Path(f"/proc/{server.pid}").stat().st_uid == nobody.pw_uid


@as_root
def test_the_data_of_another_user_are_refused(start: Callable[..., EmbeddedPostgres], folder: Path) -> None:
    start().stop()
    said = start_as(65534, folder / "data")
    assert "EmbeddedError: DATA_DIR" in said
    assert "belongs to root, not to nobody. Start the service as its owner" in said


def start_as(uid: int, data_dir: Path) -> str:
    """What an attempt of another account says at its end."""
    code = (
        "import os, sys, pathlib; from app.serving.embedded import EmbeddedPostgres as E\n"
        f"os.setgroups([]); os.setgid({uid}); os.setuid({uid}); E(pathlib.Path(sys.argv[1])).start()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(data_dir)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env=os.environ | NOT_MEASURED,  # the account may not write to this folder
    )
    return done.stderr.splitlines()[-1]


@as_root
def test_a_folder_that_the_account_cannot_enter_is_refused_by_the_name_of_its_owner(empty: Path) -> None:
    (empty / "data").mkdir(mode=0o700)
    said = start_as(65534, empty / "data")
    assert f"EmbeddedError: DATA_DIR: {empty / 'data'} belongs to root, not to nobody." in said


@as_root
def test_an_account_without_a_name_is_refused_before_anything_is_made(empty: Path) -> None:
    empty.chmod(0o777)
    said = start_as(12345, empty / "data")
    assert (
        "PostgreSQL needs a name for its account, and user id 12345 has none here: start the service as another" in said
    )
    assert not (empty / "data").exists()


def test_a_second_start_is_refused_and_names_the_first(folder: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    server = start()
    with pytest.raises(DataDirInUse) as refused:
        start()
    assert f"pid {os.getpid()}" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert ask(server.conninfo(), "SELECT 1") == 1


def test_a_full_disk_does_not_leave_the_folder_in_use(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The supervisor tries again until there is room."""

    def no_room(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    folder = find_data_folder(empty)
    with monkeypatch.context() as disk:
        disk.setattr(os, "pwrite", no_room)
        with pytest.raises(OSError, match="No space left"):
            folder.lock()
    os.close(folder.lock())


def test_another_major_version_is_refused_and_untouched(folder: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    server = start()
    server.stop()
    cluster = server.home / "postgresql"
    (cluster / "PG_VERSION").write_text("17\n")
    before = sorted((path.name, path.stat().st_mtime_ns) for path in cluster.iterdir())
    with pytest.raises(EmbeddedError, match=r"are of PostgreSQL 17, the installed programs are of PostgreSQL 18"):
        start()
    assert sorted((path.name, path.stat().st_mtime_ns) for path in cluster.iterdir()) == before


def test_folders_that_are_not_the_services_own_are_refused(empty: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    (empty / "data" / "postgresql").mkdir(parents=True)
    (empty / "data" / "postgresql" / "letters").write_text("dear")
    with pytest.raises(EmbeddedError, match="not a PostgreSQL cluster"):
        start()
    (empty / "other").mkdir()
    (empty / "other" / "PG_VERSION").write_text("18\n")
    with pytest.raises(EmbeddedError, match="is itself a PostgreSQL cluster"):
        start(empty / "other")
    assert [path.name for path in (empty / "other").iterdir()] == ["PG_VERSION"]
