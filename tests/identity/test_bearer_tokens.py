"""Bearer tokens in requests: which are refused, with which reason, and that none causes a 500."""

import base64
import secrets

from flask import Flask
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from app.database.connection import Connection
from app.identity import clients, tokens
from app.identity.tokens import TOKEN_LENGTH, digest_of
from tests.support.api import Api, codes
from tests.support.fixtures import TokenFor
from tests.support.generated import examples

MALFORMED = f"it is malformed, a token has {TOKEN_LENGTH} characters of base64url"


def assert_refused(app: Flask, project: str, token: str, reason: str = "") -> None:
    answer = Api(app, project, token).get()
    assert answer.status_code == 401, answer.text
    assert codes(answer) == ["invalid_token"]
    body = answer.get_json()
    assert (body["error"], body["message"]) == ("invalid_token", "invalid_token")
    described = body["error_description"]
    assert described.startswith("The access token is not valid: ")
    assert reason in described
    assert answer.headers["WWW-Authenticate"] == (
        f'Bearer realm="{project}", error="invalid_token", error_description="{described}"'
    )


def test_a_401_says_what_is_wrong_with_the_token(
    app: Flask, project: str, connection: Connection, token_for: TokenFor
) -> None:
    scope = f"view_test:{project}"
    revoked = token_for(scope)
    tokens.revoke_token(connection, digest_of(revoked))
    of_revoked, of_removed = (clients.create_client(connection, "a client", (scope,)) for _ in range(2))
    given = {each: tokens.issue_token(connection, each.client_id, (scope,)) for each in (of_revoked, of_removed)}
    clients.revoke_client(connection, of_revoked.client_id)
    clients.remove_client(connection, of_removed.client_id)
    for token, reason in (
        ("a.b.c", MALFORMED),
        (secrets.token_urlsafe(32), "it is unknown"),
        (token_for(scope, lifetime_s=-1), "it has expired"),
        (token_for(scope, lifetime_s=0), "it has expired"),
        (revoked, "it has been revoked"),
        (given[of_revoked], "its client has been revoked or removed"),
        (given[of_removed], "its client has been revoked or removed"),
    ):
        assert_refused(app, project, token, f"is not valid: {reason}.")


def test_a_token_is_32_random_bytes_of_which_the_database_has_the_hash_only(
    connection: Connection, token_for: TokenFor
) -> None:
    made = [token_for("view_test:p") for _ in range(50)]
    assert len({base64.urlsafe_b64decode(f"{token}=") for token in made}) == 50
    assert {len(base64.urlsafe_b64decode(f"{token}=")) for token in made} == {32}
    for token in made:
        row = connection.execute("SELECT t::text FROM access_token t WHERE digest = %s", (digest_of(token),)).fetchone()
        assert row is not None
        assert token not in row[0]


def test_a_token_that_differs_by_one_character_is_unknown(app: Flask, project: str, token_for: TokenFor) -> None:
    token = token_for(f"view_test:{project}")
    for position in range(TOKEN_LENGTH):
        other = "A" if token[position] != "A" else "B"
        assert_refused(app, project, token[:position] + other + token[position + 1 :], "it is unknown")
    if token != token.swapcase():
        assert_refused(app, project, token.swapcase(), "it is unknown")
    assert_refused(app, project, digest_of(token).hex()[:TOKEN_LENGTH], "it is unknown")


@hypothesis_settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    token=st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=60)
    | st.text(st.sampled_from("AZaz09-_"), min_size=TOKEN_LENGTH - 1, max_size=TOKEN_LENGTH + 1)
)
def test_any_other_text_is_401_and_none_causes_a_500(app: Flask, project: str, token: str) -> None:
    assert_refused(app, project, token)
