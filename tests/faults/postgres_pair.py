"""Two PostgreSQL servers: a primary, and a standby that confirms each commit (``docs/high-availability.md``)."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from app.serving import processes
from app.serving.data_folder import find_data_folder
from app.serving.postgres_programs import SERVER_ENVIRONMENT
from tests.support.ports import free_port
from tests.support.waiting import wait_until

ACCOUNT = "sample_resource"

_NAMES = ("primary", "standby")
"""Of the folders of the two servers, by what they are at first."""


class PostgresPair:
    """A primary with an empty database and its standby, both on TCP ports of 127.0.0.1."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sample-resource-pair-"))
        self.folder.chmod(0o755)
        data = find_data_folder(self.folder / "account")
        self._user = data.user
        self.programs = _programs(data.programs, self._user)
        self.ports = (free_port(), free_port())
        self._running: list[subprocess.Popen[bytes]] = []
        self._processes: dict[int, psutil.Process] = {}
        for name in _NAMES:
            (self.folder / name).mkdir(mode=0o700)
            data.hand_over(self.folder / name)
        primary, standby = (self.folder / name for name in _NAMES)
        self._run("initdb", "-D", str(primary), "-U", ACCOUNT, "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8",
                  "--data-checksums")  # fmt: skip
        self.primary = self._start(0)
        with self.connect(0, "postgres") as connection:
            connection.execute(f"CREATE DATABASE {ACCOUNT}")
        self._run("pg_basebackup", "-D", str(standby), "-h", "127.0.0.1", "-p", str(self.ports[0]), "-U", ACCOUNT,
                  "--checkpoint=fast", "--write-recovery-conf")  # fmt: skip
        self.standby = self._start(1)
        self.wait_for_standby(0)

    @property
    def url(self) -> str:
        """Both servers; libpq takes the one that accepts writes."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        return f"postgresql://{ACCOUNT}@{hosts}/{ACCOUNT}?target_session_attrs=read-write"

    @property
    def version(self) -> str:
        with self.connect(1) as connection:
            return str(_value(connection, "SHOW server_version"))

    def connect(self, server: int, database: str = ACCOUNT) -> psycopg.Connection[Any]:
        """A connection to one of them: 0 is the primary that was, 1 the standby that was."""
        port = self.ports[server]
        return psycopg.connect(host="127.0.0.1", port=port, user=ACCOUNT, dbname=database, autocommit=True)

    def kill_primary(self) -> None:
        """End all processes of the primary at once, as a machine does whose power fails."""
        _each(self.primary, psutil.Process.kill)
        self.primary.wait(10)

    def suspend_standby(self) -> None:
        """Let the standby neither receive nor confirm anything, without closing its connection."""
        _each(self.standby, psutil.Process.suspend)

    def resume_standby(self) -> None:
        """Let it go on."""
        _each(self.standby, psutil.Process.resume)

    def promote(self, server: int) -> None:
        """Let a standby accept writes, and commit alone."""
        with self.connect(server) as connection:
            connection.execute("ALTER SYSTEM RESET synchronous_standby_names")
            connection.execute("SELECT pg_reload_conf()")
            assert _value(connection, "SELECT pg_promote()") is True

    def wait_for_standby(self, server: int) -> None:
        """Let a primary confirm no commit any more that its standby does not have. Its standby must run."""
        with self.connect(server) as connection:
            streams = "SELECT state FROM pg_stat_replication"
            wait_until(lambda: _value(connection, streams) == "streaming", 30, self._log_of(1 - server))
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.execute("SELECT pg_reload_conf()")
            wait_until(lambda: _value(connection, "SELECT sync_state FROM pg_stat_replication") == "sync")

    def stop_for_switch_over(self, server: int) -> None:
        """Stop a primary when its standby has everything; when it starts again, it is a standby."""
        with self.connect(server) as connection:
            connection.execute(f"ALTER SYSTEM SET primary_conninfo = '{self._conninfo(1 - server)}'".encode())
        self._sign_as_standby(server)
        self._stop(server)

    def start_as_standby(self, server: int) -> None:
        """Start a server that was stopped or lost, as the rule says: as a standby, whatever it was."""
        self._sign_as_standby(server)
        self._start(server)

    def rewind(self, server: int) -> None:
        """Make the lost primary, which runs again, the standby of the other server, which was promoted."""
        data = self.folder / _NAMES[server]
        with self.connect(1 - server) as connection:
            connection.execute("CHECKPOINT")
        self._stop(server)
        self._run("pg_rewind", "-D", str(data), f"--source-server={self._conninfo(1 - server)} dbname=postgres",
                  "--write-recovery-conf")  # fmt: skip
        self._start(server)

    def is_standby(self, server: int) -> bool:
        """Whether a server accepts no writes."""
        with self.connect(server) as connection:
            return bool(_value(connection, "SELECT pg_is_in_recovery()"))

    def remove(self) -> None:
        """Stop both and delete their data."""
        for process in self._running:
            with suppress(psutil.NoSuchProcess):
                _each(psutil.Process(process.pid), psutil.Process.kill)
            process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        done = processes.run_as(self._user, [str(self.programs / program), *arguments], SERVER_ENVIRONMENT)
        assert done.returncode == 0, f"{program}: {done.stderr}"

    def _log_of(self, server: int) -> Callable[[], str]:
        return (self.folder / f"{_NAMES[server]}.log").read_text

    def _conninfo(self, server: int) -> str:
        return f"host=127.0.0.1 port={self.ports[server]} user={ACCOUNT}"

    def _stop(self, server: int) -> None:
        process = self._processes[server]
        process.send_signal(signal.SIGINT)
        process.wait(30)

    def _sign_as_standby(self, server: int) -> None:
        path = self.folder / _NAMES[server] / "standby.signal"
        done = processes.run_as(self._user, ["/usr/bin/touch", str(path)], SERVER_ENVIRONMENT)
        assert done.returncode == 0, done.stderr

    def _start(self, server: int) -> psutil.Process:
        data, port = self.folder / _NAMES[server], self.ports[server]
        settings = {
            "port": port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "wal_level": "replica",
            "wal_keep_size": "256MB",
        }
        options = [option for name, value in settings.items() for option in ("-c", f"{name}={value}")]
        with (self.folder / f"{data.name}.log").open("wb") as log:
            process = processes.spawn(
                [str(self.programs / "postgres"), "-D", str(data), *options],
                environment=SERVER_ENVIRONMENT,
                folder=Path("/"),
                output=log.fileno(),
                user=self._user,
            )
        self._running.append(process)
        self._processes[server] = psutil.Process(process.pid)

        def answers() -> bool:
            try:
                with psycopg.connect(host="127.0.0.1", port=port, user=ACCOUNT, dbname="postgres"):
                    return True
            except psycopg.OperationalError:
                return False

        wait_until(answers, 30, self._log_of(server))
        return self._processes[server]


def _each(server: psutil.Process, do: Callable[[psutil.Process], None]) -> None:
    """Do something with the main process of a server and all that it has started."""
    for process in [server, *server.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            do(process)


def _programs(of_the_wheel: Path, user: tuple[int, int] | None) -> Path:
    """A folder with all programs that a pair needs: of the system's PostgreSQL, or of the wheel."""
    for programs in (*sorted(Path("/usr/lib/postgresql").glob("*/bin")), of_the_wheel):
        needed = [programs / name for name in ("initdb", "postgres", "pg_basebackup", "pg_rewind")]
        version = [str(programs / "postgres"), "--version"]
        if all(os.access(program, os.X_OK) for program in needed) and not processes.run_as(user, version).returncode:
            return programs
    pytest.skip("no PostgreSQL with pg_basebackup and pg_rewind that its account can run")


def _value(connection: psycopg.Connection[Any], query: str) -> Any:
    row = connection.execute(query.encode()).fetchone()
    return None if row is None else row[0]
