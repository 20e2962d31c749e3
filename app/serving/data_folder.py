"""The data folder of the embedded PostgreSQL: the place of its cluster, the account of its server, and its lock.

PostgreSQL does not run as root. Under root it runs as a system account of the service. If this account cannot enter
``DATA_DIR``, the cluster is in a folder of the store (:data:`app.serving.postgres_programs.STORE`), to which a link in
``DATA_DIR`` leads.

Under root only the cluster, even an unfinished one, belongs to that account. Every file in the folder belongs to root,
and root makes and changes files only in folders in which no other account can write. So nobody can put a link in place
of a file that root writes, or swap a folder of the data that root hands over. The folders above the data folder are not
checked. An account that can write there, such as the owner of a checkout in which root runs ``make run``, can swap the
data folder as a whole.

One process at a time owns a data folder, by a lock that the kernel releases when this process ends, in whatever way.
Removing the file ``owner.lock`` while its owner runs breaks this.
"""

import contextlib
import fcntl
import logging
import os
import pwd
import shlex
import tempfile
from pathlib import Path

from app.serving import DataDirInUse, EmbeddedError, postgres_programs, processes
from app.serving.processes import Account

logger = logging.getLogger(__name__)

_ACCOUNT = "sample-resource"

_MAKE_ACCOUNT = (
    *("useradd", "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"),
    *("--shell", "/usr/sbin/nologin", _ACCOUNT),
)

_LINK = "postgresql-is-elsewhere"

_LARGEST_LOG = 10 * 1024 * 1024


class DataFolder:
    """A data folder, with the programs of its server.

    :param data_dir: the folder as the user named it, as an absolute path.
    :param home: the folder of lock, log and cluster: ``data_dir``; or, if the server's account cannot enter it, a
        folder in the store (:data:`app.serving.postgres_programs.STORE`).
    :param programs: the folder with PostgreSQL's programs.
    :param user: the user and group id of the server; None if the server runs as the user of this process.
    """

    def __init__(self, data_dir: Path, home: Path, programs: Path, user: Account | None) -> None:
        self.data_dir = data_dir
        self.home = home
        self.programs = programs
        self.user = user
        self.cluster = home / "postgresql"
        self.log = home / "postgresql.log"
        """The log, to which the programs of PostgreSQL print."""

    def open_log(self) -> int:
        """Open the log for appending, for a program that is about to start. A log of more than 10 MiB is first renamed
        to ``postgresql.log.1``, in place of an earlier file of this name, and a new log is begun."""
        if self.log.exists() and self.log.stat().st_size > _LARGEST_LOG:
            self.log.replace(self.log.with_suffix(".log.1"))
        return os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def hand_over(self, folder: Path) -> None:
        """Make the server's account the owner of a folder that this process has just made. It does nothing unless this
        process is root.

        :raises OSError: if somebody has replaced the folder by a link.
        """
        if self.user is None:
            return
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            os.fchown(descriptor, *self.user)
        finally:
            os.close(descriptor)

    def program(self, name: str) -> str:
        """The path of a program of PostgreSQL."""
        return str(self.programs / name)

    def lock(self) -> int:
        """Lock the folder for this process until it ends or closes the returned descriptor.

        Programs that this process starts do not inherit the descriptor, so a held lock means that its owner runs.

        :raises DataDirInUse: if the folder is owned already, even by another object of this process.
        """
        descriptor = os.open(self.home / "owner.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise DataDirInUse(
                f"DATA_DIR {self.data_dir} is in use by another process (pid {owner or 'unknown'})."
            ) from None
        with contextlib.suppress(OSError):  # the disk may be full, and the id is only for that message
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        return descriptor

    def log_tail(self, offset: int) -> str:
        """The last 15 lines of the log after an offset in bytes, and the path of the log, for messages."""
        with self.log.open("rb") as log:
            log.seek(offset)
            lines = log.read().decode("utf-8", "replace").splitlines()
        return "\n".join(f"  {line}" for line in [*lines[-15:], f"(log: {self.log})"])


