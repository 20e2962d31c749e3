"""Verifies bearer tokens: their signature, claims, expiry and revocation. Valid tokens are cached.

Tokens are accepted from the issuers in a list of :class:`TrustedIssuer`, which also provide the keys.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Protocol

from joserfc import jws, jwt
from joserfc.errors import (
    BadSignatureError,
    ExpiredTokenError,
    InvalidClaimError,
    JoseError,
    MissingClaimError,
)
from joserfc.jwk import Key

from app.clock_and_ids import REAL_CLOCK_AND_IDS, REAL_CLOCKS, Clocks
from app.telemetry.metrics import metrics
from app.values.patterns import CLIENT_ID_AT_MOST
from app.values.strict_json import unstorable_character

TOKEN_LENGTH_AT_MOST = 8192
CACHED_AT_MOST = 4096
"""The most verified tokens that a process remembers."""

CLOCK_DIFFERENCE_AT_MOST_S = 30
"""The most seconds by which ``nbf`` and ``iat`` may be in the future. ``exp`` has no leeway: no token is accepted after
it."""

NO_LONGER_ACCEPTED = "it is no longer accepted"
_MALFORMED = "it is malformed"
_EXPIRED = "it has expired"

_NO_TIME_FROM = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


class InvalidToken(Exception):
    """The error for an invalid token: malformed, not signed by a known key, expired, not yet valid, revoked, or for
    another service.

    Its text is the fault of the token, for the log and for the client, in ASCII without quotes and without the token.
    """


@dataclass(frozen=True, slots=True)
class Principal:
    """The API client to which a verified token was issued, and the scopes of the token."""

    client_id: str
    scopes: frozenset[str]


class TrustedIssuer(Protocol):
    """An issuer whose tokens the service accepts."""

    registry: jws.JWSRegistry
    """The algorithms that the signatures of its tokens may use: asymmetric ones, never ``none``."""
    types: frozenset[str]
    """The values that the ``typ`` header of its tokens may have, in lower case; ``""`` if it may be missing."""
    name: str
    """The claim ``iss`` of its tokens."""
    audience: str
    """The claim ``aud`` of its tokens, or one of several."""
    further_claims: tuple[str, ...]
    """The names of claims that its tokens must have besides ``iss``, ``aud`` and ``exp``."""
    client_claims: tuple[str, ...]
    """The names of claims that may contain the client's id. The first of them that a token has counts."""

    def find_key(self, kid: str | None, *, look_again: bool) -> Key | None:
        """The public key with this id; None if there is none.

        :param kid: the ``kid`` header of the token; None if it has none.
        :param look_again: whether to read the keys again from their source if none of the cached keys has the id. Old
            keys are read again in any case.
        :raises ApiError: 503 if the keys are not available.
        """
        ...

    def is_still_trusted(self, token: "VerifiedToken") -> bool:
        """Whether a token that was valid before is still valid: the token, its key and its client are not revoked.

        :raises ApiError: 503 if the issuer cannot find out.
        """
        ...


@dataclass(slots=True)
class VerifiedToken:
    """The facts about a valid token that the cache keeps."""

    principal: Principal
    issuer: TrustedIssuer
    kid: str | None
    token_id: str | None
    """The ``jti`` claim."""
    expires_at: float
    """The time of expiry, in seconds since the epoch."""
    checked_at: float = float("-inf")
    """The time when its issuer last found it not revoked, by the monotonic clock."""


class TokenVerifier:
    """Verifies tokens, and caches valid tokens by their SHA-256, because checking a signature takes far longer.

    A cached token is checked each time for expiry and, by its issuer, for revocation. Invalid tokens are not cached,
    because an attacker could fill the cache with them.

    When the cache is full, the oldest entry is removed.

    :param clocks: return the clock of each client.
    """

    def __init__(self, issuers: Sequence[TrustedIssuer], clocks: Clocks = REAL_CLOCKS) -> None:
        self._clock_of = clocks.of_client
        self._issuers = tuple(issuers)
        self._cache: dict[bytes, VerifiedToken] = {}
        self._lock = Lock()

    def verify(self, token: str) -> VerifiedToken:
        """Verify a token.

        :raises InvalidToken: if it is not valid.
        :raises ApiError: 503 if the keys or revocations are not available.
        """
        digest = hashlib.sha256(token.encode(errors="surrogatepass")).digest()
        cached = self._cache.get(digest)
        try:
            verified = cached or self._decode(token)
            clock_and_ids = self._clock_of(verified.principal.client_id)
            if verified.expires_at <= clock_and_ids.time():
                raise InvalidToken(_EXPIRED)
            if not clock_and_ids.accepts_token(verified.token_id):
                raise InvalidToken(NO_LONGER_ACCEPTED)
            if not verified.issuer.is_still_trusted(verified):
                raise InvalidToken("it, its client or its key has been revoked")
        except InvalidToken:
            self._remove_from_cache(digest)
            metrics.token_checks.labels("refused").inc()
            raise
        if cached is None:
            self._add_to_cache(digest, verified)
            metrics.token_checks.labels("verified").inc()
        else:
            metrics.token_checks.labels("cached").inc()
        return verified

    def _add_to_cache(self, digest: bytes, verified: VerifiedToken) -> None:
        with self._lock:
            while len(self._cache) >= CACHED_AT_MOST:
                del self._cache[next(iter(self._cache))]
            self._cache[digest] = verified

    def _remove_from_cache(self, digest: bytes) -> None:
        with self._lock:
            self._cache.pop(digest, None)

    def _decode(self, token: str) -> VerifiedToken:
        _raise_if_oversized_or_malformed(token)
        header = _header(token)
        kid = header.get("kid")
        if kid is not None and not isinstance(kid, str):
            raise InvalidToken(_MALFORMED)
        issuer, key = self.issuer_and_key(kid)
        if str(header.get("typ", "")).lower().removeprefix("application/") not in issuer.types:
            raise InvalidToken("its type is not that of an access token")
        try:
            claims = jwt.decode(token, key, registry=issuer.registry).claims
            self._validate(claims, issuer)
        except JoseError as error:
            raise InvalidToken(_reason(error)) from error
        except (ValueError, TypeError, RecursionError) as error:
            raise InvalidToken(_MALFORMED) from error
        token_id = claims.get("jti")
        return VerifiedToken(
            Principal(_checked_client_id(_client_id(claims, issuer)), _scopes(claims.get("scope", ""))),
            issuer,
            key.kid,
            token_id if isinstance(token_id, str) else None,
            _checked_time(claims["exp"]),
        )

    def _validate(self, claims: dict[str, Any], issuer: TrustedIssuer) -> None:
        """Check the claims of a token by the clock of its client.

        If the clock of the client can be set back, its tokens may have been issued in the future. For such a client
        only expiry counts, which :meth:`verify` checks.
        """
        client_id = _client_id(claims, issuer)
        clock_and_ids = self._clock_of(client_id) if isinstance(client_id, str) else REAL_CLOCK_AND_IDS
        now = None
        if clock_and_ids is not REAL_CLOCK_AND_IDS:
            issued_at = claims.get("iat")
            now = issued_at if isinstance(issued_at, int) else int(clock_and_ids.time())
        claims_registry(issuer, now).validate(claims)

    def issuer_and_key(self, kid: str | None) -> tuple[TrustedIssuer, Key]:
        """Find the key with an id, and the issuer to which the key belongs.

        :raises InvalidToken: if no issuer has such a key.
        :raises ApiError: 503 if the keys are not available.
        """
        # First the cached keys of all issuers, so that no issuer is asked for a key of another one.
        for look_again in (False, True):
            for issuer in self._issuers:
                key = issuer.find_key(kid, look_again=look_again)
                if key is not None:
                    return issuer, key
        raise InvalidToken("it is of an unknown issuer, or its key has been withdrawn")


