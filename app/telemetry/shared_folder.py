"""The folder in which the processes of one gunicorn master share their metrics.

prometheus_client has a multi-process mode for this: each process writes its numbers into files of its own, and the
process that is asked adds up the files of all. An environment variable chooses that mode at the first import. This
module therefore imports nothing of prometheus_client, and :func:`share_between_processes` must run before any import
of it.
"""

import atexit
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


def memory_folder() -> Path | None:
    """A folder in memory that this process may write to; None if there is none."""
    return MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else None


@cache
def share_between_processes() -> Path:
    """Make a new folder, and turn on prometheus_client's multi-process mode for this process and its children.

    For gunicorn's master, before the application is loaded. Repeated calls, as on SIGHUP, give the same folder. It is
    made where ``TMPDIR`` says, else in memory, else in the usual folder for temporary files, and removed when the
    process ends, unless that is killed.

    :raises OSError: if no folder can be made.
    :raises RuntimeError: if prometheus_client is loaded already, and so has chosen the other mode.
    """
    if "prometheus_client" in sys.modules:
        raise RuntimeError("prometheus_client was imported before the folder that processes share was made.")
    memory = None if os.environ.get("TMPDIR") else memory_folder()
    folder = tempfile.mkdtemp(prefix="sample-resource-metrics-", dir=memory)
    atexit.register(_remove, folder, os.getpid())
    os.environ[_VARIABLE] = folder
    return Path(folder)


def shared_folder() -> Path | None:
    """The folder that prometheus_client uses in this process; None if the process keeps its numbers to itself."""
    path = os.environ.get(_VARIABLE)
    return None if path is None else Path(path)


def _remove(folder: str, owner: int) -> None:
    """Remove the folder at the end of the process that made it; forked children inherit the registration."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
