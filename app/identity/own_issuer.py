"""The service as an issuer: its keys and revocations, as this process knows them.

Each process keeps a picture of what the database says and renews it while requests come in, with one statement every
few seconds, however many requests there are. So a revocation is in force everywhere within
:data:`TRUSTED_FOR_S`, and a new key is known long before it signs.

When the picture cannot be renewed, because the database is away, it is used until that age and no longer: then every
token is answered with 503. Failing closed costs next to nothing, as without the database hardly a request could be
served anyway, and it keeps the promise that a revoked token is dead in time.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock

from joserfc import jws, jwt
from joserfc.jwk import ECKey

from app import errors
from app.identity.records import ALGORITHM, TOKEN_TYPE, Trust
from app.identity.tokens import VerifiedToken, claims_registry

RENEWED_AFTER_S = 2.0
TRUSTED_FOR_S = 4.5
"""Age, counted from before the statement, up to which the picture is used: less than the 5 seconds promised."""
UNKNOWN_KEYS_ASKED_FOR_EVERY_S = 1.0
"""Tokens with invented key ids cost a statement this often and not each."""
_TRIED_AGAIN_AFTER_S = 0.5
_SILENT_AFTER_S = 1.0
"""A request that has waited so long in vain is refused: its own statement would only wait as long once more."""
_RELOADED_WHOLLY_AFTER_S = 300.0
"""In between only what is new is asked for; this drops what has expired."""
_COMMITTED_WITHIN = timedelta(seconds=60)
"""A revocation becomes visible some time after the time that it carries: when its transaction is committed."""

_log = logging.getLogger("app.identity")


@dataclass(frozen=True, slots=True)
class Picture:
    """What this process knows of the database's keys and revocations."""

    loaded_at: float = float("-inf")
    """By the monotonic clock, in seconds."""
    whole_at: float = float("-inf")
    as_of: datetime | None = None
    """By the database's clock."""
    keys: Mapping[str, ECKey] = field(default_factory=dict[str, ECKey])
    jwks: tuple[str, ...] = ()
    revoked_tokens: frozenset[str] = frozenset()
    revoked_clients: frozenset[str] = frozenset()

    @property
    def age_s(self) -> float:
        """Seconds since it was true."""
        return time.monotonic() - self.loaded_at


class OwnIssuer:
    """Trust in tokens that the service itself has signed; a :class:`app.identity.tokens.TokenSource`.

    :param load: brings keys and the revocations since a time, or all; may raise an ApiError.
    """

    registry = jws.JWSRegistry(algorithms=[ALGORITHM])
    types = frozenset((TOKEN_TYPE,))
    client_claims = ("client_id",)

    def __init__(self, issuer: str, load: Callable[[datetime | None], Trust]) -> None:
        self.claims: jwt.JWTClaimsRegistry = claims_registry(issuer, issuer, "client_id", "scope", "jti", "iat")
        self._load = load
        self._picture = Picture()
        self._failed_at = float("-inf")
        self._lock = Lock()

    def find_key(self, kid: str | None) -> ECKey | None:
        """The key with this id; asks the database for one that is not known, though not each time."""
        if kid is None:
            return None
        picture = self.picture()
        if kid not in picture.keys and picture.age_s > UNKNOWN_KEYS_ASKED_FOR_EVERY_S:
            self.renew_if_older_than(UNKNOWN_KEYS_ASKED_FOR_EVERY_S)
            picture = self.picture()
        return picture.keys.get(kid)

    def vouches_for(self, token: VerifiedToken) -> bool:
        """Whether neither the token, nor its client, nor its key has been withdrawn."""
        picture = self.picture()
        return (
            token.kid in picture.keys
            and token.token_id not in picture.revoked_tokens
            and token.principal.client_id not in picture.revoked_clients
        )

    def picture(self) -> Picture:
        """What is known, at most :data:`TRUSTED_FOR_S` old.

        :raises ApiError: 503 if the database does not tell.
        """
        picture = self._picture
        age = time.monotonic() - picture.loaded_at
        if age < RENEWED_AFTER_S:
            return picture
        if age < TRUSTED_FOR_S:
            # One request renews it, the others need not wait. If that fails, the next ones try.
            if self._lock.acquire(blocking=False):
                began = time.monotonic()
                try:
                    self._renew()
                except errors.ApiError:
                    if time.monotonic() - began > _SILENT_AFTER_S:
                        raise
                finally:
                    self._lock.release()
            return self._picture
        self.renew_if_older_than(TRUSTED_FOR_S)
        return self._picture

    def renew_if_older_than(self, age_s: float) -> None:
        """Bring the picture up to date now, unless another thread has just done so.

        :raises ApiError: 503 if the database does not tell.
        """
        with self._lock:
            if self._picture.age_s >= age_s:
                self._renew()

    def _renew(self) -> None:
        if time.monotonic() - self._failed_at < _TRIED_AGAIN_AFTER_S:
            raise errors.over_capacity("Nobody can tell at the moment whether the access token is valid.")
        before, now = self._picture, time.monotonic()
        wholly = before.as_of is None or now - before.whole_at > _RELOADED_WHOLLY_AFTER_S
        since = None if before.as_of is None or wholly else before.as_of - _COMMITTED_WITHIN
        try:
            trust = self._load(since)
        except errors.ApiError:
            self._failed_at = time.monotonic()
            _log.warning("keys and revocations could not be read", extra={"fields": {"age_s": round(before.age_s, 1)}})
            raise
        same_keys = trust.public_jwks == before.jwks
        self._picture = Picture(
            loaded_at=now,
            whole_at=now if wholly else before.whole_at,
            as_of=trust.as_of,
            keys=before.keys if same_keys else _imported(trust.public_jwks),
            jwks=trust.public_jwks,
            revoked_tokens=trust.revoked_tokens if wholly else _added(before.revoked_tokens, trust.revoked_tokens),
            revoked_clients=trust.revoked_clients if wholly else _added(before.revoked_clients, trust.revoked_clients),
        )


def _imported(jwks: tuple[str, ...]) -> dict[str, ECKey]:
    keys = [ECKey.import_key(json.loads(text)) for text in jwks]
    return {key.kid: key for key in keys if key.kid is not None}


def _added(known: frozenset[str], new: frozenset[str]) -> frozenset[str]:
    return known if new <= known else known | new
