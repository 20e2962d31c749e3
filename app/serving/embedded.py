"""The embedded PostgreSQL: a server that this process starts on a data folder, and stops.

The programs of the server come from a Python package. The server listens only on a socket in a private folder. If a
killed process left a server running on the data folder, the next owner of the folder stops that server and continues
with the same data. The supervisor keeps this module in memory as long as the server runs, so only :func:`running`,
which the supervisor does not call, imports psycopg: that takes 12 MiB.
"""

import contextlib
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Self

from app.serving import DataDirInUse, EmbeddedError, processes
from app.serving.data_folder import DataFolder, find_data_folder, find_home, sync_folder
from app.serving.postgres_leftovers import environment_despite_pid_file, stop_leftovers
from app.serving.postgres_programs import SERVER_ENVIRONMENT
from app.serving.postgres_socket import PORT, make_socket_folder, raise_if_not_private

logger = logging.getLogger(__name__)

DATABASE = "sample_resource"
"""The name of the service's database, and of the role without special privileges that owns it."""

_SUPERUSER = "postgres"

_CHARACTER_LOCALE = "C.UTF-8" if sys.platform == "linux" else "en_US.UTF-8"
"""The locale by which full text search and trigrams ask the C library which characters are letters. The C library needs
a UTF-8 locale to know letters beyond ASCII. Linux distributions have the first, macOS the second; an image without
files of locales has none."""

PATIENCE_S = 30.0
"""The longest wait of a command for another process that is starting or stopping the server."""

_TOLD_EVERY_S = 60.0
"""The seconds between two lines in the log that say that the server is not ready yet."""

_SERVER_SETTINGS: dict[str, str] = {
    # With PostgreSQL's I/O workers, statements of two scans took 2.5 times as long on few cores.
    "io_method": "sync",
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
    # The log contains starts, stops and crashes of the server and ends of sessions, but no failed or interrupted
    # statements, because the service logs failures. In this log they would fill the disk and show the users' data. At a
    # crash it contains the beginning of the statement that was running, in which the service's values are parameters.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_checkpoints": "off",
}
"""The server's settings. fsync, synchronous_commit and full_page_writes keep PostgreSQL's default, which is on."""


