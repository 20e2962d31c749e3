"""The keys that sign access tokens: creating, rotating, listing and encrypting them.

One key signs at a time: of the keys that are not retired, the one whose ``signs_from`` is the latest that has passed.
A key is published some time before it signs, and verifies for as long as any token that it may have signed is valid.
"""

import json
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import LiteralString

from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OctKey
from psycopg.errors import UniqueViolation

from app.database.connection import Connection
from app.identity.token_profile import ALGORITHM, TOKEN_LIFETIME_S

PUBLISHED_BEFORE_IT_SIGNS_S = 60
"""How long a new key is only published: longer than any process, or reader of the key set, caches the keys."""

_CLOCK_DIFFERENCE_AT_MOST_S = 300
"""Added to the life of a retired key, because the clocks of the processes and of the database may differ."""

_NOW: LiteralString = "date_trunc('milliseconds', now())"
"""Rounded down: the columns have milliseconds and would round up, so that a key that signs at once could not yet."""

_INSERT: LiteralString = f"""
INSERT INTO signing_key (kid, private_jwk, public_jwk, created_at, signs_from)
VALUES (%(kid)s, %(private)s, %(public)s, {_NOW}, {_NOW} + make_interval(secs => %(signs_in_s)s))"""

_INSERT_IF_FIRST: LiteralString = f"{_INSERT} ON CONFLICT DO NOTHING"

_HAS_KEY: LiteralString = "SELECT FROM signing_key WHERE retired_at IS NULL"

_RETIRE_ALL_NOW: LiteralString = f"""
UPDATE signing_key SET retired_at = {_NOW} WHERE retired_at IS NULL OR retired_at > now()"""

_RETIRE_WHEN_TOKENS_EXPIRE: LiteralString = """
UPDATE signing_key
SET retired_at = greatest(now() + make_interval(secs => %(tokens_expire_in_s)s), longest_token_until)
WHERE retired_at IS NULL"""

_SELECT_ALL: LiteralString = """
SELECT kid, created_at, signs_from, retired_at, private_jwk FROM signing_key ORDER BY created_at, kid"""

_SELECT_CURRENT: LiteralString = """
SELECT kid, private_jwk FROM signing_key
WHERE signs_from <= now() AND (retired_at IS NULL OR retired_at > now())
ORDER BY signs_from DESC LIMIT 1"""

_LOCK_ALL: LiteralString = "SELECT kid, private_jwk FROM signing_key FOR UPDATE"

_REPLACE_PRIVATE: LiteralString = "UPDATE signing_key SET private_jwk = %(private)s WHERE kid = %(kid)s"

_EXTEND: LiteralString = """
UPDATE signing_key
SET longest_token_until = greatest(longest_token_until, to_timestamp(%(until)s)),
    retired_at = CASE WHEN retired_at IS NOT NULL THEN greatest(retired_at, to_timestamp(%(until)s)) END
WHERE kid = %(kid)s AND (retired_at IS NULL OR retired_at > now())"""


# Encryption at rest


class KeyUnreadable(LookupError):
    """A signing key is encrypted, and none of the encryption keys that are set decrypts it."""


class KeyEncryption:
    """Encrypts private keys for storage by JSON Web Encryption (RFC 7516) with AES-256-GCM.

    :param keys: 32 random bytes each; the first encrypts, all decrypt. Without keys, private keys are stored as they
        are.
    """

    _ALGORITHMS = ("dir", "A256GCM")

    def __init__(self, keys: tuple[bytes, ...] = ()) -> None:
        self._keys = tuple(OctKey.import_key(key) for key in keys)

    def encrypt(self, text: str) -> str:
        """The text in the form that is stored."""
        if not self._keys:
            return text
        header = {"alg": "dir", "enc": "A256GCM"}
        return jwe.encrypt_compact(header, text, self._keys[0], algorithms=self._ALGORITHMS)

    def decrypt(self, stored: str) -> str:
        """The text of a stored key, which may have been stored before an encryption key was set.

        :raises KeyUnreadable: if no encryption key decrypts it.
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
        """Whether a stored key is encrypted; a plain key is a JSON object."""
        return not stored.startswith("{")


NO_ENCRYPTION = KeyEncryption()


# Keys


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A stored signing key, without its private part."""

    kid: str
    created_at: datetime
    signs_from: datetime
    retired_at: datetime | None
    """The key verifies tokens until then; None if no end is set."""
    encrypted: bool

    def state(self, now: datetime, signing_kid: str | None) -> str:
        """What the key is used for: ``signs``, ``published`` (signs later), ``verifies``, ``retired``."""
        if self.kid == signing_kid:
            return "signs"
        if self.retired_at is not None and self.retired_at <= now:
            return "retired"
        return "published" if self.signs_from > now else "verifies"


