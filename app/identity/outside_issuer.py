"""An outside issuer: its key set, fetched over HTTP and kept.

The set is fetched on first need, again when it is some minutes old, and when a token names a key that is not in it;
between two fetches there is a floor, so that tokens with invented key ids do not become requests to the issuer. An
issuer that does not answer keeps the trust in the keys that are known for a while, and then loses it.
"""

import json
import logging
import time
from collections.abc import Mapping
from http.client import HTTPException
from threading import Lock
from typing import Any, cast
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey

from app import errors
from app.config import OutsideIssuerSettings
from app.identity.tokens import VerifiedToken, claims_registry

ALGORITHMS = ("ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "Ed25519", "EdDSA")
"""Asymmetric ones only: with HMAC among them, a token signed with the text of a public key would pass."""

FETCH_TIMEOUT_S = 3.0
"""For the whole answer, not for each packet of it."""
JWKS_BYTES_AT_MOST = 64 * 1024
FETCHED_AGAIN_AFTER_S = 600.0
FETCHES_AT_LEAST_APART_S = 10.0
TRUSTED_WITHOUT_ANSWER_FOR_S = 3600.0
_RSA_BITS_AT_LEAST = 2048

_log = logging.getLogger("app.identity")


class OutsideIssuer:
    """Trust in the tokens of an outside issuer; a :class:`app.identity.tokens.TokenSource`."""

    types = frozenset(("at+jwt", "jwt", ""))
    """RFC 9068 wants the first; many issuers write the second for all that they sign, or nothing. That an ID token is
    no access token shows in its audience."""
    client_claims = ("client_id", "azp", "sub")
    """RFC 9068's name, OpenID Connect's, and who the token is about if neither is there."""

    def __init__(self, settings: OutsideIssuerSettings) -> None:
        self.registry: jws.JWSRegistry = _Algorithms(algorithms=ALGORITHMS, strict_check_header=False)
        self.claims: jwt.JWTClaimsRegistry = claims_registry(settings.issuer, settings.audience)
        self._url = settings.jwks_url
        self._keys: Mapping[str, Key] = {}
        self._fetched_at = self._tried_at = float("-inf")
        self._lock = Lock()

    def find_key(self, kid: str | None) -> Key | None:
        """The key with this id; without one, the key if there is just one."""
        keys = self._current()
        if kid is None:
            return next(iter(keys.values())) if len(keys) == 1 else None
        if kid not in keys and time.monotonic() - self._tried_at >= FETCHES_AT_LEAST_APART_S:
            with self._lock:
                self._fetch_unless_just_tried()
            keys = self._keys
        return keys.get(kid)

    def vouches_for(self, token: VerifiedToken) -> bool:
        """Whether the issuer still publishes the key."""
        return token.kid in self._current()

    def _current(self) -> Mapping[str, Key]:
        age = time.monotonic() - self._fetched_at
        if age < FETCHED_AGAIN_AFTER_S:
            return self._keys
        if age < TRUSTED_WITHOUT_ANSWER_FOR_S:
            if self._lock.acquire(blocking=False):  # one request fetches, the others go on with what is known
                try:
                    self._fetch_unless_just_tried()
                finally:
                    self._lock.release()
            return self._keys
        with self._lock:
            self._fetch_unless_just_tried()
            if time.monotonic() - self._fetched_at >= TRUSTED_WITHOUT_ANSWER_FOR_S:
                raise errors.over_capacity("The keys of the issuer are not available.", retry_after_s=10)
        return self._keys

    def _fetch_unless_just_tried(self) -> None:
        if time.monotonic() - self._tried_at < FETCHES_AT_LEAST_APART_S:
            return
        self._tried_at = time.monotonic()
        try:
            self._keys = keys_of(fetch(self._url))
            self._fetched_at = self._tried_at
        except (OSError, HTTPException, ValueError) as error:
            _log.warning(
                "the issuer's keys could not be fetched",
                extra={"fields": {"url": self._url, "reason": f"{type(error).__name__}: {error}"[:300]}},
            )


class _Algorithms(jws.JWSRegistry):
    """joserfc warns of EdDSA, since RFC 9864 wants it called Ed25519. Issuers go on calling it that."""

    def get_alg(self, name: str) -> Any:
        if name == "EdDSA":
            return self.algorithms[name]
        return super().get_alg(name)


class _NoRedirects(HTTPRedirectHandler):
    """A key set is where the operator says, not where an answer says."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_opener = build_opener(_NoRedirects)


def fetch(url: str) -> bytes:
    """The body of a key set.

    :param url: https, or http on loopback, as the settings check.
    :raises OSError: if it is not answered with 200 within :data:`FETCH_TIMEOUT_S`.
    :raises ValueError: if it is larger than :data:`JWKS_BYTES_AT_MOST`.
    """
    deadline = time.monotonic() + FETCH_TIMEOUT_S
    request = Request(url, headers={"Accept": "application/jwk-set+json, application/json"})  # noqa: S310 -- not file:
    body = bytearray()
    try:
        answer = _opener.open(request, timeout=FETCH_TIMEOUT_S)
    except HTTPError as error:
        error.close()
        raise
    with answer:
        if answer.status != 200:
            raise URLError(f"it is answered with {answer.status}")
        while piece := answer.read1(JWKS_BYTES_AT_MOST):
            body += piece
            if len(body) > JWKS_BYTES_AT_MOST:
                raise ValueError(f"it is larger than {JWKS_BYTES_AT_MOST} bytes")
            if time.monotonic() > deadline:
                raise TimeoutError("it takes too long")
    return bytes(body)


def keys_of(body: bytes) -> dict[str, Key]:
    """The public keys of a key set that can sign, by their ids; those of other kinds are left out (RFC 7517, 5).

    :raises ValueError: if it is no key set, or none of its keys can be used.
    """
    try:
        document: Any = json.loads(body)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    entries = cast("dict[str, Any]", document).get("keys") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise ValueError("it is not a key set")
    usable = [key for entry in cast("list[Any]", entries) if (key := _usable(entry)) is not None]
    for key in usable:
        key.ensure_kid()
    if not usable:
        raise ValueError("it has no key that can be used")
    return {key.kid: key for key in reversed(usable) if key.kid is not None}


_KINDS: dict[Any, type[ECKey] | type[RSAKey] | type[OKPKey]] = {"EC": ECKey, "RSA": RSAKey, "OKP": OKPKey}
_PUBLIC_MEMBERS = frozenset(("kty", "use", "key_ops", "alg", "kid", "crv", "x", "y", "n", "e"))
_SIGNING_CURVES = frozenset(("P-256", "P-384", "P-521", "Ed25519"))


def _usable(entry: Any) -> Key | None:
    """The key of an entry; None for one that is symmetric, not for signatures, too weak, or broken."""
    if not isinstance(entry, dict):
        return None
    jwk = {name: value for name, value in cast("dict[str, Any]", entry).items() if name in _PUBLIC_MEMBERS}
    try:
        kind = _KINDS[jwk["kty"]]
        if jwk.get("use", "sig") != "sig" or (kind is not RSAKey and jwk["crv"] not in _SIGNING_CURVES):
            return None
        if kind is RSAKey and len(jwk["n"]) * 6 < _RSA_BITS_AT_LEAST:
            return None
        return kind.import_key(jwk)
    except (JoseError, ValueError, TypeError, KeyError):
        return None
