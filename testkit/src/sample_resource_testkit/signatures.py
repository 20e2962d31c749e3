"""Access tokens taken apart, and their signatures verified, with nothing but the standard library.

A client library for JWTs would be a dependency with a compiled part for the sake of one clause. A token is verified
here to hold a server against what it says of itself; nothing is trusted because of it.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ALGORITHMS = ("ES256", "RS256")
"""Those that can be verified here (RFC 7518, sections 3.3 and 3.4)."""

_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
"""The curve P-256 (FIPS 186-4, D.1.2.3): field, order, coefficient and base point."""

_DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
"""What PKCS #1 puts before a SHA-256 digest (RFC 8017, section 9.2)."""

Point = tuple[int, int] | None


class NoToken(ValueError):
    """A text is no JWT; the message says why."""


@dataclass(frozen=True, slots=True)
class Token:
    """A JWT in its three parts.

    :param signed: the bytes that the signature is of.
    """

    header: dict[str, Any]
    claims: dict[str, Any]
    signed: bytes
    signature: bytes


def decode(text: str) -> Token:
    """Take a JWT apart (RFC 7515, section 3.1).

    :raises NoToken: if it is none.
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
    """Put a JWT together, whatever its signature is worth."""
    parts = (json.dumps(header).encode(), json.dumps(claims).encode(), signature)
    return ".".join(map(to_base64, parts))


def from_base64(text: str) -> bytes:
    """Decode base64url without padding.

    :raises ValueError: if it is none.
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

    :raises ValueError: for another algorithm, or a key that lacks its members.
    """
    algorithm = token.header.get("alg")
    digest = hashlib.sha256(token.signed).digest()
    try:
        if algorithm == "ES256":
            point = _number(key["x"]), _number(key["y"])
            return _on_curve(point) and _verifies_es256(digest, token.signature, point)
        if algorithm == "RS256":
            return _verifies_rs256(digest, token.signature, _number(key["n"]), _number(key["e"]))
    except (KeyError, TypeError) as error:
        raise ValueError(f"the key lacks a member: {error}") from None
    raise ValueError(f"the algorithm {algorithm!r} is not one of {', '.join(ALGORITHMS)}")


def _number(text: str) -> int:
    return int.from_bytes(from_base64(text), "big")


def _verifies_rs256(digest: bytes, signature: bytes, modulus: int, exponent: int) -> bool:
    length = (modulus.bit_length() + 7) // 8
    padded = b"\x00\x01" + b"\xff" * (length - len(_DIGEST_INFO) - len(digest) - 3) + b"\x00" + _DIGEST_INFO + digest
    value = int.from_bytes(signature, "big")
    return len(signature) == length and value < modulus and pow(value, exponent, modulus).to_bytes(length) == padded


def _verifies_es256(digest: bytes, signature: bytes, point: tuple[int, int]) -> bool:
    if len(signature) != 64:
        return False
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if not (0 < r < _N and 0 < s < _N):
        return False
    inverse = pow(s, -1, _N)
    first = _times(int.from_bytes(digest, "big") * inverse % _N, _G)
    found = _add(first, _times(r * inverse % _N, point))
    return found is not None and found[0] % _N == r


def _on_curve(point: tuple[int, int]) -> bool:
    x, y = point
    return max(x, y) < _P and (y * y - (x * x * x - 3 * x + _B)) % _P == 0


def _add(one: Point, other: Point) -> Point:
    if one is None or other is None:
        return other if one is None else one
    (x, y), (u, v) = one, other
    if x == u and (y + v) % _P == 0:
        return None
    slope = (3 * x * x - 3) * pow(2 * y, -1, _P) if one == other else (v - y) * pow(u - x, -1, _P)
    sum_x = (slope * slope - x - u) % _P
    return sum_x, (slope * (x - sum_x) - y) % _P


def _times(factor: int, point: Point) -> Point:
    result: Point = None
    while factor:
        if factor & 1:
            result = _add(result, point)
        point = _add(point, point)
        factor >>= 1
    return result
