"""JWTs of RFC 9068, signed with RS256 (RFC 7518, section 3.3) by a key that protects nothing."""

import base64
import hashlib
import json
from typing import Any

MODULUS = int(
    "cb544487a70f58a2dd637088ea813db028cb065d5975ceedd76482d873d1c1984cf129a5e7c4e01198fd986c43d6b1fba2980b587b52a1cc"
    "1d6c7e5f08dcb0c4e3eb54923b7acdc3997c68149f82bb173fd295ae14072113388e8e166afbfddb168dc307141b37a37958a4976609e8fb"
    "f93a5c4bc598b12db312f8bf45623c7f",
    16,
)
EXPONENT = 65537
PRIVATE_EXPONENT = int(
    "60a96afae25cd55277d53246a4d554324ef255d0431b528897815d02f1eca21079639cdd1655edffefaf7faad885548fc038700c5c74681e"
    "d54e22b5a34ce76b99bfa6870dece7b43fb8b73c7526591d3329d396ff07a297645d0d6ac83566bc812a5eb993acbf34f852a33d31dc10e6"
    "bcdc226b050c2ce06c626b02dab76b81",
    16,
)
LENGTH = 128
"""Bytes of the modulus. 1024 bits are too few for anything but a test."""

KEY_ID = "small"

SHA_256 = bytes.fromhex("3031300d060960864801650304020105000420")
"""What stands before the digest (RFC 8017, section 9.2)."""


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _number(value: int) -> str:
    return _text(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def signed(claims: dict[str, Any]) -> str:
    """A token with these claims."""
    header = {"alg": "RS256", "typ": "at+jwt", "kid": KEY_ID}
    content = ".".join(_text(json.dumps(part).encode()) for part in (header, claims))
    digest = SHA_256 + hashlib.sha256(content.encode()).digest()
    padded = b"\0\1" + b"\xff" * (LENGTH - len(digest) - 3) + b"\0" + digest
    signature = pow(int.from_bytes(padded, "big"), PRIVATE_EXPONENT, MODULUS)
    return f"{content}.{_text(signature.to_bytes(LENGTH, 'big'))}"


def key_set() -> dict[str, Any]:
    """The public key, as RFC 7517 writes it."""
    key = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": KEY_ID, "n": _number(MODULUS), "e": _number(EXPONENT)}
    return {"keys": [key]}
