"""The service as a whole, started by its command on a free port."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def running_service(log: Path, **environment: str) -> Iterator[int]:
    """Run ``sample-resource serve`` and yield its port.

    :param log: a file for what it prints.
    :param environment: settings; without a ``DATABASE_URL`` it starts a PostgreSQL of its own in ``DATA_DIR``.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "app.cli", "serve"],
            cwd=ROOT,
            env=os.environ | {"PORT": str(port), "WORKERS": "1"} | environment,
            stdout=output,
            stderr=output,
        )
        try:
            _wait_until_ready(port, process, log)
            yield port
        finally:
            process.send_signal(signal.SIGINT)
            status = process.wait(30)
    assert status == 0, log.read_text()


def _wait_until_ready(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/health/ready")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        finally:
            connection.close()
        time.sleep(0.1)
    raise AssertionError(f"the service did not start: {log.read_text()}")
