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

from app.config import Settings
from app.database.connection import Connection
from app.http.bodies import FORM
from app.identity.clients import SECRET_LENGTH, create_client
from app.identity.token_profile import TOKEN_LIFETIME_S
from tests.support.api import Api, codes
from tests.support.applications import open_app
from tests.support.oauth import OAuthClient, basic, part, refused


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


def test_a_secret_has_the_length_by_which_the_journal_of_the_sandbox_knows_it(connection: Connection) -> None:
    assert len(create_client(connection, "some", ("view_test:p",)).client_secret) == SECRET_LENGTH


def test_a_token_with_all_scopes_of_the_client_gives_access_to_the_project(client: OAuthClient, project: str) -> None:
    answer = client.grant()
    assert answer.status_code == 200
    assert answer.content_type == "application/json; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"
    body = answer.get_json()
    assert list(body) == ["access_token", "expires_in", "scope", "token_type"]
    assert body["expires_in"] == TOKEN_LIFETIME_S == 172_800
    assert body["token_type"] == "Bearer"
    assert body["scope"] == f"manage_test:{project} view_test:{project}"
    api = Api(client.app, project, body["access_token"])
    created = api.create()
    assert created["createdBy"] == {"typeId": "api-client", "id": client.id}


def test_a_token_has_the_profile_of_rfc_9068(client: OAuthClient) -> None:
    token = client.token()
    claims = part(token, 1)
    assert part(token, 0)["typ"] == "at+jwt"
    assert part(token, 0)["alg"] == "ES256"
    assert set(claims) == {"iss", "aud", "sub", "client_id", "iat", "exp", "jti", "scope"}
    assert claims["sub"] == claims["client_id"] == client.id
    assert claims["scope"] == client.grant().get_json()["scope"]
    assert claims["exp"] == claims["iat"] + TOKEN_LIFETIME_S
    assert abs(claims["iat"] - time.time()) < 60
    assert part(client.token(), 1)["jti"] != claims["jti"]


def test_the_answer_names_the_scopes_that_were_requested_and_granted(client: OAuthClient, project: str) -> None:
    both = f"view_test:{project} manage_test:{project}"
    assert client.grant(scope=both).get_json()["scope"] == both
    one = client.grant(scope=f"view_test:{project}").get_json()
    assert one["scope"] == f"view_test:{project}"
    assert Api(client.app, project, one["access_token"]).post(json={"objectTypeProperty": {}}).status_code == 403


@pytest.mark.parametrize(
    "body",
    [
        "grant_type=client_credentials&scope=manage_test:{p} view_test:{p}",
        "grant_type=client_credentials&scope=manage_test:{p}%20view_test:{p}",
        "grant_type=client_credentials&scope=manage_test%3A{p}+view_test%3A{p}",
        "grant_type=client_credentials&scope= manage_test:{p}  view_test:{p} manage_test:{p}",
        "grant_type=client_credentials&scope=manage_test:{p} view_test:{p}&refresh_token=false&audience=a&audience=b&x",
    ],
    ids=["raw", "percent", "plus", "spaces", "unknown-fields"],
)
def test_forms_that_are_not_fully_encoded_are_accepted(client: OAuthClient, project: str, body: str) -> None:
    answer = client.post("/oauth/token", body.replace("{p}", project))
    assert answer.status_code == 200
    assert answer.get_json()["scope"] == f"manage_test:{project} view_test:{project}"


def test_credentials_may_be_form_fields(client: OAuthClient) -> None:
    form = {"grant_type": "client_credentials", **client.fields}
    assert client.post("/oauth/token", form, headers={}).status_code == 200
    wrong = form | {"client_secret": "wrong"}
    refused(client.post("/oauth/token", wrong, headers={}), 401, "invalid_client")


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


@pytest.mark.parametrize("name", ["client_id", "client_secret", "token"])
def test_secrets_in_the_url_are_refused(client: OAuthClient, name: str) -> None:
    value = {**client.fields, "token": "x"}[name]
    answer = client.post(f"/oauth/token?{name}={value}", {"grant_type": "client_credentials"})
    refused(answer, 400, "invalid_request")
    assert value not in answer.text or value == "x"


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
        {"Authorization": "Basic " + base64.b64encode(b"no colon").decode()},
        {"Authorization": "Basic " + base64.b64encode(b"\xff:\xff").decode()},
    ):
        message = refused(client.post("/oauth/token", form, headers), 401, "invalid_client")
        assert message == "Please provide valid client credentials using HTTP Basic Authentication."


