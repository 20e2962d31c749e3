"""The form of tokens, introspection and revocation (profile ``identity``)."""

import time
from collections.abc import Callable

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.checks.endpoints import ALL, Endpoint
from sample_resource_testkit.checks.identity_oauth import new_token, refused_by_oauth
from sample_resource_testkit.checks.identity_scopes import FORGERIES
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

REVOKED_WITHIN_S = 5.0

PAUSE_S = 0.05
"""The pause between two requests, while waiting for a process to learn of a revocation."""


def introspected(world: World, token: str) -> Answer:
    """Introspect a token."""
    return world.oauth({"token": token}, endpoint="introspect").expect_status(200)


@check("A-34", needs=["A-15"], cases=["active", "scope", "exp"])
def introspection_of_a_valid_token_has_the_member(world: World, member: str) -> None:
    answer = introspected(world, new_token(world, "view_test"))
    answer.expect_json("active", True)
    answer.at(member)


@check("A-34", cases=FORGERIES)
def introspection_of_another_text_says_inactive(world: World, forge: Callable[[World], str]) -> None:
    introspected(world, forge(world)).expect_json({"active": False})


@check("A-35", needs=["A-34"])
def introspection_tells_the_end_in_seconds(world: World) -> None:
    answer = introspected(world, new_token(world))
    end = answer.at("exp")
    # A time in milliseconds would be more than this, and a lifetime instead of a time would be less.
    answer.expect(isinstance(end, int | float) and 1e9 < end < 1e11, "exp in seconds since 1970", end)


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


@check("A-37", needs=["A-34", "A-36"])
def introspection_knows_of_a_revocation_at_once(world: World) -> None:
    for _ in range(4):
        token = new_token(world)
        revoke(world, token).expect_status(200)
        introspected(world, token).expect_json({"active": False})


@check("A-36", cases=FORGERIES)
def revoking_what_is_not_valid_is_200(world: World, forge: Callable[[World], str]) -> None:
    revoke(world, forge(world)).expect_status(200)


@check("A-39", needs=["A-15"])
def a_token_of_another_client_is_not_revoked(world: World) -> None:
    second = world.second().client
    if second.client_id == world.client.client_id:
        world.skip("needs a second client: --sandbox")
    token = new_token(world)
    answer = world.oauth({"token": token}, endpoint="revoke", client=second)
    refused_by_oauth(answer, 400, "invalid_grant")
    world.bearer(token).get("?limit=1").expect_success()


@check("A-40", cases=[(name, form) for name in ("introspect", "revoke") for form in ("", "tokens=a.b.c")])
def without_a_token_it_is_refused(world: World, endpoint: str, form: str) -> None:
    refused_by_oauth(world.oauth(form, endpoint=endpoint), 400, "invalid_request")
