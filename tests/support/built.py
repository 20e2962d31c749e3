"""What several tests need and takes seconds to build: archives and the guide, built once for all test processes."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.server import NOT_MEASURED, ROOT

Built = Callable[[str], Path]
"""The folder of what :func:`build` builds, for reading only."""


def build(what: str, folder: Path, umask: int = 0o022) -> Path:
    """Build it from the work tree into a folder that does not exist yet.

    :param what: the guide, or a distribution of ``ops/make/dist.py``.
    """
    program = ("guide.py",) if what == "guide" else ("dist.py", "--of", what, "--outdir")
    command = [sys.executable, str(ROOT / "ops/make" / program[0]), *program[1:], str(folder)]
    environment = os.environ | NOT_MEASURED
    subprocess.run(command, cwd=folder.parent, env=environment, umask=umask, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Built:
    """The test process that asks first builds, and the others wait for it."""
    own = tmp_path_factory.getbasetemp()
    shared = own if worker_id == "master" else own.parent

    def once(what: str) -> Path:
        folder = shared / f"built-{what}"
        with folder.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return folder if folder.exists() else build(what, folder)

    return once