def find_data_folder(data_dir: Path) -> DataFolder:
    """Check a data folder, make what is missing, and return its :class:`DataFolder`, which says where its cluster is.

    A missing data folder is made. Under root, three more things are made if they are missing: the copy of PostgreSQL's
    programs, the server's account, and, if this account cannot enter the data folder, a folder in the store.

    :param data_dir: an absolute path, because PostgreSQL's programs work in another folder.
    :raises EmbeddedError: if PostgreSQL is not installed, if other accounts could redirect what root writes, if
        PostgreSQL cannot use the folder, or if the account cannot be made.
    :raises OSError: if folders cannot be made or examined.
    """
    programs = postgres_programs.find_programs()  # under root it also copies them into the store
    if {"\n", "\r"} & set(str(data_dir)):
        raise EmbeddedError(f"DATA_DIR {str(data_dir)!r}: PostgreSQL cannot use a path with a line break.")
    if os.path.lexists(data_dir) and not data_dir.is_dir():
        raise EmbeddedError(f"DATA_DIR {data_dir} is no folder.")
    root = os.geteuid() == 0
    with contextlib.suppress(FileExistsError):  # a folder that exists keeps its mode
        data_dir.mkdir(parents=True)
        # Under root the server's account has to pass through this folder to its cluster.
        data_dir.chmod(0o711 if root else 0o700)
    if not os.access(data_dir, os.W_OK | os.X_OK):
        raise EmbeddedError(
            f"DATA_DIR: {data_dir} belongs to user id {data_dir.stat().st_uid}; user id {os.geteuid()} cannot write "
            "in it. Make it writable, start the service as its owner, or set DATA_DIR to another folder."
        )
    if (data_dir / "PG_VERSION").exists():
        raise EmbeddedError(
            f"DATA_DIR {data_dir} is itself a PostgreSQL cluster; name a folder of the service's own, "
            "or set DATABASE_URL to use that cluster's server."
        )
    _raise_if_others_can_write(data_dir)
    home = find_home(data_dir)
    _raise_if_others_can_write(home)
    if not root:
        return DataFolder(data_dir, home, programs, None)
    user = _service_account()
    cluster = home / "postgresql"
    # The cluster has to belong to the account, and each file beside the cluster to root. The other folders beside the
    # cluster may have any owner. The service uses none of them, except for an old "postgresql.unfinished": it stops the
    # processes that still run there, and deletes the folder before it makes a new one.
    for path in home.iterdir():
        if path.is_dir() and path != cluster:
            continue
        uid, owner = (user[0], _ACCOUNT) if path == cluster else (0, "root")
        if path.lstat().st_uid != uid:
            raise EmbeddedError(
                f"DATA_DIR: {path} does not belong to {owner}. If the data came from another machine or account, and no"
                " PostgreSQL uses them any more, run:"
                f" chown -R root: {shlex.quote(str(home.resolve()))}; chown -R {_ACCOUNT}: {shlex.quote(str(cluster))}"
            )
    if not can_enter(user, home):
        # Only a data folder without a cluster and without a link may get a folder in the store.
        if cluster.exists() or home != data_dir:
            raise EmbeddedError(
                f"DATA_DIR {home} holds data, and PostgreSQL runs as {_ACCOUNT} and cannot use them there. "
                "Let that account pass (chmod 711), or move the folder to a place open to it."
            )
        home = _make_home_in_store(data_dir)
    return DataFolder(data_dir, home, programs, user)


def _raise_if_others_can_write(folder: Path) -> None:
    """Under root, refuse a folder in which another account can write. That account could replace a file by a link, and
    root would then write to the target of the link.

    :param folder: the path of the folder, which may be a link to the folder.
    :raises EmbeddedError: if the service runs as root, and another account owns the folder, may write in the folder, or
        owns the link to the folder.
    """
    if os.geteuid() == 0 and postgres_programs.others_can_write(folder):
        how = "Run chown -h root and chmod go-w on it, or start the service as its owner."
        raise EmbeddedError(f"DATA_DIR: only root may own {folder} and write in it. {how}")


