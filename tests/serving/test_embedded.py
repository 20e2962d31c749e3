"""The embedded PostgreSQL: odd places, other users, half-done starts, and what a kill leaves behind."""

import contextlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path

import psycopg
import pytest

from app.serving import embedded, processes
from app.serving.embedded import DataDirInUse, EmbeddedError, EmbeddedPostgres, database, running

REPOSITORY = Path(__file__).resolve().parents[2]
ROOT = os.geteuid() == 0
LINUX = sys.platform == "linux"
FAST = {"fsync": "off"}

as_root = pytest.mark.skipif(not ROOT, reason="needs root to be another user")
on_linux = pytest.mark.skipif(not LINUX, reason="needs Linux's /proc")


@pytest.fixture
def empty() -> Generator[Path]:
    """A folder that other users reach too, unlike pytest's own."""
    path = Path(tempfile.mkdtemp(prefix="embedded-test-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def folder(empty: Path, new_cluster: Path) -> Path:
    """The same with a database in it, since making one takes the longest part of a start."""
    subprocess.run(["/bin/cp", "-a", str(new_cluster), str(empty / "data")], check=True)
    return empty


@pytest.fixture(scope="session")
def new_cluster() -> Generator[Path]:
    path = Path(tempfile.mkdtemp(prefix="embedded-test-"))
    path.chmod(0o755)
    with EmbeddedPostgres(path / "data", FAST):
        pass
    yield path / "data"
    shutil.rmtree(path)


@pytest.fixture
def store(empty: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where data and programs move that cannot stay; not the machine's own place."""
    path = empty / "store"
    monkeypatch.setattr(embedded, "_store", lambda: path)
    return path


@pytest.fixture
def start(empty: Path) -> Generator[Callable[..., EmbeddedPostgres]]:
    """Start a server that is stopped after the test."""
    servers: list[EmbeddedPostgres] = []

    def start_server(data_dir: Path = empty / "data") -> EmbeddedPostgres:
        server = EmbeddedPostgres(data_dir, FAST)
        servers.append(server)
        server.start()
        return server

    yield start_server
    for server in servers:
        server.stop()


def ask(conninfo: str, query: str) -> object:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        cursor = connection.execute(query)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def leave_unowned(data_dir: Path) -> subprocess.Popen[bytes]:
    """A process that starts a server and waits; to be killed."""
    code = (
        "import sys, pathlib; from app.serving.embedded import EmbeddedPostgres as E;"
        "s = E(pathlib.Path(sys.argv[1]), {'fsync': 'off'}); s.start(); print(s.pid, flush=True); sys.stdin.read()"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, str(data_dir)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )


def gone(pid: int, within_s: float = 10) -> bool:
    deadline = time.monotonic() + within_s
    while processes.identity(pid) is not None:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


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


def test_durable_unless_told_otherwise(empty: Path) -> None:
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
    # Who removes the folder begins anew, and is told of what is left.
    (empty / name).mkdir()
    caplog.clear()
    begun_anew = start(empty / name)
    assert ask(begun_anew.conninfo(), "SELECT to_regclass('kept')") is None
    assert f"still in {server.home}" in caplog.text


@as_root
def test_root_moves_what_its_account_cannot_reach(
    empty: Path, store: Path, start: Callable[..., EmbeddedPostgres], monkeypatch: pytest.MonkeyPatch
) -> None:
    private = empty / "private"
    private.mkdir(mode=0o700)
    monkeypatch.setattr(embedded, "_runs", lambda _user, programs: store in programs.parents)
    server = start(private / "data")
    assert ask(server.conninfo(), "SELECT 1") == 1
    assert server.home.parent == store
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert server.pid is not None
    program = Path(f"/proc/{server.pid}/exe").resolve()
    assert store in program.parents
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


def test_whoever_keeps_the_server_loads_no_driver(empty: Path) -> None:
    """It runs as long as the server does, and the driver takes as much memory as all the rest of it."""
    code = (
        "import sys, pathlib; import app.cli; from app.serving.embedded import EmbeddedPostgres as E\n"
        "with E(pathlib.Path(sys.argv[1]), {'fsync': 'off'}) as s:\n"
        "    print(s.pid is not None, 'psycopg' in sys.modules)"
    )
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code, str(empty / "data")],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "True False\n"


def test_a_first_start_that_fails_says_why_and_leaves_nothing_half_made(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "DATABASE", "two words")
    with pytest.raises(EmbeddedError, match=r"postgres failed with exit code 1:(?s:.*)unrecognized role option"):
        EmbeddedPostgres(empty / "data", FAST).start()
    monkeypatch.undo()
    with EmbeddedPostgres(empty / "data", FAST) as server:
        assert ask(server.conninfo(), "SELECT current_user || current_database()") == "sample_resource" * 2


@pytest.mark.parametrize("name", ["it's", 'a "quoted" \\ name', "two words"])
def test_any_database_name(start: Callable[..., EmbeddedPostgres], name: str) -> None:
    server = start()
    assert ask(server.create_database(name), "SELECT current_database()") == name
    server.create_database("a-copy", name)
    for made in (name, "a-copy", name):
        server.drop_database(made)
    with pytest.raises(psycopg.OperationalError):
        ask(server.conninfo(name), "SELECT 1")


@as_root
def test_ordinary_user(empty: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(empty, nobody.pw_uid, nobody.pw_gid)
    code = (
        "import sys, os, pathlib, psycopg; from app.serving.embedded import EmbeddedPostgres as E\n"
        "with E(pathlib.Path(sys.argv[1]), {'fsync': 'off'}) as s:\n"
        "    print(psycopg.connect(s.conninfo()).execute('SELECT 41 + 1').fetchone()[0], os.geteuid())"
    )
    # The interpreter of the tests may be one that only root reaches; the machine's own will do as well.
    environment = {"HOME": "/nonexistent", "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *sys.path])}
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
    # The same user's second start finds it too, and so does root.
    with EmbeddedPostgres(empty / "data", FAST) as server:
        assert Path(f"/proc/{server.pid}").stat().st_uid == nobody.pw_uid


@as_root
def test_an_ordinary_user_is_refused_the_data_of_another(start: Callable[..., EmbeddedPostgres], folder: Path) -> None:
    start().stop()
    code = (
        "import os, sys, pathlib; from app.serving.embedded import EmbeddedPostgres as E\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534); E(pathlib.Path(sys.argv[1])).start()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder / "data")], capture_output=True, text=True, timeout=30, check=False
    )
    assert "EmbeddedError: DATA_DIR" in done.stderr
    assert "belongs to root, not to nobody. Start the service as its owner" in done.stderr


def test_a_second_start_names_the_first_and_leaves_it_alone(
    folder: Path, start: Callable[..., EmbeddedPostgres]
) -> None:
    server = start()
    with pytest.raises(DataDirInUse) as refusal:
        start()
    assert f"pid {os.getpid()}" in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert ask(server.conninfo(), "SELECT 1") == 1


def test_commands_use_the_running_server_or_their_own(empty: Path) -> None:
    data_dir = empty / "data"
    assert running(data_dir) is None
    with database(data_dir) as conninfo:
        ask(conninfo, "CREATE TABLE kept AS SELECT 7 AS number")
        # In another process, since it is another one's lock.
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


def test_the_environment_leads_nobody_astray(
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


@on_linux
def test_killed_owner_takes_the_server_along(folder: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    owner = leave_unowned(folder / "data")
    assert owner.stdout is not None
    postmaster = int(owner.stdout.readline())
    owner.kill()
    owner.communicate()
    assert gone(postmaster)
    assert ask(start().conninfo(), "SELECT 1") == 1


def test_a_server_without_owner_is_stopped_first(folder: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    """As it is where the kernel does not tell children of their parent's death, or has not yet."""
    server = start()
    ask(server.conninfo(), "CREATE TABLE kept AS SELECT 7 AS number")
    orphan, lock = server.process, server._lock
    assert orphan is not None
    assert lock is not None
    os.close(lock)
    server._lock, server.process = None, None
    reaper = subprocess.Popen(["/bin/true"])
    reaper.wait()
    assert ask(start().conninfo(), "SELECT number FROM kept") == 7
    orphan.wait(5)


@on_linux
@pytest.mark.parametrize("victim", ["postmaster", "backend"])
def test_killed_server_processes(folder: Path, start: Callable[..., EmbeddedPostgres], victim: str) -> None:
    server = start()
    with psycopg.connect(server.conninfo()) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
        connection.commit()
        target = server.pid if victim == "postmaster" else connection.info.backend_pid
        assert target is not None
        os.kill(target, signal.SIGKILL)
        if victim == "postmaster":
            assert server.process is not None
            server.process.wait(5)
            assert server.pid is None
        else:
            with pytest.raises(psycopg.OperationalError):
                connection.execute("SELECT 1")
    deadline = time.monotonic() + 10
    while True:
        try:
            assert ask(server.start(), "SELECT number FROM kept") == 7
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return


@on_linux
def test_a_busy_backend_of_a_killed_postmaster_does_not_block(
    folder: Path, start: Callable[..., EmbeddedPostgres]
) -> None:
    server = start()
    with contextlib.closing(psycopg.connect(server.conninfo())) as connection:
        busy = connection.info.backend_pid
        # Computes without ever looking whether the postmaster lives.
        connection.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 100000000000) a")
        assert server.process is not None
        server.process.kill()
        server.process.wait(5)
        assert ask(server.start(), "SELECT 1") == 1
        assert gone(busy, within_s=1)


def test_a_recycled_process_id_is_no_obstacle(folder: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    server = start()
    pid_file = server.home / "postgresql" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    assert server.process is not None
    server.process.kill()
    server.process.wait(5)
    server.stop()
    # A process of the same account, which is all that PostgreSQL looks at.
    owner = pid_file.parent.stat()
    bystander = subprocess.Popen(["/bin/sleep", "60"], cwd=pid_file.parent, **({"user": owner.st_uid} if ROOT else {}))
    try:
        pid_file.write_text("\n".join([str(bystander.pid), *lines[1:], ""]))
        assert ask(start().conninfo(), "SELECT 1") == 1
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.parametrize("text", ["", "123", "nonsense\n\n"], ids=["empty", "cut", "nonsense"])
def test_a_spoiled_pid_file_is_no_obstacle(folder: Path, start: Callable[..., EmbeddedPostgres], text: str) -> None:
    server = start()
    home = server.home
    server.stop()
    pid_file = home / "postgresql" / "postmaster.pid"
    pid_file.write_text(text)
    owner = pid_file.parent.stat()
    os.chown(pid_file, owner.st_uid, owner.st_gid)
    assert ask(start().conninfo(), "SELECT 1") == 1


@on_linux
def test_an_initdb_that_was_killed_is_done_again(empty: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    data_dir = empty / "data"
    owner = leave_unowned(data_dir)
    deadline = time.monotonic() + 10
    while not (data_dir / "postgresql.unfinished" / "global" / "pg_control").exists():
        assert time.monotonic() < deadline
        time.sleep(0.005)
    owner.kill()
    owner.communicate()
    assert not (data_dir / "postgresql").exists()
    server = start()
    assert ask(server.conninfo(), "SELECT 1") == 1
    assert not (data_dir / "postgresql.unfinished").exists()


def test_another_major_version_is_refused_and_untouched(folder: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    server = start()
    server.stop()
    cluster = server.home / "postgresql"
    (cluster / "PG_VERSION").write_text("17\n")
    before = sorted((path.name, path.stat().st_mtime_ns) for path in cluster.iterdir())
    with pytest.raises(EmbeddedError, match=r"are of PostgreSQL 17, the installed programs are of PostgreSQL 18"):
        start()
    assert sorted((path.name, path.stat().st_mtime_ns) for path in cluster.iterdir()) == before


def test_a_folder_that_is_no_cluster_is_refused(empty: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    (empty / "data" / "postgresql").mkdir(parents=True)
    (empty / "data" / "postgresql" / "letters").write_text("dear")
    with pytest.raises(EmbeddedError, match="not a PostgreSQL cluster"):
        start()
    (empty / "other").mkdir()
    (empty / "other" / "PG_VERSION").write_text("18\n")
    with pytest.raises(EmbeddedError, match="is itself a PostgreSQL cluster"):
        start(empty / "other")
    assert [path.name for path in (empty / "other").iterdir()] == ["PG_VERSION"]


def test_a_failed_start_shows_the_servers_words(folder: Path) -> None:
    server = EmbeddedPostgres(folder / "data", {**FAST, "shared_buffers": "nonsense"})
    with pytest.raises(EmbeddedError, match=r"(?s)while it started.*shared_buffers.*postgresql\.log"):
        server.start()
    # The folder is free again.
    with EmbeddedPostgres(folder / "data", FAST) as second:
        assert second.pid is not None


def test_somebody_elses_socket_folder_is_not_used(
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


def test_temporary_folders_that_a_socket_path_cannot_name(
    folder: Path, start: Callable[..., EmbeddedPostgres], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("comma, and space", "long" * 30):
        (folder / name).mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(folder / name))
        server = start()
        assert ask(server.conninfo(), "SELECT 1") == 1
        server.stop()
