"""Limits of requests, data that no error may show, and the correlation id (profile ``errors``)."""

import re
from collections.abc import Callable
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.checks.endpoints import ALL, Endpoint
from sample_resource_testkit.checks.errors_shape import AS_JSON, ERRORS, OVERSIZED, asked, fields
from sample_resource_testkit.checks.names import ANY, LINKS, SEARCH, SORTED, UNKNOWN_ID, complex_path
from sample_resource_testkit.checks.refusals import refused
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

ALLOWED: dict[str, tuple[str, str, set[str]]] = {
    "DELETE on the collection": ("DELETE", "", {"GET", "HEAD", "POST", "PUT", "PATCH"}),
    "an unknown method": ("BREW", f"/{UNKNOWN_ID}", {"GET", "POST", "DELETE"}),
    "DELETE on a key": ("DELETE", "/key=abc", {"GET"}),
    "POST on the sorted list": ("POST", SORTED, {"GET"}),
    "GET on 4.9": ("GET", complex_path(), {"POST"}),
}


@check("E-21", cases=list(ALLOWED))
def a_405_lists_the_methods(world: World, name: str) -> None:
    method, path, wanted = ALLOWED[name]
    answer = world.send(method, path)
    if answer.status != 405:
        world.skip(f"needs a 405, and '{name}' is {answer.status}")
    found = {one.strip() for one in (answer.header("Allow") or "").split(",")}
    answer.expect(wanted <= found and method not in found, f"Allow with {', '.join(sorted(wanted))}", sorted(found))


@check("E-33", needs=["E-21"], cases=list(ALLOWED))
def a_405_has_its_code(world: World, name: str) -> None:
    method, path, _ = ALLOWED[name]
    answer = world.send(method, path)
    if answer.status != 405:
        world.skip(f"needs a 405, and '{name}' is {answer.status}")
    refused(answer, 405, "MethodNotAllowed")


LIMIT = 64 << 10


def padded(body: str, size: int) -> bytes:
    """A JSON text, padded with blanks to the given size in bytes."""
    return body.encode().ljust(size)


@check("E-22", cases=["POST", "PUT", "PATCH"])
def a_body_that_is_too_large_is_refused(world: World, method: str) -> None:
    key = world.key()
    body = padded(f'{{"key": "{key}", "version": 1, "objectTypeProperty": {{}}}}', OVERSIZED)
    answer = world.send(method, "", body=body, headers=AS_JSON)
    if 200 <= answer.status < 300:
        world.skip("needs a server that takes no bodies of 1 MiB")
    answer.expect_status(413)
    world.get(f"/key={key}").expect_status(404)


@check("E-23", cases={"64 KiB": (0, 201), "a byte less": (-1, 201), "a byte more": (1, 413)})
def a_body_may_have_64_kib(world: World, more: int, status: int) -> None:
    body = padded('{"objectTypeProperty": {}}', LIMIT + more)
    world.post("", body=body, headers=AS_JSON).expect_status(status)


def _has_one_text(size: int) -> dict[str, Any]:
    """The body of a write, with an ObjectType of so many bytes."""
    return fields(arrayOfStringExample=["x" * (size - len('{"arrayOfStringExample":[""]}'))])


INTEGERS = [10**17] * 1_000
OF_INTEGERS = len(',"arrayOfIntExample":[]') + 19 * len(INTEGERS) - 1
"""The bytes that the integers add to an ObjectType that has fields."""


def _refused_as_too_large(answer: Answer, size: int) -> None:
    refused(answer, 400, "InvalidField", field="objectTypeProperty")
    (fault,) = answer.at("errors")
    told = {int(number) for number in re.findall(r"\b\d+\b", str(fault["message"]).replace(",", ""))}
    answer.expect({size, LIMIT} <= told, f"a message with {size} and {LIMIT}", fault["message"])
    answer.expect("invalidValue" not in fault, "an entry without invalidValue", sorted(fault))


@check("E-36", cases={"exactly": (0, 200), "a byte more": (1, 400)})
def fields_that_a_post_adds_count_too(world: World, more: int, status: int) -> None:
    key = world.key()
    world.post("", {"key": key, **_has_one_text(LIMIT - OF_INTEGERS + more)}).expect_status(201)
    answer = world.post("", {"key": key, **fields(arrayOfIntExample=INTEGERS)}).expect_status(status)
    if status == 400:
        _refused_as_too_large(answer, LIMIT + more)
        world.get(f"/key={key}").expect_json("version", 1)


@check("E-24", cases=["", SORTED, f"/{UNKNOWN_ID}", "/key=a"])
def a_long_target_is_refused(world: World, path: str) -> None:
    target = f"{path}?foo="
    refused(world.get(target + "a" * (9_000 - len(target))), 414, "InvalidInput")


@check("E-24", cases=["X-Foo", "Accept", "Cookie", "If-Match", "X-Correlation-ID"])
def a_large_header_is_refused(world: World, name: str) -> None:
    refused(world.get("?limit=1", headers={name: "a" * 9_000}), 431, "RequestRejected")


@check("E-26", alone=True)
def a_503_says_when_to_come_again(world: World) -> None:
    # A check cannot bring a server to its capacity without disturbing others, and a rule of the sandbox would make its
    # own answer.
    busy = list(world.server.busy)
    if not busy:
        world.not_reachable("the server was not short of capacity in this run: it answered no 503")
    for answer in busy:
        refused(world.seen(answer), 503, "OverCapacity").expect_header("Retry-After", re.compile(r"\d+|\w{3}, .*GMT"))


