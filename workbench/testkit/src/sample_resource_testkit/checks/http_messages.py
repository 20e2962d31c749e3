"""Methods, bodies, headers and connections (profile ``http``)."""

import re
from collections.abc import Callable
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import FORM, JSON, Made
from sample_resource_testkit.checks.endpoints import ALL, Endpoint
from sample_resource_testkit.checks.identity_scopes import scope_of
from sample_resource_testkit.checks.names import ANY, FORM_SEARCH, LINKS, SEARCH, SORTED, UNKNOWN_ID, complex_path
from sample_resource_testkit.checks.refusals import refused
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

CHANGING_HEADERS = {
    "date",
    "x-correlation-id",
    "connection",
    "content-length",
    "transfer-encoding",
    "keep-alive",
    "age",
}
"""The headers that may differ between two answers to equal requests."""

HEADED: dict[str, Callable[[Made], str]] = {
    "an id": lambda made: f"/{made.id}",
    "a key": lambda made: f"/key={made.key}",
    "an unknown id": lambda _: f"/{UNKNOWN_ID}",
    "the sorted list": lambda _: f"{SORTED}?limit=0&withTotal=false",
    "the search": lambda _: f"{SEARCH}?limit=0&withTotal=false",
    "an unknown URL": lambda _: "/a/b/c",
}


@check("H-14", needs=["4.2-1"], cases=HEADED)
def head_has_the_status_of_get_and_no_body(world: World, path: Callable[[Made], str]) -> None:
    made = world.make()
    got = world.get(path(made))
    world.head(path(made)).expect_status(got.status).expect_empty()


@check(
    "H-14", needs=["4.2-1"], cases={name: HEADED[name] for name in ("an id", "a key", "the sorted list", "the search")}
)
def head_has_the_headers_of_get(world: World, path: Callable[[Made], str]) -> None:
    made = world.make()
    got, head = world.get(path(made)), world.head(path(made))
    wanted = {name.lower(): value for name, value in got.raw.headers if name.lower() not in CHANGING_HEADERS}
    found = {name.lower(): value for name, value in head.raw.headers if name.lower() not in CHANGING_HEADERS}
    head.expect(found == wanted, f"the headers {wanted}", found)


OPTIONS: dict[str, tuple[str, str]] = {
    "the collection": ("", "GET, HEAD, OPTIONS, PATCH, POST, PUT"),
    "an id": (f"/{UNKNOWN_ID}", "DELETE, GET, HEAD, OPTIONS, POST"),
    "a key": ("/key=abc", "GET, HEAD, OPTIONS"),
    "the sorted list": (SORTED, "GET, HEAD, OPTIONS"),
    "4.9": (complex_path(), "OPTIONS, POST"),
    "4.14": (FORM_SEARCH, "OPTIONS, POST"),
}


@check("H-15", cases=OPTIONS)
def options_lists_the_methods(world: World, path: str, allowed: str) -> None:
    answer = world.nobody().send("OPTIONS", path).expect_status(200)
    answer.expect_header("Allow", allowed).expect_no_header("Content-Type")


@check("H-15")
def what_patch_takes_is_told(world: World) -> None:
    asked = world.nobody().send("OPTIONS", "").expect_status(200)
    refusal = world.patch("", body="{}", headers={"Content-Type": "text/plain"}).expect_status(415)
    for answer in (asked, refusal):
        answer.expect_header("Accept-Patch", "application/json")


@check("H-28", cases=["websocket", "h2c"])
def upgrade_is_ignored(world: World, protocol: str) -> None:
    made = world.make()
    headers = {"Connection": "Upgrade", "Upgrade": protocol, "Sec-WebSocket-Version": "13"}
    world.get(f"/{made.id}", headers=headers).expect_status(200).expect_json("id", made.id)
    world.post("", ANY, headers=headers).expect_success()


OTHER_TYPES: dict[str, dict[str, str]] = {
    "none": {},
    "text": {"Content-Type": "text/plain"},
    "a form": {"Content-Type": FORM},
    "another JSON": {"Content-Type": "text/json"},
    "a type like it": {"Content-Type": "application/json2"},
    "Latin-1": {"Content-Type": "application/json; charset=iso-8859-1"},
}


