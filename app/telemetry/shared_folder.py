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
"""The folder in memory of Linux. Some containers, and other systems, do not have it."""

_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable of prometheus_client that names the folder."""


def memory_folder() -> Path | None:
    """A folder in memory to which this process can write; None if there is none."""
    return MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else None


def share_between_processes(port: int) -> None:
    """Make a new folder, and switch on prometheus_client's multi-process mode for this process and its children.

    The folder is in ``TMPDIR`` if that is set, else in memory, else in the usual folder for temporary files. It stays
    when the service ends; the next start on the same port empties it.

    :param port: the port of the service, because a machine can run several.
    :raises OSError: if the folder cannot be made, also because somebody else has made one of this name.
    """
    parent = (None if os.environ.get("TMPDIR") else memory_folder()) or Path(tempfile.gettempdir())
    folder = parent / f"sample-resource-metrics-{port}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    os.environ[_VARIABLE] = str(folder)


def shared_folder() -> Path | None:
    """The folder that prometheus_client uses in this process; None if the process does not share its metrics."""
    path = os.environ.get(_VARIABLE)
    return None if path is None else Path(path)
