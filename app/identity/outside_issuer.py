"""An outside issuer of tokens. Its key set is fetched over HTTP and cached.

The key set is fetched when it is first needed, when it is :data:`REFRESH_AFTER_S` old, and when a token names an
unknown key. Fetches have a minimum interval, so that not every token with an invented key id causes one. While one
request fetches, tokens with known keys are verified, and requests with unknown keys get 503 at once. If the issuer does
not answer, the cached keys are used until they are :data:`STALE_KEYS_USED_FOR_S` old.
"""

import json
import logging
import socket
import ssl
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import closing, suppress
from http.client import HTTP_PORT, HTTPS_PORT, HTTPConnection, HTTPException, HTTPSConnection
from threading import Lock, Thread
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey

from app import errors
from app.config import OutsideIssuerSettings
from app.identity.verification import VerifiedToken

ALGORITHMS = ("ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "Ed25519", "EdDSA")
"""The accepted algorithms, all of them asymmetric. If HMAC were accepted, a token signed with the text of a public key
would be valid."""

FETCH_TIMEOUT_S = 3.0
"""The time limit of a whole fetch: looking up the name, connecting, and reading the response."""
JWKS_BYTES_AT_MOST = 64 * 1024
REFRESH_AFTER_S = 600.0
FETCH_INTERVAL_AT_LEAST_S = 10.0
STALE_KEYS_USED_FOR_S = 3600.0
_RSA_BITS_AT_LEAST = 2048

_NOT_AVAILABLE = "The keys of the issuer are not available."

_log = logging.getLogger("app.identity")


class OutsideIssuer:
    """The :class:`~app.identity.verification.TrustedIssuer` for the issuer in the three settings ``AUTH_...``."""

    types: frozenset[str] = frozenset(("at+jwt", "jwt", ""))
    """The accepted ``typ`` of a token. RFC 9068 requires the first; many issuers use the second for all their tokens,
    or none. ID tokens are refused because of their audience."""
    further_claims: tuple[str, ...] = ()
    client_claims: tuple[str, ...] = ("client_id", "azp", "sub")
    """The claims that may contain the client's id, the preferred one first: the claims of RFC 9068 and of OpenID
    Connect, and the subject."""

    def __init__(self, settings: OutsideIssuerSettings) -> None:
        self.registry: jws.JWSRegistry = _AlgorithmsWithEdDSA(algorithms=ALGORITHMS, strict_check_header=False)
        self.name = settings.issuer
        self.audience = settings.audience
        self._url = settings.jwks_url
        self._keys: Mapping[str, Key] = {}
        self._fetched_at = self._tried_at = float("-inf")
        self._lock = Lock()

    def find_key(self, kid: str | None, *, look_again: bool) -> Key | None:
        """The key with this id; for a token without a key id, the key of a set of one key. None if there is none.

        :param look_again: whether the key set is fetched again for an unknown id, unless it was fetched within the
            minimum interval.
        :raises ApiError: 503 for an unknown id while another request fetches the key set, and if the key set is too
            old.
        """
        keys = self._current_keys()
        if kid is None:
            return next(iter(keys.values())) if len(keys) == 1 else None
        if kid not in keys and look_again:
            was_free = self._fetch_unless_another_does()
            if not was_free:  # the key may be among the keys that another request fetches now
                raise errors.over_capacity(_NOT_AVAILABLE, retry_after_s=1)
        return self._keys.get(kid)

    def load_ahead(self) -> None:
        """Fetch the key set in a thread, before the first request needs it. A slow issuer does not delay the start."""
        Thread(target=self._fetch_unless_another_does, name="issuer-keys", daemon=True).start()

    def is_still_trusted(self, token: VerifiedToken) -> bool:
        """Whether the issuer still publishes the key that has signed a token."""
        return token.kid in self._current_keys()

    def _current_keys(self) -> Mapping[str, Key]:
        if time.monotonic() - self._fetched_at < REFRESH_AFTER_S:
            return self._keys
        self._fetch_unless_another_does()
        if time.monotonic() - self._fetched_at >= STALE_KEYS_USED_FOR_S:
            raise errors.over_capacity(_NOT_AVAILABLE, retry_after_s=1 if self._lock.locked() else 10)
        return self._keys

    def _fetch_unless_another_does(self) -> bool:
        """Fetch the key set if the minimum interval has passed. Return False at once if another request is fetching
        it."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self._fetch_if_interval_is_over()
        finally:
            self._lock.release()
        return True

    def _fetch_if_interval_is_over(self) -> None:
        if time.monotonic() - self._tried_at < FETCH_INTERVAL_AT_LEAST_S:
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


class _AlgorithmsWithEdDSA(jws.JWSRegistry):
    """Accepts EdDSA without joserfc's warning that RFC 9864 has renamed it to Ed25519, because issuers still use the
    old name.

    ``tests/identity/test_upstream.py`` checks the internals of joserfc on which this relies.
    """

    def get_alg(self, name: str) -> Any:
        if name == "EdDSA":
            return self.algorithms[name]
        return super().get_alg(name)


def fetch(url: str) -> bytes:
    """Fetch a key set and return the body of the response. Redirects are not followed.

    A thread fetches it, and the caller waits no longer than :data:`FETCH_TIMEOUT_S`. Without the thread there would be
    no such limit: looking up a name has no time limit, and the limit of a socket begins again with each byte.
    ``gevent.Timeout`` would work only in processes that gevent has patched. Certificates are verified by the
    authorities of the system, or by those that OpenSSL's ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` name.

    :param url: an https URL, or an http URL on loopback; the settings accept no other.
    :raises OSError: if the response is not 200, or not complete within :data:`FETCH_TIMEOUT_S`.
    :raises HTTPException: if the response is not HTTP.
    :raises ValueError: if the body is larger than :data:`JWKS_BYTES_AT_MOST`.
    """
    deadline = time.monotonic() + FETCH_TIMEOUT_S
    opened: list[socket.socket] = []
    result = Future[bytes]()

    def read() -> None:
        try:
            result.set_result(_body(url, deadline, opened))
        except Exception as error:  # noqa: BLE001 -- raised below, in the thread of the caller
            result.set_exception(error)

    Thread(target=read, name="issuer-keys", daemon=True).start()
    try:
        return result.result(FETCH_TIMEOUT_S)
    except TimeoutError:
        raise TimeoutError("it takes too long") from None
    finally:
        for connection in opened:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)  # ends a thread that is still reading
            connection.close()


def _body(url: str, deadline: float, opened: list[socket.socket]) -> bytes:
    """Connect, send the request, and return the body of the response.

    :param deadline: by the monotonic clock; a connection that is made later is not used.
    :param opened: gets a second descriptor of the connection, by which another thread can end it, even during the TLS
        handshake.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    context = ssl.create_default_context() if parts.scheme == "https" else None
    if context is not None:
        connection = HTTPSConnection(host, parts.port or HTTPS_PORT, context=context)
    else:
        connection = HTTPConnection(host, parts.port or HTTP_PORT)
    with closing(connection):
        connection.sock = socket.create_connection((host, connection.port), FETCH_TIMEOUT_S)
        opened.append(connection.sock.dup())
        if time.monotonic() >= deadline:
            raise TimeoutError("connecting takes too long")
        if context is not None:
            connection.sock = context.wrap_socket(connection.sock, server_hostname=host)
        target = urlunsplit(("", "", parts.path or "/", parts.query, ""))
        accepted = "application/jwk-set+json, application/json"
        connection.request("GET", target, headers={"Accept": accepted, "Connection": "close"})
        with connection.getresponse() as answer:
            if answer.status != 200:
                raise OSError(f"it is answered with {answer.status}")
            body = answer.read(JWKS_BYTES_AT_MOST + 1)
    if len(body) > JWKS_BYTES_AT_MOST:
        raise ValueError(f"it is larger than {JWKS_BYTES_AT_MOST} bytes")
    return body


def keys_of(body: bytes) -> dict[str, Key]:
    """The keys of a key set that can verify signatures, by their ids. Other keys are ignored (RFC 7517, section 5).

    :raises ValueError: if the body is no key set, or if no key in it is usable.
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
    """The key of an entry of a key set; None if it is symmetric, not for signatures, too weak, or malformed."""
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