class EmbeddedPostgres:
    """A PostgreSQL server on a data folder, which this process owns while the server runs. On Linux with setpriv
    (:func:`app.serving.processes.spawn`) the server also ends when the thread ends that has started it.

    :param data_dir: the data folder. It is made if it does not exist, and its data are kept.
    :param settings: further server settings, such as ``{"fsync": "off"}`` for a test.
    """

    def __init__(self, data_dir: Path, settings: Mapping[str, str] | None = None) -> None:
        # The path is made absolute, because PostgreSQL's programs have another working directory. abspath also removes
        # "link/.." from the path, without following the link. If "link/.." stayed in the path, this process and
        # PostgreSQL's programs would use different folders: this process would follow the link, and the programs would
        # remove "link/..".
        self.data_dir = Path(os.path.abspath(data_dir))  # noqa: PTH100 -- absolute() keeps the dots
        self.process: subprocess.Popen[bytes] | None = None
        self._settings = dict(settings or {})
        self._lock: int | None = None
        self._folder: DataFolder | None = None
        self._sockets: Path | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int | None:
        """The process id of the server, or of a program that makes its cluster; None if none of them runs."""
        process = self.process
        return process.pid if process is not None and process.poll() is None else None

    def start(self) -> str:
        """Start the server, unless it runs, and return a libpq connection string of the service's database.

        It can be called again after the server has crashed; the data folder stays locked in between. It removes libpq's
        variables (``PG*``) from the environment of this process.

        :raises DataDirInUse: if the data folder is owned by another process, or by another :class:`EmbeddedPostgres` of
            this process. The data folder is left unchanged.
        :raises EmbeddedError: if the server does not start for another reason, with the last lines of its log if there
            are any.
        """
        if self.pid is not None:
            return self.conninfo()
        _remove_libpq_variables()
        # A restart follows a start that succeeded. If a restart fails, the lock and the path of the socket are kept for
        # the next attempt. If the first start fails, both are given up.
        is_restart = self._sockets is not None
        try:
            folder = self._folder = self._folder or find_data_folder(self.data_dir)
            if self._lock is None:
                self._lock = folder.lock()
            stop_leftovers(folder, folder.cluster)
            if not folder.cluster.exists():
                self._initialise(folder)
            if self._sockets is None:
                self._sockets = make_socket_folder(folder)
            else:  # the path stays, because clients know it
                raise_if_not_private(folder, self._sockets)
            self._launch(folder, self._sockets)
        except BaseException as error:
            if is_restart:
                self._stop_server()
            else:
                self.stop()
            if isinstance(error, OSError):
                raise EmbeddedError(f"DATA_DIR {self.data_dir}: {error}") from error
            raise
        return self.conninfo()

    def stop(self) -> None:
        """Stop the server if it runs, remove its sockets and unlock the data folder. A second call does nothing."""
        self._stop_server()
        if self._sockets is not None:
            shutil.rmtree(self._sockets, ignore_errors=True)
            self._sockets = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _stop_server(self) -> None:
        """Stop the server if it runs. Then stop the server processes that still run on the data folder: if the server
        has crashed or was killed, its child processes may still run.

        If they cannot be stopped, the error is only logged.
        """
        if self.process is not None:
            _stop_in_order(self.process)
            self.process = None
        # Without the lock, the data folder may have another owner, whose server must not be stopped.
        if self._folder is not None and self._lock is not None:
            try:
                stop_leftovers(self._folder, self._folder.cluster)
            except (OSError, EmbeddedError) as error:
                logger.error("%s", error)  # the next start tries again to stop the leftovers

    def conninfo(self) -> str:
        """The libpq connection string of the service's database.

        :raises EmbeddedError: before a start and after a stop.
        """
        if self._sockets is None:
            raise EmbeddedError("the embedded PostgreSQL does not run")
        return _conninfo(self._sockets)

    def _initialise(self, folder: DataFolder) -> None:
        """Make the cluster under another name and rename it at the end, so that no incomplete one is ever started."""
        unfinished = folder.home / "postgresql.unfinished"
        stop_leftovers(folder, unfinished)
        if unfinished.exists():
            logger.warning("An unfinished database in %s is made again.", unfinished)
            shutil.rmtree(unfinished)
        unfinished.mkdir(mode=0o700)
        folder.hand_over(unfinished)
        command = [
            folder.program("initdb"),
            f"--pgdata={unfinished}",
            f"--username={_SUPERUSER}",
            # The two --auth options make the cluster's own pg_hba.conf. PostgreSQL reads it only if somebody starts the
            # server by hand: _launch sets hba_file to another file.
            "--auth-local=peer",
            "--auth-host=reject",
            "--data-checksums",
            "--encoding=UTF8",
            "--locale=C",
            f"--lc-ctype={_CHARACTER_LOCALE}",
            # By the builtin locale PostgreSQL sorts texts and changes their case, equally on every machine. The two
            # options above set the locales of the C library, which are not used for this.
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--set=timezone=UTC",
            *(["--no-sync"] if self._settings.get("fsync") == "off" else []),
        ]
        self._run(folder, unfinished, command)
        self._create_own_database(folder, unfinished)
        unfinished.rename(folder.cluster)
        sync_folder(folder.home)

    def _create_own_database(self, folder: DataFolder, cluster: Path) -> None:
        """Create the role and the database of the service in PostgreSQL's single-user mode, which accepts no
        connections."""
        settings = {"exit_on_error": "on", **self._settings}
        command = [folder.program("postgres"), "--single", "-D", str(cluster), *_options(settings), "postgres"]
        source, sink = os.pipe()
        try:
            # These two lines fit into the buffer of the pipe, so the write does not wait for a reader.
            os.write(sink, f"CREATE ROLE {DATABASE} LOGIN\nCREATE DATABASE {DATABASE} OWNER {DATABASE}\n".encode())
            os.close(sink)
            self._run(folder, cluster, command, source)
        finally:
            os.close(source)

    def _run(self, folder: DataFolder, cluster: Path, command: list[str], source: int = subprocess.DEVNULL) -> None:
        """Run a program of PostgreSQL, and wait for its end, however long it takes.

        :param cluster: its working directory.
        :param source: the file descriptor of its standard input; by default it has none.
        :raises EmbeddedError: if its exit code is not 0, with the last lines of the log.
        """
        process, offset = self._spawn(folder, cluster, command, when_parent_dies=signal.SIGKILL, source=source)
        try:
            code = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            # The program has ended, so it is removed from self.process, where _spawn has put it. It was there so that
            # _stop_server ends the program if an exception, such as KeyboardInterrupt, comes before this try begins.
            self.process = None
        if code != 0:
            raise EmbeddedError(f"{Path(command[0]).name} failed with exit code {code}:\n{folder.log_tail(offset)}")

    def _launch(self, folder: DataFolder, sockets: Path) -> None:
        """Start the server, and wait until it accepts connections.

        :raises EmbeddedError: if it ends before that.
        """
        access_rules = folder.home / "pg_hba.conf"
        access_rules.write_text("local all all trust\n")  # for all who can enter the private folder of the socket
        access_rules.chmod(0o644)  # under root the account of the server has to read the file
        settings = {
            **_SERVER_SETTINGS,
            "unix_socket_directories": str(sockets),
            "hba_file": str(access_rules),
            **self._settings,
        }
        command = [folder.program("postgres"), "-D", str(folder.cluster), *_options(settings)]
        # With these variables, PostgreSQL starts although a killed server has left its pid file.
        variables = environment_despite_pid_file(folder)
        pid_file = folder.cluster / "postmaster.pid"
        # The left file may say that the killed server is ready. accepts_connections ignores the file as long as it has
        # this content, so the loop below waits until the new server says that it is ready.
        leftover = pid_file.read_bytes() if pid_file.exists() else b""
        ends_by = signal.SIGINT  # a fast shutdown, with a checkpoint: no recovery at the next start
        process, offset = self._spawn(folder, folder.cluster, command, when_parent_dies=ends_by, environment=variables)
        # No time limit: the server may have to recover from a crash first, and stopping it would make the recovery
        # begin again.
        told_at = time.monotonic()
        pause_s = 0.01
        while True:
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.3, 0.25)
            if process.poll() is not None:
                code, tail = process.returncode, folder.log_tail(offset)
                raise EmbeddedError(f"PostgreSQL ended with exit code {code} while it started:\n{tail}")
            if accepts_connections(pid_file, leftover):
                return
            if time.monotonic() > told_at + _TOLD_EVERY_S:
                told_at = time.monotonic()
                logger.warning("PostgreSQL is not ready yet:\n%s", folder.log_tail(offset))

    def _spawn(
        self,
        folder: DataFolder,
        cluster: Path,
        command: list[str],
        *,
        when_parent_dies: signal.Signals,
        source: int = subprocess.DEVNULL,
        environment: Mapping[str, str] | None = None,
    ) -> tuple[subprocess.Popen[bytes], int]:
        """Start a program of PostgreSQL as ``self.process``, and return it with the offset in the log at which its
        output begins.

        :param cluster: the program's working directory, by which :func:`stop_leftovers` finds a program that still
            runs.
        """
        log = folder.open_log()
        try:
            offset = os.fstat(log).st_size
            self.process = processes.spawn(
                command,
                environment={**SERVER_ENVIRONMENT, **(environment or {})},
                folder=cluster,
                source=source,
                output=log,
                user=folder.user,
                when_parent_dies=when_parent_dies,
            )
        finally:
            os.close(log)
        return self.process, offset


