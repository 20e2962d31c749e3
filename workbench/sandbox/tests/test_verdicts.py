"""What is said of a client: nothing wrong of one that is right, in scenes of requests with times of their own.

Real clients that are right repeat requests by timers of their own and in parallel, share a project with others, speak
HTTP/1.0, or stand behind a proxy that closes connections. Nothing of that is a finding, and none makes anything worse.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest
from journals import findings_of, recovery_of, replayed, sent, stories_in
from sample_resource_sandbox.analysis.findings import FINDINGS
from sample_resource_sandbox.analysis.report import report, verdict
from sample_resource_sandbox.journal.entry import Entry
from sample_resource_sandbox.journal.journal import KEPT

ONE = "018cc251-f400-7000-8000-000000000001"
TWO = "018cc251-f400-7000-8000-000000000002"
UPDATE = f"POST /{ONE}"
CREATE: dict[str, Any] = {"objectTypeProperty": {}}
KEYED: dict[str, Any] = {"key": "one", **CREATE}
PAGE = {"results": [{"id": ONE, "version": 1}, {"id": TWO, "version": 1}]}

Scene = Sequence[Entry]


def version(number: int) -> dict[str, Any]:
    return {"version": number, "actions": [{"action": "doSomeThing"}]}


def closing(scene: Scene) -> list[Entry]:
    """The scene of a client that closes its connection after each request."""
    for number, each in enumerate(scene, 100):
        each.connection = (number, 0)
        each.request.headers = (*each.request.headers, ("Connection", "close"))
    return list(scene)


def old(scene: Scene) -> list[Entry]:
    """The scene in HTTP/1.0: a connection for each request."""
    for number, each in enumerate(scene, 200):
        each.connection = (number, 0)
        each.http_version = "HTTP/1.0"
    return list(scene)


def alternating(scene: Scene) -> list[Entry]:
    """The requests of a scene by turns on two connections."""
    for number, each in enumerate(scene):
        if each.connection is not None:
            each.connection = (300 + number % 2, 0)
    return list(scene)


def read(at: float, number: int, **more: Any) -> Entry:
    """The client reads a version of a resource."""
    return sent(at, f"GET /{ONE}", answer={"id": ONE, "version": number}, **more)


def blind(at: float, number: int, **more: Any) -> Entry:
    """The client writes without a version, which makes this one."""
    return sent(at, "PUT ", body=KEYED, answer={"id": ONE, "version": number}, **more)


def versioned(at: float, expected: int, made: int | None, does: Sequence[str] = (), **more: Any) -> Entry:
    """The client replaces the content of a resource if it has a version; 409 if no version is made."""
    answer = None if made is None else {"id": ONE, "version": made}
    body = {**KEYED, "version": expected, **more}
    return sent(at, "PUT ", 200 if made else 409, body=body, answer=answer, does=does, carried_out=not does)


GUILTY: dict[str, tuple[Scene, list[int]]] = {
    "unsafeRepetition": ([sent(0, "POST ", None, body=CREATE), sent(1, "POST ", 201, body=CREATE, on=2)], [2]),
    "lostUpdate": (
        [
            read(0, 1), blind(1, 3),
            versioned(2, 3, None), versioned(3, 4, 5),
            versioned(4, 5, None, lastModifiedAt="x"), blind(5, 7),
        ], [2, 4, 6],
    ),
    "staleVersionRepeated": (
        [sent(0, UPDATE, 409, body=version(1)), sent(1, UPDATE, 409, body=version(1))],
        [2],
    ),
    "refusedTokenRepeated": ([sent(0, status=401), sent(1, status=401)], [2]),
    "refusedRequestRepeated": ([sent(at, "GET ?limit=-1", 400) for at in range(4)], [4]),
    "retryBeforeRetryAfter": ([sent(0, status=503, retry_after=2), sent(1.9)], [2]),
    "retriedWithoutPause": ([sent(at / 20, status=503) for at in range(12)], [11, 12]),
    "tokenForEachRequest": (
        [sent(at / 10, "GET " if at % 2 else "grant", token=f"t{at // 2}") for at in range(6)],
        [5],
    ),
    "connectionForEachRequest": ([sent(at / 10, on=at) for at in range(1, 7)], [5, 6]),
    "doubleEncoding": (
        [sent(0, "POST ", 201, body={"key": "my-key", **CREATE}), sent(1, "GET /key=my%252Dkey", 404)],
        [2],
    ),
    "missingEncoding": ([sent(0, 'GET ?where=key="one"', 400)], [1]),
    "booleanInOtherCase": ([sent(0, "GET /sorted-query-parameters?withTotal=True")], [1]),
    "answerNotRead": ([sent(0, took=0.005, client_gone=True)], [1]),
}  # fmt: skip


def test_each_finding_has_a_guilty_scene() -> None:
    assert list(GUILTY) == [finding.id for finding in FINDINGS]


@pytest.mark.parametrize("id_", GUILTY)
def test_it_is_found(id_: str) -> None:
    scene, numbers = GUILTY[id_]
    assert findings_of(scene) == [(number, id_) for number in numbers]
    retries = ("unsafeRepetition", "lostUpdate", "staleVersionRepeated", "refusedTokenRepeated")
    is_retry = id_ in retries or id_.startswith("retr")
    assert {outcome for _, _, outcome in recovery_of(scene) if is_retry} == ({"madeWorse"} if is_retry else set())


INNOCENT: dict[str, Scene] = {
    # Tokens
    "token: kept until shortly before it expires": [
        sent(0, "grant"), sent(1), sent(2), sent(172_700, "grant"), sent(172_701),
    ],
    "token: renewed when refused": [
        sent(0, "grant"), sent(1), sent(2), sent(3, status=401), sent(4, "grant"), sent(5, token="t2"),
    ],
    "token: another scope is refused, and another token asked for": [
        sent(0, "grant"), sent(1, status=403), sent(2, "grant"), sent(3, status=403), sent(4, "grant"),
    ],
    "token: of a project that lets them live for a minute": [
        sent(at, call, answer={"access_token": "(secret)", "expires_in": 60} if call == "grant" else None)
        for at, call in enumerate(["grant", "GET ", "grant", "GET ", "grant", "GET ", "GET ", "grant"])
    ],
    "token: the endpoint itself is tested": [sent(at, "grant") for at in range(5)],
    "token: three programs": [
        sent(at / 10, "GET " if at % 2 else "grant", token=f"t{at // 2}", program=f"p{at}" if at % 2 else "oauth/1")
        for at in range(6)
    ],
    "token: of a program that is started for each request": [
        sent(at / 10, "grant" if at % 2 == 0 else "GET ", token=f"t{at // 2}", on=at // 2) for at in range(8)
    ],
    "token: of such programs behind a proxy": [
        sent(at / 10, "grant" if at % 2 == 0 else "GET ", token=f"t{at // 2}", head=[("Via", "1.1 proxy")])
        for at in range(8)
    ],
    "token: a bad one is refused by two operations": [
        sent(0, status=401), sent(1, f"GET /{ONE}", status=401), sent(2, f"DELETE /{ONE}", status=401),
    ],
    "refused: what is gone is deleted again": [sent(at, f"DELETE /{ONE}", 404) for at in range(5)],
    "connection: a pool that keeps idle ones for a second": [sent(at * 2, on=at) for at in range(1, 7)],
    "token: none is sent": [sent(at, status=401, head=[("Authorization", "")]) for at in range(2)],
    # Retry-After
    "retry: by the client's own timer": [sent(0, status=503, retry_after=1), sent(0.98), sent(1.5)],
    "retry: an answer that waited before it was sent": [
        sent(0, status=503, retry_after=1, took=3.0, answered_s=3.0), sent(4.0),
    ],
    "retry: two clients meet the same 503": [
        sent(0, status=503, retry_after=2, on=1), sent(0.5, status=503, retry_after=2, on=2, program="other/2"),
        sent(2.01, on=1), sent(2.51, on=2, program="other/2"),
    ],
    "retry: a client with several threads, which just have not overlapped": [
        sent(0, on=1, took=0.1), sent(0.05, on=2, took=0.1), sent(0.2, status=503, retry_after=2, on=1),
        sent(0.3, on=2), sent(2.3, on=1),
    ],
    "retry: three in parallel, each with its timer": [
        *(sent(at / 1000, status=503, retry_after=1, on=at) for at in range(1, 4)),
        *(sent(1.01 + at / 1000, on=4 - at) for at in range(1, 4)),
    ],
    "retry: one that had arrived before the answer": [
        sent(0, status=503, retry_after=2, on=1, took=0.003), sent(0.002, status=503, retry_after=2, on=2),
    ],
    # POST without a key
    "repetition: with a key": [sent(0, "POST ", None, body=KEYED), sent(1, "POST ", 200, body=KEYED, on=2)],
    "repetition: parallel POSTs, one of them lost": [
        sent(0, "POST ", None, body=CREATE, on=1, took=0.0035),
        *(sent(at / 1000, "POST ", 201, body=CREATE, on=at) for at in range(2, 5)),
    ],
    "repetition: of a POST whose resource was deleted": [
        sent(0, "POST ", None, body=CREATE), sent(1, f"DELETE /{ONE}?version=1"), sent(2, "POST ", 201, body=CREATE),
    ],
    "repetition: of a POST that was not carried out": [
        sent(0, "POST ", 503, body=CREATE, does=["status"], carried_out=False),
        sent(1, "POST ", None, body=CREATE, carried_out=False), sent(2, "POST ", 201, body=CREATE),
    ],
    # Lost updates
    "update: of the version that was read": [read(0, 1), blind(1, 2), blind(2, 3)],
    "update: of one that changes nothing": [read(0, 3), blind(1, 3), blind(2, 3)],
    "update: of one that has no effect": [
        read(0, 1),
        sent(1, "PUT ", body=KEYED, answer={"id": ONE, "version": 3, "lastModifiedBy": {"id": "other"}}),
    ],
    "update: of a resource that was never read": [
        sent(0, "PUT ", 201, body=KEYED, answer={"id": ONE, "version": 1}), blind(1, 3),
    ],
    "update: with a version": [
        read(0, 1), sent(1, "PUT ", body={**KEYED, "version": 2}, answer={"id": ONE, "version": 3}),
        sent(2, "PUT ", body=KEYED, answer={"id": ONE, "version": 5}, head=[("If-Match", '"4"')]),
    ],
    "update: read again": [read(0, 1), sent(1, "GET ", answer={"results": [{"id": ONE, "version": 2}]}), blind(2, 3)],
    "update: of another program": [read(0, 1), blind(1, 3, program="other/2")],
    "update: after one of its own, whose answer was lost": [
        read(0, 1), sent(1, "PUT ", None, body=KEYED), sent(2, "GET /key=one", 404), blind(3, 4),
    ],
    "update: two of its own at once": [read(0, 1), blind(1, 2, took=0.2), blind(1.1, 3)],
    "update: read again after a 409": [read(0, 1), versioned(1, 1, None), read(2, 2), versioned(3, 2, 3)],
    "update: of the version that it has made, after a 409": [
        blind(0, 1), versioned(1, 1, 2), versioned(2, 1, None), versioned(3, 2, 3), versioned(4, 1, None), blind(5, 4),
    ],
    "update: carried out, and its answer lost": [
        read(0, 1), sent(1, "PUT ", None, body={**KEYED, "version": 1}), versioned(2, 1, None), versioned(3, 2, 3),
    ],
    "update: after a refusal of what it has never read, other content": [
        versioned(0, 1, None), sent(1, "PUT ", body={"key": "one"}, answer={"id": ONE, "version": 3}),
    ],
    "update: other content after a 409": [
        blind(0, 1), versioned(1, 1, None), sent(2, "PUT ", body={**KEYED, "version": 2, "someProperty": "x"},
            answer={"id": ONE, "version": 3}),
    ],
    "update: a part, with the current version": [
        read(0, 1), sent(1, "POST ", 409, body={**KEYED, "version": 1}),
        sent(2, "POST ", body={**KEYED, "version": 2}, answer={"id": ONE, "version": 3}),
    ],
    "update: after a 409 that a rule has made": [
        blind(0, 1), versioned(1, 1, None, does=["status"]), versioned(2, 2, 3),
    ],
    "update: a DELETE": [read(0, 1), sent(1, f"DELETE /{ONE}", answer={"id": ONE, "version": 5})],
    # Versions
    "version: the current one": [sent(0, UPDATE, 409, body=version(1)), sent(1, UPDATE, body=version(2))],
    "version: a 409 that was made up, with a version that the project does not have": [
        sent(0, UPDATE, 409, body=version(1), does=["status"], carried_out=False),
        sent(1, f"GET /{ONE}"),
        sent(2, UPDATE, 200, body=version(1)),
    ],
    "version: refused twice, of different writes": [
        sent(0, UPDATE, 409, body=version(1)), sent(1, UPDATE, 409, body={**version(1), "actions": []}),
        sent(2, f"DELETE /{ONE}?version=1", 409),
    ],
    "version: three times another, after 412": [
        sent(at, "PUT ", 412, body=KEYED, head=[("If-Match", f'"{at}"')]) for at in range(3)
    ],
    "version: none, where nothing may be": [
        sent(at, "PUT ", 412, body=KEYED, head=[("If-None-Match", "*")]) for at in range(3)
    ],
    # Refused requests
    "refused: asserted three times": [sent(at, "GET ?limit=-1", 400) for at in range(3)],
    "refused: not there yet": [sent(at, "GET /key=one", 404) for at in range(9)],
    "refused: mended": [sent(0, "GET ?limit=-1", 400), sent(1, "GET ?limit=1")],
    "refused: with another token": [
        sent(0, status=403), sent(1, status=403, head=[("Authorization", "Bearer " + "y" * 30)]),
    ],
    "refused: on order": [
        sent(at, status=400, does=["status"], carried_out=False) for at in range(2)
    ],
    # Connections
    "connection: closed by the service": [sent(at, "GET ", None, on=at) for at in range(1, 8)],
    "connection: HTTP/1.0": old([sent(at / 10) for at in range(9)]),
    "connection: a client that closes it": closing([sent(at / 10) for at in range(9)]),
    "connection: a proxy that says who it is": [
        sent(at / 10, on=at, head=[("Via", "1.1 proxy")]) for at in range(1, 9)
    ],
    "connection: given up instead of reading a long answer": [
        sent(at / 10, answer=["x" * 20_000], on=at) for at in range(1, 9)
    ],
    "connection: given up while it was idle": [sent(at * 5.0, on=at) for at in range(1, 9)],
    "connection: given up after errors": [sent(at / 10, status=404, on=at) for at in range(1, 9)],
    # Values
    "boolean: as the interface has it": [
        sent(0, "GET /sorted-query-parameters?withTotal=false"), sent(1, "GET ?arrayOfString=True"),
    ],
    "encoding: of a key that is an encoding": [sent(0, "GET /key=a%252Fb", 404)],
    "encoding: what has to be": [sent(0, "GET /key=a%2Fb", 404), sent(1, "GET ?arrayOfString=a%20b%25%3D")],
    "encoding: a text with a percent sign": [
        sent(0, "GET ?arrayOfString=5%25ab"), sent(1, "GET ?arrayOfString=100%25%20of%20it"),
    ],
    "encoding: a text that is an encoding": [
        sent(0, "POST ", 201, body={"objectTypeProperty": {"arrayOfStringExample": ["a%2Fb", "a/b"]}}),
        sent(1, "GET ?arrayOfString=a%252Fb"), sent(2, "GET ?stringParameter=%252F"),
    ],
    "encoding: a plus sign for a blank that was written": [
        sent(0, "POST ", 201, body={"objectTypeProperty": {"arrayOfStringExample": ["a b", "a+b"]}}),
        sent(1, "GET ?arrayOfString=a+b"), sent(2, "GET ?arrayOfString=c+d"),
    ],
    # Time limits
    "limit: shorter than a delay": [sent(0, took=1.0, client_gone=True, does=["delay"]), sent(1.1, on=2)],
}  # fmt: skip


@pytest.mark.parametrize("name", INNOCENT)
def test_nothing_is_found_in_what_is_right(name: str) -> None:
    scene = INNOCENT[name]
    assert findings_of(scene) == []
    assert [each for each in recovery_of(scene) if each[2] == "madeWorse"] == []


SEQUENCES = [id_ for id_, (scene, _) in GUILTY.items() if len(scene) > 1 and not id_.startswith(("conn", "double"))]
"""What is found in several requests, over whatever connections."""


@pytest.mark.parametrize("id_", SEQUENCES)
@pytest.mark.parametrize("change", [closing, old, alternating])
def test_a_sequence_is_found_over_whatever_connections(id_: str, change: Any) -> None:
    scene, numbers = deepcopy(GUILTY[id_])
    if id_ == "tokenForEachRequest" and change is not alternating:
        numbers = []  # a connection for each token too: it may be a program that is started for each
    assert findings_of(change(scene)) == [(number, id_) for number in numbers]


@pytest.mark.parametrize("id_", SEQUENCES)
def test_a_sequence_beside_other_requests_of_the_client_is_no_finding(id_: str) -> None:
    scene, _ = deepcopy(GUILTY[id_])
    beside = sent(0.0001, "GET ?limit=0", on=9, took=10.0)
    assert findings_of([*scene, beside]) == []


def unread(at: int) -> Entry:
    """A request whose body is too long to be read."""
    entry = sent(at, "POST ", 413, head=[("Content-Length", "3000000")])
    entry.request.size = None
    return entry


def listed(*texts: str) -> dict[str, Any]:
    return {"objectTypeProperty": {"arrayOfStringExample": texts}}


FOUND: dict[str, tuple[Scene, str, list[int]]] = {
    "bodies that were not read": ([unread(at) for at in range(4)], "refusedRequestRepeated", [4]),
    "a 409 answered by the same version, with a read in between": (
        [
            sent(0, UPDATE, 409, body=version(1), on=1), sent(0.1, f"GET /{ONE}", on=2),
            sent(0.2, UPDATE, 409, body=version(1), on=3, token="t2"),
        ], "staleVersionRepeated", [3],
    ),
    "tokens asked for by an OAuth library with a name and connections of its own": (
        [
            sent(at / 10, "GET " if at % 2 else "grant", token=f"t{at // 2}",
                 program="client/1" if at % 2 else "oauth/2", on=1 if at % 2 else 10 + at)
            for at in range(10)
        ], "tokenForEachRequest", [5, 7, 9],
    ),
    "a repetition after a lost answer with another token": (
        [
            sent(0, "POST ", None, body=CREATE, on=1), sent(0.1, "grant", on=2),
            sent(0.2, "POST ", 201, body=CREATE, on=3, token="t2"),
        ], "unsafeRepetition", [3],
    ),
    "a plus sign where the client has written one": (
        [
            sent(0, "POST ", 201, body=listed("a+b")), sent(1, "GET ?arrayOfString=a+b"),
            sent(2, UPDATE, body={"version": 1, "actions": [{"someProperty": "c+d"}, 7]}),
            sent(3, "GET /sorted-query-parameters?where=key%20%3D%20%22c+d%22"), sent(4, "GET ?arrayOfString=a%2Bb"),
        ], "missingEncoding", [2, 4],
    ),
    **{
        f"an answer that cannot be read: {does}": (
            [
                sent(0, "POST ", 502 if does == "html" else 201, body=CREATE, does=[does]),
                sent(1, "POST ", 201, body=CREATE),
            ], "unsafeRepetition", [2],
        )
        for does in ("close", "truncatedJson", "empty", "html")
    },
    **{
        f"null as {name}, as generated clients send for what is absent": (
            [sent(0, "POST ", None, body={**CREATE, name: None}), sent(1, "POST ", 201, body={**CREATE, name: None})],
            "unsafeRepetition", [2],
        )
        for name in ("id", "key", "version")
    },
    **{
        f"an encoding of what was written, or in a grammar: {query}": (
            [sent(0, "POST ", 201, body=listed("a b/c")), sent(1, f"GET {query}")], "doubleEncoding", [2],
        )
        for query in (
            "?stringParameter=a%2520b%252Fc", "?stringParameter=a%2520b/c", "/searchApiPattern?text.en=a%2520b%252Fc",
            "/sorted-query-parameters?where=key%2520%253D%2520%2522a%2522", "?objectParameter=%257B%257D",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_what_is_found_besides(name: str) -> None:
    scene, id_, numbers = FOUND[name]
    assert findings_of(scene) == [(number, id_) for number in numbers]


def test_a_failure_is_remembered_when_the_journal_has_dropped_it() -> None:
    refused = sent(0, UPDATE, 409, body=version(1))
    reads = [sent(0.1 + at / 100, f"GET /{ONE}", answer=PAGE) for at in range(KEPT)]
    again = sent(11, UPDATE, 409, body=version(1))
    assert findings_of([refused, *reads, again]) == [(KEPT + 2, "staleVersionRepeated")]


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_repetition_after_an_error_that_hides_a_commit(status: int) -> None:
    scene = [
        sent(0, "POST ", status, body=CREATE, does=["status"], retry_after=60),
        sent(0.008, "POST ", 503, body=CREATE, does=["status"], carried_out=False),
        sent(2, "POST ", 201, body=CREATE),
    ]
    spaced = b'{"objectTypeProperty" : {}}'
    scene[2].request.body, scene[2].request.size = spaced, len(spaced)
    early = [(2, "retryBeforeRetryAfter")] if status in (429, 503) else []
    assert findings_of(scene) == [*early, (3, "unsafeRepetition")]


def test_one_finding_hides_no_other_and_an_allowance_takes_away_what_it_names() -> None:
    scene = [
        sent(0, "POST ", 503, body=CREATE, does=["status"], retry_after=60), sent(0.008, "POST ", 201, body=CREATE),
    ]  # fmt: skip
    assert findings_of(scene) == [(2, "unsafeRepetition"), (2, "retryBeforeRetryAfter")]
    _, tally = replayed(scene)
    for allow, ids, outcome in (
        ((), ["unsafeRepetition", "retryBeforeRetryAfter"], "madeWorse"),
        (("retryBeforeRetryAfter",), ["unsafeRepetition"], "madeWorse"),
        (("retryBeforeRetryAfter", "unsafeRepetition"), [], "recovered"),
    ):
        made = report({"projectKey": "p"}, tally, allow)
        assert [each["id"] for each in made["findings"]] == ids
        assert stories_in(made) == [("503", [1, 2], outcome)]
        assert verdict("r", tally, allow)[0] is (ids == [])
        assert all((each in made["told"]) is (each in ids) for each in GUILTY)


# Recovery


OUTCOMES: dict[str, dict[str, Scene]] = {
    "401 [1, 3] recovered": {"a new token": [sent(0, status=401), sent(1, "grant"), sent(2, token="t2")]},
    "401 [1] gaveUp": {"no new token": [sent(0, status=401)]},
    "401 [1, 2, 3, 5] notJudged": {
        "three in parallel": [
            *(sent(at / 1000, status=401, on=at, took=0.003) for at in range(1, 4)), sent(1, "grant"),
            *(sent(2 + at / 1000, on=at, token="t2") for at in range(1, 4)),
        ],
    },
    "401 [1, 2] madeWorse": {
        "made up, and the same token": [sent(0, status=401, does=["status"], carried_out=False), sent(1)],
    },
    "409 [1, 2] recovered": {
        "another version": [sent(0, UPDATE, 409, body=version(7)), sent(1, UPDATE, body=version(1))],
    },
    "409 [1, 3] recovered": {
        "another key in between": [
            sent(0, "PUT ", 409, body={**KEYED, "version": 1}), sent(1, "PUT ", 201, body={"key": "two", **CREATE}),
            sent(2, "PUT ", 200, body={**KEYED, "version": 2}),
        ],
    },
    "412 [1, 2] recovered": {
        "the current tag": [
            sent(0, "PUT ", 412, body=KEYED, head=[("If-Match", '"1"')]),
            sent(1, "PUT ", body=KEYED, head=[("If-Match", '"2"')]),
        ],
    },
    "429 [1, 2] recovered": {"waited": [sent(0, status=429, retry_after=1), sent(1.1)]},
    "503 [1, 2, 3] recovered": {"some times": [sent(0, status=503), sent(1, status=503), sent(3)]},
    "503 [1, 2] notJudged": {
        "a 404 on order": [sent(0, status=503), sent(1, status=404, does=["status"], carried_out=False)],
    },
    "lost [1, 2] recovered": {
        "sent again with its key": [sent(0, "POST ", None, body=KEYED), sent(1, "POST ", 200, body=KEYED, on=2)],
        "looked for by its key": [sent(0, "POST ", None, body=KEYED), sent(1, "GET /key=one", on=2)],
        "looked for by a condition": [
            sent(0, "POST ", None, body=KEYED), sent(1, "GET /sorted-query-parameters?where=key%3D%22one%22", on=2),
        ],
        "looked for by the id that the head had": [
            sent(0, "POST ", 201, body=KEYED, answer={"id": ONE}, does=["stall"], took=1.0, client_gone=True),
            sent(1.0, f"GET /{ONE}", on=2),
        ],
        "more is sent before the service notices": [
            sent(0, UPDATE, 200, body=version(1), took=1.01, client_gone=True), sent(1.0, f"GET /{ONE}", on=2),
        ],
        "deleted": [sent(0, f"DELETE /{ONE}?version=1", None), sent(1, f"DELETE /{ONE}?version=1", 404, on=2)],
        "all resources are listed": [
            sent(0, "POST ", None, body=CREATE), sent(1, "GET ", answer={"count": 1, "results": [{"id": ONE}]}, on=2),
        ],
    },
    "409 [2, 3] recovered, lost [1, 2, 3] recovered": {
        "then 409, then the new version": [
            sent(0, UPDATE, None, body=version(1)), sent(1, UPDATE, 409, body=version(1), on=2),
            sent(2, UPDATE, 200, body=version(2), on=2),
        ],
    },
    "409 [2] recovered, lost [1, 2, 3] recovered": {
        "then 409, and a read shows that it is done": [
            sent(0, UPDATE, None, body=version(1)), sent(1, UPDATE, 409, body=version(1), on=2),
            sent(2, f"GET /{ONE}", on=2),
        ],
    },
    "": {"under way": [sent(0, status=503, answered_s=None, ended_s=None), sent(1)]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "name"), [(outcome, name) for outcome, named in OUTCOMES.items() for name in named]
)
def test_what_became_of_it(outcome: str, name: str) -> None:
    stories = recovery_of(OUTCOMES[outcome][name])
    assert ", ".join(sorted(f"{trouble} {numbers} {became}" for trouble, numbers, became in stories)) == outcome
