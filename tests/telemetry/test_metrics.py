"""What is counted: in the application, over HTTP under gunicorn, and when workers and masters die."""

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
from dataclasses import replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Event, Thread

import psutil
import pytest
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

from app import create_app
from app.config import InvalidSetting, Settings
from app.errors import CATALOGUE
from app.telemetry import metrics
from tests.conftest import TokenFor
from tests.support.api import Api, codes

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "a-metrics-token.of~some+length/=="

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples(text: str) -> Samples:
    """Every sample of a scrape by its name and labels."""
    return {
        (sample.name.removeprefix("sample_resource_"), frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float:
    """The sum of the samples with this name and, among others, these labels."""
    return sum(number for (other, has), number in found.items() if other == name and has >= frozenset(labels.items()))


class Counted:
    """How much a sum has grown since this was made, in the application of this process."""

    def __init__(self) -> None:
        self._before = samples(metrics.exposition().decode())

    def __call__(self, name: str, **labels: str) -> float:
        return value(samples(metrics.exposition().decode()), name, **labels) - value(self._before, name, **labels)


@pytest.fixture
def counted() -> Counted:
    return Counted()


RESOURCE = "/{project_key}/resource/{resource_id}"


def test_requests_are_counted_by_route_method_and_status(api: Api, counted: Counted) -> None:
    created = api.create()
    for _ in range(3):
        assert api.get(f"/{created['id']}").status_code == 200
    assert api.get("/nothing").status_code == 404
    assert counted("http_requests_total", method="GET", route=RESOURCE, status="200") == 3
    assert counted("http_requests_total", method="GET", route=RESOURCE, status="404") == 1
    assert counted("http_requests_total", method="POST", route="/{project_key}/resource", status="201") == 1
    assert counted("http_request_duration_seconds_count", method="GET", route=RESOURCE) == 4
    assert 0 < counted("http_request_duration_seconds_sum", method="GET", route=RESOURCE) < 10
    # The one for what is no UUID asks the database for nothing.
    assert 3 <= counted("http_request_sql_seconds_count", method="GET", route=RESOURCE) <= 4
    assert counted("http_request_duration_seconds_bucket", method="GET", route=RESOURCE, le="+Inf") == 4


def test_labels_do_not_grow_with_what_clients_invent(app: Flask, api: Api, counted: Counted) -> None:
    before = len(samples(metrics.exposition().decode()))
    for number in range(20):
        api.request("GET", f"//unknown/{number}")
        app.test_client().open("/", method=f"METHOD{number}")
        api.get(f"/key=invented-{number}")
    assert counted("http_requests_total", route="(unknown)", method="GET") == 20
    assert counted("http_requests_total", route="(unknown)", method="(other)") == 20
    assert len(samples(metrics.exposition().decode())) - before < 100


def test_conflicts_and_other_refusals_are_counted_by_code(api: Api, counted: Counted) -> None:
    created = api.create()
    update = {"version": 7, "actions": [{"action": "doSomeThing"}]}
    assert codes(api.post(f"/{created['id']}", json=update)) == ["ConcurrentModification"]
    assert codes(api.get("?limit=-1")) == ["InvalidInput"]
    assert counted("refusals_total", code="ConcurrentModification") == 1
    assert counted("refusals_total", code="InvalidInput") == 1
    assert counted("http_requests_total", status="409") == 1


def test_every_code_and_reason_is_there_before_it_first_happens(app: Flask) -> None:
    found = samples(metrics.exposition().decode())
    assert {dict(labels)["code"] for name, labels in found if name == "refusals_total"} == set(CATALOGUE)
    assert {dict(labels)["result"] for name, labels in found if name == "token_checks_total"} == {
        "cached",
        "verified",
        "refused",
    }


def test_token_checks_are_counted(app: Flask, project: str, token_for: TokenFor, counted: Counted) -> None:
    api = Api(app, project, token_for(f"view_test:{project}"))
    for _ in range(3):
        assert api.get().status_code == 200
    assert Api(app, project, "x.y.z").get().status_code == 401
    assert Api(app, project, "no token").get().status_code == 401
    assert Api(app, project, None).get().status_code == 401
    assert {result: counted("token_checks_total", result=result) for result in metrics.TOKEN_CHECK_RESULTS} == {
        "cached": 2,
        "verified": 1,
        "refused": 2,
    }


def test_what_the_database_does_not_do_is_counted_by_its_reason(settings: Settings, counted: Counted) -> None:
    app = create_app(replace(settings, pool_size=1, pool_timeout_ms=50, statement_timeout_ms=100))
    database = app.extensions["database"]
    with contextlib.closing(database):
        with pytest.raises(Exception, match="took too long"), database.connection() as connection:
            connection.execute("SELECT pg_sleep(5)")
        with (
            database.connection(),
            pytest.raises(Exception, match="No database connection"),
            database.connection(),
        ):
            pass
    away = create_app(replace(settings, database_url="host=/nowhere dbname=x", pool_timeout_ms=50))
    with contextlib.closing(away.extensions["database"]) as database:  # noqa: SIM117 -- what fails stands alone
        with pytest.raises(Exception, match="not available"), database.connection():
            pass
    reasons = {
        reason: counted("database_refusals_total", reason=reason)
        for reason in ("statement_timeout", "pool_exhausted", "away")
    }
    assert reasons == {"statement_timeout": 1, "pool_exhausted": 1, "away": 1}


def test_pool_statistics_become_gauges_and_counters(counted: Counted) -> None:
    first = {"pool_max": 8, "pool_size": 5, "pool_available": 3, "requests_num": 10, "requests_wait_ms": 1500}
    later = first | {"pool_available": 0, "requests_waiting": 2, "requests_num": 25, "requests_wait_ms": 2000}
    metrics.report_pool("a-test", first, {})
    metrics.report_pool("a-test", later, first)
    now = samples(metrics.exposition().decode())
    assert value(now, "pool_connections", pool="a-test", state="in_use") == 5
    assert value(now, "pool_connections", pool="a-test", state="idle") == 0
    assert value(now, "pool_connections_max", pool="a-test") == 8
    assert value(now, "pool_waiting", pool="a-test") == 2
    assert counted("pool_requests_total", pool="a-test") == 25
    assert counted("pool_wait_seconds_total", pool="a-test") == 2.0
    metrics.report_pool("a-test", {}, {})
    assert value(samples(metrics.exposition().decode()), "pool_connections_max", pool="a-test") == 0


def test_a_pool_is_watched_until_it_is_closed(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_POOL_SAMPLED_EVERY_S", 0.01)
    app = create_app(replace(settings, metrics_token=TOKEN, pool_size=3))
    database = app.extensions["database"]

    def connections_max() -> float:
        return value(samples(metrics.exposition().decode()), "pool_connections_max", pool="primary")

    with database.connection():
        _wait_until(lambda: connections_max() == 3)
    database.close()
    _wait_until(lambda: connections_max() == 0)


def _wait_until(holds: Callable[[], bool], within_s: float = 10) -> None:
    deadline = time.monotonic() + within_s
    while True:
        with contextlib.suppress(OSError, HTTPException):
            if holds():
                return
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_counts_are_entered_by_themselves_before_they_fill_memory(counted: Counted) -> None:
    for _ in range(3000):
        metrics.count_request("GET", "/a-test", 200, 0.001)
        metrics.count_token_check("cached")
    assert len(metrics._events) <= metrics._EVENTS_AT_MOST
    assert len(metrics._token_events) <= metrics._EVENTS_AT_MOST
    assert counted("http_requests_total", route="/a-test") == 3000
    assert counted("http_request_duration_seconds_count", route="/a-test") == 3000


def test_threads_that_count_at_once_lose_nothing(counted: Counted) -> None:
    def count() -> None:
        for _ in range(2000):
            metrics.count_request("GET", "/another-test", 200, 0.001, 0.0005)

    threads = [Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        metrics.enter()
    assert counted("http_requests_total", route="/another-test") == 8000
    assert counted("http_request_sql_seconds_count", route="/another-test") == 8000


# On the public port


def test_without_a_token_there_is_no_such_url(app: Flask) -> None:
    answer = app.test_client().get("/metrics")
    assert answer.status_code == 404
    assert codes(answer) == ["ResourceNotFound"]


@pytest.fixture
def with_token(settings: Settings) -> Iterator[Flask]:
    application = create_app(replace(settings, metrics_token=TOKEN))
    yield application
    application.extensions["database"].close()


def test_the_token_opens_the_metrics(with_token: Flask) -> None:
    answer = with_token.test_client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert answer.content_type.startswith("text/plain; version=")
    assert value(samples(answer.text), "ready", check="database") == 1
    assert "/metrics" not in with_token.extensions["openapi"]["paths"]


@pytest.mark.parametrize(
    ("authorization", "message"),
    [
        (None, "This endpoint requires an access token."),
        ("Basic YTpi", "This endpoint requires an access token."),
        (f"Bearer {TOKEN[:-3]}", "invalid_token"),
        (f"Bearer {TOKEN}=", "invalid_token"),
        ("Bearer x", "invalid_token"),
    ],
)
def test_nothing_else_does(with_token: Flask, authorization: str | None, message: str) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = with_token.test_client().get("/metrics", headers=headers)
    assert answer.status_code == 401
    assert codes(answer) == ["invalid_token"]
    assert answer.get_json()["message"] == message
    assert answer.headers["WWW-Authenticate"].startswith('Bearer realm="metrics"')


def test_an_access_token_of_the_service_does_not_either(with_token: Flask, token_for: TokenFor) -> None:
    token = token_for("manage_test:metrics")
    assert with_token.test_client().get("/metrics", headers={"Authorization": f"Bearer {token}"}).status_code == 401


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("METRICS_TOKEN", "short"),
        ("METRICS_TOKEN", "with blanks in between it"),
        ("METRICS_BIND", "9090"),
        ("METRICS_BIND", ":9090"),
        ("METRICS_BIND", "localhost"),
        ("METRICS_BIND", "localhost:99999"),
        ("METRICS_BIND", "localhost:9090/metrics"),
        ("METRICS_BIND", "a@localhost:9090"),
        ("METRICS_BIND", "[::1:9090"),
    ],
)
def test_settings_that_do_not_fit_are_refused(variable: str, text: str) -> None:
    with pytest.raises(InvalidSetting, match=f"^{variable}") as refused:
        Settings.from_environment({variable: text})
    assert (text in str(refused.value)) == (variable == "METRICS_BIND")


def test_addresses() -> None:
    assert Settings(metrics_bind="localhost:9090").metrics_address == ("localhost", 9090)
    assert Settings(metrics_bind="[::1]:9090").metrics_address == ("::1", 9090)
    assert not Settings().metrics_are_on


# Under gunicorn


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Service:
    """Gunicorn with two workers and a port for metrics."""

    def __init__(self, database_url: str, log: Path, **environment: str) -> None:
        self.port, self.metrics_port = _free_port(), _free_port()
        with log.open("ab") as output:
            self.process = psutil.Popen(
                [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"],
                cwd=ROOT,
                env=os.environ
                | {
                    "DATABASE_URL": database_url,
                    "PORT": str(self.port),
                    "WORKERS": "2",
                    "METRICS_BIND": f"127.0.0.1:{self.metrics_port}",
                    **environment,
                },
                stdout=output,
                stderr=output,
            )
        _wait_until(lambda: self.get("/health/live") == 200, 30)

    def get(self, path: str, token: str = "") -> int:
        """Ask on a connection of its own, which any worker may take."""
        return self._get(self.port, path, token)[0]

    def scrape(self) -> Samples:
        status, body = self._get(self.metrics_port, "/metrics")
        assert status == 200
        return samples(body)

    def _get(self, port: int, path: str, token: str = "") -> tuple[int, str]:
        with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    @property
    def workers(self) -> list[psutil.Process]:
        return self.process.children()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(20)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the shared folders of this test are made."""
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


def folders(place: Path) -> set[Path]:
    return set(place.glob("sample-resource-metrics-*"))


@pytest.fixture
def start(database_url: str, tmp_path: Path, place: Path) -> Iterator[Callable[..., Service]]:
    """Starts services, which end with the test."""
    services: list[Service] = []

    def start_service(**environment: str) -> Service:
        services.append(Service(database_url, tmp_path / "log", **{"TMPDIR": str(place), **environment}))
        return services[-1]

    yield start_service
    for service in services:
        if service.process.is_running():
            service.stop()


@pytest.fixture
def service(start: Callable[..., Service]) -> Service:
    return start()


LIVE = {"method": "GET", "route": "/health/live", "status": "200"}


def test_all_workers_are_added_up_and_none_is_lost_when_they_die(service: Service) -> None:
    def lives() -> float:
        return value(service.scrape(), "http_requests_total", **LIVE)

    for _ in range(40):
        assert service.get("/health/live") == 200
    _wait_until(lambda: lives() >= 40)  # what was counted in the last half second, a kill takes along
    counted = lives()
    for worker in service.workers:
        worker.kill()
        worker.wait()
    _wait_until(lambda: len(service.workers) == 2)
    _wait_until(lambda: service.get("/health/live") == 200)
    scraped = service.scrape()
    now = value(scraped, "http_requests_total", **LIVE)
    assert counted <= now <= counted + 30
    assert value(scraped, "http_request_duration_seconds_count", route="/health/live") == now


def test_no_scrape_shows_fewer_than_the_one_before_while_workers_come_and_go(service: Service) -> None:
    """A counter that falls looks like a restart, and all that it ever counted like an increase."""
    done = Event()
    seen: list[float] = []

    def recycle() -> None:
        deadline = time.monotonic() + 60
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
    _wait_until(lambda: value(service.scrape(), "http_requests_total", **LIVE) >= 100)
    recycling = Thread(target=recycle)
    recycling.start()
    while not done.is_set():
        with contextlib.suppress(OSError, HTTPException):
            seen.append(value(service.scrape(), "http_requests_total", **LIVE))
    recycling.join()
    assert len(seen) > 10
    assert seen == sorted(seen)
    assert min(seen) >= 100


def test_gauges_are_those_of_living_workers(service: Service, place: Path) -> None:
    def all_have_their_pool() -> bool:
        for _ in range(10):
            service.get("/health/ready")
        return value(service.scrape(), "pool_connections_max", pool="primary") == 16

    _wait_until(all_have_their_pool)
    killed = service.workers[0]
    killed.kill()
    _wait_until(lambda: len(service.workers) == 2 and killed not in service.workers)
    _wait_until(all_have_their_pool)
    # The files of the dead are gone, but for the sums of what they counted.
    (folder,) = folders(place)
    pids = {int(found.group()) for file in folder.iterdir() if (found := re.search(r"\d+", file.name))}
    assert pids <= {service.process.pid, *(worker.pid for worker in service.workers)}


def test_the_separate_port_serves_metrics_alone_and_the_public_one_none(service: Service) -> None:
    assert service.get("/metrics") == 404
    for path, status in (("/", 404), ("/health/live", 404), ("/metrics?x=1", 200)):
        assert service._get(service.metrics_port, path)[0] == status
    found = service.scrape()
    assert {check: value(found, "ready", check=check) for check in ("database", "migrations", "pool")} == {
        "database": 1,
        "migrations": 1,
        "pool": 1,
    }


def test_a_client_that_says_nothing_does_not_keep_others_from_the_metrics(service: Service) -> None:
    with socket.create_connection(("127.0.0.1", service.metrics_port)):
        began = time.monotonic()
        assert value(service.scrape(), "ready") > 0
        assert time.monotonic() - began < 8


def test_what_gunicorn_refuses_is_counted_too(service: Service) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.sendall(b"GARBAGE\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400")
    assert value(service.scrape(), "http_requests_total", route="(unparsed)", status="400") == 1


def test_the_folder_goes_with_the_master(service: Service, place: Path) -> None:
    assert len(folders(place)) == 1
    assert service.stop() == 0
    assert list(place.iterdir()) == []


def test_what_a_killed_master_leaves_is_removed_by_the_next(start: Callable[..., Service], place: Path) -> None:
    killed = start()
    (left,) = folders(place)
    neighbour = start()
    workers = killed.workers
    killed.stop(signal.SIGKILL)
    psutil.wait_procs(workers, timeout=20)
    assert left in folders(place)
    successor = start()
    assert left not in folders(place)
    assert len(folders(place)) == 2
    assert value(successor.scrape(), "http_requests_total", **LIVE) < 20
    assert neighbour.scrape()


def test_a_folder_that_is_tidied_away_stops_nothing(service: Service, place: Path) -> None:
    (folder,) = folders(place)
    shutil.rmtree(folder)
    service.scrape()
    shutil.rmtree(folder)
    workers = service.workers
    for worker in workers:
        worker.kill()
    _wait_until(lambda: len(service.workers) == 2 and not set(workers) & set(service.workers))
    _wait_until(lambda: service.get("/health/live") == 200)
    _wait_until(lambda: value(service.scrape(), "http_requests_total", **LIVE) > 0)


def test_a_reload_keeps_port_and_numbers(service: Service, place: Path) -> None:
    before, workers = folders(place), {worker.pid for worker in service.workers}
    for _ in range(50):
        service.get("/health/live")
    service.process.send_signal(signal.SIGHUP)
    _wait_until(lambda: len(service.workers) == 2 and not workers & {worker.pid for worker in service.workers}, 20)
    assert folders(place) == before
    _wait_until(lambda: value(service.scrape(), "http_requests_total", **LIVE) >= 50)


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="has no place in memory")  # noqa: S108 -- only asked
def test_the_folder_is_in_memory_unless_told_otherwise(start: Callable[..., Service], place: Path) -> None:
    service = start(TMPDIR="")
    assert folders(place) == set()
    mapped = {file.path for worker in service.workers for file in worker.memory_maps() if file.path.endswith(".db")}
    assert mapped
    assert all(path.startswith("/dev/shm/sample-resource-metrics-") for path in mapped)  # noqa: S108 -- only compared


def test_a_port_that_is_taken_ends_the_start_with_its_reason(database_url: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = subprocess.run(
            [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"],
            cwd=ROOT,
            env=os.environ | {"DATABASE_URL": database_url, "PORT": str(_free_port()), "METRICS_BIND": address},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert ended.returncode != 0
    assert f"METRICS_BIND={address}: cannot listen: Address already in use" in ended.stderr


def test_nothing_is_written_while_metrics_are_off(start: Callable[..., Service], place: Path) -> None:
    start(METRICS_BIND="")
    assert list(place.iterdir()) == []


def test_workers_share_the_metrics_behind_the_token_too(start: Callable[..., Service], tmp_path: Path) -> None:
    service = start(METRICS_BIND="", METRICS_TOKEN=TOKEN)
    for _ in range(20):
        service.get("/health/live")

    def counted() -> float:
        status, body = service._get(service.port, "/metrics", TOKEN)
        assert status == 200
        return value(samples(body), "http_requests_total", **LIVE)

    _wait_until(lambda: counted() >= 20)
    assert service.stop() == 0
    assert TOKEN not in (tmp_path / "log").read_text()
