"""The data folder of the embedded PostgreSQL: the place of its cluster, the account of its server, and its lock.

The cluster is in ``DATA_DIR`` if PostgreSQL can use this folder. If the account of the server cannot enter it, or if
PostgreSQL cannot use its name, the cluster is in the store (:func:`app.serving.postgres_programs.store`). A file in
``DATA_DIR``, the pointer, then names the folder of the cluster.

PostgreSQL does not run as root. Under root it runs as the owner of the cluster; for a new cluster this is a system
account of the service. Everything else in the folder belongs to root, and root writes only in folders in which no other
account can write. So nobody can replace a file that root writes by a link, or swap a folder that root hands over. The
folders above the data folder are not checked. An account that can write there, such as the owner of a checkout in which
root runs ``make run``, can swap the data folder as a whole.

One process at a time owns a data folder, by a lock that the kernel releases when this process ends, in whatever way.
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
"""The most bytes of the folder's path. PostgreSQL limits the paths of the files in it to 1024 bytes."""

_LARGEST_LOG = 10 * 1024 * 1024

_POINTER = "postgresql-is-elsewhere"


class DataFolder:
    """A data folder, with the account of its server and the programs that this account can run.

    :param data_dir: the folder as the user named it.
    :param home: the folder of lock, log and cluster: ``data_dir``, or a folder of the store.
    :param account: the account of the server; if this process is root, another one.
    """

    def __init__(self, data_dir: Path, home: Path, account: pwd.struct_passwd) -> None:
        self.data_dir = data_dir
        self.home = home
        self.account = account
        self.cluster = home / "postgresql"

    @property
    def user(self) -> Account | None:
        """The user and group id of the server; None if the server runs as the user of this process."""
        return None if self.account.pw_uid == os.geteuid() else (self.account.pw_uid, self.account.pw_gid)

    def hand_over(self, folder: Path) -> None:
        """Make the server's account the owner of a folder that this process has just made. A link is refused."""
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

        :raises EmbeddedError: if it can run none.
        """
        return programs_for(self.user)

    def program(self, name: str) -> str:
        """The path of a program of PostgreSQL that the server's account can run."""
        return str(self.programs.folder / name)

    def check_version(self) -> None:
        """Refuse a cluster of another major version of PostgreSQL, before anything changes it. A missing cluster
        passes.

        :raises EmbeddedError: if the cluster has another version, or if its folder is no cluster.
        """
        if not self.cluster.exists():
            return
        try:
            # Links are not followed, because by a link the server's account could make root print another file.
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
        """Lock the folder for this process until it ends or closes the returned descriptor.

        Child processes do not inherit the descriptor, so a held lock means that its owner runs.

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
            # For example, the disk is full. If the descriptor stayed open, the next try would find the folder in use by
            # this process itself.
            os.close(descriptor)
            raise
        return descriptor

    @property
    def log(self) -> Path:
        """The path of the log, to which the programs of PostgreSQL print."""
        return self.home / "postgresql.log"

    def open_log(self) -> int:
        """Open the log for appending. A log of more than 10 MiB is renamed first and replaces the older renamed one."""
        with contextlib.suppress(FileNotFoundError):
            if self.log.lstat().st_size > _LARGEST_LOG:
                self.log.replace(self.log.with_suffix(".log.1"))
        return self._open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def log_tail(self, offset: int) -> str:
        """The last 15 lines of the log after an offset, for messages."""
        try:
            with self.log.open("rb") as log:
                log.seek(max(offset, self.log.stat().st_size - 20_000))
                lines = log.read().decode("utf-8", "replace").splitlines()
        except OSError:
            lines = []
        return "\n".join(f"  {line}" for line in [*lines[-15:], f"(log: {self.log})"])

    def write_access_rules(self) -> None:
        """Write PostgreSQL's access rules: only the accounts of the server and of this process may connect.

        The kernel tells PostgreSQL the account of a connection (peer authentication).
        """
        names = {pwd.getpwuid(os.geteuid()).pw_name, self.account.pw_name}
        quoted = [name.replace('"', '""') for name in sorted(names)]
        rules = {
            "pg_hba.conf": "local all all peer map=service\n",
            "pg_ident.conf": "".join(f'service "{name}" all\n' for name in quoted),
        }
        for name, text in rules.items():
            with os.fdopen(self._open(self.home / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w") as file:
                file.write(text)
                # The files contain no secrets, and under root the account of the server has to read them.
                os.fchmod(file.fileno(), 0o644)

    def write_note(self, name: str, place: Path) -> None:
        """Write a path to a file in the folder, so that a later start finds it."""
        descriptor = self._open(self.home / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.fsencode(place) + b"\n")

    def read_note(self, name: str) -> Path | None:
        """The path that :meth:`write_note` has written under a name; None if there is none."""
        try:
            with os.fdopen(os.open(self.home / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
                line, end, _ = file.read(4096).partition(b"\n")
        except OSError:
            return None
        return Path(os.fsdecode(line)) if end and line.startswith(b"/") else None

    def _open(self, path: Path, flags: int) -> int:
        return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def find_data_folder(data_dir: Path) -> DataFolder:
    """Find or make the place of a data folder's cluster: the folder itself, the place in its pointer, or a new one in
    the store.

    :param data_dir: an absolute path.
    :raises EmbeddedError: if the data belong to another account, or if PostgreSQL cannot use them.
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
        # Under root the server's account has to pass through this folder to its cluster.
        data_dir.chmod(0o711 if root else 0o700)
    if (data_dir / "PG_VERSION").exists():
        raise EmbeddedError(
            f"DATA_DIR {data_dir} is itself a PostgreSQL cluster; name a folder of the service's own, "
            "or set DATABASE_URL to use that cluster's server."
        )
    home = find_home(data_dir)
    if root:
        account = _account_for(home)
        tried = processes.run_as((account.pw_uid, account.pw_gid), ["/bin/sh", "-c", ":"])
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
    """The place of a data folder's cluster: the folder that its pointer names, else the data folder itself.

    :raises EmbeddedError: if the pointer names a folder that is not for data of this account, or that is gone.
    """
    pointer = data_dir / _POINTER
    try:
        owner = pointer.lstat().st_uid
        first_line = pointer.read_bytes().partition(b"\n")[0]
    except FileNotFoundError:
        return data_dir
    home = Path(os.fsdecode(first_line))
    # Another account must not be able to make root use a folder of its choice.
    if owner != os.geteuid() or home.parent != store():
        raise EmbeddedError(f"{pointer} names {home}, which is not a place for this user's data.")
    if not home.is_dir():
        raise EmbeddedError(f"The data are gone: {pointer} names {home}. Remove the file to begin anew.")
    make_store()  # the store exists, but its owner is checked each time
    _raise_if_others_own(home)
    return home


