"""The folder in which the processes of one gunicorn master share their metrics.

prometheus_client has a multi-process mode for this: each process writes its metrics to its own files, and a process
that is asked for metrics adds up the files of all. An environment variable switches this mode on when prometheus_client
is first imported. So :func:`share_between_processes` must run before that, and this module does not import
prometheus_client.
"""

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 -- what is made there is private, and must not exist before
"""Linux's folder in memory. Some containers, and other systems, do not have it."""

_NAME = "sample-resource-metrics-"
"""The beginning of a folder's name, before the process id of gunicorn's master."""

_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable of prometheus_client that names the folder."""


def memory_folder() -> Path | None:
    """A folder in memory to which this process can write; None if there is none."""
    return MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else None


def share_between_processes() -> None:
    """Make a new folder, and switch on prometheus_client's multi-process mode for this process and its children.

    The folder is made in memory if a folder in memory is writable and ``TMPDIR`` is not set. Otherwise it is made in
    the folder that ``tempfile.gettempdir`` chooses, which is ``TMPDIR`` if that is usable. Only the account of this
    process may enter the new folder. The name of the folder ends with the id of this process, because several masters
    can run on one machine.

    The folder stays when the service ends. So each start first removes the folders of ended masters. A folder belongs
    to an ended master if no running process has the id in the folder's name, or if this process has that id: a
    restarted container can get the same id again.

    Three rules follow from the account and the process id:

    - After this call the process must not daemonize. That would change the id of the process, and the next start of
      another master would remove the folder.
    - After this call the process must not change its account, because the new account cannot enter the folder.
    - Containers must not share the parent folder. A process id of one container means nothing in another, so a start in
      one container could remove the folder of a running master in another.

    :raises OSError: if the folder cannot be made. One reason is a folder of this name that belongs to somebody else.
    """
    parent = (None if os.environ.get("TMPDIR") else memory_folder()) or Path(tempfile.gettempdir())
    for former in parent.glob(f"{_NAME}*"):
        pid = former.name.removeprefix(_NAME)
        if pid.isdecimal() and (int(pid) == os.getpid() or not _is_running(int(pid))):
            shutil.rmtree(former, ignore_errors=True)
    folder = parent / f"{_NAME}{os.getpid()}"
    folder.mkdir(mode=0o700)
    os.environ[_VARIABLE] = str(folder)


def _is_running(pid: int) -> bool:
    """Whether a process with this id exists. Signal 0 is not sent; the system only checks that it could be."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):  # no process has the id, or the number is too large for an id
        return False
    except PermissionError:  # it belongs to another account
        pass
    return True


def shared_folder() -> Path | None:
    """The folder that prometheus_client uses in this process; None if the process does not share its metrics."""
    path = os.environ.get(_VARIABLE)
    return None if path is None else Path(path)