def ensure_signing_key(connection: Connection, encryption: KeyEncryption = NO_ENCRYPTION) -> None:
    """Create a signing key if there is none. Several processes may call this at once: one key is created."""
    # A read needs one machine of a distributed database, and a write all of them.
    if connection.execute(_HAS_KEY).fetchone() is not None:
        return
    connection.execute(_INSERT_IF_FIRST, _new_key(encryption) | {"signs_in_s": 0})


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
    """Create a new signing key, and let the current one retire when the last token that it may sign has expired.

    :param signs_in_s: seconds for which the new key is only published and the current one goes on signing.
    :param others_at_once: for keys that have leaked: all others retire now, which invalidates every token issued so
        far, and the new key signs at once.
    :raises LookupError: if another rotation runs at the same time.
    """
    try:
        with connection.transaction():
            if others_at_once:
                connection.execute(_RETIRE_ALL_NOW)
                replaced = 0
            else:
                tokens_expire_in_s = signs_in_s + TOKEN_LIFETIME_S + _CLOCK_DIFFERENCE_AT_MOST_S
                parameters = {"tokens_expire_in_s": tokens_expire_in_s}
                replaced = connection.execute(_RETIRE_WHEN_TOKENS_EXPIRE, parameters).rowcount
            connection.execute(_INSERT, _new_key(encryption) | {"signs_in_s": signs_in_s if replaced else 0})
    except UniqueViolation:
        raise LookupError("The signing key has just been rotated by someone else.") from None


def list_signing_keys(connection: Connection) -> list[tuple[SigningKey, str]]:
    """All keys, oldest first, each with its state (see :meth:`SigningKey.state`)."""
    rows = connection.execute(_SELECT_ALL).fetchall()
    keys = [SigningKey(*row[:4], encrypted=KeyEncryption.is_encrypted(row[4])) for row in rows]
    current = connection.execute(_SELECT_CURRENT).fetchone()
    now = datetime.now(UTC)
    return [(key, key.state(now, None if current is None else current[0])) for key in keys]


def encrypt_signing_keys(connection: Connection, encryption: KeyEncryption) -> int:
    """Encrypt every key again with the first encryption key, or store all in plain text if there is none.

    Returns the number of keys.

    :raises KeyUnreadable: if a key cannot be decrypted; no key is changed then.
    """
    with connection.transaction():
        rows = connection.execute(_LOCK_ALL).fetchall()
        for kid, stored in rows:
            private = encryption.encrypt(encryption.decrypt(stored))
            connection.execute(_REPLACE_PRIVATE, {"kid": kid, "private": private})
    return len(rows)


def current_signing_key(connection: Connection, encryption: KeyEncryption, valid_until: int | None = None) -> ECKey:
    """The key that signs, with its private part.

    :param valid_until: seconds since the epoch; let the key verify at least until then, for a token that lives longer
        than usual.
    :raises LookupError: if there is no key, if it cannot be decrypted (:class:`KeyUnreadable`), or if it has been
        retired while this ran.
    """
    row = connection.execute(_SELECT_CURRENT).fetchone()
    if row is None:
        raise LookupError("The database has no signing key.")
    kid, stored = row
    if valid_until is not None:
        extended = connection.execute(_EXTEND, {"kid": kid, "until": valid_until + _CLOCK_DIFFERENCE_AT_MOST_S})
        if extended.rowcount == 0:
            raise LookupError("The signing key has just been retired; try again.")
    return _imported(stored, encryption)


def check_signing_key(connection: Connection, encryption: KeyEncryption) -> None:
    """Check that the key that signs can be decrypted. A database without a key passes: the first client brings one.

    :raises KeyUnreadable: if it cannot.
    """
    row = connection.execute(_SELECT_CURRENT).fetchone()
    if row is not None:
        _imported(row[1], encryption)


@lru_cache(maxsize=8)
def _imported(stored: str, encryption: KeyEncryption) -> ECKey:
    return ECKey.import_key(json.loads(encryption.decrypt(stored)))
