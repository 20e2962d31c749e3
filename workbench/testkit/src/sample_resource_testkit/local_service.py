"""The service, started for one run on this machine: by the pytest plugin, and by the command that judges clients."""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sample_resource_testkit.sandbox import SandboxError

STATE = "state.json"
"""A file in the folder of a run. It has ``{"url": ...}`` when the service is ready, or ``{"error": ...}``."""

_STARTED_WITHIN_S = 400.0


def new_folder() -> Path:
    """A path for the folder of a run. The folder is made when the service is started."""
    return Path(tempfile.gettempdir()) / f"sample-resource-testkit-{secrets.token_hex(8)}"


def started(folder: Path, until: int) -> str:
    """The URL of the service of a run. The first call starts the service.

    :param until: the process at whose end the service ends too.
    :raises SandboxError: if it does not start.
    """
    if not folder.exists():
        _start(folder, until).returncode = 0  # the service outlives this process, which does not wait for it
    return _url(folder)


@contextmanager
def running() -> Generator[str]:
    """The URL of a service that runs until the end of the block.

    :raises SandboxError: if it does not start.
    """
    folder = new_folder()
    process = _start(folder, os.getpid())
    try:
        yield _url(folder)
    finally:
        process.terminate()
        process.wait()


def _start(folder: Path, until: int) -> subprocess.Popen[bytes]:
    beside = Path(sys.executable).with_name("sample-resource")
    command = str(beside) if os.access(beside, os.X_OK) else shutil.which("sample-resource")
    if command is None:
        raise SandboxError(
            "sample-resource is not installed: pip install 'sample-resource-testkit[server]', or start it elsewhere"
            " with SANDBOX=on, such as in a container, and name it in SAMPLE_RESOURCE_URL, or with --url"
        )
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(  # noqa: S603 -- the service's own program
            [command, "sandbox", "--until", str(until), "--folder", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        while not folder.exists():
            if process.poll() is not None and not folder.exists():
                output.seek(0)
                raise SandboxError(f"{command} does not start: {output.read().decode(errors='replace')}")
            time.sleep(0.01)
    return process


def _url(folder: Path) -> str:
    deadline = time.monotonic() + _STARTED_WITHIN_S
    while not (folder / STATE).exists():
        if not folder.exists() or time.monotonic() > deadline:
            raise SandboxError(f"the service of this run has ended, or takes too long to start: {folder}")
        time.sleep(0.01)
    state = json.loads((folder / STATE).read_text("utf-8"))
    if "error" in state:
        raise SandboxError(state["error"])
    return state["url"]
