"""The data folder of the embedded PostgreSQL: where the cluster lies, which account runs it, and who owns it.

The cluster lies in ``DATA_DIR`` if PostgreSQL can work there. If its account cannot reach the folder, or if PostgreSQL
cannot use its name, the cluster lies in the store, and a pointer, which is a file in ``DATA_DIR``, names the place.

PostgreSQL does not run as root. Under root it runs as the owner of the cluster, which for a new one is a system account
of the service's own. All else in the folder stays root's, and root works only in folders in which no other account can
write: there nobody can put a link in the way of a file that root writes, or swap a folder that root hands over. The
folders above are not looked at: who can write there, as the owner of a checkout in which root runs ``make run`` can,
can swap the data folder as a whole.

One process at a time owns a data folder, by a lock that the kernel releases when that process ends in any way.
"""

import contextlib
import fcntl
import hashlib
import logging
import os
import pwd
import re
import tempfile
from collections.abc import Generator
from functools import cached_property
from pathlib import Path

from app.serving import DataDirInUse, EmbeddedError, processes
from app.serving.postgres_programs import Account, Programs, make_store, others_can_write, programs_for, store

logger = logging.getLogger(__name__)

_OWN_ACCOUNT = "sample-resource"

_MAKE_ACCOUNT = (
    *("useradd", "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"),
    *("--shell", "/usr/sbin/nologin", _OWN_ACCOUNT),
)

_LONGEST_PATH = 900
"""Bytes. PostgreSQL's limit is 1024, for the paths of the files below the folder."""

_LARGEST_LOG = 10 * 1024 * 1024

_POINTER = "postgresql-is-elsewhere"


