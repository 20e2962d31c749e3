"""What the service knows of API clients, signing keys and revoked tokens: their SQL, and how tokens are made.

A token is a JWT in the profile of RFC 9068, signed with ES256. One key signs at a time: the one of those not retired
whose time to sign came last. A key is published some time before it signs, and verifies as long as any token that it
may have signed.
"""

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import LiteralString, cast
from uuid import uuid4

from joserfc import jwe, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OctKey
from psycopg.errors import UniqueViolation

from app.database.connection import Connection

ALGORITHM = "ES256"
TOKEN_TYPE = "at+jwt"  # noqa: S105 -- the media type of RFC 9068, section 2.1
TOKEN_LIFETIME_S = 172_800
"""Two days, as on the platform."""
SCOPES_LENGTH_AT_MOST = 4096
"""Characters of all scopes of a client or token, so that the token fits into a request header (8190 bytes)."""
PUBLISHED_BEFORE_IT_SIGNS_S = 60
"""How long a new key is only published: longer than any process, or reader of the key set, keeps what it knows."""
_CLOCKS_DIFFER_AT_MOST_S = 300
"""Added to the life of a retired key, since processes and the database may not agree on the time."""


# Clients


@dataclass(frozen=True, slots=True)
class NewClient:
    """A client that has just been made; the only time that its secret is known."""

    client_id: str
    client_secret: str
    name: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Client:
    """An API client as it is stored, without its secret."""

    client_id: str
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    revoked_at: datetime | None


def _new_client_id() -> str:
    """A random id that no command line takes for an option."""
    return secrets.token_urlsafe(18).replace("-", "_")


def create_client(connection: Connection, name: str, scopes: tuple[str, ...]) -> NewClient:
    """Make an API client with a random 256-bit secret, of which a hash is stored."""
    client = NewClient(_new_client_id(), secrets.token_urlsafe(32), name, scopes)
    connection.execute(
        "INSERT INTO api_client (id, name, secret_hash, scopes, created_at)"
        " VALUES (%(id)s, %(name)s, %(secret_hash)s, %(scopes)s, now())",
        {
            "id": client.client_id,
            "name": name,
            "secret_hash": hash_secret(client.client_secret),
            "scopes": list(scopes),
        },
    )
    return client


def hash_secret(secret: str) -> bytes:
    """SHA-256: enough for a secret of 256 random bits, and cheap, so that no one can burn CPU with wrong ones."""
    return hashlib.sha256(secret.encode()).digest()


def has_clients(connection: Connection) -> bool:
    """Whether any client was ever made."""
    row = connection.execute("SELECT EXISTS (SELECT FROM api_client)").fetchone()
    return row is not None and row[0]


_NO_SECRET_HASH = secrets.token_bytes(32)


def authenticated_client(connection: Connection, client_id: str, secret: str) -> Client | None:
    """The client with this id and secret, unless it is revoked.

    The work is the same whether the client exists or not, and where a wrong secret differs cannot be timed.
    """
    row = connection.execute(
        "SELECT id, name, scopes, created_at, revoked_at, secret_hash FROM api_client WHERE id = %(id)s",
        {"id": client_id},
    ).fetchone()
    expected = _NO_SECRET_HASH if row is None else bytes(row[5])
    if not hmac.compare_digest(expected, hash_secret(secret)) or row is None or row[4] is not None:
        return None
    return _client(row)


def clients(connection: Connection) -> list[Client]:
    """All clients, oldest first."""
    rows = connection.execute(
        "SELECT id, name, scopes, created_at, revoked_at FROM api_client ORDER BY created_at, id"
    ).fetchall()
    return [_client(row) for row in rows]


def _client(row: Sequence[object]) -> Client:
    client_id, name, scopes, created_at, revoked_at = cast("tuple[str, str, list[str], datetime, datetime]", row[:5])
    return Client(client_id, name, tuple(scopes), created_at, revoked_at)


def revoke_client(connection: Connection, client_id: str) -> Client:
    """Revoke a client and with it all its tokens; one that is revoked already keeps its time.

    :raises LookupError: if there is no such client.
    """
    connection.execute(
        "UPDATE api_client SET revoked_at = now() WHERE id = %(id)s AND revoked_at IS NULL", {"id": client_id}
    )
    row = connection.execute(
        "SELECT id, name, scopes, created_at, revoked_at FROM api_client WHERE id = %(id)s", {"id": client_id}
    ).fetchone()
    if row is None:
        raise LookupError(f"There is no client {client_id!r}.")
    return _client(row)


# Keys


class KeyUnreadable(LookupError):
    """A signing key is encrypted, and no encryption key at hand opens it."""