def _client_id(claims: dict[str, Any], issuer: TrustedIssuer) -> Any:
    return next((claims[name] for name in issuer.client_claims if claims.get(name) is not None), None)


def _reason(error: JoseError) -> str:
    """The text for joserfc's error about a token."""
    match error:
        case ExpiredTokenError():
            return _EXPIRED
        case BadSignatureError():
            return "its signature is wrong"
        case MissingClaimError(claim=claim):
            return f"its claim {claim} is missing"
        case InvalidClaimError(claim="iss" | "aud" as claim):
            return f"its claim {claim} names another service"
        case InvalidClaimError(claim=claim):
            return f"its claim {claim} is wrong"
        case _:
            return _MALFORMED


_TOKEN = re.compile("[A-Za-z0-9._~+/-]+=*", re.ASCII)
"""The syntax of a bearer token (RFC 6750, section 2.1)."""


def _raise_if_oversized_or_malformed(token: str) -> None:
    if len(token) > TOKEN_LENGTH_AT_MOST:
        raise InvalidToken(f"it has more than {TOKEN_LENGTH_AT_MOST} characters")
    if _TOKEN.fullmatch(token) is None:
        raise InvalidToken(_MALFORMED)


def _header(token: str) -> dict[str, Any]:
    """Return the header of a token. It is not yet verified, so only the key's id and the type are used.

    A token that requires an extension is refused, because none is supported (RFC 7515, section 4.1.11). Keys and URLs
    of keys in the header are ignored, because an attacker could put their own there.
    """
    try:
        header: Any = jws.extract_compact(token.encode()).protected
    except (JoseError, ValueError, TypeError, RecursionError) as error:
        # TypeError: the header is JSON, but not an object.
        raise InvalidToken(_MALFORMED) from error
    if not isinstance(header, dict) or "crit" in header:
        raise InvalidToken(_MALFORMED)
    return header


def _scopes(claim: Any) -> frozenset[str]:
    if not isinstance(claim, str):
        raise InvalidToken("its claim scope is not a string")
    return frozenset(claim.split(" ")) - {""}


def _checked_time(expires_at: float) -> float:
    """Return the time of expiry of a token, if it is before the year 10000.

    Later times cannot be formatted. An issuer that wrongly counts milliseconds would reach them, and its tokens would
    never expire.
    """
    if not expires_at < _NO_TIME_FROM:
        raise InvalidToken("its claim exp is after the year 9999")
    return expires_at


def _checked_client_id(client_id: Any) -> str:
    """Return the client's id if it can be stored as ``createdBy`` and ``lastModifiedBy`` of resources."""
    if not isinstance(client_id, str) or not 0 < len(client_id) <= CLIENT_ID_AT_MOST or unstorable_character(client_id):
        raise InvalidToken("it names no client, or one that cannot be stored")
    return client_id


def claims_registry(issuer: TrustedIssuer, now: int | None) -> jwt.JWTClaimsRegistry:
    """The claims that a token of an issuer must have.

    :param now: the time at which they are checked, in seconds since 1970; None: the real time.
    """
    options: dict[str, jwt.ClaimsOption] = {name: {"essential": True} for name in ("exp", *issuer.further_claims)}
    options["iss"] = {"essential": True, "value": issuer.name}
    options["aud"] = {"essential": True, "value": issuer.audience}
    return jwt.JWTClaimsRegistry(now, CLOCK_DIFFERENCE_AT_MOST_S, **options)
