"""No secret and no token appears in a log line or an error, neither in this file nor in the whole test run.

:mod:`tests.support.secrecy` watches the whole run and fails it at its end. This file sends the requests that are most
likely to leak something, and reads everything that the service writes as a process.
"""

from pathlib import Path

import pytest
from flask import Flask

from app.database.connection import Connection
from app.identity import clients, tokens
from app.resource.reading import reads
from tests.support.api import Api
from tests.support.fixtures import TokenFor
from tests.support.gunicorn_server import Gunicorn
from tests.support.oauth import OAuthClient, basic
from tests.support.secrecy import Secrecy


def test_leaks_are_detected(token_for: TokenFor, connection: Connection, app: Flask) -> None:
    token, secret = token_for("view_test:p"), OAuthClient(app, connection, "view_test:p").made.client_secret
    watch = Secrecy()
    watch.add_secret(token)
    watch.add_secret(secret)
    watch.add_text(f"nothing to see, {token[:8]} and {secret[:8]}")
    assert watch.leaks() == []
    watch.add_text(f"password={secret}")
    assert len(watch.leaks()) == 1
    watch.add_text(f"Bearer {token}")
    assert len(watch.leaks()) == 2
    assert watch.texts == 3


def test_crashes_and_errors_leak_nothing(
    app: Flask, api: Api, connection: Connection, secrecy: Secrecy, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = OAuthClient(app, connection, "view_test:p")
    token = client.token()

    def crash(*arguments: object) -> None:
        raise RuntimeError("a fault of the service")

    with monkeypatch.context() as patch:
        patch.setattr(reads, "get_by_id", crash)
        patch.setattr(clients, "authenticate_client", crash)
        patch.setattr(tokens, "grant_token", crash)
        assert (api.get("/an-id").status_code, client.grant().status_code) == (500, 500)
        assert client.post("/oauth/introspect", {"token": token}).status_code == 500
    secret = client.made.client_secret
    for headers, form in (
        (basic(client.id, f"{secret}x"), {}),
        (basic(secret, client.id), {}),
        (basic(secret, secret), {}),
        ({"Authorization": f"Basic {secret}"}, {}),
        ({"Authorization": f"Bearer {token}"}, {}),
        (client.header, client.fields),
        (client.header, {"client_id": secret}),
        ({}, {"client_id": secret, "client_secret": client.id}),
    ):
        answer = client.post("/oauth/token", {"grant_type": "client_credentials", **form}, headers)
        assert answer.status_code in (400, 401)
        assert secret not in answer.text
        assert token not in answer.text
    for answer in (
        client.post(f"/oauth/token?client_secret={secret}", {}),
        client.post(f"/oauth/introspect?token={token}", {}),
        client.grant(scope=f"view_test:p {secret}"),
        Api(app, "p", f"{token}x").get(),
        Api(app, "p", None).get(f"?access_token={token}"),
        Api(app, "another", token).get(),
    ):
        assert answer.status_code >= 400
        assert secret not in answer.text
        assert token not in answer.text
    assert secrecy.leaks() == []


def test_the_process_writes_nothing_secret(
    app: Flask, connection: Connection, database_url: str, tmp_path: Path
) -> None:
    """Also gunicorn, which refuses some requests before the application sees them."""
    client = OAuthClient(app, connection, "view_test:p")
    token, secret = client.token(), client.made.client_secret
    log = tmp_path / "log"
    server = Gunicorn("wsgi:app", log, DATABASE_URL=database_url)
    answers = b""
    try:
        encoded = client.header["Authorization"].removeprefix("Basic ")
        for head in (
            f"Authorization: Bearer {token}",
            f"Authorization Bearer {token}",
            f"Authorization : Bearer {token}",
            f"Authorization: Bearer {token}\r\nAuthorization: Basic {encoded}",
            f"Authorization: Basic {encoded}",
            f"Authorization Basic {encoded}",
            f"{token}: x",
            f"Authorization: Bearer\r\n {token}",
            f"Content-Length: {secret}",
            f"Authorization: Bearer {token}\0",
        ):
            answers += _exchange(
                server,
                f"GET /p/resource?access_token={token} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{head}\r\n\r\n",
            )
        for line in (f"GET {token}", f"GET /{token} HTTP/7", token, f"GET /p/resource/{secret} HTTP/1.1 {token}"):
            answers += _exchange(server, f"{line}\r\n\r\n")
    finally:
        assert server.stop() == 0
    written = log.read_text()
    assert '"message":"request"' in written
    assert "refused a request that could not be parsed" in written
    for text in (token, secret, encoded):
        assert text not in written
        assert text not in answers.decode()


def _exchange(server: Gunicorn, request: str) -> bytes:
    """Send bytes as they are, and read what comes back until the connection ends."""
    answer = b""
    with server.connect(request.encode()) as connection:
        while piece := connection.recv(65536):
            answer += piece
    return answer
