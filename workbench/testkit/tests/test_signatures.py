"""Tokens are taken apart, and a signature is accepted from the right key alone."""

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey
from sample_resource_testkit.signatures import NoToken, decode, encode, from_base64, to_base64, verifies

CLAIMS = {"sub": "a", "scope": "view_test:p"}

KEYS = {
    "ES256": (ECKey.generate_key("P-256"), ECKey.generate_key("P-256")),
    "RS256": (RSAKey.generate_key(2048), RSAKey.generate_key(2048)),
}


def signed(algorithm: str) -> str:
    return jwt.encode({"alg": algorithm, "kid": "k"}, CLAIMS, KEYS[algorithm][0])


@pytest.mark.parametrize("algorithm", KEYS)
def test_a_signature_of_the_key_verifies(algorithm: str) -> None:
    token = decode(signed(algorithm))
    assert token.claims == CLAIMS
    assert token.header["alg"] == algorithm
    assert verifies(token, KEYS[algorithm][0].as_dict(private=False))


@pytest.mark.parametrize("algorithm", KEYS)
def test_a_signature_of_another_key_does_not(algorithm: str) -> None:
    assert not verifies(decode(signed(algorithm)), KEYS[algorithm][1].as_dict(private=False))


@pytest.mark.parametrize("algorithm", KEYS)
@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_token_that_was_changed_does_not(algorithm: str, part: int) -> None:
    token = decode(signed(algorithm))
    header, claims, signature = token.header, token.claims, token.signature
    if part == 0:
        header = {**header, "kid": "l"}
    elif part == 1:
        claims = {**claims, "sub": "b"}
    else:
        signature = bytes([signature[0] ^ 1]) + signature[1:]
    changed = decode(encode(header, claims, signature))
    assert not verifies(changed, KEYS[algorithm][0].as_dict(private=False))


@pytest.mark.parametrize("signature", [b"", bytes(64), b"\xff" * 64, bytes(63), bytes(65)])
def test_a_signature_out_of_range_does_not(signature: bytes) -> None:
    token = decode(encode({"alg": "ES256"}, CLAIMS, signature))
    assert not verifies(token, KEYS["ES256"][0].as_dict(private=False))


def test_a_key_that_is_no_point_of_the_curve_is_refused() -> None:
    key = KEYS["ES256"][0].as_dict(private=False)
    with pytest.raises(ValueError, match="it is no key for ES256"):
        verifies(decode(signed("ES256")), {**key, "x": key["y"], "y": key["x"]})


@pytest.mark.parametrize("key", [{}, {"x": "AA"}, {"x": 5, "y": 5}])
def test_a_key_that_lacks_members_is_refused(key: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="key"):
        verifies(decode(signed("ES256")), key)


@pytest.mark.parametrize("algorithm", ["none", "HS256", "ES384", None, 5])
def test_another_algorithm_is_refused(algorithm: object) -> None:
    with pytest.raises(ValueError, match="algorithm"):
        verifies(decode(encode({"alg": algorithm}, CLAIMS, b"")), {})


@pytest.mark.parametrize("text", ["", "a", "a.b", "a.b.c", "..", "e30.e30.!", "W10.e30.", "e30.NQ.", "e30.e30.a.b"])
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(NoToken):
        decode(text)


@pytest.mark.parametrize("data", [b"", b"a", b"ab", b"abc", b"\xff\xfe\xfd\xfc"])
def test_base64_without_padding_comes_back(data: bytes) -> None:
    text = to_base64(data)
    assert "=" not in text
    assert from_base64(text) == data
