"""Builds archives, which takes seconds, once for all test processes."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.server import NOT_MEASURED, ROOT

Built = Callable[[str], Path]
"""A function that builds a distribution, and returns its folder, which tests must not change."""


def build(what: str, folder: Path, umask: int = 0o022) -> Path:
    """Build a distribution of ``ops/make/dist.py`` from the work tree into a new folder, and return the folder."""
    command = [sys.executable, str(ROOT / "ops/make/dist.py"), "--of", what, "--outdir", str(folder)]
    environment = os.environ | NOT_MEASURED
    subprocess.run(command, cwd=folder.parent, env=environment, umask=umask, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Built:
    """A function that builds once for all test processes.

    The process that calls it first builds, and the others wait for the result.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own if worker_id == "master" else own.parent

    def once(what: str) -> Path:
        folder = shared / f"built-{what}"
        with folder.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return folder if folder.exists() else build(what, folder)

    return once