def _options(settings: Mapping[str, str]) -> list[str]:
    """The command-line options of the program ``postgres`` that set these settings of the server."""
    return [f"--{name}={value}" for name, value in settings.items()]


def accepts_connections(pid_file: Path, left: bytes) -> bool:
    """Whether a server accepts connections: the eighth line of its pid file is then ``ready``. pg_ctl reads this line,
    too.

    :param left: the content of the pid file that a killed server has left; empty if there was none. Its eighth line may
        also be ``ready``, so the pid file does not count as long as its content is unchanged. The process id in the
        file does not distinguish the servers: in a container the new server often has that of the killed one.
    """
    try:
        text = pid_file.read_bytes()
    except OSError:
        return False
    return text != left and [line.strip() for line in text.split(b"\n")[7:8]] == [b"ready"]


def running(data_dir: Path) -> str | None:
    """The connection string of the server that another process runs on a data folder; None if no server accepts
    connections there.

    It removes libpq's variables (``PG*``) from the environment of this process.
    """
    import psycopg

    _remove_libpq_variables()
    try:
        absolute = Path(os.path.abspath(data_dir))  # noqa: PTH100 -- as EmbeddedPostgres does: absolute() keeps dots
        # The fifth line of the pid file is the folder of the socket. While the server starts, this line is empty or
        # missing until the server has made the socket. Before that it accepts no connections.
        sockets = os.fsdecode((find_home(absolute) / "postgresql/postmaster.pid").read_bytes().split(b"\n")[4])
        if not sockets:
            return None
        conninfo = _conninfo(Path(sockets))
        psycopg.connect(conninfo, connect_timeout=5).close()
    except (OSError, IndexError, EmbeddedError, psycopg.OperationalError):
        return None
    return conninfo


@contextlib.contextmanager
def database(data_dir: Path) -> Generator[str]:
    """Yield the connection string of a data folder's server for a command. If no server runs, one is started, and
    stopped after the block, even if another command uses it by then.

    :raises DataDirInUse: if another process owns the folder, and its server accepts no connection within
        :data:`PATIENCE_S`: it is starting or stopping, or has no connection left.
    :raises EmbeddedError: if no server can be started, for another reason.
    """
    deadline = time.monotonic() + PATIENCE_S
    conninfo = None
    with contextlib.ExitStack() as stack:
        while conninfo is None:
            try:
                conninfo = stack.enter_context(EmbeddedPostgres(data_dir)).conninfo()
            except DataDirInUse:
                conninfo = running(data_dir)
                if conninfo is None:  # the owner of the folder may be starting or stopping the server
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.1)
        yield conninfo


def _stop_in_order(process: subprocess.Popen[bytes]) -> None:
    """Stop the server by a fast shutdown, which ends its connections, then by SIGQUIT, then by SIGKILL."""
    for number, patience_s in ((signal.SIGINT, 30.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)):
        if process.poll() is None:
            process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(patience_s)


def _conninfo(sockets: Path) -> str:
    """The connection string of the service's database.

    :param sockets: the folder of the server's socket.
    """
    return f"host={sockets} port={PORT} user={DATABASE} dbname={DATABASE}"


def _remove_libpq_variables() -> None:
    """Remove all variables ``PG*``, because PGHOSTADDR, for example, would lead to another server."""
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]
