"""Attacks on the HTTP layer: messages that two servers read differently, hostile paths, queries, forms and bodies."""

import itertools
import random
from urllib.parse import quote, urlencode

from tests.attack.table import Tally, case
from tests.faults.check_abuse import (
    AMBIGUOUS,
    CHUNKED,
    CHUNKS,
    HOSTILE_PATHS,
    SMUGGLED,
    assert_refused,
    bodies,
    forms,
    post,
    posted,
    sent_raw,
)
from tests.faults.service import Service

GROUP = "HTTP"


def _refuses(received: bytes) -> bool:
    try:
        assert_refused(received)
    except AssertionError:
        return False
    return True


@case(GROUP, "messages that two servers may read differently: refused, what is smuggled is not answered", within_s=300)
def ambiguous_messages(service: Service, tally: Tally) -> None:
    token = service.token("manage_test:demo")
    head = f"Content-Type: application/json\r\nAuthorization: Bearer {token}\r\n{CHUNKED}"
    for shape in AMBIGUOUS.values():
        received = sent_raw(service, shape + SMUGGLED)
        tally.expect(_refuses(received), (shape, received))
    for chunks in CHUNKS.values():
        received = sent_raw(service, post(head, chunks) + SMUGGLED)
        tally.expect(_refuses(received), (chunks[:100], received))


@case(GROUP, "malicious paths, forms and bodies: 4xx within 5 s")
def malicious_requests(service: Service, tally: Tally) -> None:
    token = service.token("manage_test:demo", "view_products:demo")
    for path in HOSTILE_PATHS:
        answer = service.request("GET", path, token=token)
        tally.expect(400 <= (answer.status or 0) < 500 and answer.seconds < 5, (path, answer))
    for paths, kind, given in (
        ("/demo/resource", "application/json", bodies()),
        ("/demo/resource/product-projection-search", "application/x-www-form-urlencoded", forms()),
    ):
        for name, body in given.items():
            head = {"Authorization": f"Bearer {token}", "Content-Type": kind}
            status, text, seconds = posted(service, paths, body, head)
            tally.expect(400 <= status < 500 and seconds < 5, (name, status, text[:200]))


_WORDS = (
    "", "a", "key", "version", "objectTypeProperty", "arrayOfObjectType", "createdAt", "not", "and", "or", "in", "is",
    "(", ")", "((", ",", ":", ".", "=", "!=", "<>", ">", "<", '"', '"a"', '"\\"', "'", "%", "_", ";", "--", "/*", "1",
    "-0", "1e400", "99999999999999999999", "0.1", "true", "null", "missing", "range", "from", "to", "*", "\u0130",
    "\x7f", "\ud83d\ude00", "{", "}", "[", "]", "$1", "%s", "within circle(1,2,3)", "contains any", "is empty", "as x",
)  # fmt: skip
"""What expressions are made of, in no order that the grammars permit."""

_QUERIES_PLACES = (
    ("sorted-query-parameters", "where"),
    ("sorted-query-parameters", "sort"),
    ("sorted-query-parameters", "expand"),
    ("searchApiPattern", "filter"),
    ("searchApiPattern", "filter.query"),
    ("searchApiPattern", "facet"),
    ("searchApiPattern", "text.en"),
    ("searchApiPattern", "sort"),
)


@case(GROUP, "queries put together at random from words of the languages: no 5xx", within_s=180)
def hostile_queries(service: Service, tally: Tally) -> None:
    token = service.token("manage_test:demo")
    chance = random.Random(7)  # noqa: S311 -- the same queries in each run
    for (path, name), _ in itertools.product(_QUERIES_PLACES, range(60)):
        text = " ".join(chance.choices(_WORDS, k=chance.randint(1, 8)))
        query = urlencode({name: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")})
        answer = service.request("GET", f"/demo/resource/{path}?{query}", token=token)
        tally.expect(answer.status is not None and answer.status < 500, (path, name, text, answer))


@case(GROUP, "a target in absolute form: answered, or refused if it is malformed")
def absolute_targets(service: Service, tally: Tally) -> None:
    for target, host in (("http://one.example/health/live", "two.example"), ("http://[::1]:1/health/live", "x")):
        request = f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        received = sent_raw(service, request.encode())
        tally.expect(received.startswith(b"HTTP/1.1 200"), received[:200])
    location = quote("a b")
    tally.expect(
        b"HTTP/1.1 4" in sent_raw(service, f"GET http://{location}@ HTTP/1.1\r\nHost: x\r\n\r\n".encode()), "@"
    )
