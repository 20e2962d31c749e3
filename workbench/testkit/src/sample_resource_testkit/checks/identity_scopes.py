"""Who may do what: tokens, scopes and projects (profile ``identity``)."""

import re
from collections.abc import Callable

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import Caller
from sample_resource_testkit.checks.endpoints import (
    ALL,
    OTHERS,
    PRODUCT_SEARCH,
    READS,
    UPDATE,
    WRITES,
    Endpoint,
)
from sample_resource_testkit.checks.refusals import errors_of
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

LACKS = "Insufficient scope. One of the following scopes is missing: "


def served(answer: Answer) -> Answer:
    """Expect that the request was authorised: any status except 401 and 403."""
    return answer.expect(answer.status not in (401, 403), "an answer that is neither 401 nor 403", answer.status)


def scope_of(endpoint: Endpoint) -> str:
    """A scope that the endpoint accepts."""
    return "view_products" if endpoint in PRODUCT_SEARCH.values() else "manage_test"


@check("A-1", cases=ALL)
def a_token_with_the_scope_is_served(world: World, endpoint: Endpoint) -> None:
    served(endpoint.ask(world.caller(scope_of(endpoint)), world.make()))


@check("A-2", cases=ALL)
def a_request_without_a_token_is_refused(world: World, endpoint: Endpoint) -> None:
    endpoint.ask(world.nobody(), world.make()).expect_status(401)


def flipped(text: str, position: int) -> str:
    """A text with the character at a position replaced by another one."""
    position %= len(text)
    return text[:position] + ("A" if text[position] != "A" else "B") + text[position + 1 :]


FORGERIES: dict[str, Callable[[World], str]] = {
    "a word": lambda world: world.word(),
    "three words": lambda world: ".".join(world.word() for _ in range(3)),
    "another first character": lambda world: flipped(world.token, 0),
    "another character near the end": lambda world: flipped(world.token, -2),
    "the end missing": lambda world: world.token[:-8],
    "a JWT without a signature": lambda _: "eyJhbGciOiJub25lIn0.eyJleHAiOjk5OTk5OTk5OTl9.",
}


def expect_invalid_token(answer: Answer) -> None:
    """Expect a 401 whose body says ``invalid_token`` in each of its members."""
    answer.expect_status(401)
    answer.expect_json("message", "invalid_token").expect_json("error", "invalid_token")
    answer.expect_json("errors", 0, "code", "invalid_token").expect_json("errors", 0, "message", "invalid_token")


@check("A-3", cases=FORGERIES)
def a_token_that_is_none_is_refused(world: World, forge: Callable[[World], str]) -> None:
    expect_invalid_token(world.bearer(forge(world)).get("?limit=1"))


@check("A-3", cases=ALL)
def each_endpoint_refuses_a_token_that_is_none(world: World, endpoint: Endpoint) -> None:
    answer = endpoint.ask(world.bearer(flipped(world.token, -20)), world.make()).expect_status(401)
    if endpoint.method != "HEAD":
        expect_invalid_token(answer)


CHALLENGES = {name: ALL[name] for name in ("4.1 list", "4.2 by id", "4.5 existence", "4.6 POST", "4.14 products")}

NAMES_ERROR = re.compile(r'Bearer\b.*\berror="?invalid_token"?.*', re.IGNORECASE)


@check("A-4", needs=["A-3"], cases=CHALLENGES)
def a_401_for_a_token_says_that_it_is_invalid(world: World, endpoint: Endpoint) -> None:
    answer = endpoint.ask(world.bearer("a.b.c"), world.make()).expect_status(401)
    answer.expect_header("WWW-Authenticate", NAMES_ERROR)


@check("A-4", needs=["A-2"], cases=CHALLENGES)
def a_401_without_a_token_asks_for_one(world: World, endpoint: Endpoint) -> None:
    answer = endpoint.ask(world.nobody(), world.make()).expect_status(401)
    found = answer.expect_header("WWW-Authenticate", re.compile(r"Bearer\b.*", re.IGNORECASE)).header(
        "WWW-Authenticate"
    )
    answer.expect("error=" not in str(found), "no error in WWW-Authenticate", found)


SCHEMES = ["Basic eDp5", "Digest username=x", "Token abc", "Bearerx abc", "abc", "Negotiate abc", "JWT a.b.c"]


@check("A-5", needs=["A-4"], cases=SCHEMES)
def another_scheme_is_no_token(world: World, authorization: str) -> None:
    answer = world.get("?limit=1", authorization=authorization).expect_status(401)
    found = str(answer.header("WWW-Authenticate"))
    answer.expect("error=" not in found, "a challenge as without a token, with no error", found)


