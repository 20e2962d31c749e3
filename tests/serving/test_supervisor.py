"""The process tree of ``serve``: what it prints, how it stops, and what happens when one of its processes is killed."""

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.http.malformed import error_for, refusal
from app.serving.embedded import EmbeddedPostgres
from tests.support.embedded import on_linux
from tests.support.ports import free_port
from tests.support.server import ROOT, get
from tests.support.waiting import wait_until


@pytest.fixture
def folder(empty: Path, new_cluster: Path) -> Path:
    """A folder that other users can reach too, with an empty database in its folder ``the data``."""
    copy_cluster(new_cluster, empty / "the data")
    return empty


def copy_cluster(source: Path, target: Path) -> None:
    subprocess.run(["/bin/cp", "-a", str(source), str(target)], check=True)


@contextlib.contextmanager
def hangups(handler: signal.Handlers) -> Generator[None]:
    """Have processes that are started in this context handle SIGHUP so, whatever these tests inherited."""
    before = signal.signal(signal.SIGHUP, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


class Service:
    """``serve`` in a process of its own, with the stand-in application."""

    def __init__(
        self, folder: Path, port: int | None = None, hangup: signal.Handlers = signal.SIG_DFL, **environment: str
    ) -> None:
        self.port = port or free_port()
        self.lines: list[str] = []
        self.errors = folder / f"errors-{time.monotonic_ns()}"
        began = time.monotonic()
        with self.errors.open("wb") as errors, hangups(hangup):
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.standin"],
                cwd=ROOT,
                env={
                    "PATH": os.defpath,
                    "PORT": str(self.port),
                    "DATA_DIR": str(folder / "the data"),
                    "WORKERS": "2",
                    **environment,
                },
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self.process.stdout is not None
        self.welcome = self.process.stdout.readline().strip()
        self.started_in_s = time.monotonic() - began

    def get(self, path: str, timeout: float = 5) -> tuple[int, str]:
        return get(self.port, path, timeout_s=timeout)

    def children(self) -> dict[str, psutil.Process]:
        """Processes below the supervisor, by their part."""
        found: dict[str, psutil.Process] = {}
        for child in psutil.Process(self.process.pid).children():
            leader, follower = ("postmaster", "checkpointer") if child.name() == "postgres" else ("gunicorn", "worker")
            found[leader] = child
            for grandchild in child.children()[:1]:
                found[follower] = grandchild
        return found

    def wait_until(self, holds: Callable[[], bool], within_s: float = 120) -> float:
        return wait_until(holds, within_s, self.errors.read_text)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        code = self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@pytest.fixture
def start(folder: Path) -> Generator[Callable[..., Service]]:
    services: list[Service] = []

    def start_service(**environment: Any) -> Service:
        service = Service(folder, **environment)
        services.append(service)
        return service

    yield start_service
    for service in services:
        if service.process.poll() is None:
            service.stop()
        assert service.process.stdout is not None
        service.process.stdout.close()


def test_a_database_that_cannot_be_prepared_ends_the_start_with_the_reason(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", "serve"],
        cwd=ROOT,
        env={"PATH": os.defpath, "PORT": str(free_port()), "DATABASE_URL": f"host={tmp_path} dbname=none user=nobody"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: the database of DATABASE_URL, or the embedded one: connection"), done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def living(family: Iterable[psutil.Process]) -> list[psutil.Process]:
    """The processes that still run; zombies, which process 1 has yet to wait for, do not count."""
    found: list[psutil.Process] = []
    for process in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def assert_nothing_is_left(family: list[psutil.Process], welcome: str) -> None:
    assert living(family) == []
    sockets = Path(welcome.partition("host=")[2].partition(" ")[0])
    assert sockets.name.startswith("sample-resource-")
    assert not sockets.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_all_processes_and_keeps_the_data(start: Callable[..., Service], number: signal.Signals) -> None:
    service = start()
    assert service.welcome.startswith("ready ")
    assert service.get("/rows") == (200, "1")
    family = psutil.Process(service.process.pid).children(recursive=True)
    assert len(family) > 4
    assert service.stop(number) == 0
    assert_nothing_is_left(family, service.welcome)
    assert service.errors.read_text() == ""
    if number == signal.SIGTERM:
        assert start().get("/rows") == (200, "2")


def test_requests_in_flight_are_finished(start: Callable[..., Service]) -> None:
    service = start()
    answers: list[tuple[int, str]] = []
    client = threading.Thread(target=lambda: answers.append(service.get("/slow?seconds=1")))
    client.start()
    time.sleep(0.4)
    assert service.stop() == 0
    client.join(5)
    assert answers == [(200, "slow and done")]


def test_a_second_signal_ends_it_at_once(start: Callable[..., Service]) -> None:
    service = start()
    answers: list[tuple[int, str]] = []

    def slow() -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            answers.append(service.get("/slow?seconds=20", timeout=60))

    client = threading.Thread(target=slow)
    client.start()
    time.sleep(0.3)
    service.process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert service.stop(signal.SIGINT) == 0
    client.join()
    assert answers == []


def test_a_signal_during_the_start_ends_it(folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.standin"],
        cwd=ROOT,
        env={"PATH": os.defpath, "PORT": str(free_port()), "DATA_DIR": str(folder / "data")},
    )
    while not (folder / "data" / "postgresql.unfinished").exists():
        time.sleep(0.01)
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    assert (process.wait(10), living(family)) == (0, [])


def test_a_signal_between_the_fork_of_gunicorn_and_the_end_of_its_start_leaves_none() -> None:
    script = """if True:
        import os, sys; from app.config import Settings; from app.serving import processes, supervisor
        spawn, children = processes.spawn, []
        def interrupted(*command, **options):
            children.append(spawn(*command, **options)); os.kill(os.getpid(), 15); return children[0]
        processes.spawn = interrupted
        sys.exit(supervisor.serve(Settings.from_environment()) or children[0].poll() is None)"""
    variables = {"PATH": os.defpath, "PORT": str(free_port()), "DATABASE_URL": "host=/none"}
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=variables, check=False).returncode == 0


@pytest.mark.parametrize("victim", ["postmaster", "checkpointer", "gunicorn", "worker"])
def test_a_killed_child_is_restarted(start: Callable[..., Service], victim: str) -> None:
    service = start()
    service.wait_until(lambda: victim in service.children())
    process = service.children()[victim]
    process.kill()
    service.wait_until(lambda: not living([process]))
    service.wait_until(lambda: service.get("/rows", timeout=2) == (200, "1"))
    service.wait_until(lambda: set(service.children()) >= {"postmaster", "checkpointer", "gunicorn", "worker"})
    supervisor = psutil.Process(service.process.pid)
    # Their parents wait for dead processes, which takes a moment.
    service.wait_until(lambda: all(one.status() != psutil.STATUS_ZOMBIE for one in supervisor.children(recursive=True)))
    family = supervisor.children(recursive=True)
    assert service.stop() == 0
    assert_nothing_is_left(family, service.welcome)


@pytest.mark.parametrize("victims", [("supervisor",), ("supervisor", "gunicorn", "postmaster")])
def test_after_a_killed_supervisor_the_next_start_works(
    start: Callable[..., Service], victims: tuple[str, ...]
) -> None:
    service = start()
    family = service.children()
    family["supervisor"] = psutil.Process(service.process.pid)
    for victim in victims:
        family[victim].kill()
    service.process.wait()
    successor = start(port=service.port)
    assert successor.welcome, successor.errors.read_text()
    assert successor.get("/rows") == (200, "2")
    service.wait_until(lambda: not living(family.values()))
    assert successor.stop() == 0


@on_linux
def test_the_children_of_a_killed_supervisor_end(start: Callable[..., Service]) -> None:
    service = start()
    family = psutil.Process(service.process.pid).children(recursive=True)
    service.process.kill()
    service.process.wait()
    service.wait_until(lambda: not living(family))


def test_a_second_start_names_the_first(start: Callable[..., Service]) -> None:
    first = start()
    second = start()
    assert second.process.wait(10) == 1
    errors = second.errors.read_text()
    assert f"is in use by another process (pid {first.process.pid})" in errors
    assert errors.count("\n") == 1
    assert first.get("/rows") == (200, "1")


def test_an_outside_database_is_left_running(start: Callable[..., Service], folder: Path) -> None:
    (folder / "the data").rename(folder / "outside")
    (folder / "outside" / "owner.lock").unlink()
    with EmbeddedPostgres(folder / "outside", {"fsync": "off"}) as outside:
        service = start(DATABASE_URL=outside.conninfo())
        assert service.welcome == f"ready {outside.conninfo()}"
        assert service.get("/rows") == (200, "1")
        assert set(service.children()) == {"gunicorn", "worker"}
        service.children()["gunicorn"].kill()
        assert service.process.stdout is not None
        assert service.process.stdout.readline().strip() == service.welcome  # printed at each start of gunicorn
        assert service.get("/rows") == (200, "1")
        assert service.stop() == 0
    assert not (folder / "the data").exists()


def test_an_internal_error_shows_no_details() -> None:
    error = error_for(RuntimeError("secret"))
    assert (error.status, error.faults[0].code) == (500, "General")
    head, _, body = refusal(RuntimeError("secret"), "").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 500 Internal Server Error\r\n")
    assert b"secret" not in body
