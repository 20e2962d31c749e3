"""A stop of gunicorn: readiness fails first, while requests are answered; a reload is none."""

import os
import signal
import subprocess
from contextlib import ExitStack, suppress
from http.client import HTTPException

import psutil
import pytest

from app.config import Settings
from tests.support.gunicorn_server import GUNICORN, STANDIN, Gunicorn, StartGunicorn
from tests.support.server import ROOT, get
from tests.support.waiting import wait_until


def test_readiness_fails_while_requests_are_still_answered(start_gunicorn: StartGunicorn, database_url: str) -> None:
    server = start_gunicorn("wsgi:app", DATABASE_URL=database_url, WORKERS="2")
    assert get(server.port, "/health/ready")[0] == 200
    server.process.send_signal(signal.SIGTERM)
    seen = list[tuple[int, int]]()
    with suppress(OSError, HTTPException):  # it listens no more
        while True:
            status, body = get(server.port, "/health/ready")
            assert status == 200 or "The service is stopping." in body
            seen.append((status, get(server.port, "/docs")[0]))
    assert server.process.wait(20) == 0
    assert (503, 200) in seen
    assert {other for _, other in seen} == {200}


def readiness(server: Gunicorn) -> int:
    """The status of an answer to a probe; 0 if a worker that ends has cut the connection."""
    with suppress(OSError, HTTPException):
        return get(server.port, "/health/ready")[0]
    return 0


def test_a_reload_is_no_stop(start_gunicorn: StartGunicorn, database_url: str) -> None:
    server = start_gunicorn("wsgi:app", DATABASE_URL=database_url)
    (before,) = server.workers
    server.process.send_signal(signal.SIGHUP)
    seen = set[int]()

    def is_replaced() -> bool:
        seen.add(readiness(server))
        return not psutil.pid_exists(before.pid)

    wait_until(is_replaced, report=lambda: "the worker after the reload")
    assert 200 in seen
    assert 503 not in seen


def test_a_master_whose_place_another_has_taken_fails_no_readiness(
    start_gunicorn: StartGunicorn, database_url: str
) -> None:
    server = start_gunicorn("wsgi:app", DATABASE_URL=database_url)
    workers = server.workers
    server.process.send_signal(signal.SIGUSR2)
    with ExitStack() as stack:

        def serves(master: psutil.Process) -> bool:
            with suppress(psutil.Error):
                return bool(master.children())
            return False

        def successors() -> list[psutil.Process]:
            return [each for each in server.workers if each not in workers and serves(each)]

        wait_until(lambda: bool(successors()), report=lambda: "the second master")
        (successor,) = successors()
        stack.callback(successor.wait, 20)
        stack.callback(successor.kill)
        for worker in successor.children():
            stack.callback(worker.kill)
        # Its worker listens as well, when it answers once the old workers are held.
        for worker in workers:
            worker.suspend()
        wait_until(lambda: readiness(server) == 200, report=lambda: "the second master")
        for worker in workers:
            worker.resume()
        server.process.send_signal(signal.SIGTERM)
        seen = set[int]()
        while server.process.poll() is None:
            seen.add(readiness(server))
        assert 503 not in seen


@pytest.mark.parametrize(
    ("environment", "seconds"),
    [({}, 14), ({"QUEUE_TIMEOUT_MS": "1000", "STATEMENT_TIMEOUT_MS": "20500"}, 43)],
    ids=["default", "long-statements"],
)
def test_requests_in_flight_have_as_long_as_they_may_wait_and_work(environment: dict[str, str], seconds: int) -> None:
    shown = subprocess.run(
        [*GUNICORN, "--print-config", STANDIN],
        cwd=ROOT,
        env={"PATH": os.defpath, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (line,) = [line for line in shown.splitlines() if line.startswith("graceful_timeout ")]
    assert line.split() == ["graceful_timeout", "=", str(seconds)]
    assert Settings.from_environment(environment).graceful_timeout_s == seconds
