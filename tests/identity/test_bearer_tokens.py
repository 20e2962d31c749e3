"""Forged and malformed bearer tokens: each is 401 with a challenge, and none causes a 500."""

import base64
import hmac
import json
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from app.identity.own_issuer import OwnIssuer
from app.identity.token_profile import ALGORITHM
from flask import Flask
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey

from app.clock_and_ids import REAL_CLOCK_AND_IDS, project_token_id
from app.config import Settings
from app.database.connection import Connection
from app.identity import verification
from app.identity.verification import TOKEN_LENGTH_AT_MOST, TokenVerifier
from app.telemetry.metrics import metrics
from tests.support.api import Api, codes
from tests.support.fixtures import TokenFor
from tests.support.generated import examples
from tests.support.oauth import part

Forge = Callable[..., str]


@pytest.fixture
def key(connection: Connection) -> ECKey:
    """The key that the service signs with, including its private part."""
    row = connection.execute(
        "SELECT private_jwk FROM signing_key WHERE signs_from <= now() ORDER BY signs_from DESC LIMIT 1"
    ).fetchone()
    assert row is not None
    return ECKey.import_key(json.loads(row[0]))


@pytest.fixture
def forge(key: ECKey, project: str) -> Forge:
    """Signs, with the service's own key, a valid token but for the arguments; None leaves a claim or header out."""

    def make(header: dict[str, Any] | None = None, signing_key: Any = None, alg: str = ALGORITHM, **claims: Any) -> str:
        now = int(time.time())
        right = {
            "iss": Settings().issuer,
            "aud": Settings().issuer,
            "sub": "someone",
            "client_id": "someone",
            "iat": now,
            "exp": now + 60,
            "jti": "an-id",
            "scope": f"manage_test:{project}",
        }
        wanted = {name: value for name, value in (right | claims).items() if value is not None}
        full = {"alg": alg, "typ": "at+jwt", "kid": key.kid} | (header or {})
        full = {name: value for name, value in full.items() if value is not None}
        registry = jws.JWSRegistry(algorithms=[alg], strict_check_header=False)
        return jws.serialize_compact(full, json.dumps(wanted), signing_key or key, registry=registry)

    return make


def assert_refused(app: Flask, project: str, token: str, reason: str = "") -> None:
    answer = Api(app, project, token).get()
    assert answer.status_code == 401, answer.text
    assert codes(answer) == ["invalid_token"]
    body = answer.get_json()
    assert (body["error"], body["message"]) == ("invalid_token", "invalid_token")
    described = body["error_description"]
    assert described.startswith("The access token is not valid: ")
    assert reason in described
    assert answer.headers["WWW-Authenticate"] == (
        f'Bearer realm="{project}", error="invalid_token", error_description="{described}"'
    )


def test_a_401_says_what_is_wrong_with_the_token(app: Flask, project: str, forge: Forge) -> None:
    for token, reason in (
        ("a.b.c", "it is malformed"),
        (forge(exp=int(time.time()) - 1), "it has expired"),
        (forge(signing_key=ECKey.generate_key("P-256")), "its signature is wrong"),
        (forge(header={"kid": "theirs"}), "it is of an unknown issuer, or its key has been withdrawn"),
        (forge(iss="https://elsewhere.example"), "its claim iss names another service"),
        (forge(jti=None), "its claim jti is missing"),
        (forge(iat=int(time.time()) + 3600), "its claim iat is wrong"),
    ):
        assert_refused(app, project, token, f"is not valid: {reason}.")


def encoded(value: Any) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def test_the_valid_token_that_the_forged_ones_differ_from_is_accepted(app: Flask, project: str, forge: Forge) -> None:
    assert Api(app, project, forge()).get().status_code == 200
    assert Api(app, project, forge(aud=["other", Settings().issuer])).get().status_code == 200
    assert Api(app, project, forge(header={"typ": "application/AT+JWT"})).get().status_code == 200
    assert Api(app, project, forge(nbf=int(time.time()) - 5)).get().status_code == 200


