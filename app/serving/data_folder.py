"""The data folder of the embedded PostgreSQL: where the cluster lies, which account runs it, and who owns it.

The cluster lies in ``DATA_DIR`` if PostgreSQL can work there. If its account cannot reach the folder, or if PostgreSQL
cannot use its name, the cluster lies in the store, and a pointer, which is a file in ``DATA_DIR``, names the place.

One process at a time owns a data folder, by a lock that the kernel releases when that process ends in any way.
"""

import contextlib
import fcntl
import hashlib
import logging
import os
import pwd
import re
import secrets
import time
from collections.abc import Generator
from functools import cached_property
from pathlib import Path

from app.serving import DataDirInUse, EmbeddedError, processes
from app.serving.postgres_programs import Account, Programs, make_in_store, programs_for, store

logger = logging.getLogger(__name__)

_OWN_ACCOUNT = "sample-resource"
"""Made under root, if the machine has neither this account nor one named postgres."""

_ACCOUNT_MADE_WITHIN_S = 5.0
"""Longest wait for another process that changes the accounts of the machine."""

_SHARED_ACCOUNTS = ("nobody", "daemon")
"""Other programs run as these, and the server's account may read its files and log in as every role."""

_LONGEST_PATH = 900
"""Bytes. PostgreSQL's limit is 1024, for the paths of the files below the folder."""

_LARGEST_LOG = 10 * 1024 * 1024

_POINTER = "postgresql-is-elsewhere"


