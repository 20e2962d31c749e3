"""Metrics of several processes: workers of gunicorn share them, and come and go."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.gunicorn_server import Gunicorn
from tests.support.samples import Samples, samples, value
from tests.support.server import get
from tests.support.waiting import wait_until

TOKEN = "a-metrics-token.of~some+length/=="


class Service(Gunicorn):
    """The service on gunicorn with two workers and metrics."""

    def __init__(self, database_url: str, log: Path, **environment: str) -> None:
        settings = {"DATABASE_URL": database_url, "WORKERS": "2", "CONNECTIONS": "8", "METRICS_TOKEN": TOKEN}
        super().__init__("wsgi:app", log, **os.environ | settings | environment)

    def scrape(self) -> Samples:
        status, body = get(self.port, "/metrics", TOKEN)
        assert status == 200
        return samples(body)


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    """The folder in which the services of this test make their shared folders."""
    folder = tmp_path / "parent"
    folder.mkdir()
    return folder


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
    for _ in range(40):
        assert service.get("/health/live") == 200
    counted = value(service.scrape(), "http_requests_total", **LIVE)
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


def test_gauges_are_those_of_running_workers(service: Service) -> None:
    def all_have_their_pool() -> bool:
        for _ in range(10):
            service.get("/health/ready")
        return value(service.scrape(), "pool_connections_max") == 16

    wait_until(all_have_their_pool)
    killed = service.workers[0]
    killed.kill()
    wait_until(lambda: len(service.workers) == 2 and killed not in service.workers)
    wait_until(all_have_their_pool)


def test_requests_that_gunicorn_refuses_are_counted_and_logged(service: Service, tmp_path: Path) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.sendall(b"GARBAGE\r\n\r\n")
        answer = connection.recv(4096).decode()
    assert answer.startswith("HTTP/1.1 400")
    scraped = service.scrape()
    assert value(scraped, "http_requests_total", route="(unparsed)", status="400") == 1
    assert value(scraped, "refusals_total", code="InvalidInput") == 1
    (correlation_id,) = (line.split(": ")[1] for line in answer.splitlines() if line.startswith("X-Correlation-ID"))
    assert correlation_id in (tmp_path / "log").read_text()


def test_a_start_removes_the_folders_of_ended_services_and_spares_those_of_running_ones(
    start: Callable[..., Service], parent: Path
) -> None:
    first = start()
    first.get("/health/live")
    first.stop()
    (ended,) = parent.iterdir()
    no_process = ended.with_name(ended.name.rstrip("0123456789") + "9" * 30)
    no_process.mkdir()
    running, _ = start(), start()
    assert len(list(parent.iterdir())) == 2
    assert not ended.exists()
    assert not no_process.exists()
    running.get("/health/live")
    assert value(running.scrape(), "http_requests_total", **LIVE) >= 1


def test_a_reload_keeps_the_counts(service: Service, parent: Path) -> None:
    before, workers = list(parent.iterdir()), {worker.pid for worker in service.workers}
    for _ in range(50):
        service.get("/health/live")
    service.process.send_signal(signal.SIGHUP)
    wait_until(lambda: len(service.workers) == 2 and not workers & {worker.pid for worker in service.workers})
    assert list(parent.iterdir()) == before
    wait_until(lambda: value(service.scrape(), "http_requests_total", **LIVE) >= 50)


def test_without_a_token_there_are_no_metrics_and_no_folder(start: Callable[..., Service], parent: Path) -> None:
    assert (start(METRICS_TOKEN="").get("/metrics"), list(parent.iterdir())) == (404, [])


def test_only_the_token_opens_the_metrics_and_no_log_shows_it(service: Service, tmp_path: Path) -> None:
    assert service.get("/metrics") == 401
    assert service.get("/metrics", "another-token-of-16-letters") == 401
    found = service.scrape()
    assert {check: value(found, "ready", check=check) for check in ("database", "migrations", "pool")} == {
        "database": 1,
        "migrations": 1,
        "pool": 1,
    }
    assert service.stop() == 0
    assert TOKEN not in (tmp_path / "log").read_text()
