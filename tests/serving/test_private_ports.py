"""The ports of ``HEALTH_BIND`` and ``METRICS_BIND``: what they answer, and that the public port does not delay it."""

import contextlib
import http.client
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.config import InvalidSetting, Settings
from app.serving import private_ports
from app.serving.private_ports import addresses_of
from tests.support.gunicorn_server import Gunicorn
from tests.support.ports import free_port
from tests.support.server import NotReady, get
from tests.support.waiting import wait_until

WAITING = 200


class Probed(Gunicorn):
    """The service, with one port for probes and metrics."""

    def __init__(self, database_url: str, log: Path) -> None:
        self.private_port = free_port()
        address = f"127.0.0.1:{self.private_port}"
        super().__init__("wsgi:app", log, DATABASE_URL=database_url, HEALTH_BIND=address, METRICS_BIND=address)

    def ask(self, method: str, path: str) -> tuple[int, bytes]:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.private_port, timeout=15)) as connection:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, answer.read()


@pytest.fixture(scope="module")
def service(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Probed]:
    started = Probed(database_url, tmp_path_factory.mktemp("private") / "log")
    yield started
    if started.process.poll() is None:
        started.stop()


def test_a_private_port_answers_its_own_paths_only(service: Probed) -> None:
    assert service.ask("GET", "/health/live") == (200, b'{"status":"live"}')
    assert service.ask("GET", "/health/ready") == (200, b'{"status":"ready"}')
    assert service.ask("HEAD", "/health/ready") == (200, b"")
    assert service.ask("GET", "/metrics")[1].startswith(b"# HELP ")
    status, body = service.ask("POST", "/health/live")
    assert (status, b'"MethodNotAllowed"' in body) == (405, True)
    for path in ("/", "/docs", "/demo/resource", "/oauth/token"):
        status, body = service.ask("GET", path)
        assert (status, b'"ResourceNotFound"' in body) == (404, True)
    assert service.get("/health/ready") == 200
    assert service.get("/metrics") == 404


def test_a_probe_does_not_wait_for_connections_that_came_to_the_public_port_before_it(service: Probed) -> None:
    (worker,) = service.workers
    with contextlib.ExitStack() as opened:
        worker.send_signal(signal.SIGSTOP)
        try:
            earlier = [
                opened.enter_context(service.connect(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"))
                for _ in range(WAITING)
            ]
            probe = opened.enter_context(socket.create_connection(("127.0.0.1", service.private_port), timeout=15))
            probe.sendall(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        finally:
            worker.send_signal(signal.SIGCONT)
        answer = b"".join(iter(lambda: probe.recv(4096), b""))
        worker.send_signal(signal.SIGSTOP)  # no more are answered while those that are get counted
        try:
            answered = 0
            for one in earlier:
                one.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    answered += bool(one.recv(1))
        finally:
            worker.send_signal(signal.SIGCONT)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answered < WAITING / 2


def test_connections_that_say_nothing_do_not_hold_a_private_port(service: Probed) -> None:
    with contextlib.ExitStack() as opened:
        for _ in range(20):
            opened.enter_context(socket.create_connection(("127.0.0.1", service.private_port)))
        assert service.ask("GET", "/health/live")[0] == 200


def test_a_binary_upgrade_and_a_reload_keep_the_private_port(service: Probed) -> None:
    before = service.workers
    service.process.send_signal(signal.SIGHUP)
    wait_until(lambda: not any(worker.is_running() for worker in before))
    assert service.ask("GET", "/health/live")[0] == 200
    old = service.workers
    service.process.send_signal(signal.SIGUSR2)
    wait_until(lambda: len(service.workers) > 1)
    (successor,) = [child for child in service.workers if child not in old]
    wait_until(lambda: len(successor.children()) == 1)
    try:
        service.stop()
        wait_until(lambda: get(service.private_port, "/health/ready") == (200, '{"status":"ready"}'))
        assert get(service.port, "/health/live")[0] == 200
    finally:
        successor.terminate()
        wait_until(lambda: not successor.is_running())


def test_of_several_addresses_of_a_name_the_port_is_on_the_one_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a network of containers, the instances of the service share a name, and each has one of its addresses."""
    resolve = socket.getaddrinfo

    def both(host: str, *arguments: Any, **options: Any) -> list[Any]:
        assert host == "metrics"
        return [found for address in ("192.0.2.1", "127.0.0.1") for found in resolve(address, *arguments, **options)]

    monkeypatch.setattr(private_ports.socket, "getaddrinfo", both)
    assert addresses_of(Settings(metrics_bind=("metrics", 9090))) == {"127.0.0.1:9090": {"METRICS_BIND"}}


def test_two_settings_may_name_one_port_and_not_the_public_one() -> None:
    one = Settings(metrics_bind=("::1", 9090), health_bind=("::1", 9090))
    assert addresses_of(one) == {"[::1]:9090": {"HEALTH_BIND", "METRICS_BIND"}}
    with pytest.raises(InvalidSetting, match=r"^HEALTH_BIND='127\.0\.0\.1:8000': is the public port"):
        Settings(health_bind=("127.0.0.1", 8000))


def test_a_name_without_an_address_is_an_error() -> None:
    with pytest.raises(InvalidSetting, match=r"^HEALTH_BIND='nobody\.invalid:9090': "):
        addresses_of(Settings(health_bind=("nobody.invalid", 9090)))


def test_an_option_of_gunicorn_that_leaves_the_private_port_out_is_an_error(database_url: str, tmp_path: Path) -> None:
    with pytest.raises(NotReady, match="gunicorn's --bind leaves out HEALTH_BIND: set BIND and PORT instead"):
        Gunicorn(
            "wsgi:app",
            tmp_path / "log",
            DATABASE_URL=database_url,
            HEALTH_BIND=f"127.0.0.1:{free_port()}",
            GUNICORN_CMD_ARGS=f"--bind 127.0.0.1:{free_port()}",
        )
