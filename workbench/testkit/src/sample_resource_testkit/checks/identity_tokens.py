"""The claims of tokens, the keys and metadata of the server, introspection and revocation (profile ``identity``)."""

import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.checks.endpoints import ALL, Endpoint
from sample_resource_testkit.checks.identity_oauth import credentials, new_token, refused_by_oauth, scope
from sample_resource_testkit.checks.identity_scopes import FORGERIES
from sample_resource_testkit.registry import check
from sample_resource_testkit.signatures import ALGORITHMS, NoToken, Token, decode, verifies
from sample_resource_testkit.world import World

JWKS = "/.well-known/jwks.json"

METADATA = "/.well-known/oauth-authorization-server"

PRIVATE = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}
"""The members of JWKs that contain a private or a secret key (RFC 7518, section 6)."""

ADDRESSES = ("token_endpoint", "jwks_uri", "introspection_endpoint", "revocation_endpoint")

REVOKED_WITHIN_S = 5.0

PAUSE_S = 0.05
"""The pause between two requests, while waiting for a process to learn of a revocation."""


def keys_of(world: World) -> list[dict[str, Any]]:
    """The keys in the server's key set."""
    answer = world.get(target=JWKS, authorization=None).expect_status(200)
    keys = answer.at("keys")
    holds = isinstance(keys, list) and bool(keys) and all(isinstance(key, dict) for key in keys)
    answer.expect(holds, "keys, an array of objects", keys)
    return keys


def taken_apart(world: World, *names: str) -> Token:
    """Get a new token and decode it as a JWT. The case is skipped if it is no JWT, because A-29 is about that."""
    try:
        return decode(new_token(world, *names))
    except NoToken as error:
        world.skip(f"needs access tokens that are JWTs: {error}")


@check("A-29", needs=["A-15"])
def a_token_is_a_jwt(world: World) -> None:
    why = ""
    try:
        decode(new_token(world))
    except NoToken as error:
        why = str(error)
    world.expect(not why, "an access token that is a JWT", why)


@check("A-29", needs=["A-15"])
def a_token_is_of_the_type_at_jwt(world: World) -> None:
    found = str(taken_apart(world).header.get("typ")).lower()
    world.expect(found in ("at+jwt", "application/at+jwt"), "typ at+jwt", found)


CLAIMS: dict[str, type | tuple[type, ...]] = {
    "iss": str,
    "aud": (str, list),
    "sub": str,
    "client_id": str,
    "iat": (int, float),
    "exp": (int, float),
    "jti": str,
    "scope": str,
}


@check("A-29", needs=["A-15"], cases=list(CLAIMS))
def a_token_has_the_claim(world: World, claim: str) -> None:
    found = taken_apart(world).claims.get(claim)
    world.expect(isinstance(found, CLAIMS[claim]) and bool(found), f"the claim {claim}", repr(found))


@check("A-29", needs=["A-15"])
def each_token_has_an_id_of_its_own(world: World) -> None:
    ids = [taken_apart(world).claims.get("jti") for _ in range(3)]
    world.expect(len(set(ids)) == len(ids), "three tokens with different jti", ids)


@check("A-29", needs=["A-31"])
def a_token_is_signed_by_a_key_of_the_set(world: World) -> None:
    token = taken_apart(world)
    if token.header.get("alg") not in ALGORITHMS:
        world.skip(f"needs tokens that are signed with {' or '.join(ALGORITHMS)}")
    kid = token.header.get("kid")
    keys = [key for key in keys_of(world) if key.get("kid") == kid]
    world.expect(len(keys) == 1, f"one key with the kid {kid}", len(keys))
    world.expect(verifies(token, keys[0]), "a signature that the key verifies")


@check("A-30", needs=["A-15"], cases=[("view_test",), ("manage_test", "view_test"), ()])
def the_claim_scope_is_a_text_with_blanks(world: World, names: tuple[str, ...]) -> None:
    found = taken_apart(world, *names).claims.get("scope")
    world.expect(isinstance(found, str), "scope as a text", repr(found))
    listed = str(found).split(" ")
    if names:
        world.expect(sorted(listed) == sorted(scope(world, *names).split()), f"the scopes {names}", listed)
    else:
        world.expect(all(":" in one for one in listed), "scopes with one blank between them", listed)


@check("A-31", cases=["kid", "kty", "use", "alg"])
def each_key_has_the_member(world: World, member: str) -> None:
    for key in keys_of(world):
        world.expect(isinstance(key.get(member), str) and bool(key[member]), f"a key with {member}", key)


