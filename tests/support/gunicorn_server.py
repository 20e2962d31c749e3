"""Gunicorn, as it is configured for the service, around any application."""

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


class Gunicorn:
    """One worker, whose process and port are known."""

    def __init__(self, application: str, **environment: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", application],
            cwd=REPOSITORY,
            env={"PATH": os.defpath, "PORT": str(self.port), "WORKERS": "1", "THREADS": "2", **environment},
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 30
        while True:
            try:
                assert self.get("/health/live") == 200
                return
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def connect(self, data: bytes = b"") -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=15)
        connection.sendall(data)
        return connection

    def get(self, path: str, token: str = "") -> int:
        return self.request("GET", path, token)

    def request(self, method: str, path: str, token: str, body: str | None = None) -> int:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=15)) as connection:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            connection.request(method, path, body, headers)
            return connection.getresponse().status

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(20)


StartGunicorn = Callable[..., Gunicorn]


@pytest.fixture
def start_gunicorn() -> Iterator[StartGunicorn]:
    """Start gunicorn around an application; it stops with the test."""
    started: list[Gunicorn] = []

    def begin(application: str = "tests.support.standin:application", **environment: str) -> Gunicorn:
        started.append(Gunicorn(application, **environment))
        return started[-1]

    yield begin
    for server in started:
        if server.process.poll() is None:
            server.stop()