@check(
    "H-17",
    needs=["4.3-2"],
    cases={f"{name}, {method}": (name, method) for name in OTHER_TYPES for method in ("POST", "PUT")},
)
def a_body_of_another_type_is_refused(world: World, name: str, method: str) -> None:
    key = world.key()
    body = f'{{"key": "{key}", "objectTypeProperty": {{}}}}'
    refused(world.send(method, "", body=body, headers=OTHER_TYPES[name]), 415, "UnsupportedMediaType")
    world.get(f"/key={key}").expect_status(404)


JSON_TYPE = re.compile(r"application/json\b.*", re.IGNORECASE)

ANSWERED = {name: one for name, one in ALL.items() if not name.startswith(("4.9", "4.5"))}

ACCEPTS = ["text/html", FORM, "application/json;q=0, text/plain"]


@check("H-18", cases={f"{name}, {accept}": (one, accept) for name, one in ANSWERED.items() for accept in ACCEPTS})
def json_is_answered_whatever_accept_says(world: World, endpoint: Endpoint, accept: str) -> None:
    caller = world.caller(scope_of(endpoint))
    answer = endpoint.ask(caller, world.make(), headers={"Accept": accept}).expect_success()
    answer.expect_header("Content-Type", JSON_TYPE)


def chunked(body: bytes, size: int, extension: bytes = b"", trailer: bytes = b"") -> bytes:
    """A body in chunks of the given size (RFC 9112, section 7.1)."""
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    chunks = b"".join(b"%x%s\r\n%s\r\n" % (len(piece), extension, piece) for piece in pieces)
    return chunks + b"0\r\n" + trailer + b"\r\n"


CHUNKS: dict[str, dict[str, Any]] = {
    "a chunk for each byte": {"size": 1},
    "an extension": {"size": 16, "extension": b";a=b"},
    "a trailer": {"size": 16, "trailer": b"X-Foo: bar\r\n"},
}

IN_CHUNKS = {"Content-Type": JSON, "Transfer-Encoding": "chunked"}


@check("H-19", needs=["4.6-1"], cases=CHUNKS)
def a_body_in_chunks_is_taken(world: World, how: dict[str, Any]) -> None:
    text = f"ä😀 {world.word()}"
    body = f'{{"objectTypeProperty": {{"arrayOfStringExample": ["{text}"]}}}}'.encode()
    answer = world.post("", body=chunked(body, **how), headers=IN_CHUNKS).expect_success()
    answer.expect_json("objectTypeProperty", "arrayOfStringExample", [text])


NOTHING = {"Content-Type": JSON}

BEFORE: dict[str, dict[str, Any]] = {
    "200": {"method": "GET", "path": "?limit=1"},
    "304": {"method": "GET", "path": "/{id}", "headers": {"If-None-Match": "*"}},
    "400 of a body": {"method": "POST", "body": "{", "headers": NOTHING},
    "401 with a body": {"method": "POST", "json": ANY, "authorization": None},
    "404": {"method": "GET", "path": f"/{UNKNOWN_ID}"},
    "a body in chunks": {"method": "POST", "body": chunked(b'{"objectTypeProperty": {}}', 4), "headers": IN_CHUNKS},
    "HEAD": {"method": "HEAD", "path": "/{id}"},
}


@check("H-20", cases=list(BEFORE))
def a_connection_takes_another_request_after(world: World, name: str) -> None:
    made = world.make()
    options = dict(BEFORE[name])
    first = world.request(options.pop("method"), options.pop("path", "").replace("{id}", made.id), **options)
    with world.connection() as send:
        send(first)
        for _ in range(2):
            send(world.request("GET", f"/{made.id}")).expect_status(200).expect_json("id", made.id)


VARIED: dict[str, tuple[str, dict[str, str]]] = {
    "4.9": (complex_path(), {}),
    "4.9 with a form": (complex_path(), {"Accept": FORM}),
    "4.13": (LINKS, {}),
    "4.13 with 202": (LINKS, {"Prefer": "code=202"}),
}