WITHOUT_500: dict[str, Callable[[World], Answer]] = {
    "bytes that are no UTF-8": lambda world: world.post("", body=b"\xff\xfe{}", headers=AS_JSON),
    "deep arrays": lambda world: world.post("", body="[" * 100_000, headers=AS_JSON),
    "a huge number": lambda world: world.post(
        "", body='{"objectTypeProperty": {"arrayOfIntExample": [' + "9" * 10_000 + "]}}", headers=AS_JSON
    ),
    "U+0000": lambda world: world.post("", fields(arrayOfStringExample=["\u0000"])),
    "a surrogate as a name": lambda world: world.post("", body='{"\\ud800": 1}', headers=AS_JSON),
    "U+0000 in the path": lambda world: world.get("/%00"),
    "bad escapes in the path": lambda world: world.get("/%zz%"),
    "no UTF-8 in the query": lambda world: world.get("?stringParameter=%ff"),
    "U+0000 in a predicate": lambda world: world.get(SORTED, query={"where": 'key = "\u0000"'}),
    "a deep predicate": lambda world: world.get(SORTED, query={"where": "(" * 2_000 + "id" + ")" * 2_000}),
    "a backslash in a filter": lambda world: world.get(SEARCH, query={"filter": 'key:"\\'}),
    "operators in a text": lambda world: world.get(SEARCH, query={"text.en": "a & | ! <-> :* ("}),
    "an action that is an object": lambda world: world.post(
        f"/{UNKNOWN_ID}", {"version": 1, "actions": [{"action": {}}]}
    ),
    "a version beyond doubles": lambda world: world.post(
        f"/{world.make().id}", body='{"version": 1e400, "actions": []}', headers=AS_JSON
    ),
    "a version of DELETE beyond 64 bits": lambda world: world.delete(f"/{world.make().id}?version=1e30"),
    "an odd Accept": lambda world: world.post(complex_path(), {}, headers={"Accept": ";q=x,,/"}),
    "an unknown charset": lambda world: world.post(
        "", body="{}", headers={"Content-Type": "application/json; charset=foo"}
    ),
    "an odd Authorization": lambda world: world.get("", authorization="Bearer é\x7f."),
    "a token with a list as alg": lambda world: world.bearer("eyJhbGciOltdfQ.e30.AA").get(""),
    "a year 0": lambda world: world.post(LINKS, {"createdAt": "0000-01-01T00:00:00Z"}),
}


@check("E-27", cases=WITHOUT_500)
def no_request_is_answered_with_500(world: World, ask: Callable[[World], Answer]) -> None:
    answer = ask(world)
    answer.expect(answer.status < 500 or answer.status == 503, "a status below 500, or 503", answer.status)


INNER = re.compile(
    r"Traceback|File \"|\.py\b|\bat [\w.$]+\([\w.]+:\d+\)|\.java:|node_modules|psycopg|sqlalchemy|sqlstate"
    r"|\bSELECT\b.+\bFROM\b|\bINSERT INTO\b|\bWHERE\b[\w .]+=\s*[$%']|\bpg_\w+|relation \"",
    re.IGNORECASE | re.DOTALL,
)


@check("E-28", cases=[name for name in ERRORS if name != "400 of a predicate"])
def an_error_has_nothing_of_the_inside(world: World, name: str) -> None:
    answer = asked(world, name)
    told = answer.text + "".join(value for _, value in answer.raw.headers)
    found = INNER.search(told)
    answer.expect(found is None, "no stack trace and no SQL", found and found[0])
    secrets = [one for one in (world.token, world.client.client_secret) if one]
    answer.expect(not any(one in told for one in secrets), "neither the token nor the secret")


ECHOED = ["my-project/0123", "12345678", "a" * 256, "A_b-C/d9", "--------", "550e8400-e29b-41d4-a716-446655440000"]


@check("E-29", cases=ECHOED)
def a_correlation_id_comes_back(world: World, correlation: str) -> None:
    headers = {"X-Correlation-ID": correlation}
    world.get("?limit=1", headers=headers).expect_header("X-Correlation-ID", correlation)


CORRELATION = {"X-Correlation-ID": "my-project/0123"}

CORRELATED: dict[str, Callable[[World], Answer]] = {
    "201": lambda world: world.post("", ANY, headers=CORRELATION),
    "304": lambda world: world.get(f"/{world.make().id}", headers={**CORRELATION, "If-None-Match": "*"}),
    "400": lambda world: world.get("?limit=x", headers=CORRELATION),
    "401": lambda world: world.nobody().get("", headers=CORRELATION),
    "404 of a URL": lambda world: world.get(target=f"/{world.project}", headers=CORRELATION),
    "HEAD": lambda world: world.head("", headers=CORRELATION),
    "the token endpoint": lambda world: world.oauth(headers=CORRELATION),
}


@check("E-29", cases=CORRELATED)
def a_correlation_id_comes_back_with_each_status(world: World, ask: Callable[[World], Answer]) -> None:
    ask(world).expect_header("X-Correlation-ID", CORRELATION["X-Correlation-ID"])


@check("E-30", cases=ALL)
def each_answer_has_a_correlation_id(world: World, endpoint: Endpoint) -> None:
    endpoint.ask(world, world.make()).expect_header("X-Correlation-ID", re.compile(r"[A-Za-z0-9_/-]{8,256}"))
