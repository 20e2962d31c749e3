"""The access tokens that the service issues: signing and revoking them, and loading the records that verify them."""

from dataclasses import dataclass
from typing import LiteralString

from joserfc import jwt

from app.clock_and_ids import REAL_CLOCK_AND_IDS, ClockAndIds
from app.database.connection import Connection
from app.identity.signing_keys import NO_ENCRYPTION, KeyEncryption, current_signing_key
from app.identity.token_profile import ALGORITHM, TOKEN_LIFETIME_S, TOKEN_TYPE

RECENT_S = 120
"""The time for which a revocation counts as recent. Every process reads all recent revocations at short intervals."""

_EXPIRED: LiteralString = """
SELECT id FROM revoked_token WHERE expires_at < now() - interval '1 hour' ORDER BY expires_at LIMIT 1000"""

_DELETE: LiteralString = "DELETE FROM revoked_token WHERE id = ANY(%(ids)s)"

_INSERT_REVOKED: LiteralString = """
INSERT INTO revoked_token (id, revoked_at, expires_at)
VALUES (%(id)s, statement_timestamp(), to_timestamp(%(expires_at)s))
ON CONFLICT DO NOTHING"""

_IS_REVOKED: LiteralString = """
SELECT EXISTS (SELECT FROM revoked_token WHERE id = %(token_id)s)
    OR EXISTS (SELECT FROM api_client WHERE id = %(client_id)s AND revoked_at IS NOT NULL)
    OR EXISTS (SELECT FROM removed_client WHERE id = %(client_id)s)"""

_TRUST: LiteralString = """
SELECT
    ARRAY(SELECT public_jwk FROM signing_key WHERE retired_at IS NULL OR retired_at > now() ORDER BY created_at DESC),
    ARRAY(SELECT id FROM revoked_token WHERE revoked_at > now() - make_interval(secs => %(recent_s)s)),
    ARRAY(
        SELECT id FROM api_client WHERE revoked_at > now() - make_interval(secs => %(recent_s)s)
        UNION ALL
        SELECT id FROM removed_client WHERE removed_at > now() - make_interval(secs => %(recent_s)s))"""


def issue_token(
    connection: Connection,
    issuer: str,
    client_id: str,
    scopes: tuple[str, ...],
    lifetime_s: int,
    encryption: KeyEncryption = NO_ENCRYPTION,
    clock_and_ids: ClockAndIds = REAL_CLOCK_AND_IDS,
) -> str:
    """Make and sign an access token.

    :param lifetime_s: seconds until the token expires.
    :param clock_and_ids: the source of the token's times and id.
    :raises LookupError: if there is no signing key, or if it cannot be decrypted
        (:class:`~app.identity.signing_keys.KeyUnreadable`).
    """
    now = int(clock_and_ids.time())
    expires_at = now + lifetime_s
    key = current_signing_key(connection, encryption, expires_at if lifetime_s > TOKEN_LIFETIME_S else None)
    claims = {
        "iss": issuer,
        "aud": issuer,
        "sub": client_id,
        "client_id": client_id,
        "iat": now,
        "exp": expires_at,
        "jti": clock_and_ids.token_id(),
        "scope": " ".join(scopes),
    }
    header = {"alg": ALGORITHM, "typ": TOKEN_TYPE, "kid": key.kid}
    return jwt.encode(header, claims, key, algorithms=[ALGORITHM])


def revoke_token(connection: Connection, token_id: str, expires_at: float) -> None:
    """Revoke a token by its ``jti``, and delete up to 1,000 revocations of tokens that expired an hour ago.

    :param expires_at: when the token expires, in seconds since the epoch.
    """
    connection.execute(_INSERT_REVOKED, {"id": token_id, "expires_at": expires_at})
    expired = [row[0] for row in connection.execute(_EXPIRED).fetchall()]
    if expired:
        connection.execute(_DELETE, {"ids": expired})


def is_revoked(connection: Connection, token_id: str, client_id: str) -> bool:
    """Whether a token, or the client to which it was issued, is revoked."""
    row = connection.execute(_IS_REVOKED, {"token_id": token_id, "client_id": client_id}).fetchone()
    return row is not None and row[0]


@dataclass(frozen=True, slots=True)
class TrustRecords:
    """The records of the database that decide on the validity of tokens: public keys and recent revocations."""

    public_jwks: tuple[str, ...]
    """The public keys that verify tokens, each as the JSON text of a JSON Web Key, the newest first."""
    revoked_tokens: frozenset[str]
    revoked_clients: frozenset[str]


def load_trust(connection: Connection) -> TrustRecords:
    """Read the public keys that verify tokens, and the revocations of the last :data:`RECENT_S`, by one statement."""
    row = connection.execute(_TRUST, {"recent_s": RECENT_S}).fetchone()
    if row is None:
        raise LookupError("a select without FROM has one row")
    jwks, tokens, client_ids = row
    return TrustRecords(tuple(jwks), frozenset(tokens), frozenset(client_ids))
