"""Revocation of tokens and clients: POST /oauth/revoke (RFC 7009) and the command line."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import psycopg
import pytest
from app.identity.issued_tokens import TrustRecords
from app.identity.own_issuer import OwnIssuer
from click.testing import CliRunner
from flask import Flask

from app import create_app, errors
from app.cli import main
from app.config import Settings
from app.database.connection import Connection
from app.identity import clients, issued_tokens, own_issuer
from app.identity.verification import InvalidToken, TokenVerifier, TrustedIssuer
from tests.support.api import Api, codes
from tests.support.fixtures import TokenFor
from tests.support.oauth import OAuthClient, part, refused
from tests.support.waiting import wait_until

IN_FORCE_WITHIN_S = 60.0


@pytest.fixture
def client(app: Flask, connection: Connection, project: str) -> OAuthClient:
    return OAuthClient(app, connection, f"manage_test:{project}")


@pytest.fixture
def other_worker(settings: Settings) -> Iterator[Flask]:
    """A second application on the same database, as in another worker process."""
    application = create_app(settings)
    yield application
    application.extensions["database"].close()


@pytest.fixture
def command(database_url: str) -> Callable[..., str]:
    """Runs ``sample-resource`` with arguments and returns what it prints."""

    def run(*arguments: str, stdin: str | None = None) -> str:
        result = CliRunner().invoke(main, arguments, input=stdin, env={"DATABASE_URL": database_url})
        assert result.exit_code == 0, result.output
        return result.output

    return run


def seconds_until_refused(api: Api) -> float:
    waited = wait_until(lambda: api.get().status_code != 200, IN_FORCE_WITHIN_S)
    answer = api.get()
    assert answer.status_code == 401
    assert answer.get_json()["error"] == "invalid_token"
    return waited


def test_a_revoked_token_is_refused_here_at_once_and_by_other_workers_in_time(
    client: OAuthClient, project: str, other_worker: Flask
) -> None:
    token, kept = client.token(), client.token()
    here, there = Api(client.app, project, token), Api(other_worker, project, token)
    assert (here.get().status_code, there.get().status_code) == (200, 200)
    answer = client.revoke(token)
    assert (answer.status_code, answer.get_json()) == (200, {})
    assert answer.headers["Cache-Control"] == "no-store"
    assert here.get().status_code == 401
    seconds_until_refused(there)
    assert Api(client.app, project, kept).get().status_code == 200
    assert Api(other_worker, project, kept).get().status_code == 200


def test_a_revoked_client_gets_no_token_and_its_tokens_are_refused(
    client: OAuthClient, project: str, other_worker: Flask, command: Callable[..., str]
) -> None:
    token = client.token()
    workers = [Api(client.app, project, token), Api(other_worker, project, token)]
    assert [api.get().status_code for api in workers] == [200, 200]
    printed = json.loads(command("client", "revoke", client.id))
    assert printed["client_id"] == client.id
    for api in workers:
        seconds_until_refused(api)
    refused(client.grant(), 401, "invalid_client")
    refused(client.post("/oauth/introspect", {"token": token}), 401, "invalid_client")
    again = json.loads(command("client", "revoke", client.id))
    assert again["revoked_at"] == printed["revoked_at"]


def test_clients_are_listed_without_secrets(
    client: OAuthClient, project: str, connection: Connection, command: Callable[..., str]
) -> None:
    clients.revoke_client(connection, OAuthClient(client.app, connection, "view_test:p").id)
    lines = [json.loads(line) for line in command("client", "list").splitlines()]
    own = next(line for line in lines if line["client_id"] == client.id)
    assert set(own) == {"client_id", "name", "scope", "created_at"}
    assert own["scope"] == f"manage_test:{project}"
    assert any("revoked_at" in line for line in lines)
    assert client.made.client_secret not in command("client", "list")


def test_an_unknown_client_cannot_be_revoked(database_url: str) -> None:
    result = CliRunner().invoke(main, ["client", "revoke", "nobody"], env={"DATABASE_URL": database_url})
    assert result.exit_code == 1
    assert result.output == "Error: There is no client 'nobody'.\n"


def test_tokens_of_the_command_line_can_be_revoked_too(
    app: Flask, project: str, other_worker: Flask, command: Callable[..., str], database_url: str
) -> None:
    token = command("token", "--scope", f"view_test:{project}").strip()
    workers = [Api(app, project, token), Api(other_worker, project, token)]
    assert [api.get().status_code for api in workers] == [200, 200]
    assert command("revoke-token", stdin=f"{token}\n") == f"revoked  {part(token, 1)['jti']}\n"
    for api in workers:
        seconds_until_refused(api)
    again = CliRunner().invoke(main, ["revoke-token"], input=token, env={"DATABASE_URL": database_url})
    assert again.exit_code == 1
    assert (
        again.output
        == "Error: Nothing to revoke, the token is not valid: it, its client or its key has been revoked.\n"
    )


def test_revocations_of_expired_tokens_are_deleted(client: OAuthClient, connection: Connection) -> None:
    issued_tokens.revoke_token(connection, "long-gone", time.time() - 7200)
    issued_tokens.revoke_token(connection, "just-gone", time.time() - 60)
    client.revoke(client.token())
    rows = connection.execute("SELECT id FROM revoked_token WHERE id IN ('long-gone', 'just-gone')").fetchall()
    assert rows == [("just-gone",)]


def test_requests_cause_no_statement_each_to_check_revocations(
    client: OAuthClient, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = Api(client.app, project, client.token())
    loads = 0
    original = issued_tokens.load_trust

    def counted(of: Connection) -> TrustRecords:
        nonlocal loads
        loads += 1
        return original(of)

    monkeypatch.setattr(issued_tokens, "load_trust", counted)
    began = time.monotonic()
    for _ in range(100):
        assert api.get().status_code == 200
    assert loads <= 1 + (time.monotonic() - began) / own_issuer.REFRESH_AFTER_S


class Verifying:
    """A verifier by a clock of its own, and what its process asks the database."""

    def __init__(self, connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
        self._clock = time.monotonic()
        # Not that of the module time, by which libraries measure.
        monkeypatch.setattr(own_issuer, "time", SimpleNamespace(monotonic=lambda: self._clock))
        self.loaded: list[TrustRecords] = []
        self.looked_up: list[str] = []
        load_trust, is_revoked = issued_tokens.load_trust, issued_tokens.is_revoked

        def load(of: Connection) -> TrustRecords:
            self.loaded.append(load_trust(of))
            return self.loaded[-1]

        def look_up(of: Connection, token_id: str, client_id: str) -> bool:
            self.looked_up.append(token_id)
            return is_revoked(of, token_id, client_id)

        monkeypatch.setattr(issued_tokens, "load_trust", load)
        monkeypatch.setattr(issued_tokens, "is_revoked", look_up)
        self.issuer = OwnIssuer(Settings().issuer, lambda: nullcontext(connection))
        self._verifier = TokenVerifier([self.issuer])

    def accepts(self, token: str, after_s: float = 0) -> bool:
        self._clock += after_s
        try:
            self._verifier.verify(token)
        except InvalidToken:
            return False
        return True


def revoke_earlier(connection: Connection, token: str, minutes: int = 10) -> None:
    issued_tokens.revoke_token(connection, part(token, 1)["jti"], part(token, 1)["exp"])
    connection.execute(
        "UPDATE revoked_token SET revoked_at = %s WHERE id = %s",
        (datetime.now(UTC) - timedelta(minutes=minutes), part(token, 1)["jti"]),
    )


def test_old_revocations_are_not_read_again_and_again_but_looked_up(
    connection: Connection, project: str, token_for: TokenFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    revoked, kept = token_for(f"view_test:{project}"), token_for(f"view_test:{project}")
    connection.execute(
        "INSERT INTO revoked_token SELECT 'old-' || n, now() - interval '3 minutes', now() + interval '1 day'"
        " FROM generate_series(1, 5000) n"
    )
    revoke_earlier(connection, revoked)
    process = Verifying(connection, monkeypatch)
    assert not process.accepts(revoked)
    for _ in range(10):
        assert process.accepts(kept, after_s=own_issuer.REFRESH_AFTER_S)
    assert process.looked_up == [part(revoked, 1)["jti"], part(kept, 1)["jti"]]
    assert len(process.loaded) > 10
    assert not any(token_id.startswith("old-") for records in process.loaded for token_id in records.revoked_tokens)


def test_a_token_that_was_revoked_while_a_process_did_not_see_it_is_refused_there(
    connection: Connection, project: str, token_for: TokenFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = token_for(f"view_test:{project}")
    process = Verifying(connection, monkeypatch)
    assert process.accepts(token)
    revoke_earlier(connection, token)
    assert not process.accepts(token, after_s=own_issuer.LOOKED_UP_AGAIN_AFTER_S + 1)


def test_a_key_of_the_outside_issuer_is_not_searched_for_among_the_own_ones(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the other way round."""
    process = Verifying(connection, monkeypatch)
    outside = SimpleNamespace(find_key=lambda kid, **_: f"key {kid}" if kid == "theirs" else None)
    verifier = TokenVerifier([process.issuer, cast("TrustedIssuer", outside)])
    for _ in range(20):
        assert verifier.issuer_and_key("theirs") == (outside, "key theirs")
    assert len(process.loaded) == 1
    with pytest.raises(InvalidToken, match="unknown issuer"):
        verifier.issuer_and_key("nobody's")
    assert len(process.loaded) == 2