def can_enter(user: Account | None, folder: Path) -> bool:
    """Whether an account can enter a folder. The result for the account of this process (None) is always True."""
    return user is None or processes.run_as(user, ["/bin/sh", "-c", 'cd -- "$0"', str(folder)]).returncode == 0


def sync_folder(folder: Path) -> None:
    """Sync the entries of a folder to disk, so that renames and new files in it survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _home_in_store(data_dir: Path) -> Path:
    """Make a folder in the store for a data folder, or return the one that another process has just made.

    A data folder without a pointer is new, even if a folder of this name had data before: its user has removed that
    folder to start with an empty database. The old data are not deleted; a warning says where they are.
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
    """The account of the server under root: the owner of the cluster, else the system account of the service."""
    with contextlib.suppress(FileNotFoundError):
        owner = (home / "postgresql").lstat().st_uid
        if owner != 0:  # a folder of root's is no cluster, which check_version reports
            try:
                return pwd.getpwuid(owner)
            except KeyError:
                raise EmbeddedError(
                    f"{home / 'postgresql'} belongs to user id {owner}, which has no account here."
                ) from None
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(_OWN_ACCOUNT)
    # useradd looks for the name before it locks, so the second of two at the same time would change the user id. Other
    # accounts cannot open root's home, so they cannot hold a lock on it.
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
    """Lock a folder, so that only one process at a time runs the block."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _raise_if_others_own(folder: Path) -> None:
    """Refuse a data folder if the folder or its cluster belongs to another account. Under root, also refuse a folder in
    which other accounts can write."""
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
    else:  # volumes of containers often belong to another account, although this account may write to them
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
