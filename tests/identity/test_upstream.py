"""What ``app/identity`` relies on inside joserfc.

A failure here means that an upgrade has changed something that the service overrides or uses beyond the documented
interface. The message says which code to look at.
"""

import inspect
import warnings
from typing import Any

import pytest
from joserfc import errors, jws, jwt
from joserfc.jwk import OKPKey

from app.config import OutsideIssuerSettings
from app.identity.outside_issuer import ALGORITHMS, OutsideIssuer
from app.identity.verification import CLOCK_DIFFERENCE_AT_MOST_S, claims_registry

REGISTRY = "_AlgorithmsWithEdDSA in app/identity/outside_issuer.py has to be adapted"
HEADER = "_header in app/identity/verification.py has to be adapted"
CLAIMS = "claims_registry in app/identity/verification.py has to be adapted"


def test_registries_look_an_algorithm_up_by_a_method_that_can_be_overridden() -> None:
    assert list(inspect.signature(jws.JWSRegistry.get_alg).parameters) == ["self", "name"], REGISTRY
    assert {"algorithms", "strict_check_header"} <= set(inspect.signature(jws.JWSRegistry).parameters), REGISTRY
    assert isinstance(jws.JWSRegistry.algorithms, dict), REGISTRY
    assert set(ALGORITHMS) <= set(jws.JWSRegistry.algorithms), REGISTRY


def test_verification_goes_through_that_method() -> None:
    asked: list[str] = []

    class Recording(jws.JWSRegistry):
        def get_alg(self, name: str) -> Any:
            asked.append(name)
            return super().get_alg(name)

    key = OKPKey.generate_key("Ed25519")
    token = jwt.encode({"alg": "Ed25519"}, {}, key, registry=jws.JWSRegistry(algorithms=["Ed25519"]))
    jwt.decode(token, key, registry=Recording(algorithms=["Ed25519"]))
    assert asked == ["Ed25519"], REGISTRY


def test_the_override_is_still_needed_and_still_works() -> None:
    with pytest.warns(errors.SecurityWarning):
        jws.JWSRegistry(algorithms=["EdDSA"]).get_alg("EdDSA")
    registry = OutsideIssuer(OutsideIssuerSettings("issuer", "audience", "https://issuer.example/jwks")).registry
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert registry.get_alg("EdDSA").name == "EdDSA", REGISTRY
    with pytest.raises(errors.UnsupportedAlgorithmError):
        registry.get_alg("HS256")


def test_the_header_of_a_compact_token_can_be_read_before_it_is_verified() -> None:
    key = OKPKey.generate_key("Ed25519")
    registry = jws.JWSRegistry(algorithms=["Ed25519"])
    token = jwt.encode({"alg": "Ed25519", "kid": "a-key", "typ": "at+jwt"}, {}, key, registry=registry)
    assert jws.extract_compact(token.encode()).protected == {"alg": "Ed25519", "kid": "a-key", "typ": "at+jwt"}, HEADER


def test_claims_are_checked_with_a_leeway_that_is_the_second_argument() -> None:
    assert list(inspect.signature(jwt.JWTClaimsRegistry).parameters)[:2] == ["now", "leeway"], CLAIMS
    issuer = OutsideIssuer(OutsideIssuerSettings("issuer", "audience", "https://issuer.example/jwks"))
    assert claims_registry(issuer, None).leeway == CLOCK_DIFFERENCE_AT_MOST_S, CLAIMS