def test_without_the_database_tokens_are_accepted_for_seconds_and_then_answered_with_503(
    database_url: str, project: str, token_for: TokenFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the level of the verifier: no token is accepted on revocations that are too old."""
    away = False

    @contextmanager
    def connect() -> Iterator[Connection]:
        if away:
            raise errors.over_capacity("away")
        with psycopg.connect(database_url) as connection:
            yield connection

    clock = time.monotonic()
    monkeypatch.setattr(own_issuer.time, "monotonic", lambda: clock)
    verifier = TokenVerifier([OwnIssuer(Settings().issuer, connect)])
    token = token_for(f"view_test:{project}")
    assert verifier.verify(token)
    away = True
    clock += own_issuer.SNAPSHOT_AGE_AT_MOST_S - 0.1
    assert verifier.verify(token)
    clock += 0.2
    for _ in range(3):
        with pytest.raises(errors.ApiError) as raised:
            verifier.verify(token)
        assert raised.value.status == 503
        assert "Retry-After" in raised.value.headers
    away = False
    clock += 1
    assert verifier.verify(token)
    with psycopg.connect(database_url, autocommit=True) as connection:
        issued_tokens.revoke_token(connection, part(token, 1)["jti"], part(token, 1)["exp"])
    clock += own_issuer.REFRESH_AFTER_S
    with pytest.raises(InvalidToken, match="revoked"):
        verifier.verify(token)


def test_a_request_does_not_wait_twice_for_a_silent_database(
    database_url: str, project: str, token_for: TokenFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = time.monotonic()
    silent_for = 0.0

    @contextmanager
    def connect() -> Iterator[Connection]:
        nonlocal clock
        clock += silent_for
        if silent_for:
            raise errors.over_capacity("silent")
        with psycopg.connect(database_url) as connection:
            yield connection

    monkeypatch.setattr(own_issuer.time, "monotonic", lambda: clock)
    verifier = TokenVerifier([OwnIssuer(Settings().issuer, connect)])
    token = token_for(f"view_test:{project}")
    assert verifier.verify(token)
    clock += own_issuer.REFRESH_AFTER_S
    silent_for = 0.5
    assert verifier.verify(token)
    clock += 0.5
    silent_for = 4.0
    with pytest.raises(errors.ApiError) as raised:
        verifier.verify(token)
    assert raised.value.status == 503


def test_a_worker_without_a_database_answers_503_and_not_401(settings: Settings, token_for: TokenFor) -> None:
    alone = create_app(replace(settings, database_url="host=127.0.0.1 port=1", pool_timeout_ms=200))
    try:
        answer = Api(alone, "p", token_for("manage_test:p")).get()
        assert answer.status_code == 503
        assert codes(answer) == ["OverCapacity"]
        assert "Retry-After" in answer.headers
    finally:
        alone.extensions["database"].close()