def test_tokens_without_a_signature_are_refused(app: Flask, project: str, forge: Forge) -> None:
    token = forge()
    claims = token.split(".")[1]
    for alg in ("none", "None", "NONE", "nOnE", "", None, ["none"], 0):
        header = {"alg": alg, "typ": "at+jwt", "kid": part(token, 0)["kid"]}
        for signature in ("", encoded(b"x"), token.split(".")[2]):
            assert_refused(app, project, f"{encoded(header)}.{claims}.{signature}")


def test_hmac_with_the_public_key(app: Flask, project: str, forge: Forge, key: ECKey) -> None:
    public = key.as_dict(private=False)
    for secret in (
        key.as_pem(private=False),
        key.as_pem(private=False).strip(),
        key.as_der(private=False),
        json.dumps(public).encode(),
        json.dumps(public, separators=(",", ":")).encode(),
        str(public["x"]).encode(),
    ):
        assert_refused(app, project, _with_hmac(forge, secret))


def _with_hmac(forge: Forge, secret: bytes) -> str:
    """Signed by hand, since joserfc refuses to sign with the text of a public key."""
    token = forge()
    signed = f"{encoded(part(token, 0) | {'alg': 'HS256'})}.{token.split('.')[1]}"
    return f"{signed}.{encoded(hmac.digest(secret, signed.encode(), 'sha256'))}"


def test_other_algorithms_and_keys(app: Flask, project: str, forge: Forge) -> None:
    assert_refused(app, project, forge(signing_key=ECKey.generate_key("P-256")))
    assert_refused(app, project, forge(alg="ES384", signing_key=ECKey.generate_key("P-384")))
    assert_refused(app, project, forge(alg="RS256", signing_key=RSAKey.generate_key(2048)))


def test_keys_in_the_header_are_ignored(app: Flask, project: str, forge: Forge) -> None:
    own = ECKey.generate_key("P-256", {"kid": "mine"})
    public = own.as_dict(private=False)
    for header in (
        {"jwk": public},
        {"jwk": public, "kid": None},
        {"jwk": public, "kid": "mine"},
        {"jku": "https://attacker.example/jwks.json"},
        {"jku": "https://attacker.example/jwks.json", "kid": "mine"},
        {"x5u": "https://attacker.example/certificate"},
        {"x5c": ["MIIB"]},
    ):
        assert_refused(app, project, forge(header=header, signing_key=own))


def test_key_ids(app: Flask, project: str, forge: Forge) -> None:
    for kid in ("unknown", "", None, 5, ["a"], "' OR 1=1 --", "../../etc/passwd", "\0"):
        token = forge()
        header = {"alg": ALGORITHM, "typ": "at+jwt", "kid": kid}
        assert_refused(app, project, ".".join((encoded(header), *token.split(".")[1:])))


def test_critical_headers_are_refused(app: Flask, project: str, forge: Forge) -> None:
    token = forge()
    for extra in (
        {"crit": ["exp"], "exp": 1},
        {"crit": ["b64"], "b64": False},
        {"crit": []},
        {"crit": 5},
        {"crit": "x"},
    ):
        header = part(token, 0) | extra
        assert_refused(app, project, ".".join((encoded(header), *token.split(".")[1:])))
    assert_refused(app, project, forge(header={"b64": True, "crit": ["b64"]}))


def test_other_kinds_of_tokens(app: Flask, project: str, forge: Forge) -> None:
    for typ in ("JWT", "dpop+jwt", "logout+jwt", "id_token", None):
        assert_refused(app, project, forge(header={"typ": typ}))


def test_issuer_and_audience(app: Flask, project: str, forge: Forge) -> None:
    for claims in (
        {"iss": "someone-else"},
        {"iss": None},
        {"iss": ""},
        {"iss": [Settings().issuer]},
        {"aud": "someone-else"},
        {"aud": ["someone", "else"]},
        {"aud": []},
        {"aud": None},
        {"aud": {}},
    ):
        assert_refused(app, project, forge(**claims))