def find_home(data_dir: Path) -> Path:
    """Return the folder that contains lock, log and cluster of a data folder: the target of the link
    ``postgresql-is-elsewhere`` in the data folder; without this link, the data folder itself.

    :raises EmbeddedError: if the target of the link is gone, or if the link has become a real folder. A copy that
        follows links, such as ``cp -rL``, makes a real folder of it.
    """
    link = data_dir / _LINK
    if not link.is_symlink():
        if link.exists():
            raise EmbeddedError(
                f"{link} is no link: a copy followed it. Move its content to {data_dir}, and remove it."
            )
        return data_dir
    home = data_dir / link.readlink()
    try:
        home.stat()  # not is_dir(), which since Python 3.14 is also False for a folder that cannot be reached now
    except (FileNotFoundError, NotADirectoryError):
        raise EmbeddedError(f"The data are gone: {link} leads to {home}. Remove the link to begin anew.") from None
    return home


def can_enter(user: Account | None, folder: Path) -> bool:
    """Return whether an account can enter a folder. A shell that runs as the account tries it.

    :param user: the account; None, the account of this process, is not tried, and the result is True.
    :raises EmbeddedError: if the shell cannot be started as the account, or does not end within a minute.
    """
    if user is None:
        return True
    tried = processes.run_as(user, ["/bin/sh", "-c", 'cd -- "$0"', str(folder)])
    if tried.returncode == processes.CANNOT_START:
        raise EmbeddedError(
            f"PostgreSQL does not run as root, and root cannot start a program as {_ACCOUNT} here "
            f"({tried.stderr.strip()}). Start the service as an ordinary user, or set DATABASE_URL."
        )
    return tried.returncode == 0


def sync_folder(folder: Path) -> None:
    """Sync the entries of a folder to disk, so that renames and new files in it survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_home_in_store(data_dir: Path) -> Path:
    """Make a home for the lock, log and cluster in the store (:data:`app.serving.postgres_programs.STORE`), because the
    account of PostgreSQL cannot enter the data folder. Also make the link in the data folder that leads to the home.

    If a user removes the link, the home stays in the store, and the next start makes a new, empty home.

    :return: the home; that of another process, if the other process has made the link first.
    """
    home = Path(tempfile.mkdtemp(prefix="data-", dir=postgres_programs.STORE))
    home.chmod(0o711)
    sync_folder(postgres_programs.STORE)  # before the link, which would otherwise lead to nothing after a loss of power
    try:
        (data_dir / _LINK).symlink_to(home)
    except FileExistsError:  # another process was faster
        home.rmdir()
        return find_home(data_dir)
    sync_folder(data_dir)
    logger.warning("PostgreSQL cannot work in %s; its data are in %s.", data_dir, home)
    return home


def _service_account() -> Account:
    """The user and group id of the account as which PostgreSQL runs if this process is root. If the account does not
    exist, this function makes it.

    :raises EmbeddedError: if the account cannot be made.
    :raises OSError: if the home folder of root, which is locked meanwhile, does not exist.
    """
    with contextlib.suppress(KeyError):
        return _known_account()
    # A lock lets only one process at a time call useradd. Without it, two concurrent calls could both find that the
    # account does not exist, because useradd checks this before it takes a lock of its own. The second call would then
    # change the account's user id. The lock is on the home folder of root, because other accounts usually cannot open
    # that folder, and so cannot keep the lock.
    home_of_root = os.open(pwd.getpwuid(0).pw_dir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(home_of_root, fcntl.LOCK_EX)
        with contextlib.suppress(KeyError):
            return _known_account()
        made = processes.run_as(None, _MAKE_ACCOUNT, {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    finally:
        os.close(home_of_root)
    if made.returncode != 0:
        raise EmbeddedError(
            f"PostgreSQL does not run as root, and the account {_ACCOUNT} for it cannot be made"
            f" ({' '.join(made.stderr.split())}). Make it, start the service as an ordinary user, or set DATABASE_URL."
        )
    logger.warning("PostgreSQL does not run as root: the account %s was made for it.", _ACCOUNT)
    return _known_account()


def _known_account() -> Account:
    """The account of the server. Raises KeyError if it does not exist."""
    account = pwd.getpwnam(_ACCOUNT)
    return account.pw_uid, account.pw_gid