LACKING: dict[str, tuple[Endpoint, str, set[str]]] = {
    **{name: (one, "view_products", {"manage_test", "view_test"}) for name, one in READS.items()},
    **{name: (one, "view_test", {"manage_test"}) for name, one in WRITES.items()},
    **{name: (one, "view_test", {"view_products", "view_published_products"}) for name, one in PRODUCT_SEARCH.items()},
}
"""Endpoints, each with a scope that it does not accept, and with those that it does."""


@check("A-6", cases=LACKING)
def a_403_names_the_scopes_that_are_missing(world: World, endpoint: Endpoint, scope: str, missing: set[str]) -> None:
    answer = endpoint.ask(world.caller(scope), world.make()).expect_status(403)
    if endpoint.method == "HEAD":
        return
    found = [(entry.get("code"), str(entry.get("message"))) for entry in errors_of(answer)]
    code, message = found[0] if found else (None, "")
    answer.expect(code == "insufficient_scope", "the code insufficient_scope", code)
    holds = message.startswith(LACKS) and message.endswith(".")
    answer.expect(holds, f"a message of the form '{LACKS}<names>.'", message)
    names = {name.strip() for name in message[len(LACKS) : -1].split(",")}
    answer.expect(names == missing, f"the names {sorted(missing)} with commas between them", sorted(names))


SAYS_INSUFFICIENT = re.compile(r'Bearer\b.*\berror="insufficient_scope".*', re.IGNORECASE)


@check("A-7", needs=["A-6"], cases=LACKING)
def a_403_says_so_in_its_challenge(world: World, endpoint: Endpoint, scope: str, _: set[str]) -> None:
    answer = endpoint.ask(world.caller(scope), world.make()).expect_status(403)
    answer.expect_header("WWW-Authenticate", SAYS_INSUFFICIENT)


@check("A-8", needs=["A-1"], cases=ALL)
def a_scope_of_another_project_is_no_scope(world: World, endpoint: Endpoint) -> None:
    endpoint.ask(world.stranger(), world.make()).expect_status(403)


@check(
    "A-9",
    cases={f"{name}, {scope}": (one, scope) for name, one in READS.items() for scope in ("manage_test", "view_test")},
)
def either_scope_is_enough_to_read(world: World, endpoint: Endpoint, scope: str) -> None:
    served(endpoint.ask(world.caller(scope), world.make()))


@check("A-10", needs=["A-9"], cases=WRITES)
def view_test_is_not_enough_to_write(world: World, endpoint: Endpoint) -> None:
    endpoint.ask(world.caller("view_test"), world.make()).expect_status(403)


@check("A-11", cases=OTHERS)
def manage_test_is_enough_and_where_nothing_is_kept_view_test(world: World, endpoint: Endpoint) -> None:
    served(endpoint.ask(world.caller("manage_test"), world.make()))
    with_view = endpoint.ask(world.caller("view_test"), world.make())
    if endpoint in UPDATE.values():
        with_view.expect_status(403)
    else:
        served(with_view)


@check("A-12", cases=[("manage_test",), ("view_test",), ("manage_test", "view_test")])
def other_scopes_do_not_search_products(world: World, scopes: tuple[str, ...]) -> None:
    PRODUCT_SEARCH["4.14 products"].ask(world.caller(*scopes), world.make()).expect_status(403)


@check("A-13", needs=["A-12"], cases={**READS, **WRITES, **OTHERS})
def scopes_of_products_open_nothing_else(world: World, endpoint: Endpoint) -> None:
    made = world.make()
    for scopes in (("view_products",), ("view_published_products",)):
        endpoint.ask(world.caller(*scopes), made).expect_status(403)


POWERLESS: dict[str, Callable[[World], Caller]] = {
    "without a token": lambda world: world.nobody(),
    "with an invalid one": lambda world: world.bearer(flipped(world.token, -20)),
    "with view_test": lambda world: world.caller("view_test"),
    "with the scopes of products": lambda world: world.caller("view_products", "view_published_products"),
}

CHANGING = {**WRITES, "4.10 update": OTHERS["4.10 update"]}


@check(
    "A-14",
    needs=["4.2-1"],
    cases={f"{name} {who}": (one, caller) for name, one in CHANGING.items() for who, caller in POWERLESS.items()},
)
def a_write_without_the_right_changes_nothing(
    world: World, endpoint: Endpoint, caller: Callable[[World], Caller]
) -> None:
    made = world.make()
    before = world.get(f"/{made.id}").expect_status(200).json
    endpoint.ask(caller(world), made)
    world.get(f"/{made.id}").expect_status(200).expect_json(before)
