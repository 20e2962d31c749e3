"""Tokens of an outside issuer, which runs as a process of its own on loopback."""

import hmac
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from app import create_app
from app.config import InvalidSetting, OutsideIssuerSettings, Settings
from app.database.connection import Connection
from app.errors import ApiError
from app.identity import outside_issuer
from app.identity.outside_issuer import OutsideIssuer, keys_of
from app.identity.verification import TokenVerifier
from tests.identity.test_bearer_tokens import assert_refused, encoded
from tests.support.api import Api
from tests.support.fixtures import TokenFor
from tests.support.issuer import AUDIENCE, NAME, Issuer, running_issuer
from tests.support.oauth import OAuthClient, part


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with running_issuer() as running:
        yield running


@pytest.fixture
def service(settings: Settings, issuer: Issuer) -> Iterator[Flask]:
    """An application that accepts the issuer's tokens and has not fetched its keys yet."""
    application = create_app(replace(settings, auth_issuer=NAME, auth_audience=AUDIENCE, auth_jwks_url=issuer.jwks_url))
    yield application
    application.extensions["database"].close()


def for_(project: str) -> str:
    return f"manage_test:{project}"


@pytest.mark.parametrize("alg", ["ES256", "ES384", "ES512", "RS256", "PS256", "Ed25519", "EdDSA"])
def test_asymmetric_algorithms_are_accepted(service: Flask, issuer: Issuer, project: str, alg: str) -> None:
    assert Api(service, project, issuer.sign(alg, scope=for_(project))).get().status_code == 200


def test_the_services_own_tokens_are_still_accepted(service: Flask, project: str, token_for: TokenFor) -> None:
    assert Api(service, project, token_for(for_(project))).get().status_code == 200


def test_without_the_settings_its_tokens_are_refused(app: Flask, issuer: Issuer, project: str) -> None:
    assert_refused(app, project, issuer.sign(scope=for_(project)))


@pytest.mark.parametrize(
    ("claims", "author"),
    [
        ({}, "their-client"),
        ({"client_id": None}, "their-app"),
        ({"client_id": None, "azp": None}, "someone"),
    ],
)
def test_the_claim_that_names_the_client_becomes_the_author(
    service: Flask, issuer: Issuer, project: str, claims: dict[str, Any], author: str
) -> None:
    api = Api(service, project, issuer.sign(scope=for_(project), **claims))
    assert api.create()["createdBy"] == {"typeId": "api-client", "id": author}


def test_types_of_tokens(service: Flask, issuer: Issuer, project: str) -> None:
    for typ in ("at+jwt", "application/at+jwt", "JWT", None):
        assert Api(service, project, issuer.sign(header={"typ": typ}, scope=for_(project))).get().status_code == 200
    for typ in ("logout+jwt", "dpop+jwt", "secevent+jwt"):
        assert_refused(service, project, issuer.sign(header={"typ": typ}, scope=for_(project)))


def test_unknown_headers_are_ignored_and_critical_ones_refused(service: Flask, issuer: Issuer, project: str) -> None:
    assert Api(service, project, issuer.sign(header={"x": 1}, scope=for_(project))).get().status_code == 200
    assert_refused(service, project, issuer.sign(header={"b64": True, "crit": ["b64"]}, scope=for_(project)))


def test_tokens_with_wrong_claims_are_refused(service: Flask, issuer: Issuer, project: str) -> None:
    now = int(time.time())
    for claims in (
        {"iss": "https://another.example"},
        {"iss": Settings().issuer},
        {"iss": None},
        {"aud": "another-service"},
        {"aud": ["another-service"]},
        {"aud": None},
        {"exp": now - 1},
        {"exp": None},
        {"nbf": now + 600},
        {"iat": now + 600},
        {"scope": [for_(project)]},
        {"client_id": 5},
        {"client_id": None, "azp": None, "sub": None},
    ):
        assert_refused(service, project, issuer.sign(**{"scope": for_(project), **claims}))
    assert Api(service, project, issuer.sign(aud=["x", AUDIENCE], scope=for_(project))).get().status_code == 200


