"""The rows of tokens: how long they are kept, and that many of them slow nothing."""

from collections.abc import Iterator
from time import time
from typing import Any, LiteralString

import psycopg
import pytest
from flask import Flask

from app.clock_and_ids import REAL_CLOCK_AND_IDS
from app.database.connection import Connection
from app.identity import server, tokens
from app.identity.tokens import REMOVED_AT_ONCE, digest_of
from tests.support.applications import own_database
from tests.support.cluster import Cluster
from tests.support.fixtures import TokenFor
from tests.support.oauth import OAuthClient

DAY_S = 86_400


def is_stored(connection: Connection, token: str) -> bool:
    return bool(tokens.find_tokens(connection, [digest_of(token)]))


@pytest.fixture
def own_connection(cluster: Cluster) -> Iterator[Connection]:
    """A connection to a database of its own."""
    with psycopg.connect(own_database(cluster), autocommit=True) as connection:
        yield connection


def test_a_row_is_kept_until_a_day_after_the_expiry() -> None:
    assert REAL_CLOCK_AND_IDS.kept_until(1000) == 1000 + DAY_S


def test_a_token_that_expired_a_day_ago_is_removed_and_no_other(own_connection: Connection) -> None:
    gone, kept, valid = (
        tokens.issue_token(own_connection, "a", (), lifetime_s) for lifetime_s in (-DAY_S - 60, -DAY_S + 3600, 60)
    )
    tokens.remove_outdated(own_connection)
    assert [is_stored(own_connection, token) for token in (gone, kept, valid)] == [False, True, True]


def test_the_oldest_are_removed_first_and_not_too_many_at_once(own_connection: Connection) -> None:
    now = int(time())
    with own_connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO access_token (digest, client_id, scopes, issued_at, expires_at, kept_until)"
            " VALUES (sha256(%s::text::bytea), 'a', '{}', now(), now(), to_timestamp(%s))",
            [(number, now - 60 - number) for number in range(REMOVED_AT_ONCE + 5)],
        )
    tokens.remove_outdated(own_connection)
    left = own_connection.execute("SELECT round(extract(epoch FROM kept_until)) FROM access_token").fetchall()
    assert sorted(now - 60 - int(row[0]) for row in left) == [0, 1, 2, 3, 4]


def test_issuing_tokens_removes_outdated_ones(
    app: Flask, connection: Connection, project: str, token_for: TokenFor
) -> None:
    """Many more than it issues, so that they do not pile up."""
    gone = [token_for(f"view_test:{project}", lifetime_s=-DAY_S - 60) for _ in range(3)]
    client = OAuthClient(app, connection, f"view_test:{project}")
    for _ in range(server.REMOVED_EVERY):
        client.token()
    assert not any(is_stored(connection, token) for token in gone)
    assert server.REMOVED_EVERY * 2 <= REMOVED_AT_ONCE


MANY = 100_000


@pytest.fixture(scope="module")
def many_tokens(cluster: Cluster) -> Iterator[Connection]:
    """A connection to a database with many tokens of many clients, a tenth of which expired a day ago."""
    with psycopg.connect(own_database(cluster), autocommit=True) as connection:
        connection.execute(
            "INSERT INTO api_client (id, name, secret_hash, scopes, created_at)"
            " SELECT 'c' || n, 'a client', sha256('x'), '{}', now() FROM generate_series(1, 1000) n"
        )
        connection.execute(
            "INSERT INTO access_token (digest, client_id, scopes, issued_at, expires_at, kept_until)"
            " SELECT sha256(n::text::bytea), 'c' || mod(n, 1000) + 1, '{view_test:p}', now(), now(),"
            " now() + make_interval(hours => n - %(many)s / 10) FROM generate_series(1, %(many)s) n",
            {"many": MANY},
        )
        yield connection


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize("is_analysed", [False, True], ids=["no statistics", "statistics"])
def test_what_a_statement_reads_does_not_grow_with_the_tokens(
    many_tokens: Connection, mode: str, is_analysed: bool
) -> None:
    if is_analysed:
        many_tokens.execute("ANALYZE access_token, api_client")
    many_tokens.execute("SELECT set_config('plan_cache_mode', %s, false)", (mode,))
    digests = [digest_of(str(number)) for number in range(1, 4)]
    issued = {"digest": digest_of("new"), "issued_at": 0, "expires_at": 0, "kept_until": 0}
    asked = {"client_id": "c7", "secret_hash": digest_of("x"), "scopes": ["view_test:p"]}
    expected: tuple[tuple[LiteralString, dict[str, Any], str], ...] = (
        (tokens._GRANT, issued | asked, "api_client_pkey"),
        (tokens._FIND, {"digests": digests}, "access_token_pkey"),
        (tokens._REVOKE, {"digest": digests[0]}, "access_token_pkey"),
        (tokens._SELECT_OUTDATED, {"at_most": 3}, "access_token_kept_until"),
        (tokens._DELETE, {"digests": digests}, "access_token_pkey"),
    )
    for statement, parameters, index in expected:
        with many_tokens.transaction(force_rollback=True):
            rows = many_tokens.execute("EXPLAIN " + statement, parameters, prepare=True).fetchall()
        plan = "\n".join(row[0] for row in rows)
        assert f"using {index}" in plan or f"on {index}" in plan, plan
        assert "Seq Scan on access_token" not in plan, plan