def test_times(app: Flask, project: str, forge: Forge) -> None:
    now = int(time.time())
    for claims in (
        {"exp": now},
        {"exp": now - 1},
        {"exp": now - 86_400},
        {"exp": 0},
        {"exp": -1},
        {"exp": None},
        {"exp": str(now + 60)},
        {"exp": True},
        {"exp": [now + 60]},
        {"nbf": now + 3600},
        {"nbf": "later"},
        {"iat": now + 3600},
        {"iat": None},
    ):
        assert_refused(app, project, forge(**claims))


def test_a_token_expires_while_it_is_cached(app: Flask, project: str, forge: Forge) -> None:
    token = forge(exp=int(time.time()) + 2)
    assert Api(app, project, token).get().status_code == 200
    time.sleep(2.1)
    assert_refused(app, project, token)


def test_scopes_and_clients_of_another_type(app: Flask, project: str, forge: Forge) -> None:
    scope = f"manage_test:{project}"
    for claims in (
        {"scope": [scope]},
        {"scope": {"manage_test": project}},
        {"scope": 5},
        {"scope": None},
        {"client_id": None},
        {"client_id": ""},
        {"client_id": 5},
        {"client_id": "nul\0"},
        {"client_id": "\ud800"},
        {"client_id": "x" * 257},
        {"jti": None},
        {"jti": 5},
    ):
        assert_refused(app, project, forge(**claims))


def test_scopes_for_other_projects_or_in_other_forms_are_403(app: Flask, project: str, forge: Forge) -> None:
    for scope in (
        "manage_test:another",
        "manage_test",
        "manage_test:",
        f"manage_test:{project}x",
        f"manage_test:{project[:-1]}",
        f"manage_test:{project.upper()}",
        f"MANAGE_TEST:{project}",
        f"manage_project:{project}",
        f"manage_test:{project}:store",
        f"manage_test:*:{project}",
        "manage_test:*",
        f"xmanage_test:{project}",
        f"manage_test :{project}",
        f"manage_test:{project},view_test:{project}",
    ):
        answer = Api(app, project, forge(scope=scope)).get()
        assert answer.status_code == 403, scope
        assert codes(answer) == ["insufficient_scope"]


def test_oversized_and_garbage(app: Flask, project: str, forge: Forge) -> None:
    assert_refused(app, project, forge(padding="x" * TOKEN_LENGTH_AT_MOST))
    token = forge()
    header, claims, signature = token.split(".")
    for text in (
        "x",
        ".",
        "..",
        "...",
        "a.b.c",
        f"{header}.{claims}",
        f"{header}.{claims}.",
        f"{header}..{signature}",
        f".{claims}.{signature}",
        f"{token}.x",
        f"{token}=",
        f"{header}.{claims}.{signature}{signature}",
        f"{header}.{claims}.{signature[::-1]}",
        f"{header}.{encoded({**part(token, 1), 'scope': 'manage_test:other'})}.{signature}",
        f"{encoded(b'[' * 380)}.{claims}.{signature}",
        "A" * TOKEN_LENGTH_AT_MOST,
    ):
        assert_refused(app, project, text)


def test_payloads_that_are_not_claims_are_refused(app: Flask, project: str, key: ECKey) -> None:
    """Even signed with the right key."""
    header = {"alg": ALGORITHM, "typ": "at+jwt", "kid": key.kid}
    for payload in (b"", b"x", b"[]", b"5", b"null", b"[" * 5000, b'{"exp": NaN}', b'{"exp": 1e999}', b"\xff"):
        assert_refused(app, project, jws.serialize_compact(header, payload, key, algorithms=[ALGORITHM]))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
HEADER_NAMES = st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jwk", "jku", "x5c", "cty", "zip"])


