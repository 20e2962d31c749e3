"""A process that starts the service for a test run, and stops it when the run has ended in whatever way.

The process that runs the tests holds a lock on a file as long as it lives; the kernel releases it also after a
``kill -9``. The keeper waits for that lock, so it needs no signal, no timeout and no list of process ids. It is a
program: ``python -P keeper.py FOLDER``, where ``FOLDER`` is made by :func:`.local_service.make_folder`.
"""

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

STATE = "state.json"
"""In the folder: ``{"url": ...}`` when the service is ready, ``{"error": ...}`` if it does not start."""

ALIVE = "alive"
"""In the folder: the file that the test run holds a lock on."""

LOG = "service.log"

_READY_WITHIN_S = 60.0

_STOP_WITHIN_S = 30.0

_TRIES = 3
"""Another process may take the port that was free, before the service listens on it."""

_PASSED_ON = ("PATH", "HOME", "TMPDIR", "TZ", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "SSL_CERT_FILE")
"""Variables of the test run that the service gets, beside LC_... and those of coverage; a DATABASE_URL is none."""


def main(folder: Path) -> None:
    """Keep the service until the lock is free."""
    import fcntl  # Windows lacks it, and imports this module for its constants

    # The run is over when its lock is free, and not at Ctrl-C, since the ends of tests may still use the service.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    process: subprocess.Popen[bytes] | None = None
    try:
        process, state = start(folder)
        partial = folder / f"{STATE}.part"
        partial.write_text(json.dumps(state))
        partial.rename(folder / STATE)
        with (folder / ALIVE).open("a") as alive:
            fcntl.lockf(alive, fcntl.LOCK_EX)
    finally:
        if process is not None:
            stop(process)
        shutil.rmtree(folder, ignore_errors=True)


def start(folder: Path) -> tuple[subprocess.Popen[bytes] | None, dict[str, str]]:
    """Start the service on a free port.

    :return: the process, and what the test run is told. Without a process the service could not be started.
    """
    command = find_command()
    if command is None:
        return None, {"error": "sample-resource is not installed: pip install 'sample-resource-testkit[server]'"}
    log = folder / LOG
    for _ in range(_TRIES):
        port = free_port()
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 -- the service, by its path
                [command, "serve"],
                cwd=folder,
                env=environment(folder, port),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        if is_ready(process, port):
            return process, {"url": f"http://127.0.0.1:{port}"}
        stop(process)
    return None, {"error": f"sample-resource does not start:\n{log.read_text(errors='replace')[-4000:]}"}


def find_command() -> str | None:
    """The path of ``sample-resource``: beside this interpreter, or on the path."""
    beside = Path(sys.executable).with_name("sample-resource")
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("sample-resource")


def environment(folder: Path, port: int) -> dict[str, str]:
    """The variables of the service: a sandbox on loopback, with a PostgreSQL of its own in the folder."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED_ON or name.startswith(("LC_", "COV_", "COVERAGE_"))
    }
    settings = {
        "SANDBOX": "on",
        "BIND": "127.0.0.1",
        "PORT": str(port),
        "WORKERS": "1",
        "DATA_DIR": str(folder / "data"),
    }
    return {**kept, **settings}


def free_port() -> int:
    """A port that nothing listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_ready(process: subprocess.Popen[bytes], port: int) -> bool:
    """Wait until the service answers; False if it ends, or takes too long."""
    deadline = time.monotonic() + _READY_WITHIN_S
    while process.poll() is None and time.monotonic() < deadline:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/health/ready")
            if connection.getresponse().status == 200:
                return True
        time.sleep(0.01)
    return False


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop the service, and wait for its end."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(_STOP_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
