"""Starts gunicorn with the configuration of the service and with any application."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.ports import free_port
from tests.support.server import PATIENT, get, start_server
from tests.support.waiting import wait_until

GUNICORN = [str(Path(sys.executable).with_name("gunicorn")), "-c", "gunicorn.conf.py"]
"""The command of gunicorn.

It is not ``python -m gunicorn``, with which a binary upgrade looks for modules in gunicorn's folder first.
"""


STANDIN = "tests.support.standin:application"


class Gunicorn:
    """A running gunicorn, with one worker unless ``WORKERS`` is set.

    :param environment: settings of the service. It gets nothing of the tests' own environment.
    """

    def __init__(self, application: str, log: Path | None = None, **environment: str) -> None:
        self.port = int(environment.get("PORT") or free_port())
        settings = {"PORT": str(self.port), "WORKERS": "1", "CONNECTIONS": "2", **PATIENT, **environment}
        self.process = start_server(
            [*GUNICORN, application],
            self.port,
            {"PATH": os.defpath, **settings},
            log,
            ready_path="/health/live",
            within_s=30,
        )
        # The first worker answers while the master is still starting the others.
        wait_until(lambda: len(self.workers) >= int(settings["WORKERS"]))

    @property
    def workers(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children()

    def connect(self, data: bytes = b"") -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=15)
        connection.sendall(data)
        return connection

    def get(self, path: str, token: str = "") -> int:
        return get(self.port, path, token)[0]

    def request(self, method: str, path: str, token: str, body: str | None = None) -> int:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=15)) as connection:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            connection.request(method, path, body, headers)
            return connection.getresponse().status

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Stop gunicorn by a signal, and return its exit code.

        A second signal ends the time in which readiness fails before the stop.
        """
        self.process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(0.2)
        self.process.send_signal(number)
        return self.process.wait(20)


StartGunicorn = Callable[..., Gunicorn]


@pytest.fixture
def start_gunicorn() -> Iterator[StartGunicorn]:
    """A function that starts gunicorn with an application. gunicorn is stopped at the end of the test."""
    started: list[Gunicorn] = []

    def begin(
        application: str = "tests.support.standin:application", log: Path | None = None, **environment: str
    ) -> Gunicorn:
        started.append(Gunicorn(application, log, **environment))
        return started[-1]

    yield begin
    for server in started:
        if server.process.poll() is None:
            server.stop()