def test_other_grant_types_are_refused(client: OAuthClient) -> None:
    missing = client.post("/oauth/token", {})
    assert refused(missing, 400, "invalid_request") == "Missing required parameter: grant_type."
    assert refused(client.grant(grant_type=""), 400, "invalid_request") == "Missing required parameter: grant_type."
    for grant_type in ("invalid_type", "password", "refresh_token", "authorization_code", "Client_Credentials"):
        message = refused(client.grant(grant_type=grant_type), 400, "unsupported_grant_type")
        assert message == f"Invalid parameter: grant_type: Invalid grant type: '{grant_type}'"


def test_scopes_beyond_the_clients_are_refused_as_a_whole(client: OAuthClient, project: str) -> None:
    for scope in (
        f"view_products:{project}",
        "view_test:another-project",
        f"view_test:{project} view_products:{project}",
        f"view_test:{project}x",
    ):
        message = refused(client.grant(scope=scope), 400, "invalid_scope")
        assert message.startswith("Permissions exceeded. Only the following permissions can be requested: manage_test:")


def test_malformed_scopes_are_refused(client: OAuthClient, project: str) -> None:
    for scope in ("manage_project:" + project, "view_test", "view_test:", f"view_test:{project}:store", "nul\0", " "):
        message = refused(client.grant(scope=scope), 400, "invalid_scope")
        assert message == "Malformed parameter: scope: Invalid scope."
    assert client.grant(scope="").status_code == 200  # an empty parameter counts as absent: RFC 6749, section 3.1


def test_bodies_that_are_not_a_form_are_refused(client: OAuthClient) -> None:
    twice = "grant_type=client_credentials&grant_type=client_credentials"
    for body in (twice, b"grant_type=\xff", b"grant_type=%FF", "&".join(["a=b"] * 2000)):
        refused(client.post("/oauth/token", body), 400, "invalid_request")
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


def test_other_methods_than_post_are_405(client: OAuthClient) -> None:
    for path in ("/oauth/token", "/oauth/introspect", "/oauth/revoke"):
        answer = client.app.test_client().get(path)
        assert answer.status_code == 405
        assert "POST" in answer.headers["Allow"]


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


def test_metadata_names_the_endpoints_below_the_public_url(settings: Settings) -> None:
    with open_app(settings, public_url="https://api.example.com") as app:
        address = "/.well-known/oauth-authorization-server"
        answer = app.test_client().get(address, base_url="https://other.example.com")
    body = answer.get_json()
    assert answer.content_type == "application/json; charset=utf-8"
    assert body["issuer"] == "https://api.example.com"
    assert body["token_endpoint"] == "https://api.example.com/oauth/token"
    assert body["jwks_uri"] == "https://api.example.com/.well-known/jwks.json"
    assert body["introspection_endpoint"] == "https://api.example.com/oauth/introspect"
    assert body["revocation_endpoint"] == "https://api.example.com/oauth/revoke"
    assert body["grant_types_supported"] == ["client_credentials"]
    assert body["token_endpoint_auth_methods_supported"] == ["client_secret_basic", "client_secret_post"]
    assert body["response_types_supported"] == []


@pytest.mark.parametrize("separator", ["\n", "\t", "\u00a0", "\r\n", "\u2003"])
def test_scopes_are_separated_by_blanks_only(app: Flask, connection: Connection, project: str, separator: str) -> None:
    """RFC 6749, section 3.3."""
    client = OAuthClient(app, connection, f"manage_test:{project}", f"view_test:{project}")
    asked = f"manage_test:{project}{separator}view_test:{project}"
    form = {"grant_type": "client_credentials", "scope": asked}
    refused(client.post("/oauth/token", form), 400, "invalid_scope")
    form["scope"] = f" manage_test:{project}  view_test:{project} "
    assert client.post("/oauth/token", form).status_code == 200