def test_tokens_without_the_scope_are_403(service: Flask, issuer: Issuer, project: str) -> None:
    for scope in (None, "", "openid profile", f"view_products:{project}", "manage_test:another"):
        assert Api(service, project, issuer.sign(scope=scope)).get().status_code == 403


def test_hmac_and_unsigned_tokens_are_refused(service: Flask, issuer: Issuer, project: str) -> None:
    token = issuer.sign(scope=for_(project))
    for kid in (part(token, 0)["kid"], "symmetric", None):
        header = {"alg": "HS256", "kid": kid}
        signed = f"{encoded(header)}.{token.split('.')[1]}"
        forged = f"{signed}.{encoded(hmac.digest(b'anything', signed.encode(), 'sha256'))}"
        assert_refused(service, project, forged)
        assert_refused(service, project, f"{encoded({'alg': 'none', 'kid': kid})}.{token.split('.')[1]}.")


def test_one_issuer_cannot_sign_for_the_other(service: Flask, issuer: Issuer, project: str) -> None:
    """A key is valid only for the issuer that published it, even if the signature is correct."""
    own = {"iss": Settings().issuer, "aud": Settings().issuer, "jti": "x"}
    assert_refused(service, project, issuer.sign(header={"typ": "at+jwt"}, scope=for_(project), **own))


def test_keys_are_fetched_once(service: Flask, issuer: Issuer, project: str) -> None:
    before = issuer.fetches
    for _ in range(5):
        assert Api(service, project, issuer.sign(scope=for_(project))).get().status_code == 200
    assert issuer.fetches == before + 1


def test_invented_key_ids_do_not_cause_a_fetch_each(service: Flask, issuer: Issuer, project: str) -> None:
    before = issuer.fetches
    for number in range(20):
        assert_refused(service, project, issuer.sign(header={"kid": f"invented-{number}"}, scope=for_(project)))
    assert issuer.fetches == before + 1


def test_new_keys_are_fetched_when_a_token_names_one(
    service: Flask, issuer: Issuer, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside_issuer, "FETCH_INTERVAL_AT_LEAST_S", 0.5)
    before = issuer.sign(scope=for_(project))
    assert Api(service, project, before).get().status_code == 200
    issuer.rotate()
    time.sleep(0.5)
    assert Api(service, project, issuer.sign(scope=for_(project))).get().status_code == 200
    # The issuer no longer publishes this key, so its token is refused, although it is in the cache.
    assert_refused(service, project, before)


