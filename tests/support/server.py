"""Starts server processes on a port, and waits until they answer.

It imports only the standard library and the service's settings, since the benchmarks use it without the development
tools.
"""

import contextlib
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


NOT_MEASURED = {"COVERAGE_PROCESS_START": "", "COVERAGE_PROCESS_CONFIG": ""}
"""The environment of programs without measured coverage. Measuring takes a third of their time."""


PATIENT = {"STATEMENT_TIMEOUT_MS": "60000", "QUEUE_TIMEOUT_MS": "60000"}
"""Settings with such long time limits that no request fails on a slow machine. Tests of these limits set their own."""


def measured() -> dict[str, str]:
    """The environment of programs whose coverage is measured, if the coverage of the tests is."""
    return {name: os.environ[name] for name in NOT_MEASURED if name in os.environ}


class NotReady(Exception):
    """A server ended, or did not answer in time. The message says which, and contains the log if there is one."""


def start_server(
    command: Sequence[str],
    port: int,
    environment: Mapping[str, str],
    log: Path | None = None,
    *,
    ready_path: str = "/health/ready",
    within_s: float = 60.0,
) -> subprocess.Popen[bytes]:
    """Start a program in the repository's folder, and return when it answers with 200 on 127.0.0.1.

    :param environment: the whole environment of the program. It has to contain the port.
    :param log: a file to append the output to; None discards the output.
    :raises NotReady: if the program ends or does not answer in time; it is stopped then.
    """
    with contextlib.ExitStack() as stack:
        output = subprocess.DEVNULL if log is None else stack.enter_context(log.open("ab"))
        process = subprocess.Popen(command, cwd=ROOT, env=dict(environment), stdout=output, stderr=output)
    try:
        wait_until_ready(port, ready_path, process, within_s)
    except NotReady as error:
        process.terminate()
        process.wait(30)
        raise NotReady(str(error) if log is None else f"{error}: {log.read_text(errors='replace')}") from None
    return process


def wait_until_ready(port: int, path: str, process: subprocess.Popen[bytes], within_s: float = 60.0) -> None:
    """Wait until a path is answered with 200.

    :raises NotReady: if the process ends before, or takes longer.
    """
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise NotReady(f"the server ended with exit code {process.returncode}")
        with contextlib.suppress(OSError, HTTPException):
            if get(port, path)[0] == 200:
                return
        time.sleep(0.01)
    raise NotReady(f"the server does not answer within {within_s:g} s")


def get(port: int, path: str, token: str = "", timeout_s: float = 15.0) -> tuple[int, str]:
    """Send a GET on a new connection, which any worker may accept, and return status and body of the answer."""
    with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=timeout_s)) as connection:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
