"""POST /oauth/introspect (RFC 7662)."""

import time

import pytest
from flask import Flask

from app.config import Settings
from app.database.connection import Connection
from app.identity import clients, issued_tokens, token_profile
from tests.conftest import TokenFor
from tests.support.oauth import OAuthClient, part, refused


@pytest.fixture
def client(app: Flask, connection: Connection, project: str) -> OAuthClient:
    return OAuthClient(app, connection, f"manage_test:{project}", f"view_test:{project}")


def test_a_valid_token_is_described_with_times_in_seconds(client: OAuthClient, project: str) -> None:
    token = client.token(scope=f"view_test:{project}")
    claims = part(token, 1)
    assert client.introspect(token) == {
        "active": True,
        "scope": f"view_test:{project}",
        "client_id": client.id,
        "token_type": "Bearer",
        "exp": claims["exp"],
        "iss": Settings().issuer,
        "sub": client.id,
        "aud": Settings().issuer,
        "iat": claims["iat"],
        "jti": claims["jti"],
    }
    assert abs(claims["exp"] - time.time() - token_profile.TOKEN_LIFETIME_S) < 60


def test_clients_of_its_projects_may_ask(
    app: Flask, connection: Connection, client: OAuthClient, project: str, token_for: TokenFor
) -> None:
    other = OAuthClient(app, connection, f"view_test:{project}")
    assert other.introspect(client.token())["client_id"] == client.id
    ours = token_for(f"view_products:{project}", client_id="command-line")
    assert other.introspect(ours)["client_id"] == "command-line"


def test_others_learn_nothing_of_a_token(
    app: Flask, connection: Connection, client: OAuthClient, project: str, token_for: TokenFor
) -> None:
    """RFC 7662, section 2.2: a token that the asking client is not to know is described as inactive."""
    other = OAuthClient(app, connection, "view_test:elsewhere")
    assert other.introspect(client.token()) == {"active": False}
    for scope in (f"view_test:elsewhere view_test:{project}", ""):
        assert other.introspect(token_for(*scope.split(), client_id="command-line")) == {"active": False}


def test_any_other_text_is_described_as_inactive_only(client: OAuthClient, token_for: TokenFor) -> None:
    valid = client.token()
    texts = ("nonsense", valid[:-8], valid + "x", valid.replace(".", ""), "ü", "\0", "x" * 20_000, "a.b.c", "..")
    expired = token_for("view_test:p", lifetime_s=-1)
    for token in (*texts, expired):
        assert client.introspect(token) == {"active": False}


def test_only_clients_may_ask(client: OAuthClient) -> None:
    token = client.token()
    refused(client.post("/oauth/introspect", {"token": token}, headers={}), 401, "invalid_client")
    bearer = {"Authorization": f"Bearer {token}"}
    refused(client.post("/oauth/introspect", {"token": token}, headers=bearer), 401, "invalid_client")


def test_a_token_is_required_and_not_in_the_url(client: OAuthClient) -> None:
    message = refused(client.post("/oauth/introspect", {}), 400, "invalid_request")
    assert message == "Missing required parameter: token."
    refused(client.post(f"/oauth/introspect?token={client.token()}", {}), 400, "invalid_request")


def test_the_answer_may_not_be_cached(client: OAuthClient) -> None:
    answer = client.post("/oauth/introspect", {"token": "x"})
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.content_type == "application/json; charset=utf-8"


def test_revocations_by_other_processes_count_at_once(client: OAuthClient, connection: Connection) -> None:
    first, second = client.token(), client.token()
    client_scopes = part(first, 1)["scope"].split()
    assert client.introspect(first)["active"] is True
    issued_tokens.revoke_token(connection, part(first, 1)["jti"], part(first, 1)["exp"])
    assert client.introspect(first) == {"active": False}
    assert client.introspect(second)["active"] is True
    other = OAuthClient(client.app, connection, *client_scopes)
    clients.revoke_client(connection, client.id)
    assert other.introspect(second) == {"active": False}
