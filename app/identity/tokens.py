"""The access tokens: each is a row of the table ``access_token``, which has the token's SHA-256 and not the token.

A token is 32 random bytes in base64url, so nobody can guess one, and a hash without salt is enough.
"""

import hashlib
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, LiteralString

from app.clock_and_ids import REAL_CLOCK_AND_IDS, ClockAndIds
from app.database.connection import Connection

TOKEN_LIFETIME_S = 172_800
"""The lifetime of a token: two days, as on the platform."""

TOKEN_LENGTH = 43
"""The number of characters of a token."""

TOKEN = re.compile(f"[A-Za-z0-9_-]{{{TOKEN_LENGTH}}}", re.ASCII)
"""The form of a token."""

REMOVED_AT_ONCE = 200
"""The number of outdated rows that are removed at once, at most, which takes a few milliseconds."""

_INSERT: LiteralString = """
INSERT INTO access_token (digest, client_id, scopes, issued_at, expires_at, kept_until)"""

_TIMES: LiteralString = "to_timestamp(%(issued_at)s), to_timestamp(%(expires_at)s), to_timestamp(%(kept_until)s)"

_ISSUE: LiteralString = f"{_INSERT} VALUES (%(digest)s, %(client_id)s, %(scopes)s, {_TIMES})"

_GRANT: LiteralString = f"""{_INSERT}
SELECT %(digest)s, id, coalesce(%(scopes)s, scopes), {_TIMES} FROM api_client
WHERE
    id = %(client_id)s AND secret_hash = %(secret_hash)s AND revoked_at IS NULL
    AND coalesce(%(scopes)s::text[] <@ scopes, true)
RETURNING access_token.scopes"""

_FIND: LiteralString = """
SELECT
    t.digest, t.client_id, t.scopes, extract(epoch FROM t.issued_at)::float8, extract(epoch FROM t.expires_at)::float8,
    t.revoked_at IS NOT NULL, c.id IS NULL OR c.revoked_at IS NOT NULL
FROM access_token t LEFT JOIN api_client c ON c.id = t.client_id
WHERE t.digest = ANY(%(digests)s)"""

_REVOKE: LiteralString = "UPDATE access_token SET revoked_at = now() WHERE digest = %(digest)s AND revoked_at IS NULL"

_REVOKE_ALL: LiteralString = """
UPDATE access_token SET revoked_at = now() WHERE client_id = %(client_id)s AND revoked_at IS NULL"""

# Two statements: Citus keeps a copy of this table on each machine, and executes a DELETE on all of them. With LIMIT in
# a subquery, each might choose other rows.
_SELECT_OUTDATED: LiteralString = """
SELECT digest FROM access_token WHERE kept_until < now() ORDER BY kept_until LIMIT %(at_most)s"""

_DELETE: LiteralString = "DELETE FROM access_token WHERE digest = ANY(%(digests)s)"


@dataclass(frozen=True, slots=True)
class AccessToken:
    """The row of a token, with the state of its client."""

    digest: bytes
    client_id: str
    scopes: tuple[str, ...]
    issued_at: float
    """The time of issue by the clock of the client, in seconds since 1970."""
    expires_at: float
    """The time of expiry by the clock of the client, in seconds since 1970."""
    is_revoked: bool
    is_client_revoked: bool
    """Whether the client is revoked or removed."""


def digest_of(text: str) -> bytes:
    """The SHA-256 of a token, or of the secret of a client."""
    return hashlib.sha256(text.encode()).digest()


def issue_token(
    connection: Connection,
    client_id: str,
    scopes: tuple[str, ...],
    lifetime_s: int = TOKEN_LIFETIME_S,
    clock_and_ids: ClockAndIds = REAL_CLOCK_AND_IDS,
) -> str:
    """Make a token of a client, store its row, and return the token. For commands and for extensions, which need no
    secret of the client; the token endpoint uses :func:`grant_token`.

    :param lifetime_s: seconds until the token expires, counted from the beginning of the present second.
    :param clock_and_ids: has the clock by which the client's tokens are issued and expire.
    """
    token, row = _new_token(lifetime_s, clock_and_ids)
    connection.execute(_ISSUE, {**row, "client_id": client_id, "scopes": list(scopes)})
    return token


def grant_token(
    connection: Connection,
    client_id: str,
    secret_hash: bytes,
    scopes: tuple[str, ...] | None,
    clock_and_ids: ClockAndIds = REAL_CLOCK_AND_IDS,
) -> tuple[str, tuple[str, ...]] | None:
    """Issue a token as :func:`issue_token` does, by one statement that also authenticates the client.

    :param scopes: the scopes of the token; None for all scopes of the client.
    :return: the token and its scopes; None if there is no client with this id and secret, if the client is revoked, or
        if it does not have all the scopes.
    """
    token, row = _new_token(TOKEN_LIFETIME_S, clock_and_ids)
    asked = None if scopes is None else list(scopes)
    row |= {"client_id": client_id, "secret_hash": secret_hash, "scopes": asked}
    granted = connection.execute(_GRANT, row).fetchone()
    return None if granted is None else (token, tuple(granted[0]))


def _new_token(lifetime_s: int, clock_and_ids: ClockAndIds) -> tuple[str, dict[str, Any]]:
    """A new token, and its row without the id of the client and the scopes."""
    token = secrets.token_urlsafe(32)
    issued_at = int(clock_and_ids.time())  # the columns, and introspection, have whole seconds
    expires_at = issued_at + lifetime_s
    return token, {
        "digest": digest_of(token),
        "issued_at": issued_at,
        "expires_at": expires_at,
        "kept_until": clock_and_ids.kept_until(expires_at),
    }


def remove_outdated(connection: Connection) -> None:
    """Delete the rows of tokens whose ``kept_until`` has passed, the oldest first, and at most :data:`REMOVED_AT_ONCE`.

    A token's row is kept for some time after the token has expired (:meth:`~app.clock_and_ids.ClockAndIds.kept_until`),
    so that a client that still sends the token is told "it has expired", and not "it is unknown".
    """
    outdated = connection.execute(_SELECT_OUTDATED, {"at_most": REMOVED_AT_ONCE}).fetchall()
    if outdated:
        connection.execute(_DELETE, {"digests": [digest for (digest,) in outdated]})


def find_tokens(connection: Connection, digests: Collection[bytes]) -> dict[bytes, AccessToken]:
    """The stored tokens with these digests, by their digests. They may be expired or revoked."""
    rows = connection.execute(_FIND, {"digests": list(digests)}).fetchall()
    return {row[0]: AccessToken(row[0], row[1], tuple(row[2]), *row[3:]) for row in rows}


def revoke_token(connection: Connection, digest: bytes) -> None:
    """Revoke a token. If it is already revoked, the time of its revocation stays."""
    connection.execute(_REVOKE, {"digest": digest})


def revoke_all_tokens(connection: Connection, client_id: str) -> None:
    """Revoke all tokens that have been issued to a client so far. Only extensions call this function. Its statement
    reads the whole table, unless the extension adds an index on ``client_id``."""
    connection.execute(_REVOKE_ALL, {"client_id": client_id})