class KeyEncryption:
    """Private keys at rest: JSON Web Encryption (RFC 7516) with AES-256-GCM, or plain text without encryption keys.

    :param keys: 32 random bytes each; the first encrypts, all decrypt.
    """

    _ALGORITHMS = ("dir", "A256GCM")

    def __init__(self, keys: tuple[bytes, ...] = ()) -> None:
        self._keys = tuple(OctKey.import_key(key) for key in keys)

    def encrypt(self, text: str) -> str:
        """The text as it is to be stored."""
        if not self._keys:
            return text
        header = {"alg": "dir", "enc": "A256GCM"}
        return jwe.encrypt_compact(header, text, self._keys[0], algorithms=self._ALGORITHMS)

    def decrypt(self, stored: str) -> str:
        """The text behind what is stored, which may have been stored before there was an encryption key.

        :raises KeyUnreadable: if no key opens it.
        """
        if not self.is_encrypted(stored):
            return stored
        for key in self._keys:
            try:
                plaintext = jwe.decrypt_compact(stored, key, algorithms=self._ALGORITHMS).plaintext
            except (JoseError, ValueError):
                continue
            if plaintext is not None:
                return plaintext.decode()
        raise KeyUnreadable(
            "The signing key in the database is encrypted, and KEY_ENCRYPTION_KEY "
            + ("is another key than the one that it was encrypted with." if self._keys else "is not set.")
        )

    @staticmethod
    def is_encrypted(stored: str) -> bool:
        """Whether a stored key is encrypted: one that is not is JSON."""
        return not stored.startswith("{")