def test_known_keys_are_used_for_a_while_if_the_issuer_does_not_answer(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = time.monotonic()
    monkeypatch.setattr(outside_issuer.time, "monotonic", lambda: clock)
    source = OutsideIssuer(OutsideIssuerSettings(NAME, AUDIENCE, issuer.jwks_url))
    verifier = TokenVerifier([source])
    token = issuer.sign()
    assert verifier.verify(token)
    monkeypatch.setattr(outside_issuer, "fetch", lambda _: (_ for _ in ()).throw(OSError("away")))
    clock += outside_issuer.STALE_KEYS_USED_FOR_S - 1
    assert verifier.verify(token)
    clock += 20
    with pytest.raises(Exception, match="not available") as raised:
        verifier.verify(token)
    assert getattr(raised.value, "status", None) == 503


def test_one_request_fetches_and_the_others_do_not_wait(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    source = OutsideIssuer(OutsideIssuerSettings(NAME, AUDIENCE, issuer.jwks_url))
    known = next(iter(keys_of(outside_issuer.fetch(issuer.jwks_url))))
    assert source.find_key(known, look_again=True) is not None
    monkeypatch.setattr(outside_issuer, "FETCH_INTERVAL_AT_LEAST_S", 0.0)
    fetching, done = threading.Event(), threading.Event()

    def hang(_url: str) -> bytes:
        fetching.set()
        done.wait(30)
        raise TimeoutError

    monkeypatch.setattr(outside_issuer, "fetch", hang)
    first = threading.Thread(target=source.find_key, args=("unknown",), kwargs={"look_again": True})
    first.start()
    try:
        assert fetching.wait(10)
        assert source.find_key(known, look_again=True) is not None
        with pytest.raises(ApiError) as raised:
            source.find_key("unknown too", look_again=True)
        assert raised.value.status == 503
        assert first.is_alive()
    finally:
        done.set()
        first.join()
    assert source.find_key("unknown", look_again=True) is None


@pytest.mark.parametrize("exp", [1_900_000_000_000, 1e300, float("inf"), float("nan"), 253402300800])
def test_a_time_that_cannot_be_written_is_refused(service: Flask, issuer: Issuer, project: str, exp: float) -> None:
    """Milliseconds, for example: such a token would never expire."""
    assert_refused(service, project, issuer.sign(scope=for_(project), exp=exp))


def test_a_time_of_this_millennium_is_accepted(service: Flask, issuer: Issuer, project: str) -> None:
    assert Api(service, project, issuer.sign(scope=for_(project), exp=4_000_000_000)).get().status_code == 200


def test_without_a_key_id_a_key_is_found_only_if_it_is_the_only_one(issuer: Issuer) -> None:
    source = OutsideIssuer(OutsideIssuerSettings(NAME, AUDIENCE, issuer.jwks_url))
    assert source.find_key(None, look_again=True) is None
    whole = json.loads(outside_issuer.fetch(issuer.jwks_url))
    alone = [key for key in whole["keys"] if isinstance(key, dict) and key.get("kid", "").startswith("ES256")]
    assert len(keys_of(json.dumps({"keys": alone}).encode())) == 1
    usable = keys_of(json.dumps(whole).encode())
    assert {kid.rpartition("-")[0] for kid in usable} == {"ES256", "ES384", "ES512", "RSA", "Ed25519"}


def test_introspection_and_revocation(service: Flask, issuer: Issuer, connection: Connection, project: str) -> None:
    client = OAuthClient(service, connection, for_(project))
    token = issuer.sign(scope=for_(project))
    answer = client.introspect(token)
    assert (answer["active"], answer["iss"], answer["client_id"]) == (True, NAME, "their-client")
    assert client.revoke(token).status_code == 200
    assert client.introspect(token)["active"] is True  # only its issuer can revoke it


def test_the_three_settings_go_together() -> None:
    full = {"AUTH_ISSUER": NAME, "AUTH_AUDIENCE": AUDIENCE, "AUTH_JWKS_URL": "https://issuer.example/jwks"}
    assert Settings.from_environment(full).outside_issuer == OutsideIssuerSettings(*full.values())
    assert Settings.from_environment({}).outside_issuer is None
    for missing in full:
        with pytest.raises(InvalidSetting, match=f"{missing}.*all three or none"):
            Settings.from_environment({name: value for name, value in full.items() if name != missing})
    with pytest.raises(InvalidSetting, match="the service itself"):
        Settings.from_environment(full | {"TOKEN_ISSUER": NAME})


def test_addresses_of_key_sets() -> None:
    full = {"AUTH_ISSUER": NAME, "AUTH_AUDIENCE": AUDIENCE}
    for url in ("https://a.example/k", "http://127.0.0.1:8/k", "http://[::1]/k", "http://localhost/k"):
        assert Settings.from_environment(full | {"AUTH_JWKS_URL": url}).auth_jwks_url == url
    for url in (
        "http://a.example/k",
        "http://127.0.0.1.a.example/k",
        "http://localhost.a.example/k",
        "http://user@127.0.0.1/k",
        "file:///etc/passwd",
        "ftp://127.0.0.1/k",
        "https:///k",
        "https://a.example/k#f",
        "https://a.example:port/k",
        "https://a b/k",
        "127.0.0.1",
    ):
        with pytest.raises(InvalidSetting, match="AUTH_JWKS_URL"):
            Settings.from_environment(full | {"AUTH_JWKS_URL": url})