@check("H-21", cases=list(VARIED))
def vary_names_what_the_answer_depends_on(world: World, name: str) -> None:
    path, headers = VARIED[name]
    answer = world.post(path, {"createdAt": "2016-02-28T16:41:41.090Z"}, headers=headers).expect_success()
    found = {one.strip().lower() for one in (answer.header("Vary") or "").split(",")}
    wanted = {"accept", "prefer"} if name.startswith("4.9") else {"prefer"}
    answer.expect(wanted <= found, f"Vary with {', '.join(sorted(wanted))}", answer.header("Vary"))


CASED: dict[str, Callable[[str], str]] = {"lower": str.lower, "upper": str.upper, "mixed": str.swapcase}


@check("H-22", needs=["4.6-1"], cases=list(CASED))
def names_of_headers_of_a_write_may_have_any_letter_case(world: World, name: str) -> None:
    spell = CASED[name]
    body = b'{"objectTypeProperty": {}}'
    headers = {
        spell("Authorization"): f"Bearer {world.token}",
        spell("Content-Type"): JSON,
        spell("Content-Length"): str(len(body)),
        spell("Host"): world.server.transport.origin.authority,
    }
    world.post("", body=body, headers=headers, authorization=None).expect_success()


ORIGIN = {"Origin": "https://shop.example"}
EXPOSED = {"etag", "location", "content-location", "retry-after", "x-correlation-id"}


def names_in(answer: Answer, header: str) -> set[str]:
    """The names that a header lists, in lower case."""
    return {name.strip().lower() for name in (answer.header(header) or "").split(",")} - {""}


def expect_readable_by_pages(answer: Answer) -> None:
    """Expect the headers that let a page of another origin read an answer."""
    origin = answer.header("Access-Control-Allow-Origin")
    answer.expect(origin in ("*", ORIGIN["Origin"]), "Access-Control-Allow-Origin: *, or the origin", origin)
    exposed = names_in(answer, "Access-Control-Expose-Headers")
    answer.expect(exposed >= EXPOSED, f"Access-Control-Expose-Headers with {', '.join(sorted(EXPOSED))}", exposed)


READ_BY_PAGES: dict[str, Callable[[World], Answer]] = {
    "the list": lambda world: world.get("", headers=ORIGIN),
    "a resource": lambda world: world.get(f"/{world.make().id}", headers=ORIGIN),
    "400": lambda world: world.get("?limit=x", headers=ORIGIN),
    "401": lambda world: world.nobody().get("", headers=ORIGIN),
}


@check("H-24", cases=READ_BY_PAGES)
def pages_of_other_origins_may_read_answers(world: World, ask: Callable[[World], Answer]) -> None:
    expect_readable_by_pages(ask(world))


@check("H-25", cases=["GET", "POST", "PUT", "PATCH", "DELETE"])
def a_preflight_request_is_allowed(world: World, method: str) -> None:
    asked = {"authorization", "content-type", "if-match"}
    headers = {
        **ORIGIN,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": ",".join(sorted(asked)),
    }
    answer = world.nobody().send("OPTIONS", "", headers=headers).expect_status(200)
    origin = answer.header("Access-Control-Allow-Origin")
    answer.expect(origin in ("*", ORIGIN["Origin"]), "Access-Control-Allow-Origin: *, or the origin", origin)
    methods = names_in(answer, "Access-Control-Allow-Methods")
    answer.expect(method.lower() in methods, f"Access-Control-Allow-Methods with {method}", methods)
    allowed = names_in(answer, "Access-Control-Allow-Headers")
    answer.expect(asked <= allowed, f"Access-Control-Allow-Headers with {', '.join(sorted(asked))}", allowed)


@check("H-26", cases={"gzip": "gzip", "br": "br", "in other letters": "GZip", "two": "gzip, identity"})
def an_encoded_body_is_refused(world: World, encoding: str) -> None:
    answer = refused(world.post("", ANY, headers={"Content-Encoding": encoding}), 415, "UnsupportedMediaType")
    answer.expect_header("Accept-Encoding", "identity")
