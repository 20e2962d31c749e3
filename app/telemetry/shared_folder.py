"""The folder in which the processes of one gunicorn master share their metrics.

prometheus_client has a multi-process mode for this: each process writes its numbers into files of its own, and the
process that is asked adds up the files of all. An environment variable chooses that mode at the first import. This
module therefore imports nothing of prometheus_client, and :func:`share_between_processes` must run before any import
of it.
"""

import atexit
import contextlib
import fcntl
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 -- what is made there is private and has a random name, or is unlinked
"""A folder in memory. Linux has it; some containers, and other systems, do not."""

_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""prometheus_client's own."""

_PREFIX = "sample-resource-metrics-"


def memory_folder() -> Path | None:
    """A folder in memory that this process may write to; None if there is none."""
    return MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else None


class SharedFolder:
    """A folder of metric files, which exists for as long as the process that made it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def ensure(self) -> None:
        """Make the folder again if something that cleans temporary files has removed it.

        A process that finds no folder could not count, and its requests would fail.
        """
        self.path.mkdir(mode=0o700, exist_ok=True)


@cache
def share_between_processes() -> SharedFolder:
    """Make a new folder, and turn on prometheus_client's multi-process mode for this process and its children.

    For gunicorn's master, before the application is loaded. Repeated calls, as on SIGHUP, give the same folder. It is
    made where ``TMPDIR`` says, else in memory, else in the usual folder for temporary files; it takes some hundred
    kilobytes and is removed when the process ends. Folders of masters that were killed are removed here.

    :raises OSError: if no folder can be made.
    :raises RuntimeError: if prometheus_client is loaded already, and so has chosen the other mode.
    """
    if "prometheus_client" in sys.modules:
        raise RuntimeError("prometheus_client was imported before the folder that processes share was made.")
    memory = None if os.environ.get("TMPDIR") else memory_folder()
    parent = memory or Path(tempfile.gettempdir())
    _remove_unused(parent)
    # It gets the name by which _remove_unused() finds it only when it is locked.
    made = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}", dir=parent))
    _lock(made)
    folder = made.rename(parent / made.name.removeprefix("."))
    atexit.register(_remove, folder, os.getpid())
    os.environ[_VARIABLE] = str(folder)
    return SharedFolder(folder)


def shared_folder() -> SharedFolder | None:
    """The folder that prometheus_client uses in this process; None if the process keeps its numbers to itself."""
    path = os.environ.get(_VARIABLE)
    return None if path is None else SharedFolder(Path(path))


def _lock(folder: Path) -> int | None:
    """Lock a folder until this process and its children have ended, or until the returned descriptor is closed.

    None if another master holds the lock.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_unused(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder.lstat().st_uid != os.geteuid():
                continue  # whatever another account has put there
            descriptor = _lock(folder)
            if descriptor is not None:
                try:
                    shutil.rmtree(folder)
                finally:
                    os.close(descriptor)


def _remove(folder: Path, owner: int) -> None:
    """Remove the folder at the end of the process that made it; forked children inherit the registration."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
