"""POST /oauth/introspect (RFC 7662)."""

import pytest
from flask import Flask

from app.database.connection import Connection
from app.identity import clients, tokens
from app.identity.tokens import TOKEN_LIFETIME_S, digest_of
from tests.support.fixtures import TokenFor
from tests.support.oauth import OAuthClient


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


def test_the_answer_says_what_the_token_is(client: OAuthClient, project: str) -> None:
    answer = client.introspect(client.token(scope=f"view_test:{project} manage_test:{project}"))
    assert list(answer) == ["active", "scope", "client_id", "token_type", "exp", "iat", "sub"]
    assert answer["active"] is True
    assert answer["scope"] == f"view_test:{project} manage_test:{project}"
    assert answer["client_id"] == answer["sub"] == client.id
    assert answer["token_type"] == "Bearer"
    assert answer["exp"] == answer["iat"] + TOKEN_LIFETIME_S


def test_a_token_that_is_not_valid_is_inactive(client: OAuthClient, project: str, token_for: TokenFor) -> None:
    for token in ("x", "a.b.c", "x" * 43, "é", "\0", token_for(f"view_test:{project}", lifetime_s=0)):
        assert client.introspect(token) == {"active": False}


def test_revocations_by_other_processes_count_at_once(client: OAuthClient, connection: Connection) -> None:
    first, second = client.token(), client.token()
    scopes = client.introspect(first)["scope"].split()
    tokens.revoke_token(connection, digest_of(first))
    assert client.introspect(first) == {"active": False}
    assert client.introspect(second)["active"] is True
    other = OAuthClient(client.app, connection, *scopes)
    clients.revoke_client(connection, client.id)
    assert other.introspect(second) == {"active": False}