class DataFolder:
    """Where a cluster is, which account runs its server, and with which programs.

    :param data_dir: the folder as the user named it.
    :param home: where lock, log and cluster are: ``data_dir``, or a folder of the store.
    :param account: the account of the server, under root; None if the server runs as this process does.
    """

    def __init__(self, data_dir: Path, home: Path, account: pwd.struct_passwd | None) -> None:
        self.data_dir = data_dir
        self.home = home
        self.account = account
        self.cluster = home / "postgresql"

    @property
    def user(self) -> Account | None:
        """User and group id of the server; None if they are those of this process."""
        return None if self.account is None else (self.account.pw_uid, self.account.pw_gid)

    def hand_over(self, path: Path) -> None:
        """Make the server's account the owner of a file or folder."""
        if self.account is not None:
            os.chown(path, self.account.pw_uid, self.account.pw_gid, follow_symlinks=False)

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
            found = (self.cluster / "PG_VERSION").read_text().strip()
        except FileNotFoundError:
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
        accounts = {os.geteuid()} if self.account is None else {os.geteuid(), self.account.pw_uid}
        quoted = [_account_name_of(uid).replace('"', '""') for uid in sorted(accounts)]
        rules = {
            "pg_hba.conf": "local all all peer map=service\n",
            "pg_ident.conf": "".join(f'service "{name}" all\n' for name in quoted),
        }
        for name, text in rules.items():
            descriptor = self._open(self.home / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with os.fdopen(descriptor, "w") as file:
                file.write(text)
                # They hold no secrets, and the server's account may not be the owner of the folder.
                os.fchmod(descriptor, 0o644)

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
        """Open a file of the folder without following links, and give it the owner of the folder."""
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        if os.geteuid() == 0:
            folder = self.home.stat()
            os.fchown(descriptor, folder.st_uid, folder.st_gid)
        return descriptor


def find_data_folder(data_dir: Path, *, make: bool = True) -> DataFolder:
    """Find where the cluster of a data folder is: in itself, where its pointer says, or in a new folder of the store.

    :param data_dir: an absolute path.
    :param make: whether to make folders that do not exist; if not, a folder that cannot be used is given a home that
        does not exist.
    :raises EmbeddedError: if the data belong to another account, or cannot be used.
    :raises OSError: if folders cannot be made.
    """
    root = os.geteuid() == 0
    if not root:
        _account_name_of(os.geteuid())
        if data_dir.exists() and not os.access(data_dir, os.X_OK):
            _raise_if_another_owns(data_dir)  # nothing in it can be looked at
    if make and not data_dir.exists():
        data_dir.mkdir(parents=True)
        # Under root the server's account has to pass through to its own folder.
        data_dir.chmod(0o711 if root else 0o700)
    if (data_dir / "PG_VERSION").exists():
        raise EmbeddedError(
            f"DATA_DIR {data_dir} is itself a PostgreSQL cluster; name a folder of the service's own, "
            "or set DATABASE_URL to use that cluster's server."
        )
    home = _read_pointer(data_dir) or data_dir
    account = _account_for(home, data_dir, make=make) if root else None
    if not root:
        _raise_if_another_owns(home)
    folder = DataFolder(data_dir, home, account)
    if home == data_dir and not _is_usable(folder):
        if folder.cluster.exists():
            runner = "its owner" if account is None else f"the account {account.pw_name}"
            raise EmbeddedError(
                f"DATA_DIR {data_dir} holds data that PostgreSQL runs as {runner}, who cannot use them there. "
                "Move the folder to a place open to that account and with a shorter name."
            )
        home = _new_home(data_dir) if make else store() / "none"
        folder = DataFolder(data_dir, home, _account_for(home, data_dir, make=make) if root else None)
    return folder


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


def _new_home(data_dir: Path) -> Path:
    """Make a folder in the store for this data folder, or find the folder that another process has just made.

    A data folder without a pointer is new, even if one of the same name had data before: its user removed it to start
    with an empty database. The old data are not deleted; a warning says where they are.
    """
    name = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    home = store() / f"{name}-{secrets.token_hex(4)}"
    make_in_store(home)
    if not _write_pointer(data_dir, home):
        home.rmdir()
        return _read_pointer(data_dir) or data_dir
    logger.warning("PostgreSQL cannot work in %s; its data are in %s.", data_dir, home)
    for older in sorted(store().glob(f"{name}-*")):
        if older != home:
            logger.warning("Data of an earlier folder of that name are still in %s; remove them if unwanted.", older)
    return home


def _is_usable(folder: DataFolder) -> bool:
    path = os.fsencode(folder.data_dir)
    if len(path) > _LONGEST_PATH or re.search(rb"[\x00-\x1f]", path):
        return False
    return can_enter(folder.user, folder.data_dir)


def _account_for(home: Path, data_dir: Path, *, make: bool) -> pwd.struct_passwd:
    """The account that the server runs as under root: the owner of the data, else an account of no other program."""
    for path in (home / "postgresql", home, data_dir):
        with contextlib.suppress(FileNotFoundError):
            owner = path.lstat().st_uid
            if owner != 0:
                try:
                    account = pwd.getpwuid(owner)
                except KeyError:
                    raise EmbeddedError(f"{path} belongs to user id {owner}, which has no account here.") from None
                if make and account.pw_name in _SHARED_ACCOUNTS:
                    better = _find_account() or _make_account()
                    logger.warning(
                        "%s belongs to %s: other programs that run as this account can read and change the data. Stop"
                        " the service and give the folder to an account of its own: chown -R %s: %s",
                        *(path, account.pw_name, _OWN_ACCOUNT if better is None else better.pw_name, path),
                    )
                return account
    account = _find_account() or (_make_account() if make else None)
    if account is None:
        raise EmbeddedError(
            "PostgreSQL does not run as root, and needs an account that no other program uses. Make one with: "
            f"{' '.join(_MAKE_ACCOUNT)}; or start the service as an ordinary user, or set DATABASE_URL."
        )
    return account


_MAKE_ACCOUNT = (
    *("useradd", "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"),
    *("--shell", "/usr/sbin/nologin", _OWN_ACCOUNT),
)


def _find_account() -> pwd.struct_passwd | None:
    for name in ("postgres", _OWN_ACCOUNT):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    return None


def _make_account() -> pwd.struct_passwd | None:
    """Make the system account of the service, or find it if another process has just made it; None if both fail."""
    with _locked_accounts():
        deadline = time.monotonic() + _ACCOUNT_MADE_WITHIN_S
        while (account := _find_account()) is None and time.monotonic() < deadline:
            made = processes.run_as(None, _MAKE_ACCOUNT, {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
            if made.returncode == _NO_PROGRAM:
                return None
            if made.returncode == 0:
                logger.warning("PostgreSQL does not run as root: the account %s was made for it.", _OWN_ACCOUNT)
            else:
                time.sleep(0.1)  # another program has locked the accounts
    return account


@contextlib.contextmanager
def _locked_accounts() -> Generator[None]:
    """One process at a time: useradd looks for the name before it locks, so a second one would change the user id."""
    folder = os.open("/etc", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


_NO_PROGRAM = 126
"""The exit code of a program that could not be started."""


def _raise_if_another_owns(home: Path) -> None:
    # A folder that this account may write to can belong to another, as volumes of containers often do.
    path, refused = home, home.exists() and not os.access(home, os.W_OK | os.X_OK)
    if not refused and (home / "postgresql").exists():
        path = home / "postgresql"
        refused = path.lstat().st_uid != os.geteuid()
    if refused:
        raise EmbeddedError(
            f"DATA_DIR: {path} belongs to {_shown(path.lstat().st_uid)}, not to {_shown(os.geteuid())}. "
            "Start the service as its owner, or set DATA_DIR to another folder."
        )


def _account_name_of(uid: int) -> str:
    """The name of an account that runs PostgreSQL or connects to it, neither of which goes without."""
    name = _name_of(uid)
    if name is None:
        raise EmbeddedError(
            f"PostgreSQL needs a name for its account, and user id {uid} has none here: start the service as another "
            "user, or set DATABASE_URL."
        )
    return name


def _shown(uid: int) -> str:
    return _name_of(uid) or f"user id {uid}"


def _name_of(uid: int) -> str | None:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def _read_pointer(data_dir: Path) -> Path | None:
    """The folder that the pointer in a data folder names; None if there is no pointer."""
    pointer = data_dir / _POINTER
    try:
        owner = pointer.lstat().st_uid
        first_line = pointer.read_bytes().partition(b"\n")[0]
    except FileNotFoundError:
        return None
    home = Path(os.fsdecode(first_line))
    # Another account must not make root use a folder of its choice.
    if owner != os.geteuid() or home.parent != store():
        raise EmbeddedError(f"{pointer} names {home}, which is not a place for this user's data.")
    if not home.is_dir():
        raise EmbeddedError(f"The data are gone: {pointer} names {home}. Remove the file to begin anew.")
    return home


def _write_pointer(data_dir: Path, home: Path) -> bool:
    """Write the pointer to where the data are; False if another process has written one already."""
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
    sync_folder(data_dir)
    return True
