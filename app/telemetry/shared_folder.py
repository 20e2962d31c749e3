"""The folder in which the processes of one gunicorn master share their metrics.

prometheus_client has a multi-process mode for this: each process writes its metrics to its own files, and a process
that is asked for metrics adds up the files of all. An environment variable switches this mode on when prometheus_client
is first imported. So :func:`share_between_processes` must run before the first import of prometheus_client, and this
module does not import prometheus_client.
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
"""The folder in memory of Linux. Some containers, and other systems, do not have it."""

_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable of prometheus_client that names the folder."""

_PREFIX = "sample-resource-metrics-"


def memory_folder() -> Path | None:
    """A folder in memory to which this process can write; None if there is none."""
    return MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else None


@cache
def share_between_processes() -> Path:
    """Make a new folder, and switch on prometheus_client's multi-process mode for this process and its children.

    To be called in gunicorn's master before the application is loaded. Repeated calls, as after SIGHUP, return the same
    folder. The folder is made in ``TMPDIR`` if it is set, else in memory, else in the usual folder for temporary files.
    It takes some hundred kilobytes and is removed when the process ends. Folders of killed masters are removed, too.

    :raises OSError: if no folder can be made.
    :raises RuntimeError: if prometheus_client is already imported, because then it has chosen the other mode.
    """
    if "prometheus_client" in sys.modules:
        raise RuntimeError("prometheus_client was imported before the folder that processes share was made.")
    memory = None if os.environ.get("TMPDIR") else memory_folder()
    parent = memory or Path(tempfile.gettempdir())
    _remove_unused(parent)
    # The folder gets a name that _remove_unused() looks for only after it is locked.
    made = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}", dir=parent))
    _lock(made)
    folder = made.rename(parent / made.name.removeprefix("."))
    atexit.register(_remove, folder, os.getpid())
    os.environ[_VARIABLE] = str(folder)
    return folder


def shared_folder() -> Path | None:
    """The folder that prometheus_client uses in this process; None if the process does not share its metrics."""
    path = os.environ.get(_VARIABLE)
    return None if path is None else Path(path)


def _lock(folder: Path) -> int | None:
    """Lock a folder, and return the descriptor of the lock; None if another master holds it.

    The lock ends when this process and its children have ended, or when the descriptor is closed.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_unused(parent: Path) -> None:
    """Remove the folders of masters that have ended: nobody locks them."""
    for folder in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder.lstat().st_uid != os.geteuid():
                continue  # the folder belongs to another account
            descriptor = _lock(folder)
            if descriptor is not None:
                try:
                    shutil.rmtree(folder)
                finally:
                    os.close(descriptor)


def _remove(folder: Path, owner: int) -> None:
    """Remove the folder, if this is the process that has made it. Forked children inherit the registration at exit."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
