"""An outside issuer as it is in use: its keys are fetched by https, in the workers of gunicorn too."""

import contextlib
import json
import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path

import pytest
from flask import Flask

from app import create_app
from app.config import Settings
from app.identity import outside_issuer
from tests.identity.test_bearer_tokens import assert_refused
from tests.support.api import Api, codes
from tests.support.certificates import Authority
from tests.support.fixtures import TokenFor
from tests.support.gunicorn_server import StartGunicorn
from tests.support.issuer import AUDIENCE, NAME, UNUSABLE, Issuer, running_issuer
from tests.support.waiting import wait_until


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def issuer(authority: Authority) -> Iterator[Issuer]:
    with running_issuer(authority.certificate("issuer.pem")) as running:
        yield running


@pytest.fixture
def trusted(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator has named the authority."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))


@pytest.fixture
def reasons() -> Iterator[list[str]]:
    """Why keys could not be fetched, as it is logged."""
    found: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage() == "the issuer's keys could not be fetched":
                found.append(record.__dict__["fields"]["reason"])

    handler = Handler()
    logger = logging.getLogger("app.identity")
    logger.addHandler(handler)
    yield found
    logger.removeHandler(handler)


@contextmanager
def application(settings: Settings, url: str) -> Iterator[Flask]:
    made = create_app(replace(settings, auth_issuer=NAME, auth_audience=AUDIENCE, auth_jwks_url=url))
    try:
        yield made
    finally:
        made.extensions["database"].close()


@pytest.mark.usefixtures("trusted")
def test_its_tokens_are_accepted_and_invented_key_ids_refused(
    settings: Settings, issuer: Issuer, project: str, token_for: TokenFor
) -> None:
    scope = f"manage_test:{project}"
    before = issuer.fetches
    with application(settings, issuer.jwks_url) as service:
        assert_refused(service, project, issuer.sign(header={"kid": "invented"}, scope=scope))
        assert Api(service, project, issuer.sign(scope=scope)).get().status_code == 200
        for number in range(5):
            assert_refused(service, project, issuer.sign(header={"kid": f"invented-{number}"}, scope=scope))
        assert Api(service, project, token_for(scope)).get().status_code == 200
    assert issuer.fetches == before + 1


def assert_unavailable(settings: Settings, issuer: Issuer, url: str, project: str, own: str) -> None:
    """The issuer's tokens are 503, and the service's own are accepted."""
    with application(settings, url) as service:
        for _ in range(2):
            answer = Api(service, project, issuer.sign(scope=f"manage_test:{project}")).get()
            assert answer.status_code == 503
            assert codes(answer) == ["OverCapacity"]
        assert Api(service, project, own).get().status_code == 200


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("path", UNUSABLE)
def test_an_unusable_key_set_is_503_and_own_tokens_still_work(
    settings: Settings,
    issuer: Issuer,
    project: str,
    token_for: TokenFor,
    path: str,
    monkeypatch: pytest.MonkeyPatch,
    reasons: list[str],
) -> None:
    monkeypatch.setattr(outside_issuer, "FETCH_TIMEOUT_S", 0.5)
    assert_unavailable(settings, issuer, issuer.url(path), project, token_for(f"manage_test:{project}"))
    assert len(reasons) == 1
    wait_until(lambda: all(thread.name != "issuer-keys" for thread in threading.enumerate()))


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("hosts", "days", "reason"),
    [((), -1, "certificate has expired"), (("issuer.example",), 1, "IP address mismatch")],
    ids=["expired", "of another host"],
)
def test_a_certificate_that_is_not_valid_is_503_and_the_log_says_why(
    authority: Authority,
    settings: Settings,
    project: str,
    token_for: TokenFor,
    hosts: tuple[str, ...],
    days: int,
    reason: str,
    reasons: list[str],
) -> None:
    with running_issuer(authority.certificate("invalid.pem", *hosts, days=days)) as invalid:
        assert_unavailable(settings, invalid, invalid.jwks_url, project, token_for(f"manage_test:{project}"))
        assert invalid.fetches == 0
    assert reason in reasons[0]


def test_a_certificate_of_an_authority_that_is_not_trusted_is_503(
    settings: Settings, issuer: Issuer, project: str, token_for: TokenFor, reasons: list[str]
) -> None:
    assert_unavailable(settings, issuer, issuer.jwks_url, project, token_for(f"manage_test:{project}"))
    assert "CERTIFICATE_VERIFY_FAILED" in reasons[0]


