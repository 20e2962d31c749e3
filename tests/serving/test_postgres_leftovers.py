"""What a kill of the owner, of the server or of initdb leaves behind, and that the next start copes with it."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from app.serving import EmbeddedError, processes
from app.serving.data_folder import DataFolder, find_data_folder
from app.serving.embedded import EmbeddedPostgres, accepts_connections
from app.serving.postgres_leftovers import server_processes, stop_leftovers
from tests.support.embedded import ROOT, ask, is_running, on_linux, start_orphan, start_owner
from tests.support.waiting import wait_until


@on_linux
def test_the_server_stops_when_its_owner_is_killed(folder: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    owner = start_owner(folder / "data")
    assert owner.stdout is not None
    postmaster = int(owner.stdout.readline())
    owner.kill()
    owner.communicate()
    wait_until(lambda: not is_running(postmaster))
    assert ask(start().conninfo(), "SELECT 1") == 1


def test_a_server_without_owner_is_stopped_first(folder: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    """As where the kernel sends no signal at the death of a parent, or has not sent it yet."""
    server = start()
    ask(server.conninfo(), "CREATE TABLE kept AS SELECT 7 AS number")
    server.stop()
    orphan = start_orphan(folder)
    assert ask(start().conninfo(), "SELECT number FROM kept") == 7
    assert orphan.wait(5) == 0


@on_linux
@pytest.mark.parametrize("victim", ["postmaster", "backend"])
def test_a_killed_server_process_is_recovered_from(
    folder: Path, start: Callable[..., EmbeddedPostgres], victim: str
) -> None:
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
        # It computes without ever checking that the postmaster runs.
        connection.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 100000000000) a")
        assert server.process is not None
        server.process.kill()
        server.process.wait(5)
        assert ask(server.start(), "SELECT 1") == 1
        wait_until(lambda: not is_running(busy))


def test_a_recycled_process_id_is_no_obstacle(folder: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    server = start()
    pid_file = folder / "data/postgresql/postmaster.pid"
    lines = pid_file.read_text().splitlines()
    assert server.process is not None
    server.process.kill()
    server.process.wait(5)
    server.stop()
    assert accepts_connections(pid_file, b"")
    assert not accepts_connections(pid_file, pid_file.read_bytes())  # the server that is started may have the same id
    # A process of the same account: PostgreSQL compares no more than that.
    owner = pid_file.parent.stat()
    user = owner.st_uid if ROOT else None
    bystander = subprocess.Popen(["/bin/sleep", "60"], cwd=pid_file.parent, user=user)
    try:
        pid_file.write_text("\n".join([str(bystander.pid), *lines[1:], ""]))
        assert ask(start().conninfo(), "SELECT 1") == 1
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_nothing_is_started_if_old_processes_cannot_be_listed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_data_folder(folder / "data")
    (found.cluster / "postmaster.pid").write_text("1\n")
    monkeypatch.setattr(processes, "PROC", folder)  # as on systems without it
    failed = subprocess.CompletedProcess((), processes.CANNOT_START, "", "no ps")
    monkeypatch.setattr(processes, "run_as", lambda *_: failed)
    with pytest.raises(EmbeddedError, match=r"Nobody can tell .*: no ps"):
        stop_leftovers(found, found.cluster)


@on_linux
def test_root_finds_processes_of_the_account_before_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two servers on the same files would destroy them."""
    found = DataFolder(folder, folder, folder, (1, 1))
    running = {(1, 1): [7], None: [7, 8]}
    monkeypatch.setattr(processes, "postgres_working_in", lambda _, user: running[user])
    assert sorted(server_processes(found, folder)) == [7, 8]


def test_an_initdb_that_was_killed_is_repeated(empty: Path, start: Callable[..., EmbeddedPostgres]) -> None:
    data_dir = empty / "data"
    owner = start_owner(data_dir)
    deadline = time.monotonic() + 10
    while not (data_dir / "postgresql.unfinished" / "global" / "pg_control").exists():
        assert time.monotonic() < deadline
        time.sleep(0.005)
    working = processes.postgres_working_in(data_dir / "postgresql.unfinished", find_data_folder(data_dir).user)
    assert any(Path(f"/proc/{process}/exe").readlink().name == "initdb" for process in working or [])
    owner.kill()
    owner.communicate()
    assert not (data_dir / "postgresql").exists()
    assert ask(start().conninfo(), "SELECT 1") == 1
    assert not (data_dir / "postgresql.unfinished").exists()
