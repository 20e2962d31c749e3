"""POST /oauth/token: access tokens for client credentials (RFC 6749, section 4.4), as real clients send them."""

import base64
import logging
import re
import time
from io import BytesIO
from urllib.parse import quote, urlencode
from uuid import uuid4

import pytest
from flask import Flask

from app.database.connection import Connection
from app.http.bodies import FORM
from app.identity.clients import create_client
from tests.support.api import codes
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


def test_a_secret_has_the_length_that_is_declared(connection: Connection) -> None:
    assert len(create_client(connection, "some", ("view_test:p",)).client_secret) == 43


def test_the_form_may_repeat_the_clients_id_but_not_the_secret(client: OAuthClient) -> None:
    form = {"grant_type": "client_credentials"}
    assert client.post("/oauth/token", form | {"client_id": client.id}).status_code == 200
    refused(client.post("/oauth/token", form | {"client_id": "another"}), 400, "invalid_request")
    refused(client.post("/oauth/token", form | client.fields), 400, "invalid_request")


def test_credentials_in_the_header_may_be_percent_encoded(client: OAuthClient) -> None:
    encoded = "".join(f"%{ord(character):02X}" for character in client.made.client_secret)
    header = basic(quote(client.id), encoded)
    assert client.post("/oauth/token", {"grant_type": "client_credentials"}, header).status_code == 200


def test_a_parameter_may_be_in_the_query_or_in_the_form_but_not_in_both(client: OAuthClient, project: str) -> None:
    query = urlencode({"grant_type": "client_credentials", "scope": f"view_test:{project}", "ignored": "x"})
    in_query = client.app.test_client().post(f"/oauth/token?{query}", headers=client.header)
    assert in_query.get_json()["scope"] == f"view_test:{project}"
    for scope in (f"manage_test:{project}", f"view_test:{project}"):
        both = client.post(f"/oauth/token?{query}", {"scope": scope})
        refused(both, 400, "invalid_request")
        assert both.get_json()["message"] == "The parameter scope is given more than once."
    apart = client.post("/oauth/token?grant_type=client_credentials", {"scope": f"view_test:{project}"})
    assert apart.get_json()["scope"] == f"view_test:{project}"
    without_a_value = client.post(f"/oauth/token?{query}", {"scope": "", "ignored": "y"})
    assert without_a_value.get_json()["scope"] == f"view_test:{project}"


def test_wrong_and_malformed_credentials_are_refused(client: OAuthClient) -> None:
    form = {"grant_type": "client_credentials"}
    for headers in (
        {},
        basic(client.id, "wrong"),
        basic(client.id, ""),
        basic(client.id, client.made.client_secret + "x"),
        basic("unknown", client.made.client_secret),
        basic("", client.made.client_secret),
        basic("nul\0", "x"),
        basic("%00", "x"),
        basic("%ff", "x"),
        basic("ä", "ö"),
        basic("x" * 10_000, "x"),
        {"Authorization": f"Bearer {client.token()}"},
        {"Authorization": "Basic"},
        {"Authorization": "Basic !"},
        {"Authorization": "Basic é"},
        {"Authorization": "Basic " + base64.b64encode(b"no colon").decode()},
        {"Authorization": "Basic " + base64.b64encode(b"\xff:\xff").decode()},
    ):
        message = refused(client.post("/oauth/token", form, headers), 401, "invalid_client")
        assert message == "Please provide valid client credentials using HTTP Basic Authentication."


def test_bodies_that_are_not_a_form_are_refused(client: OAuthClient) -> None:
    twice = "grant_type=client_credentials&grant_type=client_credentials"
    for body in (twice, b"grant_type=\xff", b"grant_type=%FF", "&".join(["a=b"] * 2000)):
        refused(client.post("/oauth/token", body), 400, "invalid_request")
    assert "not UTF-8" in refused(client.post("/oauth/token", b"grant_type=%FF"), 400, "invalid_request")
    assert "more than 1000" in refused(client.post("/oauth/token", "&".join(["a=b"] * 1001)), 400, "invalid_request")
    as_json = client.app.test_client().post(
        "/oauth/token", json={"grant_type": "client_credentials"}, headers=client.header
    )
    assert FORM in refused(as_json, 400, "invalid_request")
    too_large = client.post("/oauth/token", "grant_type=" + "x" * 40_000)
    assert too_large.status_code == 413
    assert codes(too_large) == ["ContentTooLarge"]
    in_chunks = client.app.test_client().post(
        "/oauth/token",
        input_stream=BytesIO(b"grant_type=client_credentials&scope=" + b"x" * 40_000),
        environ_overrides={"wsgi.input_terminated": True},
        headers=client.header,
        content_type=FORM,
    )
    assert in_chunks.status_code == 413


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


def test_wrong_credentials_cost_no_slow_hash(client: OAuthClient) -> None:
    """One index lookup and one SHA-256, also for unknown clients: thousands of attempts a second, not tens."""
    headers = [basic(client.id, "wrong"), basic("unknown", "wrong")]
    spent = time.process_time()
    for _ in range(50):
        for header in headers:
            client.post("/oauth/token", {"grant_type": "client_credentials"}, header)
    assert (time.process_time() - spent) / 100 < 0.02


@pytest.mark.parametrize("separator", ["\n", "\t", "\u00a0", "\r\n", "\u2003"])
def test_scopes_are_separated_by_blanks_only(app: Flask, connection: Connection, project: str, separator: str) -> None:
    """RFC 6749, section 3.3."""
    client = OAuthClient(app, connection, f"manage_test:{project}", f"view_test:{project}")
    asked = f"manage_test:{project}{separator}view_test:{project}"
    form = {"grant_type": "client_credentials", "scope": asked}
    refused(client.post("/oauth/token", form), 400, "invalid_scope")
    form["scope"] = f" manage_test:{project}  view_test:{project} "
    assert client.post("/oauth/token", form).status_code == 200


def test_other_methods_than_post_are_405(client: OAuthClient) -> None:
    for path in ("/oauth/token", "/oauth/introspect", "/oauth/revoke"):
        answer = client.app.test_client().get(path)
        assert answer.status_code == 405
        assert "POST" in answer.headers["Allow"]
