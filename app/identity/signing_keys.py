"""The keys that sign access tokens: creating, rotating, listing and encrypting them.

One key signs at a time: among the keys that are not retired and whose ``signs_from`` has passed, the one with the
latest ``signs_from``. A key is published some time before it signs, and verifies tokens until the last token that it
may have signed has expired.
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
"""The time for which a new key is only published. It is longer than any process, or other reader of the key set, caches
keys."""

_CLOCK_DIFFERENCE_AT_MOST_S = 300
"""The time for which a key still verifies after its last token has expired, because the clocks of processes and of the
database differ."""

_NOW: LiteralString = "date_trunc('milliseconds', now())"
"""The SQL of the present time, rounded down to milliseconds. The columns might round it up, into the future, and a new
key could not sign at once."""

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
    """The error for an encrypted signing key that none of the configured encryption keys decrypts."""


class KeyEncryption:
    """Encrypts private keys for storage by JSON Web Encryption (RFC 7516) with AES-256-GCM.

    :param keys: encryption keys of 32 random bytes each. The first key encrypts, and all decrypt. Without encryption
        keys, private keys are stored in plain text.
    """

    _ALGORITHMS = ("dir", "A256GCM")

    def __init__(self, keys: tuple[bytes, ...] = ()) -> None:
        self._keys = tuple(OctKey.import_key(key) for key in keys)

    def encrypt(self, text: str) -> str:
        """Return a text in the form in which it is stored: encrypted, if there is an encryption key."""
        if not self._keys:
            return text
        header = {"alg": "dir", "enc": "A256GCM"}
        return jwe.encrypt_compact(header, text, self._keys[0], algorithms=self._ALGORITHMS)

    def decrypt(self, stored: str) -> str:
        """Return the text of a stored key. A key that was stored in plain text is returned as it is.

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
        """Whether a stored key is encrypted. A key in plain text is a JSON object."""
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
    """The time until which the key verifies tokens; None if no end is set."""
    encrypted: bool
    state: str
    """The use of the key: ``signs``, ``published`` (it will sign later), ``verifies`` or ``retired``."""


def ensure_signing_key(connection: Connection, encryption: KeyEncryption = NO_ENCRYPTION) -> None:
    """Create a signing key if there is none. If several processes call this at once, only one key is created."""
    # The read avoids a needless write, which needs all machines of a distributed database; the read needs one.
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
    others_at_once: bool = False,
) -> None:
    """Create a new signing key, and make the current one retire when the last token that it may sign has expired.

    For :data:`PUBLISHED_BEFORE_IT_SIGNS_S` the new key is only published, and the current key still signs.

    :param others_at_once: whether all other keys retire now and the new key signs at once. This is for leaked keys: it
        invalidates every token issued so far.
    :raises LookupError: if another rotation runs at the same time.
    """
    try:
        with connection.transaction():
            if others_at_once:
                connection.execute(_RETIRE_ALL_NOW)
                replaced = 0
            else:
                tokens_expire_in_s = PUBLISHED_BEFORE_IT_SIGNS_S + TOKEN_LIFETIME_S + _CLOCK_DIFFERENCE_AT_MOST_S
                parameters = {"tokens_expire_in_s": tokens_expire_in_s}
                replaced = connection.execute(_RETIRE_WHEN_TOKENS_EXPIRE, parameters).rowcount
            connection.execute(
                _INSERT, _new_key(encryption) | {"signs_in_s": PUBLISHED_BEFORE_IT_SIGNS_S if replaced else 0}
            )
    except UniqueViolation:
        raise LookupError("The signing key has just been rotated by someone else.") from None


def list_signing_keys(connection: Connection) -> list[SigningKey]:
    """All signing keys, the oldest first."""
    rows = connection.execute(_SELECT_ALL).fetchall()
    signing = connection.execute(_SELECT_CURRENT).fetchone()
    now = datetime.now(UTC)
    keys: list[SigningKey] = []
    for kid, created_at, signs_from, retired_at, stored in rows:
        if signing is not None and kid == signing[0]:
            state = "signs"
        elif retired_at is not None and retired_at <= now:
            state = "retired"
        else:
            state = "published" if signs_from > now else "verifies"
        encrypted = KeyEncryption.is_encrypted(stored)
        keys.append(SigningKey(kid, created_at, signs_from, retired_at, encrypted, state))
    return keys


def encrypt_signing_keys(connection: Connection, encryption: KeyEncryption) -> int:
    """Encrypt every stored key with the first encryption key, or decrypt all if there is none. Return their number.

    :raises KeyUnreadable: if a key cannot be decrypted; then no key is changed.
    """
    with connection.transaction():
        rows = connection.execute(_LOCK_ALL).fetchall()
        for kid, stored in rows:
            private = encryption.encrypt(encryption.decrypt(stored))
            connection.execute(_REPLACE_PRIVATE, {"kid": kid, "private": private})
    return len(rows)


def current_signing_key(connection: Connection, encryption: KeyEncryption, valid_until: int | None = None) -> ECKey:
    """The key that signs now, with its private part.

    :param valid_until: the end of a token that lives longer than usual, in seconds since the epoch. The key will verify
        at least until then.
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
    """Check that the key that signs can be decrypted.

    A database without a signing key passes, because the key is created with the first client.

    :raises KeyUnreadable: if the key cannot be decrypted.
    """
    row = connection.execute(_SELECT_CURRENT).fetchone()
    if row is not None:
        _imported(row[1], encryption)


@lru_cache(maxsize=8)
def _imported(stored: str, encryption: KeyEncryption) -> ECKey:
    return ECKey.import_key(json.loads(encryption.decrypt(stored)))
