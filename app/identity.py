"""What the service knows of API clients and signing keys: the SQL of both, and how tokens are made.

A token is a JWT in the profile of RFC 9068, signed with ES256 by the one key that is not retired.
"""

import hashlib
import json
import secrets
import time
from dataclasses import dataclass
from uuid import uuid4

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

from app.db import Connection

ALGORITHM = "ES256"
TOKEN_LIFETIME_S = 172_800
"""Two days, as on the platform."""


@dataclass(frozen=True, slots=True)
class NewClient:
    """A client that has just been made; the only time that its secret is known."""

    client_id: str
    client_secret: str
    name: str
    scopes: tuple[str, ...]


def create_client(connection: Connection, name: str, scopes: tuple[str, ...]) -> NewClient:
    """Make an API client with a random 256-bit secret, of which a hash is stored."""
    client = NewClient(secrets.token_urlsafe(18), secrets.token_urlsafe(32), name, scopes)
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


def ensure_signing_key(connection: Connection) -> None:
    """Make a signing key if there is none; of several processes that try at once, one succeeds."""
    key = ECKey.generate_key("P-256", {"kid": secrets.token_urlsafe(12), "use": "sig", "alg": ALGORITHM})
    connection.execute(
        "INSERT INTO signing_key (kid, private_jwk, created_at) VALUES (%(kid)s, %(jwk)s, now())"
        " ON CONFLICT DO NOTHING",
        {"kid": key.kid, "jwk": json.dumps(key.as_dict(private=True))},
    )


def verification_keys(connection: Connection) -> KeySet:
    """The public parts of all keys that may have signed a token that is still valid."""
    rows = connection.execute(
        "SELECT private_jwk FROM signing_key WHERE retired_at IS NULL OR retired_at > now() ORDER BY created_at DESC"
    ).fetchall()
    return KeySet([_public(ECKey.import_key(json.loads(text))) for (text,) in rows])


def _public(key: ECKey) -> ECKey:
    return ECKey.import_key(key.as_dict(private=False))


def issue_token(connection: Connection, issuer: str, client_id: str, scopes: tuple[str, ...], lifetime_s: int) -> str:
    """Sign an access token.

    :param lifetime_s: seconds until it expires.
    """
    row = connection.execute("SELECT private_jwk FROM signing_key WHERE retired_at IS NULL").fetchone()
    if row is None:
        raise LookupError("The database has no signing key.")
    key = ECKey.import_key(json.loads(row[0]))
    now = int(time.time())
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
    return jwt.encode({"alg": ALGORITHM, "typ": "at+jwt", "kid": key.kid}, claims, key, algorithms=[ALGORITHM])