class DataFolder:
    """Where a cluster is, which account runs its server, and with which programs.

    :param data_dir: the folder as the user named it.
    :param home: where lock, log and cluster are: ``data_dir``, or a folder of the store.
    :param account: the account of the server; under root not that of this process.
    """

    def __init__(self, data_dir: Path, home: Path, account: pwd.struct_passwd) -> None:
        self.data_dir = data_dir
        self.home = home
        self.account = account
        self.cluster = home / "postgresql"

    @property
    def user(self) -> Account | None:
        """User and group id of the server; None if they are those of this process."""
        return None if self.account.pw_uid == os.geteuid() else (self.account.pw_uid, self.account.pw_gid)

    def hand_over(self, folder: Path) -> None:
        """Make the server's account the owner of a folder that this process has just made; a link is refused."""
        if self.user is None:
            return
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            os.fchown(descriptor, *self.user)
        finally:
            os.close(descriptor)

    @cached_property
    def programs(self) -> Programs:
        """The programs of PostgreSQL that the server's account can run.

        :raises EmbeddedError: if there are none.
        """
        return programs_for(self.user)

    def program(self, name: str) -> str:
        """The path of one of these programs."""
        return str(self.programs.folder / name)

    def check_version(self) -> None:
        """Refuse a cluster of another major version of PostgreSQL, before anything touches it.

        :raises EmbeddedError: if it is one, or no cluster at all.
        """
        if not self.cluster.exists():
            return
        try:
            # Not through a link, by which the server's account could have root show another file.
            with os.fdopen(self._open(self.cluster / "PG_VERSION", os.O_RDONLY), "rb") as file:
                found = file.read(8).strip().decode("ascii", "replace")
        except OSError:
            raise EmbeddedError(
                f"{self.cluster} is not a PostgreSQL cluster; it is left as it is. Move it away."
            ) from None
        if self.programs.version != found:
            raise EmbeddedError(
                f"The data in {self.cluster} are of PostgreSQL {found}, the installed programs are of PostgreSQL "
                f"{self.programs.version}. The data are left as they are. Dump them with the release "
                "of the service that wrote them and load them into this one, or set DATA_DIR to another folder."
            )

    def lock(self) -> int:
        """Become the owner of the folder until this process ends, or closes the descriptor that is returned.

        Child processes do not inherit the descriptor, so the holder of the lock is a running owner.

        :raises DataDirInUse: if another process owns it.
        """
        descriptor = self._open(self.home / "owner.lock", os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except BlockingIOError:
            owner = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise DataDirInUse(
                f"DATA_DIR {self.data_dir} is in use by another process (pid {owner or 'not known yet'})."
            ) from None
        except OSError:
            # Also of a disk that is full: the next try would find the folder in use by this process itself.
            os.close(descriptor)
            raise
        return descriptor

    @property
    def log(self) -> Path:
        """What the programs of PostgreSQL print."""
        return self.home / "postgresql.log"

    def open_log(self) -> int:
        """A descriptor that appends to the log; a log beyond 10 MiB is renamed, and its predecessor removed."""
        with contextlib.suppress(FileNotFoundError):
            if self.log.lstat().st_size > _LARGEST_LOG:
                self.log.replace(self.log.with_suffix(".log.1"))
        return self._open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def log_tail(self, offset: int) -> str:
        """The last 15 lines of the log from an offset on, for messages."""
        try:
            with self.log.open("rb") as log:
                log.seek(max(offset, self.log.stat().st_size - 20_000))
                lines = log.read().decode("utf-8", "replace").splitlines()
        except OSError:
            lines = []
        return "\n".join(f"  {line}" for line in [*lines[-15:], f"(log: {self.log})"])

    def write_access_rules(self) -> None:
        """Admit the accounts of the server and of its owner, which the kernel tells PostgreSQL, and no others."""
        names = {pwd.getpwuid(os.geteuid()).pw_name, self.account.pw_name}
        quoted = [name.replace('"', '""') for name in sorted(names)]
        rules = {
            "pg_hba.conf": "local all all peer map=service\n",
            "pg_ident.conf": "".join(f'service "{name}" all\n' for name in quoted),
        }
        for name, text in rules.items():
            with os.fdopen(self._open(self.home / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w") as file:
                file.write(text)
                # They hold no secrets, and under root another account has to read them.
                os.fchmod(file.fileno(), 0o644)

    def write_note(self, name: str, place: Path) -> None:
        """Keep the path of something outside of the folder, which a later start has to find."""
        descriptor = self._open(self.home / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.fsencode(place) + b"\n")

    def read_note(self, name: str) -> Path | None:
        """The path that :meth:`write_note` kept last; None if there is none."""
        try:
            with os.fdopen(os.open(self.home / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
                line, end, _ = file.read(4096).partition(b"\n")
        except OSError:
            return None
        return Path(os.fsdecode(line)) if end and line.startswith(b"/") else None

    def _open(self, path: Path, flags: int) -> int:
        return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def find_data_folder(data_dir: Path) -> DataFolder:
    """Find where the cluster of a data folder is: in itself, where its pointer says, or in a new folder of the store.

    :param data_dir: an absolute path.
    :raises EmbeddedError: if the data belong to another account, or cannot be used.
    :raises OSError: if folders cannot be made.
    """
    root = os.geteuid() == 0
    try:
        account = pwd.getpwuid(os.geteuid())
    except KeyError:
        raise EmbeddedError(
            f"PostgreSQL needs a name for its account, and user id {os.geteuid()} has none here: start the service as "
            "another user, or set DATABASE_URL."
        ) from None
    if data_dir.exists():
        _raise_if_others_own(data_dir)
    else:
        data_dir.mkdir(parents=True)
        # Under root the server's account has to pass through to its own folder.
        data_dir.chmod(0o711 if root else 0o700)
    if (data_dir / "PG_VERSION").exists():
        raise EmbeddedError(
            f"DATA_DIR {data_dir} is itself a PostgreSQL cluster; name a folder of the service's own, "
            "or set DATABASE_URL to use that cluster's server."
        )
    home = find_home(data_dir)
    if root:
        account = _account_for(home)
        tried = processes.run_as((account.pw_uid, account.pw_gid), ["/bin/true"])
        if tried.returncode != 0:
            raise EmbeddedError(
                f"PostgreSQL does not run as root, and root cannot start a program as {account.pw_name} here "
                f"({tried.stderr.strip()}). Start the service as an ordinary user, or set DATABASE_URL."
            )
    folder = DataFolder(data_dir, home, account)
    if home == data_dir and not _is_usable(folder):
        if folder.cluster.exists():
            raise EmbeddedError(
                f"DATA_DIR {data_dir} holds data, and PostgreSQL runs as {account.pw_name} and cannot use them there. "
                "Move the folder to a place open to that account and with a shorter name."
            )
        folder = DataFolder(data_dir, _home_in_store(data_dir), account)
    return folder


def find_home(data_dir: Path) -> Path:
    """Where the cluster of a data folder is, or would be: where the pointer says, else in the folder itself.

    :raises EmbeddedError: if the pointer names no place for data of this account, or a place that is gone.
    """
    pointer = data_dir / _POINTER
    try:
        owner = pointer.lstat().st_uid
        first_line = pointer.read_bytes().partition(b"\n")[0]
    except FileNotFoundError:
        return data_dir
    home = Path(os.fsdecode(first_line))
    # Another account must not make root use a folder of its choice.
    if owner != os.geteuid() or home.parent != store():
        raise EmbeddedError(f"{pointer} names {home}, which is not a place for this user's data.")
    if not home.is_dir():
        raise EmbeddedError(f"The data are gone: {pointer} names {home}. Remove the file to begin anew.")
    make_store()  # which is there, and is checked each time
    _raise_if_others_own(home)
    return home


def can_enter(user: Account | None, folder: Path) -> bool:
    """Whether an account can enter a folder; this process's own is assumed to."""
    return user is None or processes.run_as(user, ["/bin/sh", "-c", 'cd -- "$0"', str(folder)]).returncode == 0


def sync_folder(folder: Path) -> None:
    """Write a folder's entries to disk, so that renames and new files in it survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _home_in_store(data_dir: Path) -> Path:
    """Make a folder in the store for this data folder, or find the folder that another process has just made.

    A data folder without a pointer is new, even if one of the same name had data before: its user removed it to start
    with an empty database. The old data are not deleted; a warning says where they are.
    """
    with _locked(data_dir):
        found = find_home(data_dir)
        if found != data_dir:
            return found
        make_store()
        name = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
        older = sorted(store().glob(f"{name}-*"))
        home = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=store()))
        if os.geteuid() == 0:
            home.chmod(0o711)
        written = data_dir / f"{_POINTER}.new"
        written.write_bytes(
            os.fsencode(home) + b"\n\nThe server's account cannot reach this folder, or PostgreSQL cannot use its name."
            b"\nThe folder named above holds its data. To throw them away, remove it and this file.\n"
        )
        written.rename(data_dir / _POINTER)
        sync_folder(data_dir)
    logger.warning("PostgreSQL cannot work in %s; its data are in %s.", data_dir, home)
    for place in older:
        logger.warning("Data of an earlier folder of that name are still in %s; remove them if unwanted.", place)
    return home


def _is_usable(folder: DataFolder) -> bool:
    path = os.fsencode(folder.data_dir)
    if len(path) > _LONGEST_PATH or re.search(rb"[\x00-\x1f]", path):
        return False
    return can_enter(folder.user, folder.data_dir)


def _account_for(home: Path) -> pwd.struct_passwd:
    """The account that the server runs as under root: the owner of the cluster, else the service's own."""
    with contextlib.suppress(FileNotFoundError):
        owner = (home / "postgresql").lstat().st_uid
        if owner != 0:  # else it is no cluster, which check_version tells
            try:
                return pwd.getpwuid(owner)
            except KeyError:
                raise EmbeddedError(
                    f"{home / 'postgresql'} belongs to user id {owner}, which has no account here."
                ) from None
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(_OWN_ACCOUNT)
    # useradd looks for the name before it locks: of two at once, the second would change the user id. Other accounts
    # cannot open root's home, so they cannot hold its lock.
    with _locked(Path(pwd.getpwuid(0).pw_dir)):
        try:
            return pwd.getpwnam(_OWN_ACCOUNT)
        except KeyError:
            made = processes.run_as(None, _MAKE_ACCOUNT, {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    if made.returncode != 0:
        raise EmbeddedError(
            "PostgreSQL does not run as root, and the account for it cannot be made "
            f"({' '.join(made.stderr.split())}). Make it with: {' '.join(_MAKE_ACCOUNT)}; or start the service as an "
            "ordinary user, or set DATABASE_URL."
        )
    logger.warning("PostgreSQL does not run as root: the account %s was made for it.", _OWN_ACCOUNT)
    return pwd.getpwnam(_OWN_ACCOUNT)


@contextlib.contextmanager
def _locked(folder: Path) -> Generator[None]:
    """One process at a time."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _raise_if_others_own(folder: Path) -> None:
    """Refuse a folder, or the cluster in it, of another account; under root also a folder in which others can write."""
    own = os.geteuid()
    path = folder
    if own == 0:
        owners = {folder.lstat().st_uid, folder.stat().st_uid} - {0}
        if not owners and others_can_write(folder):
            raise EmbeddedError(
                f"DATA_DIR: other accounts can write in {folder}, so root does not. Start the service as an ordinary "
                "user, or set DATA_DIR to another folder."
            )
    elif not os.access(folder, os.W_OK | os.X_OK):
        owners = {folder.stat().st_uid}
    else:  # a folder that this account may write to can be another's, as volumes of containers often are
        path = folder / "postgresql"
        owners = {path.lstat().st_uid} - {own} if path.exists() else set[int]()
    for owner in owners:
        raise EmbeddedError(
            f"DATA_DIR: {path} belongs to {_shown(owner)}, not to {_shown(own)}. "
            "Start the service as its owner, or set DATA_DIR to another folder."
        )


def _shown(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user id {uid}"
