"""Metrics of several processes: workers of gunicorn share them, and come and go, and masters are killed."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException
from pathlib import Path
from threading import Event, Thread

import psutil
import pytest

from tests.support.gunicorn_server import GUNICORN, Gunicorn
from tests.support.ports import free_port
from tests.support.samples import Samples, samples, value
from tests.support.server import ROOT, get
from tests.support.waiting import wait_until

TOKEN = "a-metrics-token.of~some+length/=="


class Service(Gunicorn):
    """The service on gunicorn with two workers, and a port for metrics."""

    def __init__(self, database_url: str, log: Path, **environment: str) -> None:
        self.metrics_port = free_port()
        settings = {
            "DATABASE_URL": database_url,
            "WORKERS": "2",
            "CONNECTIONS": "8",
            "METRICS_BIND": f"127.0.0.1:{self.metrics_port}",
        }
        super().__init__("wsgi:app", log, **os.environ | settings | environment)

    def scrape(self) -> Samples:
        status, body = get(self.metrics_port, "/metrics")
        assert status == 200
        return samples(body)


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    """The folder in which the services of this test make their shared folders."""
    folder = tmp_path / "parent"
    folder.mkdir()
    return folder


def folders(parent: Path) -> set[Path]:
    return set(parent.glob("sample-resource-metrics-*"))


@pytest.fixture
def start(database_url: str, tmp_path: Path, parent: Path) -> Iterator[Callable[..., Service]]:
    """Start services, which are stopped at the end of the test."""
    services: list[Service] = []

    def start_service(**environment: str) -> Service:
        services.append(Service(database_url, tmp_path / "log", **{"TMPDIR": str(parent), **environment}))
        return services[-1]

    yield start_service
    for service in services:
        if service.process.poll() is None:
            service.stop()


@pytest.fixture
def service(start: Callable[..., Service]) -> Service:
    return start()


LIVE = {"method": "GET", "route": "/health/live", "status": "200"}


def test_workers_are_summed_and_killed_ones_stay_counted(service: Service) -> None:
    def lives() -> float:
        return value(service.scrape(), "http_requests_total", **LIVE)

    for _ in range(40):
        assert service.get("/health/live") == 200
    counted = lives()
    assert counted >= 40
    for worker in service.workers:
        worker.kill()
        worker.wait()
    wait_until(lambda: len(service.workers) == 2)
    wait_until(lambda: service.get("/health/live") == 200)
    scraped = service.scrape()
    now = value(scraped, "http_requests_total", **LIVE)
    assert counted <= now <= counted + 30
    assert value(scraped, "http_request_duration_seconds_count", route="/health/live") == now


def test_no_scrape_shows_fewer_than_the_one_before_while_workers_come_and_go(service: Service) -> None:
    """Prometheus takes a counter that falls for a restart, and counts its whole value again."""
    done = Event()
    seen: list[float] = []

    def recycle() -> None:
        deadline = time.monotonic() + 300  # on a busy machine a scrape takes seconds
        rounds = 0
        while rounds < 6 or (len(seen) <= 10 and time.monotonic() < deadline):
            rounds += 1
            for worker in service.workers:
                with contextlib.suppress(psutil.NoSuchProcess):
                    worker.terminate()
            time.sleep(0.3)
        done.set()

    for _ in range(100):
        service.get("/health/live")
    recycling = Thread(target=recycle)
    recycling.start()
    while not done.is_set():
        with contextlib.suppress(OSError, HTTPException):
            seen.append(value(service.scrape(), "http_requests_total", **LIVE))
    recycling.join()
    assert len(seen) > 10
    assert seen == sorted(seen)
    assert min(seen) >= 100


def test_gauges_and_files_are_those_of_running_workers(service: Service, parent: Path) -> None:
    def all_have_their_pool() -> bool:
        for _ in range(10):
            service.get("/health/ready")
        return value(service.scrape(), "pool_connections_max", pool="primary") == 16

    wait_until(all_have_their_pool)
    killed = service.workers[0]
    killed.kill()
    wait_until(lambda: len(service.workers) == 2 and killed not in service.workers)
    wait_until(all_have_their_pool)
    assert processes_with_files(parent) <= {service.process.pid, *(worker.pid for worker in service.workers)}


def processes_with_files(parent: Path) -> set[int]:
    (folder,) = folders(parent)
    return {int(found.group()) for file in folder.iterdir() if (found := re.search(r"\d+", file.name))}


def test_the_folder_does_not_grow_with_the_workers_that_have_ended(service: Service, parent: Path) -> None:
    """A worker that is killed again and again would fill it, and its place is in memory."""
    for _ in range(20):
        service.get("/health/live")
    counted = value(service.scrape(), "http_requests_total", **LIVE)
    for _ in range(5):
        killed = service.workers[0]
        killed.kill()
        wait_until(lambda killed=killed: len(service.workers) == 2 and killed not in service.workers)
        wait_until(lambda: service.get("/health/live") == 200)
    wait_until(lambda: processes_with_files(parent) <= {service.process.pid, *(each.pid for each in service.workers)})
    assert value(service.scrape(), "http_requests_total", **LIVE) >= counted + 5


def test_scrapes_that_wait_for_a_process_that_begins_hold_nobody_up(
    start: Callable[..., Service], parent: Path
) -> None:
    """Its file has no size yet, so they look again for a while, and let the worker serve others."""
    service = start(WORKERS="1")
    (folder,) = folders(parent)
    beginning = folder / "counter_1.db"
    beginning.touch()
    with contextlib.ExitStack() as stack:
        scrapes = [stack.enter_context(socket.create_connection(("127.0.0.1", service.metrics_port))) for _ in range(4)]
        for scrape in scrapes:
            scrape.settimeout(20)
            scrape.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        assert service.get("/health/live") == 200
        for scrape in scrapes:
            assert scrape.recv(12) == b"HTTP/1.1 500"
    os.truncate(beginning, 4096)
    assert value(service.scrape(), "ready", check="database") == 1


def test_only_the_separate_port_serves_metrics(service: Service) -> None:
    assert service.get("/metrics") == 404
    for path, status in (("/", 404), ("/health/live", 404), ("/metrics?x=1", 200)):
        assert get(service.metrics_port, path)[0] == status
    found = service.scrape()
    assert {check: value(found, "ready", check=check) for check in ("database", "migrations", "pool")} == {
        "database": 1,
        "migrations": 1,
        "pool": 1,
    }


def test_a_silent_client_does_not_block_other_scrapes(service: Service) -> None:
    with socket.create_connection(("127.0.0.1", service.metrics_port)):
        assert value(service.scrape(), "ready") > 0


def test_requests_that_gunicorn_refuses_are_counted(service: Service) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.sendall(b"GARBAGE\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400")
    assert value(service.scrape(), "http_requests_total", route="(unparsed)", status="400") == 1


def test_the_folder_is_removed_with_the_master(service: Service, parent: Path) -> None:
    assert len(folders(parent)) == 1
    assert service.stop() == 0
    assert list(parent.iterdir()) == []


def test_the_folder_of_a_killed_master_is_removed_by_the_next(start: Callable[..., Service], parent: Path) -> None:
    killed = start()
    (left,) = folders(parent)
    neighbour = start()
    workers = killed.workers
    killed.stop(signal.SIGKILL)
    psutil.wait_procs(workers, timeout=20)
    assert left in folders(parent)
    successor = start()
    assert left not in folders(parent)
    assert len(folders(parent)) == 2
    assert value(successor.scrape(), "http_requests_total", **LIVE) < 20
    assert neighbour.scrape()


def test_what_others_put_beside_the_folders_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another account's folder could be so deep that removing it fails, and a link could lead anywhere."""
    names = ("sample-resource-metrics-link", "sample-resource-metrics-file", "sample-resource-metrics-foreign")
    link, file, foreign = (tmp_path / name for name in names)
    (tmp_path / "elsewhere").mkdir()
    link.symlink_to(tmp_path / "elsewhere")
    file.touch()
    foreign.mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    make = "import os; uid = os.geteuid() + {}; os.geteuid = lambda: uid;" + (
        " from app.telemetry.shared_folder import share_between_processes as share; print(share().name)"
    )
    for shift, stays in ((1, True), (0, False)):
        made = subprocess.check_output([sys.executable, "-c", make.format(shift)], text=True).strip()
        assert made.startswith("sample-resource-metrics-")
        assert made not in names
        assert foreign.exists() is stays
    assert link.is_symlink()
    assert file.exists()
    assert (tmp_path / "elsewhere").is_dir()