@pytest.mark.usefixtures("trusted")
def test_a_server_without_tls_is_503(
    settings: Settings, issuer: Issuer, project: str, token_for: TokenFor, reasons: list[str]
) -> None:
    with running_issuer() as plain:
        url = plain.jwks_url.replace("http:", "https:")
        assert_unavailable(settings, issuer, url, project, token_for(f"manage_test:{project}"))
        assert plain.fetches == 0
    assert "SSL" in reasons[0]


# In the workers of gunicorn, whose threads are greenlets


def asked(port: int, path: str, token: str) -> tuple[int, dict[str, str]]:
    """Status and headers of an answer of the service."""
    with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        json.loads(answer.read())
        return answer.status, dict(answer.getheaders())


def trusting(database_url: str, authority: Authority, url: str) -> dict[str, str]:
    """The environment of a service that trusts an issuer."""
    return {
        "DATABASE_URL": database_url,
        "WORKERS": "2",
        "AUTH_ISSUER": NAME,
        "AUTH_AUDIENCE": AUDIENCE,
        "AUTH_JWKS_URL": url,
        "SSL_CERT_FILE": str(authority.file),
    }


def test_the_whole_service_accepts_its_tokens_and_refuses_invented_key_ids(
    database_url: str,
    authority: Authority,
    issuer: Issuer,
    project: str,
    token_for: TokenFor,
    start_gunicorn: StartGunicorn,
) -> None:
    before = issuer.fetches
    server = start_gunicorn("wsgi:app", **trusting(database_url, authority, issuer.jwks_url))
    path, scope = f"/{project}/resource", f"view_test:{project}"
    wait_until(lambda: issuer.fetches == before + 2)  # of both workers, when they start
    wait_until(lambda: all(asked(server.port, path, issuer.sign(scope=scope))[0] == 200 for _ in range(20)))
    for number in range(20):
        token = issuer.sign(header={"kid": f"invented-{number}"}, scope=scope)
        status, headers = asked(server.port, path, token)
        assert status == 401
        assert 'error="invalid_token"' in headers["WWW-Authenticate"]
    assert asked(server.port, path, issuer.sign(exp=1, scope=scope))[0] == 401
    assert asked(server.port, path, issuer.sign(scope="view_test:another"))[0] == 403
    assert asked(server.port, path, token_for(scope))[0] == 200


class Dripping:
    """A server of which each connection gets a byte every tenth of a second, and counts as ended if that fails."""

    def __init__(self, begin: bytes, certificate: Path | None) -> None:
        self.begun = self.ended = 0
        self._begin = begin
        self._context = None
        if certificate is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(certificate)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}/jwks"
        self._over = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._drip, args=(self._listener.accept()[0],), daemon=True).start()

    def _drip(self, connection: socket.socket) -> None:
        self.begun += 1
        with connection:
            try:
                if self._context is not None:
                    connection = self._context.wrap_socket(connection, server_side=True)
                connection.recv(10_000)
                connection.sendall(self._begin)
                while not self._over.wait(0.1):
                    connection.sendall(b"x")
            except OSError:
                self.ended += 1
            finally:
                connection.close()

    def stop(self) -> None:
        self._over.set()
        self._listener.close()


@pytest.fixture
def dripping() -> Iterator[Callable[..., Dripping]]:
    """Start servers, which stop with the test."""
    started: list[Dripping] = []

    def start(begin: bytes, certificate: Path | None = None) -> Dripping:
        started.append(Dripping(begin, certificate))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.mark.parametrize(
    ("begin", "has_tls"),
    [
        (b"\x16\x03\x03\x40\x00", False),  # a record of the handshake of 16 KiB
        (b"HTTP/1.1 200 OK\r\nX-Drip: ", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n", True),
    ],
    ids=["handshake", "head", "body"],
)
def test_a_worker_ends_a_connection_that_drips(
    database_url: str,
    authority: Authority,
    issuer: Issuer,
    project: str,
    token_for: TokenFor,
    start_gunicorn: StartGunicorn,
    dripping: Callable[..., Dripping],
    begin: bytes,
    has_tls: bool,
) -> None:
    keys = dripping(begin, authority.certificate("dripping.pem") if has_tls else None)
    server = start_gunicorn("wsgi:app", **trusting(database_url, authority, keys.url) | {"WORKERS": "1"})
    path, scope = f"/{project}/resource", f"view_test:{project}"
    wait_until(lambda: keys.begun == 1)  # when the worker starts
    status, headers = asked(server.port, path, issuer.sign(scope=scope))
    assert status == 503
    assert int(headers["Retry-After"]) >= 1
    assert asked(server.port, path, token_for(scope))[0] == 200
    wait_until(lambda: keys.ended == keys.begun, within_s=60)
