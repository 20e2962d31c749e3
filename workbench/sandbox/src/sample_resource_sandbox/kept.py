"""The command ``sandbox``: it runs a service for a run of tests, and ends with the process that runs the tests.

The packages for pytest and for Node.js start the command. It watches the process that runs the tests, and needs no
signal from it, so the service ends even after a ``kill -9`` of that process.
"""

import contextlib
import http.client
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click

_READY_WITHIN_S = 120.0
_STOP_WITHIN_S = 30.0

_TRIES = 3
"""The most attempts to start the service. Another process may take a free port before the service listens on it."""

_PASSED_ON = ("PATH", "HOME", "TMPDIR", "TZ", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "SSL_CERT_FILE")
"""The environment variables that the service gets, besides LC_... and those of coverage. It does not get the
DATABASE_URL of an application's tests."""

_MEMORY = "/dev/shm"  # noqa: S108 -- a private folder is made there, as tempfile does


@click.command()
@click.option(
    "--until",
    "pid",
    type=click.IntRange(1, 2**31 - 1),
    required=True,
    metavar="PID",
    help="The process that the service ends with.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FOLDER",
    help="A folder that is not there yet: it gets state.json, and is removed at the end.",
)
def sandbox(pid: int, folder: Path) -> None:
    """Run a service with SANDBOX=on until another process has ended.

    The service has a free port of 127.0.0.1 and an empty PostgreSQL of its own, and no setting of this environment.
    FOLDER/state.json has {"url": ...} when it is ready, or {"error": ...} if it does not start. If FOLDER is there
    already, nothing is started: another command serves this run.
    """
    try:
        ended = _ended(pid)
    except OSError as error:
        raise click.ClickException(f"process {pid} cannot be watched: {error.strerror}") from None
    # Ignored, because the tests of an interrupted run still use the service while they clean up.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    told, tell = os.pipe()

    # The handler raises no exception, which could interrupt the start or the end between two steps.
    def note(*_: object) -> None:
        os.write(tell, b".")

    signal.signal(signal.SIGTERM, note)
    ends = (ended, told)
    try:
        folder.mkdir()
    except FileExistsError:
        return
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be made: {error.strerror}") from None
    # Under root PostgreSQL runs as another account, which has to reach its data.
    folder.chmod(0o711)
    data = Path(tempfile.mkdtemp(prefix="sample-resource-sandbox-", dir=_fast_place()))
    data.chmod(0o711)
    service: subprocess.Popen[bytes] | None = None
    try:
        service, state = _start(folder, data, ends)
        partial = folder / "state.json.part"
        partial.write_text(json.dumps(state))
        partial.rename(folder / "state.json")
        select.select(ends, [], [])
    finally:
        # SIGTERM stays blocked until Python has ended. If the handler were replaced instead, a signal just before that
        # would print an error.
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM,))
        if service is not None:
            _stop(service)
        # Under root a link leads to the data if PostgreSQL's account cannot enter the folder for temporary files.
        elsewhere = [each.readlink() for each in data.glob("data/*") if each.is_symlink()]
        for each in (*elsewhere, data, folder):
            shutil.rmtree(each, ignore_errors=True)


COMMANDS = (sandbox,)


def _ended(pid: int) -> int:
    """A file descriptor that becomes readable when a process has ended, even if no parent waits for it.

    :raises OSError: if there is no such process.
    """
    if sys.platform == "linux":
        return os.pidfd_open(pid)
    queue = select.kqueue()
    event = select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD | select.KQ_EV_ONESHOT, select.KQ_NOTE_EXIT)
    queue.control([event], 0)
    return os.dup(queue.fileno())


def _start(folder: Path, data: Path, ends: Sequence[int]) -> tuple[subprocess.Popen[bytes] | None, dict[str, str]]:
    """Start the service. Return its process, or None if it cannot be started, and the content of ``state.json``.

    :param ends: file descriptors, one of which becomes readable when the service is no longer needed.
    """
    log = folder / "service.log"
    for _ in range(_TRIES):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with log.open("wb") as output:
            service = subprocess.Popen(  # noqa: S603 -- this program, as its caller named it
                [sys.argv[0], "serve"],
                cwd=folder,
                env=_environment(data, port),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        if _is_ready(service, port, ends):
            return service, {"url": f"http://127.0.0.1:{port}"}
        _stop(service)
        if _is_readable(ends):
            break
    return None, {"error": f"sample-resource does not start:\n{log.read_text(errors='replace')[-4000:]}"}


def _environment(data: Path, port: int) -> dict[str, str]:
    prefixes = ("LC_", "COV_", "COVERAGE_")
    kept = {name: value for name, value in os.environ.items() if name in _PASSED_ON or name.startswith(prefixes)}
    settings = {"SANDBOX": "on", "BIND": "127.0.0.1", "PORT": str(port), "WORKERS": "1", "DATA_DIR": str(data / "data")}
    return {**kept, **settings}


def _is_readable(ends: Sequence[int], within_s: float = 0) -> bool:
    return bool(select.select(ends, [], [], within_s)[0])


def _is_ready(service: subprocess.Popen[bytes], port: int, ends: Sequence[int]) -> bool:
    """Wait until the service answers. Return False if it ends, is no longer needed, or takes too long."""
    deadline = time.monotonic() + _READY_WITHIN_S
    while service.poll() is None and not _is_readable(ends, 0.01) and time.monotonic() < deadline:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/health/ready")
            if connection.getresponse().status == 200:
                return True
    return False


def _stop(service: subprocess.Popen[bytes]) -> None:
    """Stop the service, and wait until it has ended."""
    if service.poll() is None:
        service.send_signal(signal.SIGTERM)
    try:
        service.wait(_STOP_WITHIN_S)
    except subprocess.TimeoutExpired:
        service.kill()
        service.wait()


def _fast_place() -> str | None:
    """Linux's folder in memory, if it has room; else None, which means the folder for temporary files.

    A new database has a thousand files, and on a disk PostgreSQL waits until each of them is synced. A database of
    tests needs some hundred MiB, and containers often have only 64 MiB in memory.
    """
    if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK):
        return None
    return _MEMORY if shutil.disk_usage(_MEMORY).free >= 2 << 30 else None
