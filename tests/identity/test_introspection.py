"""POST /oauth/introspect (RFC 7662)."""

import pytest
from flask import Flask

from app.database.connection import Connection
from app.identity import clients, tokens
from app.identity.tokens import digest_of
from tests.support.fixtures import TokenFor
from tests.support.oauth import OAuthClient


@pytest.fixture
def client(app: Flask, connection: Connection, project: str) -> OAuthClient:
    return OAuthClient(app, connection, f"manage_test:{project}", f"view_test:{project}")


def test_others_learn_nothing_of_a_token(
    app: Flask, connection: Connection, client: OAuthClient, project: str, token_for: TokenFor
) -> None:
    """RFC 7662, section 2.2: a token that the asking client is not to know is described as inactive."""
    other = OAuthClient(app, connection, "view_test:elsewhere")
    assert other.introspect(client.token()) == {"active": False}
    for scope in (f"view_test:elsewhere view_test:{project}", ""):
        assert other.introspect(token_for(*scope.split(), client_id="command-line")) == {"active": False}


def test_revocations_by_other_processes_count_at_once(client: OAuthClient, connection: Connection) -> None:
    first, second = client.token(), client.token()
    scopes = client.introspect(first)["scope"].split()
    tokens.revoke_token(connection, digest_of(first))
    assert client.introspect(first) == {"active": False}
    assert client.introspect(second)["active"] is True
    other = OAuthClient(client.app, connection, *scopes)
    clients.revoke_client(connection, client.id)
    assert other.introspect(second) == {"active": False}
