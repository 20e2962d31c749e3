"""POST /oauth/introspect (RFC 7662)."""

import pytest
from flask import Flask

from app.database.connection import Connection
from app.identity import clients, issued_tokens
from tests.support.fixtures import TokenFor
from tests.support.oauth import OAuthClient, part


@pytest.fixture
def client(app: Flask, connection: Connection, project: str) -> OAuthClient:
    return OAuthClient(app, connection, f"manage_test:{project}", f"view_test:{project}")


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