@check("A-31")
def no_key_has_a_private_part(world: World) -> None:
    for key in keys_of(world):
        world.expect(not PRIVATE & key.keys(), "a key without a private part", sorted(PRIVATE & key.keys()))


@check("A-31")
def keys_have_names_of_their_own(world: World) -> None:
    names = [key.get("kid") for key in keys_of(world)]
    world.expect(len(set(names)) == len(names), "each kid once", names)


@check("A-32", cases=["issuer", *ADDRESSES])
def the_metadata_has_the_member(world: World, member: str) -> None:
    answer = world.get(target=METADATA, authorization=None).expect_status(200)
    found = answer.at(member)
    parts = urlsplit(str(found))
    answer.expect(parts.scheme in ("http", "https") and bool(parts.netloc), f"a URL as {member}", found)


@check("A-33", needs=["A-15", "A-32"])
def the_issuer_is_that_of_the_tokens(world: World) -> None:
    issuer = taken_apart(world).claims.get("iss")
    world.get(target=METADATA, authorization=None).expect_json("issuer", issuer)


@check("A-33", needs=["A-32"], cases=ADDRESSES)
def the_addresses_are_those_of_the_issuer(world: World, member: str) -> None:
    answer = world.get(target=METADATA, authorization=None)
    issuer, found = str(answer.at("issuer")), str(answer.at(member))
    same = urlsplit(found)[:2] == urlsplit(issuer)[:2]
    answer.expect(same, f"{member} on the server {issuer}", found)


def path_in_metadata(world: World, member: str) -> str:
    """The path of a URL in the metadata. The host in the URL is ignored."""
    return urlsplit(str(world.get(target=METADATA, authorization=None).at(member))).path


@check("A-33", needs=["A-31", "A-32"])
def the_keys_are_at_their_address(world: World) -> None:
    found = world.get(target=path_in_metadata(world, "jwks_uri"), authorization=None).expect_status(200)
    kids = sorted(str(key.get("kid")) for key in keys_of(world))
    listed = sorted(str(key.get("kid")) for key in found.at("keys"))
    found.expect(listed == kids, f"the keys {kids}", listed)


@check("A-33", needs=["A-15", "A-32"])
def tokens_are_given_at_their_address(world: World) -> None:
    path = path_in_metadata(world, "token_endpoint")
    form = {"grant_type": "client_credentials"}
    world.post(form=form, target=path, authorization=f"Basic {world.client.basic}").expect_status(200)


def introspected(world: World, token: str) -> Answer:
    """Introspect a token."""
    return world.oauth({"token": token}, endpoint="introspect").expect_status(200)


@check("A-34", needs=["A-15"], cases=["active", "scope", "exp"])
def introspection_of_a_valid_token_has_the_member(world: World, member: str) -> None:
    answer = introspected(world, new_token(world, "view_test"))
    answer.expect_json("active", True)
    answer.at(member)


@check("A-34", needs=["A-15"], cases=[("view_test",), ("manage_test", "view_products")])
def introspection_tells_the_scopes(world: World, names: tuple[str, ...]) -> None:
    answer = introspected(world, new_token(world, *names))
    found = sorted(str(answer.at("scope")).split())
    answer.expect(found == sorted(scope(world, *names).split()), f"the scopes {scope(world, *names)}", found)


@check("A-34", cases=FORGERIES)
def introspection_of_another_text_says_inactive(world: World, forge: Callable[[World], str]) -> None:
    introspected(world, forge(world)).expect_json({"active": False})


@check("A-34", needs=["A-21"])
def introspection_takes_credentials_in_the_form(world: World) -> None:
    form = {"token": new_token(world), **credentials(world.client)}
    answer = world.oauth(form, endpoint="introspect", authorization=None)
    answer.expect_status(200).expect_json("active", True)


@check("A-35", needs=["A-34"])
def introspection_tells_the_end_in_seconds(world: World) -> None:
    answer = introspected(world, new_token(world))
    end = answer.at("exp")
    # A time in milliseconds would be more than this, and a lifetime instead of a time would be less.
    answer.expect(isinstance(end, int | float) and 1e9 < end < 1e11, "exp in seconds since 1970", end)


@check("A-35", needs=["A-15", "A-34"])
def introspection_tells_the_end_of_the_token(world: World) -> None:
    text = new_token(world)
    try:
        end = decode(text).claims.get("exp")
    except NoToken as error:
        world.skip(f"needs access tokens that are JWTs: {error}")
    introspected(world, text).expect_json("exp", end)