NO_ENCRYPTION = KeyEncryption()


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A signing key as it is stored, without its private part."""

    kid: str
    created_at: datetime
    signs_from: datetime
    retired_at: datetime | None
    """It verifies until then; None: no end is set."""
    encrypted: bool

    def state(self, now: datetime, signing_kid: str | None) -> str:
        """What the key does: ``signs``, ``published`` (signs later), ``verifies``, ``retired``."""
        if self.kid == signing_kid:
            return "signs"
        if self.retired_at is not None and self.retired_at <= now:
            return "retired"
        return "published" if self.signs_from > now else "verifies"


def ensure_signing_key(connection: Connection, encryption: KeyEncryption = NO_ENCRYPTION) -> None:
    """Make a signing key if there is none; of several processes that try at once, one succeeds."""
    connection.execute(f"{_INSERT_KEY} ON CONFLICT DO NOTHING", _new_key(encryption) | {"signs_in_s": 0})


_INSERT_KEY: LiteralString = """
INSERT INTO signing_key (kid, private_jwk, public_jwk, created_at, signs_from)
VALUES (%(kid)s, %(private)s, %(public)s, now(), now() + make_interval(secs => %(signs_in_s)s))"""


def _new_key(encryption: KeyEncryption) -> dict[str, str | int | None]:
    key = ECKey.generate_key("P-256", {"kid": secrets.token_urlsafe(12), "use": "sig", "alg": ALGORITHM})
    return {
        "kid": key.kid,
        "private": encryption.encrypt(json.dumps(key.as_dict(private=True))),
        "public": json.dumps(key.as_dict(private=False)),
    }


def rotate_signing_key(
    connection: Connection,
    encryption: KeyEncryption = NO_ENCRYPTION,
    *,
    signs_in_s: int = PUBLISHED_BEFORE_IT_SIGNS_S,
    others_at_once: bool = False,
) -> None:
    """Make a new signing key, and set the end of the one before: when the last token that it may sign has expired.

    :param signs_in_s: seconds for which the new key is only published, and the one before goes on signing.
    :param others_at_once: for keys that have leaked: all others end now, and with them every token issued so far.
    :raises LookupError: if another rotation goes on at the same time.
    """
    try:
        with connection.transaction():
            if others_at_once:
                connection.execute(
                    "UPDATE signing_key SET retired_at = now() WHERE retired_at IS NULL OR retired_at > now()"
                )
                replaced = 0
            else:
                replaced = connection.execute(
                    "UPDATE signing_key SET retired_at ="
                    " greatest(now() + make_interval(secs => %(tokens_end_in_s)s), longest_token_until)"
                    " WHERE retired_at IS NULL",
                    {"tokens_end_in_s": signs_in_s + TOKEN_LIFETIME_S + _CLOCKS_DIFFER_AT_MOST_S},
                ).rowcount
            connection.execute(_INSERT_KEY, _new_key(encryption) | {"signs_in_s": signs_in_s if replaced else 0})
    except UniqueViolation:
        raise LookupError("The signing key has just been rotated by someone else.") from None


def signing_keys(connection: Connection) -> list[tuple[SigningKey, str]]:
    """All keys, oldest first, each with its state."""
    rows = connection.execute(
        "SELECT kid, created_at, signs_from, retired_at, private_jwk FROM signing_key ORDER BY created_at, kid"
    ).fetchall()
    keys = [SigningKey(*row[:4], encrypted=KeyEncryption.is_encrypted(row[4])) for row in rows]
    signing = connection.execute(_SIGNING_KEY).fetchone()
    now = datetime.now(UTC)
    return [(key, key.state(now, None if signing is None else signing[0])) for key in keys]


def encrypt_signing_keys(connection: Connection, encryption: KeyEncryption) -> int:
    """Store every key as the first encryption key, or the lack of one, wants it, and return how many there are.

    :raises KeyUnreadable: if one cannot be read; then none is changed.
    """
    with connection.transaction():
        rows = connection.execute("SELECT kid, private_jwk FROM signing_key FOR UPDATE").fetchall()
        for kid, stored in rows:
            connection.execute(
                "UPDATE signing_key SET private_jwk = %(private)s WHERE kid = %(kid)s",
                {"kid": kid, "private": encryption.encrypt(encryption.decrypt(stored))},
            )
    return len(rows)


_SIGNING_KEY: LiteralString = """
SELECT kid, private_jwk FROM signing_key
WHERE signs_from <= now() AND (retired_at IS NULL OR retired_at > now())
ORDER BY signs_from DESC LIMIT 1"""


@lru_cache(maxsize=8)
def _private_key(stored: str, encryption: KeyEncryption) -> ECKey:
    return ECKey.import_key(json.loads(encryption.decrypt(stored)))


# Tokens


def issue_token(
    connection: Connection,
    issuer: str,
    client_id: str,
    scopes: tuple[str, ...],
    lifetime_s: int,
    encryption: KeyEncryption = NO_ENCRYPTION,
) -> str:
    """Sign an access token.

    :param lifetime_s: seconds until it expires.
    :raises LookupError: if there is no key, or none that can be read (:class:`KeyUnreadable`).
    """
    row = connection.execute(_SIGNING_KEY).fetchone()
    if row is None:
        raise LookupError("The database has no signing key.")
    kid, stored = row
    now = int(time.time())
    if lifetime_s > TOKEN_LIFETIME_S:
        _keep_key_until(connection, kid, now + lifetime_s)
    claims = {
        "iss": issuer,
        "aud": issuer,
        "sub": client_id,
        "client_id": client_id,
        "iat": now,
        "exp": now + lifetime_s,
        "jti": str(uuid4()),
        "scope": " ".join(scopes),
    }
    header = {"alg": ALGORITHM, "typ": TOKEN_TYPE, "kid": kid}
    return jwt.encode(header, claims, _private_key(stored, encryption), algorithms=[ALGORITHM])


def _keep_key_until(connection: Connection, kid: str, expires_at: int) -> None:
    """Let a key verify a token that lives longer than usual.

    :param expires_at: seconds since the epoch.
    :raises LookupError: if the key has been retired in between.
    """
    kept = connection.execute(
        "UPDATE signing_key SET longest_token_until = greatest(longest_token_until, to_timestamp(%(until)s)),"
        " retired_at = CASE WHEN retired_at IS NOT NULL THEN greatest(retired_at, to_timestamp(%(until)s)) END"
        " WHERE kid = %(kid)s AND (retired_at IS NULL OR retired_at > now())",
        {"kid": kid, "until": expires_at + _CLOCKS_DIFFER_AT_MOST_S},
    )
    if kept.rowcount == 0:
        raise LookupError("The signing key has just been retired; try again.")


def revoke_token(connection: Connection, token_id: str, expires_at: float) -> None:
    """Revoke a token by its ``jti``, and forget those that have expired by now.

    :param expires_at: seconds since the epoch.
    """
    connection.execute("DELETE FROM revoked_token WHERE expires_at < now() - interval '1 hour'")
    connection.execute(
        "INSERT INTO revoked_token (id, revoked_at, expires_at)"
        " VALUES (%(id)s, now(), to_timestamp(%(expires_at)s)) ON CONFLICT DO NOTHING",
        {"id": token_id, "expires_at": expires_at},
    )


def is_revoked(connection: Connection, token_id: str, client_id: str) -> bool:
    """Whether a token, or the client that it was issued to, has been revoked by now."""
    row = connection.execute(
        "SELECT EXISTS (SELECT FROM revoked_token WHERE id = %(token_id)s)"
        " OR EXISTS (SELECT FROM api_client WHERE id = %(client_id)s AND revoked_at IS NOT NULL)",
        {"token_id": token_id, "client_id": client_id},
    ).fetchone()
    return row is not None and row[0]


# Trust: what every process has to know to verify tokens


@dataclass(frozen=True, slots=True)
class Trust:
    """Keys that verify, and what has been revoked."""

    as_of: datetime
    """By the database's clock."""
    public_jwks: tuple[str, ...]
    """Each a JSON Web Key as JSON, newest first."""
    revoked_tokens: frozenset[str]
    revoked_clients: frozenset[str]


def load_trust(connection: Connection, since: datetime | None) -> Trust:
    """All keys that verify, and the revocations since a time, or all that matter, in one statement."""
    row = connection.execute(_TRUST, {"since": since}).fetchone()
    if row is None:
        raise LookupError("a select without FROM has one row")
    as_of, jwks, tokens, client_ids = row
    return Trust(as_of, tuple(jwks), frozenset(tokens), frozenset(client_ids))


_TRUST: LiteralString = """
SELECT now(),
    ARRAY(SELECT public_jwk FROM signing_key WHERE retired_at IS NULL OR retired_at > now() ORDER BY created_at DESC),
    ARRAY(SELECT id FROM revoked_token
        WHERE expires_at > now() AND revoked_at > coalesce(%(since)s::timestamptz, '-infinity'::timestamptz)),
    ARRAY(SELECT id FROM api_client
        WHERE revoked_at > coalesce(%(since)s::timestamptz, '-infinity'::timestamptz))"""
