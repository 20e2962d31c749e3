"""Decodes access tokens, and verifies their signatures."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from joserfc import jws
from joserfc.errors import BadSignatureError, JoseError
from joserfc.jwk import ECKey, RSAKey

_KINDS = {"ES256": ECKey, "RS256": RSAKey}

ALGORITHMS = tuple(_KINDS)
"""The algorithms of signatures that can be verified here (RFC 7518, sections 3.3 and 3.4)."""


class NoToken(ValueError):
    """A text is no JWT. The message says why."""


@dataclass(frozen=True, slots=True)
class Token:
    """A JWT in its three parts.

    :param signed: the bytes that the signature signs.
    """

    header: dict[str, Any]
    claims: dict[str, Any]
    signed: bytes
    signature: bytes


def decode(text: str) -> Token:
    """Decode a JWT (RFC 7515, section 3.1).

    :raises NoToken: if the text is no JWT.
    """
    parts = text.split(".")
    if len(parts) != 3:
        raise NoToken(f"a JWT has three parts, and this has {len(parts)}")
    try:
        header, claims = (json.loads(from_base64(part)) for part in parts[:2])
        signature = from_base64(parts[2])
    except ValueError as error:
        raise NoToken(str(error)) from None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise NoToken("header and claims of a JWT are objects")
    return Token(header, claims, ".".join(parts[:2]).encode(), signature)


def encode(header: Mapping[str, Any], claims: Mapping[str, Any], signature: bytes) -> str:
    """Encode a JWT. Its signature may be wrong."""
    parts = (json.dumps(header).encode(), json.dumps(claims).encode(), signature)
    return ".".join(map(to_base64, parts))


def from_base64(text: str) -> bytes:
    """Decode base64url without padding.

    :raises ValueError: if the text is not base64url.
    """
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError(f"no base64url: {error}") from None


def to_base64(data: bytes) -> str:
    """Encode as base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def verifies(token: Token, key: Mapping[str, Any]) -> bool:
    """Whether a key of a JWK set (RFC 7517) verifies a token of one of ``ALGORITHMS``.

    :raises ValueError: for another algorithm, or a key that does not fit the algorithm.
    """
    algorithm = token.header.get("alg")
    if algorithm not in _KINDS:
        raise ValueError(f"the algorithm {algorithm!r} is not one of {', '.join(ALGORITHMS)}")
    try:
        imported = _KINDS[algorithm].import_key(dict(key))
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise ValueError(f"it is no key for {algorithm}: {error}") from None
    compact = f"{token.signed.decode()}.{to_base64(token.signature)}"
    try:
        jws.deserialize_compact(compact, imported, [algorithm])
    except BadSignatureError:
        return False
    return True