@hypothesis_settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(header=JSON | st.dictionaries(HEADER_NAMES, JSON | st.sampled_from(["ES256", "none", ["b64"], ["alg"]])))
def test_any_forged_header_is_401_and_none_causes_a_500(app: Flask, project: str, forge: Forge, header: Any) -> None:
    _, claims, signature = forge().split(".")
    assert_refused(app, project, f"{encoded(header)}.{claims}.{signature}")


def request_with(app: Flask, project: str, headers: list[tuple[str, str]], query: str = "") -> Any:
    return app.test_client().get(f"/{project}/resource{query}", headers=headers)


def test_two_authorization_headers(app: Flask, project: str, token_for: TokenFor) -> None:
    good, other = (f"Bearer {token_for(f'manage_test:{name}')}" for name in (project, "another"))
    for first, second in ((good, good), (good, other), (other, good), (good, "Basic eDp5"), ("Basic eDp5", good)):
        answer = request_with(app, project, [("Authorization", first), ("Authorization", second)])
        assert answer.status_code == 401
        assert codes(answer) == ["invalid_token"]


def test_a_token_outside_the_header_is_ignored(app: Flask, project: str, token_for: TokenFor) -> None:
    token = token_for(f"manage_test:{project}")
    for query, headers in (
        (f"?access_token={token}", []),
        ("", [("Cookie", f"access_token={token}")]),
        ("", [("X-Authorization", f"Bearer {token}")]),
        ("", [("Authorization", "")]),
    ):
        answer = request_with(app, project, headers, query)
        assert answer.status_code == 401
        # No error code in the challenge where no token came (RFC 6750, section 3.1).
        assert answer.headers["WWW-Authenticate"] == f'Bearer realm="{project}"'
        assert answer.get_json()["message"].startswith("This endpoint requires an access token.")
    form = app.test_client().post(f"/{project}/resource", data={"access_token": token})
    assert form.status_code == 401


def test_other_schemes_and_forms_of_the_header(app: Flask, project: str, token_for: TokenFor) -> None:
    token = token_for(f"manage_test:{project}")
    for value in (f"Bearer\t{token}", f"Bearer {token} {token}", f"Bearer {token},", "Bearer", "Bearer ", 'Bearer "x"'):
        answer = request_with(app, project, [("Authorization", value)])
        assert answer.status_code == 401, value
    for value in (f"Basic {token}", f"Token {token}", f"DPoP {token}", token, f"Bearer:{token}", f"BearerX {token}"):
        answer = request_with(app, project, [("Authorization", value)])
        assert answer.status_code == 401, value
        assert answer.headers["WWW-Authenticate"] == f'Bearer realm="{project}"'
    for value in (f"bearer {token}", f"BEARER   {token} "):
        assert request_with(app, project, [("Authorization", value)]).status_code == 200


def test_the_cache_of_tokens_has_a_maximum_size(
    database_url: str, token_for: TokenFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "CACHED_AT_MOST", 3)

    def cached() -> float:
        return metrics.registry.get_sample_value("sample_resource_token_checks_total", {"result": "cached"}) or 0.0

    with psycopg.connect(database_url, autocommit=True) as opened:
        verifier = TokenVerifier([OwnIssuer(Settings().issuer, lambda: nullcontext(opened))])
        tokens = [token_for("view_test:p") for _ in range(10)]
        for token in tokens:
            verifier.verify(token)
        before = cached()
        for token in tokens[-3:]:
            verifier.verify(token)
        assert cached() - before == 3
        for token in tokens[:-3]:
            verifier.verify(token)
        assert cached() - before == 3


def test_a_token_of_a_project_in_a_world_of_its_own_counts_there_only() -> None:
    """So it stays refused when the project is gone and its removal is forgotten, however far ahead its clock was."""
    for epoch in (0, 7, 10**17):
        assert not REAL_CLOCK_AND_IDS.accepts_token(project_token_id(epoch))
    for other in (None, str(uuid4()), "e1234567-89ab-4def-8123-0123456789ab", "", "e1-"):
        assert REAL_CLOCK_AND_IDS.accepts_token(other)
