"""POST /oauth/token: access tokens for client credentials (RFC 6749, section 4.4), as real clients send them."""

import logging
import re
from uuid import uuid4

import pytest
from flask import Flask

from app.database.connection import Connection
from app.identity.clients import create_client, revoke_client
from tests.support.oauth import OAuthClient, basic, refused


@pytest.fixture
def client(app: Flask, connection: Connection, project: str) -> OAuthClient:
    return OAuthClient(app, connection, f"manage_test:{project}", f"view_test:{project}")


def test_ids_and_secrets_can_be_values_of_options_on_a_command_line(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.identity.clients.secrets.token_urlsafe", lambda size: f"-{size}-{uuid4()}")
    made = create_client(connection, "some", ("view_test:p",))
    assert re.fullmatch("_18_.+", made.client_id)
    assert re.fullmatch("_32_.+", made.client_secret)
    assert "-" not in made.client_id + made.client_secret


def test_a_refusal_is_logged_with_client_and_correlation_id_but_no_secret(
    client: OAuthClient, caplog: pytest.LogCaptureFixture, app_log: logging.Logger
) -> None:
    app_log.addHandler(caplog.handler)
    try:
        header = basic(client.id, "a-wrong-secret") | {"X-Correlation-ID": "corr-12345"}
        client.post("/oauth/token", {"grant_type": "client_credentials"}, header)
        # The secret in place of the id, as if the two had been swapped.
        swapped = basic(client.made.client_secret, client.id)
        client.post("/oauth/token", {"grant_type": "client_credentials"}, swapped)
    finally:
        app_log.removeHandler(caplog.handler)
    logged = [record.__dict__["fields"] for record in caplog.records if record.getMessage() == "client refused"]
    assert logged[0] == {
        "path": "/oauth/token",
        "client": client.id,
        "error": "invalid_client",
        "correlation_id": "corr-12345",
    }
    assert logged[1]["client"] is None
    for record in caplog.records:
        assert "a-wrong-secret" not in str(record.__dict__)
        assert client.made.client_secret not in str(record.__dict__)


@pytest.mark.parametrize("separator", ["\n", "\t", "\u00a0", "\r\n", "\u2003"])
def test_scopes_are_separated_by_blanks_only(app: Flask, connection: Connection, project: str, separator: str) -> None:
    """RFC 6749, section 3.3."""
    client = OAuthClient(app, connection, f"manage_test:{project}", f"view_test:{project}")
    asked = f"manage_test:{project}{separator}view_test:{project}"
    form = {"grant_type": "client_credentials", "scope": asked}
    refused(client.post("/oauth/token", form), 400, "invalid_scope")
    form["scope"] = f" manage_test:{project}  view_test:{project} "
    assert client.post("/oauth/token", form).status_code == 200


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({}, "invalid_request"),
        ({"grant_type": "client_credentials", "scope": "manage_test"}, "invalid_scope"),
        ({"grant_type": "client_credentials", "scope": " "}, "invalid_scope"),
        ({"grant_type": "client_credentials", "scope": "manage_test:another"}, "invalid_scope"),
    ],
)
def test_a_client_is_authenticated_before_its_request_is_judged(
    client: OAuthClient, form: dict[str, str], code: str
) -> None:
    refused(client.post("/oauth/token", form), 400, code)
    refused(client.post("/oauth/token", form, basic(client.id, "a-wrong-secret")), 401, "invalid_client")
    refused(client.post("/oauth/token", form, basic("nobody", client.made.client_secret)), 401, "invalid_client")


def test_a_revoked_client_gets_no_token(client: OAuthClient, connection: Connection) -> None:
    assert client.grant().status_code == 200
    revoke_client(connection, client.id)
    stored = "SELECT count(*) FROM access_token WHERE client_id = %s"
    before = connection.execute(stored, (client.id,)).fetchone()
    refused(client.grant(), 401, "invalid_client")
    assert connection.execute(stored, (client.id,)).fetchone() == before == (1,)
