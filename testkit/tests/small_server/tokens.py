"""JWTs of RFC 9068, signed by a key that lives as long as the process."""

from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey

KEY_ID = "small"

_KEY = ECKey.generate_key("P-256", {"kid": KEY_ID, "use": "sig", "alg": "ES256"})


def signed(claims: dict[str, Any]) -> str:
    """A token with these claims."""
    return jwt.encode({"alg": "ES256", "typ": "at+jwt", "kid": KEY_ID}, claims, _KEY)


def key_set() -> dict[str, Any]:
    """The public key, as RFC 7517 writes it."""
    return {"keys": [_KEY.as_dict(private=False)]}
