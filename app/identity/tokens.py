"""From the text of a bearer token to who it speaks for: signature, claims, revocation, and the cache of all that.

Who is trusted to sign is a list of :class:`TokenSource`; this module does not know where their keys come from.
"""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import Key

from app.telemetry.metrics import metrics
from app.values.strict_json import unstorable_character

TOKEN_LENGTH_AT_MOST = 8192
CLOCKS_DIFFER_AT_MOST_S = 30
"""How far ``nbf`` and ``iat`` may lie ahead; ``exp`` is exact, so that nothing is accepted for longer than it says."""

_CLIENT_ID_LENGTH_AT_MOST = 256


class InvalidToken(Exception):
    """The token is malformed, not signed by a known key, not yet or no longer valid, revoked, or not meant for us.

    :param reason: for the log; holds nothing of the token.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Principal:
    """The API client behind a verified token."""

    client_id: str
    scopes: frozenset[str]


class TokenSource(Protocol):
    """An issuer that is trusted, with its keys."""

    @property
    def registry(self) -> jws.JWSRegistry:
        """The algorithms that its signatures may have: asymmetric ones, never ``none``."""
        ...

    @property
    def types(self) -> frozenset[str]:
        """What its tokens' ``typ`` header may be, in lower case; empty text: none."""
        ...

    @property
    def claims(self) -> jwt.JWTClaimsRegistry:
        """What its tokens have to claim, besides a time to expire."""
        ...

    @property
    def client_claims(self) -> tuple[str, ...]:
        """Claims of which the first present one names the client."""
        ...

    def find_key(self, kid: str | None) -> Key | None:
        """The key with this id, or None.

        :raises ApiError: 503 if the keys cannot be had.
        """
        ...

    def vouches_for(self, token: "VerifiedToken") -> bool:
        """Whether a token that was valid once still is, expiry aside.

        :raises ApiError: 503 if nobody can tell.
        """
        ...


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """What is kept of a token that was found valid."""

    principal: Principal
    source: TokenSource
    kid: str | None
    token_id: str | None
    """The ``jti`` claim."""
    expires_at: float
    """Seconds since the epoch."""


class TokenVerifier:
    """Checks tokens, and remembers those that passed by their SHA-256, since a signature costs far more than a digest.

    What is remembered is checked each time for expiry and, with its source, for revocation. Tokens that did not pass
    are not remembered: anyone can make those up.

    :param remembered_at_most: tokens; the oldest make room.
    """

    def __init__(self, sources: Sequence[TokenSource], *, remembered_at_most: int = 4096) -> None:
        self._sources = tuple(sources)
        self._remembered: dict[bytes, VerifiedToken] = {}
        self._remembered_at_most = remembered_at_most
        self._lock = Lock()

    def verify(self, token: str) -> VerifiedToken:
        """What a valid token says.

        :raises InvalidToken: for any other.
        :raises ApiError: 503 if it cannot be told.
        """
        digest = hashlib.sha256(token.encode(errors="surrogatepass")).digest()
        known = self._remembered.get(digest)
        try:
            verified = known or self._checked(token)[0]
            if verified.expires_at <= time.time():
                raise InvalidToken("expired")
            if not verified.source.vouches_for(verified):
                raise InvalidToken("revoked")
        except InvalidToken:
            self._forget(digest)
            metrics.count_token_check("refused")
            raise
        if known is None:
            self._remember(digest, verified)
            metrics.count_token_check("verified")
        else:
            metrics.count_token_check("cached")
        return verified

    def claims(self, token: str) -> tuple[VerifiedToken, dict[str, Any]]:
        """What a valid token says, with all its claims; raises as :meth:`verify` does."""
        return self.verify(token), self._checked(token)[1]

    def _remember(self, digest: bytes, verified: VerifiedToken) -> None:
        if self._remembered_at_most == 0:
            return
        with self._lock:
            while len(self._remembered) >= self._remembered_at_most:
                del self._remembered[next(iter(self._remembered))]
            self._remembered[digest] = verified

    def _forget(self, digest: bytes) -> None:
        with self._lock:
            self._remembered.pop(digest, None)

    def _checked(self, token: str) -> tuple[VerifiedToken, dict[str, Any]]:
        _raise_if_not_a_token(token)
        header = _header(token)
        kid = header.get("kid")
        if kid is not None and not isinstance(kid, str):
            raise InvalidToken("malformed")
        source, key = self._source_and_key(kid)
        if str(header.get("typ", "")).lower().removeprefix("application/") not in source.types:
            raise InvalidToken("not an access token")
        try:
            claims = jwt.decode(token, key, registry=source.registry).claims
            source.claims.validate(claims)
        except JoseError as error:
            raise InvalidToken(type(error).__name__) from error
        except (ValueError, TypeError, RecursionError) as error:
            raise InvalidToken("malformed") from error
        client_id = next((claims[name] for name in source.client_claims if claims.get(name) is not None), None)
        return VerifiedToken(
            Principal(_storable(client_id), _scopes(claims.get("scope", ""))),
            source,
            key.kid,
            claims.get("jti"),
            claims["exp"],
        ), claims

    def _source_and_key(self, kid: str | None) -> tuple[TokenSource, Key]:
        for source in self._sources:
            key = source.find_key(kid)
            if key is not None:
                return source, key
        raise InvalidToken("unknown key")


def _raise_if_not_a_token(token: str) -> None:
    if len(token) > TOKEN_LENGTH_AT_MOST:
        raise InvalidToken("oversized")
    if not token.isascii():
        raise InvalidToken("malformed")


def _header(token: str) -> dict[str, Any]:
    """The header, not verified yet: it says which key to verify with, and nothing else is taken from it.

    No extension is understood, so a token that needs one is refused (RFC 7515, section 4.1.11). Keys that a token
    brings along, or addresses of such, are ignored.
    """
    try:
        header: Any = jws.extract_compact(token.encode()).protected
    except (JoseError, ValueError, TypeError, RecursionError) as error:
        # TypeError: a header that is JSON and no object.
        raise InvalidToken("malformed") from error
    if not isinstance(header, dict) or "crit" in header:
        raise InvalidToken("malformed")
    return header


def _scopes(claim: Any) -> frozenset[str]:
    if not isinstance(claim, str):
        raise InvalidToken("scope is not a string")
    return frozenset(claim.split())


def _storable(client_id: Any) -> str:
    """The client's id, which is written beside what the client writes."""
    if (
        not isinstance(client_id, str)
        or not 0 < len(client_id) <= _CLIENT_ID_LENGTH_AT_MOST
        or unstorable_character(client_id)
    ):
        raise InvalidToken("no client id")
    return client_id


def claims_registry(issuer: str, audience: str, *essential: str) -> jwt.JWTClaimsRegistry:
    """What a token of an issuer has to claim.

    :param essential: further claims that have to be there.
    """
    options: dict[str, jwt.ClaimsOption] = {
        "iss": {"essential": True, "value": issuer},
        "aud": {"essential": True, "value": audience},
        "exp": {"essential": True},
    }
    options |= {name: {"essential": True} for name in essential}
    return jwt.JWTClaimsRegistry(None, CLOCKS_DIFFER_AT_MOST_S, **options)