def test_a_folder_that_was_deleted_is_made_again(service: Service, parent: Path) -> None:
    (folder,) = folders(parent)
    shutil.rmtree(folder)
    service.scrape()
    shutil.rmtree(folder)
    workers = service.workers
    for worker in workers:
        worker.kill()
    wait_until(lambda: len(service.workers) == 2 and not set(workers) & set(service.workers))
    wait_until(lambda: service.get("/health/live") == 200)
    wait_until(lambda: value(service.scrape(), "http_requests_total", **LIVE) > 0)


def test_a_reload_keeps_the_port_and_the_counts(service: Service, parent: Path) -> None:
    before, workers = folders(parent), {worker.pid for worker in service.workers}
    for _ in range(50):
        service.get("/health/live")
    service.process.send_signal(signal.SIGHUP)
    wait_until(lambda: len(service.workers) == 2 and not workers & {worker.pid for worker in service.workers})
    assert folders(parent) == before
    wait_until(lambda: value(service.scrape(), "http_requests_total", **LIVE) >= 50)


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs a folder in memory")  # noqa: S108 -- only asked
def test_the_folder_is_in_memory_unless_tmpdir_is_set(start: Callable[..., Service], parent: Path) -> None:
    service = start(TMPDIR="")
    assert folders(parent) == set()
    mapped = {file.path for worker in service.workers for file in worker.memory_maps() if file.path.endswith(".db")}
    assert mapped
    assert all(path.startswith("/dev/shm/sample-resource-metrics-") for path in mapped)  # noqa: S108 -- only compared


def test_a_metrics_port_in_use_ends_the_start_with_a_message(database_url: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        taken_address = taken.getsockname()
        address = f"127.0.0.1:{taken_address[1]}"
        ended = subprocess.run(
            [*GUNICORN, "wsgi:app"],
            cwd=ROOT,
            env=os.environ | {"DATABASE_URL": database_url, "PORT": str(free_port()), "METRICS_BIND": address},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert ended.returncode == 1
    assert f"Connection in use: {taken_address}" in ended.stderr


def test_no_folder_is_made_while_metrics_are_off(start: Callable[..., Service], parent: Path) -> None:
    start(METRICS_BIND="")
    assert list(parent.iterdir()) == []


def test_metrics_on_the_public_port_are_those_of_all_workers(start: Callable[..., Service], tmp_path: Path) -> None:
    service = start(METRICS_BIND="", METRICS_TOKEN=TOKEN)
    for _ in range(20):
        service.get("/health/live")

    def counted() -> float:
        status, body = get(service.port, "/metrics", TOKEN)
        assert status == 200
        return value(samples(body), "http_requests_total", **LIVE)

    wait_until(lambda: counted() >= 20)
    assert service.stop() == 0
    assert TOKEN not in (tmp_path / "log").read_text()