@check("A-35", needs=["A-34"])
def introspection_tells_the_client(world: World) -> None:
    introspected(world, new_token(world)).expect_json("client_id", world.client.client_id)


def revoke(world: World, token: str) -> Answer:
    """Revoke a token of the client."""
    return world.oauth({"token": token}, endpoint="revoke")


def refused_soon(world: World, ask: Callable[[], Answer], times: int = 1) -> None:
    """Repeat a request until it is answered 401, for at most the time that a revocation may take to reach all
    processes.

    :param times: how many 401 in a row are needed, because a server may have several processes.
    """
    deadline = time.monotonic() + REVOKED_WITHIN_S
    refused = 0
    while refused < times:
        answer = ask()
        refused = refused + 1 if answer.status == 401 else 0
        if not refused:
            if time.monotonic() > deadline:
                answer.expect_status(401)
            time.sleep(PAUSE_S)
        world.count()


@check("A-36", needs=["A-1", "A-15"], cases=ALL)
def a_revoked_token_is_refused_by_the_endpoint(world: World, endpoint: Endpoint) -> None:
    made = world.make()
    token = new_token(world)
    revoke(world, token).expect_status(200)
    refused_soon(world, lambda: endpoint.ask(world.bearer(token), made))


@check("A-36", needs=["A-15"])
def revocation_takes_one_token_alone(world: World) -> None:
    revoked, kept = new_token(world), new_token(world)
    revoke(world, revoked).expect_status(200)
    refused_soon(world, lambda: world.bearer(revoked).get("?limit=1"))
    world.bearer(kept).get("?limit=1").expect_success()


@check("A-36", needs=["A-21"])
def revocation_takes_credentials_in_the_form(world: World) -> None:
    token = new_token(world)
    world.oauth({"token": token, **credentials(world.client)}, endpoint="revoke", authorization=None).expect_status(200)
    refused_soon(world, lambda: world.bearer(token).get("?limit=1"))


@check("A-37", needs=["A-34", "A-36"])
def introspection_knows_of_a_revocation_at_once(world: World) -> None:
    for _ in range(4):
        token = new_token(world)
        revoke(world, token).expect_status(200)
        introspected(world, token).expect_json({"active": False})


@check("A-37", needs=["A-36"])
def a_revoked_token_is_refused_by_each_process(world: World) -> None:
    token = new_token(world)
    world.bearer(token).get("?limit=1").expect_success()
    revoke(world, token).expect_status(200)
    refused_soon(world, lambda: world.bearer(token).get("?limit=1"), times=16)


@check("A-38", cases=FORGERIES)
def revoking_what_is_not_valid_is_200(world: World, forge: Callable[[World], str]) -> None:
    revoke(world, forge(world)).expect_status(200)


@check("A-38", needs=["A-36"])
def revoking_twice_is_200(world: World) -> None:
    token = new_token(world)
    revoke(world, token).expect_status(200)
    revoke(world, token).expect_status(200)


@check("A-39", needs=["A-15"])
def a_token_of_another_client_is_not_revoked(world: World) -> None:
    second = world.second().client
    if second.client_id == world.client.client_id:
        world.skip("needs a second client: --sandbox")
    token = new_token(world)
    answer = world.oauth({"token": token}, endpoint="revoke", client=second)
    refused_by_oauth(answer, 400, "invalid_grant")
    world.bearer(token).get("?limit=1").expect_success()


@check("A-40", cases=["introspect", "revoke"])
def without_credentials_it_is_refused(world: World, endpoint: str) -> None:
    answer = world.oauth({"token": "a.b.c"}, endpoint=endpoint, authorization=None)
    refused_by_oauth(answer, 401, "invalid_client")


@check("A-40", cases=["introspect", "revoke"])
def with_a_bearer_token_it_is_refused(world: World, endpoint: str) -> None:
    answer = world.oauth({"token": "a.b.c"}, endpoint=endpoint, authorization=f"Bearer {world.token}")
    refused_by_oauth(answer, 401, "invalid_client")


@check(
    "A-40",
    cases={
        f"{name}, {kind}": (name, form)
        for name in ("introspect", "revoke")
        for kind, form in {
            "an empty form": "",
            "another name": "tokens=a.b.c",
            "a hint alone": "token_type_hint=access_token",
        }.items()
    },
)
def without_a_token_it_is_refused(world: World, endpoint: str, form: str) -> None:
    refused_by_oauth(world.oauth(form, endpoint=endpoint), 400, "invalid_request")
