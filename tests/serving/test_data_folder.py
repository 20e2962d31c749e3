"""Data folders of the embedded PostgreSQL: odd names, other users, and what is refused."""

import os
import pwd
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from app.serving import EmbeddedError, processes
from app.serving.data_folder import _make_home_in_store, find_data_folder  # pyright: ignore[reportPrivateUsage]
from app.serving.embedded import EmbeddedPostgres
from tests.support.embedded import FAST, as_root, ask
from tests.support.server import NOT_MEASURED, ROOT


@pytest.mark.parametrize(
    "name",
    ["with spaces, commas and 'both' \"quotes\" $HOME `x` \\", "Größe 数据 ➜\u2028\x0c", "/".join(["long" * 50] * 3)],
    ids=["quotes", "unicode", "long"],
)
def test_any_folder_name(empty: Path, start: Callable[..., EmbeddedPostgres], name: str) -> None:
    assert ask(start(empty / name).conninfo(), "SELECT 1") == 1
    assert (empty / name / "postgresql").is_dir()


def test_a_folder_name_with_a_line_break_is_refused(empty: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    with pytest.raises(EmbeddedError, match="PostgreSQL cannot use a path with a line break"):
        start(empty / "new\nline")


def test_of_two_first_starts_the_slower_uses_the_folder_of_the_other(empty: Path, store: Path) -> None:
    store.mkdir()
    made = {_make_home_in_store(empty), _make_home_in_store(empty)}
    assert made == {*store.iterdir()}
    assert len(made) == 1


@as_root
def test_under_root_data_and_programs_are_where_the_account_can_reach_them(
    empty: Path, store: Path, start: Callable[..., EmbeddedPostgres], caplog: pytest.LogCaptureFixture
) -> None:
    private = empty / "private"
    private.mkdir(mode=0o700)
    server = start(private / "data")
    ask(server.conninfo(), "CREATE TABLE kept AS SELECT 7 AS number")
    home = (private / "data/postgresql-is-elsewhere").readlink()
    assert home.parent == store
    assert f"PostgreSQL cannot work in {private / 'data'}; its data are in {home}." in caplog.text
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert server.pid is not None
    # Not /proc/.../exe: root in a container may not follow the links of other accounts' processes.
    program = Path(f"/proc/{server.pid}/cmdline").read_text().partition("\0")[0]
    assert store in Path(program).parents
    assert Path(f"/proc/{server.pid}").stat().st_uid != 0
    server.stop()
    # The link moves along with the folder.
    (private / "data").rename(private / "moved")
    moved = start(private / "moved")
    assert ask(moved.conninfo(), "SELECT number FROM kept") == 7
    moved.stop()
    # A new folder of the old name starts with an empty database.
    begun_anew = start(private / "data")
    assert ask(begun_anew.conninfo(), "SELECT to_regclass('kept')") is None
    begun_anew.stop()
    shutil.rmtree(home)
    with pytest.raises(EmbeddedError, match=f"The data are gone: .* leads to {home}"):
        start(private / "moved")


@as_root
def test_under_root_data_that_the_account_cannot_reach_any_more_are_refused(
    folder: Path, start: Callable[..., EmbeddedPostgres]
) -> None:
    """Otherwise the service would go on with an empty database."""
    (folder / "data").chmod(0o700)
    with pytest.raises(EmbeddedError, match="holds data, and PostgreSQL runs as sample-resource and cannot use them"):
        start()


@as_root
def test_under_root_data_of_another_account_are_refused(folder: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    """The account may have another user id on another machine."""
    start().stop()
    cluster = folder / "data" / "postgresql"
    os.chown(cluster, 12345, 12345)
    with pytest.raises(EmbeddedError, match=f"chown -R sample-resource: {cluster}"):
        start()


@as_root
def test_under_root_folders_in_which_others_can_write_are_refused_and_untouched(
    empty: Path, start: Callable[..., EmbeddedPostgres]
) -> None:
    """There another account could put a link in the way of what root writes."""
    daemon = pwd.getpwnam("daemon")
    data_dir, link = empty / "data", empty / "link"
    data_dir.mkdir(mode=0o711)
    link.symlink_to(data_dir)
    os.chown(link, daemon.pw_uid, daemon.pw_gid, follow_symlinks=False)
    with pytest.raises(EmbeddedError, match=f"only root may own {link} and write in it"):
        start(link)
    for mode in (0o777, 0o775):
        data_dir.chmod(mode)
        with pytest.raises(EmbeddedError, match=f"only root may own {data_dir} and write in it"):
            start(data_dir)
    os.chown(data_dir, daemon.pw_uid, daemon.pw_gid)
    with pytest.raises(EmbeddedError, match=f"only root may own {data_dir} and write in it"):
        start(data_dir)
    assert list(data_dir.iterdir()) == []
    os.chown(data_dir, 0, 0)
    data_dir.chmod(0o711)
    os.chown(link, 0, 0, follow_symlinks=False)
    assert ask(start(link).conninfo(), "SELECT 1") == 1


@as_root
def test_nothing_is_handed_over_through_a_link(empty: Path) -> None:
    folder = find_data_folder(empty / "data")
    kept = empty / "kept"
    kept.mkdir()
    (empty / "link").symlink_to(kept)
    (empty / "file").touch()
    for name in ("link", "file"):
        with pytest.raises(NotADirectoryError):
            folder.hand_over(empty / name)
    assert {kept.owner(), (empty / "file").owner()} == {"root"}
    folder.hand_over(kept)
    assert kept.owner() == "sample-resource"


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
    with pytest.raises(EmbeddedError, match=r"only root may own .*data and write in it\. Run chown"):
        EmbeddedPostgres(empty / "data", FAST).start()


def test_another_major_version_is_refused_and_untouched(folder: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    server = start()
    server.stop()
    cluster = folder / "data/postgresql"
    (cluster / "PG_VERSION").write_text("17\n")
    before = sorted((path.name, path.stat().st_mtime_ns) for path in cluster.iterdir())
    with pytest.raises(
        EmbeddedError, match=r"initialized by PostgreSQL version 17, which is not compatible with .* 18"
    ):
        start()
    assert sorted((path.name, path.stat().st_mtime_ns) for path in cluster.iterdir()) == before


def test_folders_that_are_not_the_services_own_are_refused(empty: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    (empty / "data" / "postgresql").mkdir(parents=True)
    (empty / "data" / "postgresql" / "letters").write_text("dear")
    with pytest.raises(EmbeddedError, match=r"while it started|does not belong to"):
        start()
    assert [path.name for path in (empty / "data" / "postgresql").iterdir()] == ["letters"]
    (empty / "other").mkdir()
    (empty / "other" / "PG_VERSION").write_text("18\n")
    with pytest.raises(EmbeddedError, match="is itself a PostgreSQL cluster"):
        start(empty / "other")
    assert [path.name for path in (empty / "other").iterdir()] == ["PG_VERSION"]


# Accounts under root. Each test has accounts of its own, in a namespace in which another folder is mounted on /etc.

START = """
import logging, os, pathlib, sys
logging.basicConfig(format="%(message)s")
from app.serving.embedded import EmbeddedPostgres
with EmbeddedPostgres(pathlib.Path(sys.argv[1]), {"fsync": "off"}) as server:
    print(os.stat(f"/proc/{server.pid}").st_uid)
"""


class Accounts:
    """The accounts of a machine, without that of the service."""

    def __init__(self, folder: Path) -> None:
        self._etc = folder / "etc"
        subprocess.run(["/bin/cp", "-a", "/etc", str(self._etc)], check=True)
        for name in ("passwd", "group", "shadow", "gshadow"):
            file = self._etc / name
            if file.exists():
                kept = [line for line in file.read_text().splitlines() if not line.startswith("sample-resource:")]
                file.write_text("\n".join(kept) + "\n")

    def uid(self, name: str) -> int | None:
        entries = [line.split(":") for line in (self._etc / "passwd").read_text().splitlines()]
        return next((int(entry[2]) for entry in entries if entry[0] == name), None)

    def run(self, *command: str, path: str = os.environ["PATH"]) -> subprocess.CompletedProcess[str]:
        """Run a command on this machine with these accounts."""
        script = 'mount --bind "$0" /etc && exec "$@"'
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, str(self._etc), *command],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=os.environ | NOT_MEASURED | {"PATH": path},
            cwd=ROOT,
        )

    def start(self, data_dir: Path) -> subprocess.CompletedProcess[str]:
        """Start a server, and stop it; it prints its user id."""
        return self.run(sys.executable, "-c", START, str(data_dir))


@pytest.fixture
def accounts(empty: Path) -> Accounts:
    made = Accounts(empty)
    if made.run("true").returncode != 0:
        pytest.skip("needs to mount a folder in a namespace of its own")
    return made


@as_root
def test_without_an_account_for_it_root_makes_one_that_no_other_program_has(accounts: Accounts, empty: Path) -> None:
    begun = [
        Thread(target=lambda number=number: ran.append(accounts.start(empty / f"{number}"))) for number in range(3)
    ]
    ran: list[subprocess.CompletedProcess[str]] = []
    for thread in begun:  # as workers of pytest do, each with a server of its own
        thread.start()
    for thread in begun:
        thread.join()
    made = accounts.uid("sample-resource")
    assert made not in (None, 0, accounts.uid("nobody"))
    assert [(each.returncode, each.stdout) for each in ran] == [(0, f"{made}\n")] * 3, [each.stderr for each in ran]
    said = "".join(each.stderr for each in ran)
    assert said.count("PostgreSQL does not run as root: the account sample-resource was made for it.") == 1
    again = accounts.start(empty / "0")
    assert (again.stdout, again.stderr) == (f"{made}\n", "")
