"""The service, started for one run on this machine: by the pytest plugin, and by the command that judges clients."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sample_resource_testkit import keeper
from sample_resource_testkit.sandbox import SandboxError

try:
    import fcntl
except ImportError:
    fcntl = None

_STARTED_WITHIN_S = 200.0

_MEMORY = "/dev/shm"  # noqa: S108 -- a folder of its own is made there, as tempfile does


def make_folder() -> tuple[Path, IO[str]]:
    """The folder of a run, and its lock, which this process holds as long as it lives, or until :func:`release`.

    :raises SandboxError: where the service cannot run.
    """
    if fcntl is None:
        raise SandboxError(
            "sample-resource does not run on this system: start it elsewhere, such as in a container, with SANDBOX=on,"
            " and name it in SAMPLE_RESOURCE_URL, or with --url"
        )
    folder = Path(tempfile.mkdtemp(prefix="sample-resource-testkit-", dir=fast_place()))
    # PostgreSQL does not run as root; the account that it runs with then has to reach its data.
    folder.chmod(0o711)
    lock = (folder / keeper.ALIVE).open("w")
    fcntl.lockf(lock, fcntl.LOCK_EX)
    return folder, lock


def release(folder: Path, lock: IO[str]) -> None:
    """End a run: the keeper waits for the lock, and removes the folder; without a keeper it is removed here."""
    lock.close()
    if not (folder / keeper.LOG).exists() and not (folder / keeper.STATE).exists():
        shutil.rmtree(folder, ignore_errors=True)


def started(folder: Path) -> str:
    """The URL of the service of a run; the first process that asks starts it.

    :raises SandboxError: if it does not start.
    """
    with (folder / "starting").open("w") as starting:
        assert fcntl is not None  # noqa: S101 -- else there is no folder
        fcntl.lockf(starting, fcntl.LOCK_EX)
        state = folder / keeper.STATE
        if not state.exists():
            _wait_for(
                state,
                subprocess.Popen(  # noqa: S603 -- this interpreter and a file of this package
                    [sys.executable, "-P", str(keeper.__file__), str(folder)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                ),
            )
    told_state = json.loads(state.read_text())
    if "error" in told_state:
        raise SandboxError(told_state["error"])
    return told_state["url"]


@contextmanager
def running() -> Generator[str]:
    """The URL of a service that runs until the end of the block.

    :raises SandboxError: if it does not start.
    """
    folder, lock = make_folder()
    try:
        yield started(folder)
    finally:
        release(folder, lock)


def _wait_for(state: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _STARTED_WITHIN_S
    while not state.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise SandboxError(f"the process that keeps the server has ended, or takes too long ({process.poll()})")
        time.sleep(0.01)
    # It outlives this run, so it is not waited for.
    process.returncode = 0


def fast_place(room_gib: int = 2) -> str | None:
    """The folder of Linux that lies in memory, if there is room; else None, which is the folder for temporary files.

    A new database is made of a thousand files, each of which PostgreSQL waits for until it is on the disk.

    :param room_gib: the room; a database of tests needs some hundred MiB, and containers often have 64 MiB there.
    """
    if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK):
        return None
    return _MEMORY if shutil.disk_usage(_MEMORY).free >= room_gib << 30 else None
