"""Journals without a database."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from app.identity.verification import Principal, VerifiedToken
from app.sandbox.analysis.observer import observe
from app.sandbox.analysis.recovery import episodes
from app.sandbox.journal.entries import Entry
from app.sandbox.journal.exchange import Exchange, HttpMessage
from app.sandbox.journal.store import Kept
from app.sandbox.journal.texts import row_of
from app.sandbox.reading.lists import ReadEntry, Reading, beside_others


def exchange(**members: Any) -> Exchange:
    """A GET of a list, answered with 200 at once, but for some members."""
    values: dict[str, Any] = {
        "project_key": "p",
        "owner": "c",
        "secret_hash": b"",
        "arrived_at": 0.0,
        "client_id": None,
        "operation_id": "listResources",
        "method": "GET",
        "target": "/p/resource",
        "http_version": "HTTP/1.1",
        "request": HttpMessage((), b"", 0),
        "token": None,
        "connection": None,
        "correlation_id": "",
        "project_time": None,
        "answered_s": 0.0,
        "ended_s": 0.0,
        "status": 200,
    }
    return Exchange(**{**values, **members})


def kept_entry(number: int, entry: str) -> Kept:
    """An entry of a page."""
    return Kept(number, (number, 0), number, len(entry), True, entry)


def read_entries(kept: Sequence[Kept]) -> list[ReadEntry]:
    """A whole journal as it is answered, oldest first."""
    reading = Reading()
    texts = {each.position: each.entry for each in kept if each.entry is not None}
    reading.look(reading.unseen(kept), texts, beside_others(kept))
    return reading.shown(kept)


OPERATIONS = {
    ("GET", ""): "listResources",
    ("HEAD", ""): "checkResources",
    ("POST", ""): "createOrUpdateResource",
    ("PUT", ""): "createOrOverwriteResource",
    ("PATCH", ""): "overwriteResource",
    ("GET", "/sorted-query-parameters"): "listResourcesSorted",
    ("GET", "/searchApiPattern"): "searchResources",
    ("POST", "/description-with-urn-links"): "postDescriptionWithLinks",
    ("GET", "/key="): "getResourceByKey",
    ("GET", "/"): "getResourceById",
    ("POST", "/"): "updateResourceById",
    ("DELETE", "/"): "deleteResourceById",
}


def sent(
    at: float,
    call: str = "GET ",
    status: int | None = 200,
    *,
    on: int | None = 1,
    took: float = 0.002,
    body: Any = None,
    answer: Any = None,
    head: Sequence[tuple[str, str]] = (),
    retry_after: int | None = None,
    does: Sequence[str] = (),
    carried_out: bool = True,
    token: str = "t1",  # noqa: S107 -- an id
    program: str = "client/1",
    **members: Any,
) -> Exchange:
    """A request that arrived some seconds after the beginning of a scene.

    :param call: method and target below the resources of the project, or ``grant``: a request for a token.
    :param status: of its answer; None: its connection was closed without one.
    :param on: the number of its connection; None: it is not known.
    :param took: until it ended.
    :param does: what a rule has done; ``close`` if the status is None.
    :param carried_out: whether the request had its effect, in spite of a rule.
    """
    method, _, target = call.partition(" ")
    path = target.partition("?")[0]
    if call == "grant":
        method, target, operation = "POST", "/oauth/token", "getToken"
        answer = {"access_token": "(redacted)", "expires_in": 172_800} if answer is None else answer
    else:
        near = path if (method, path) in OPERATIONS else "/key=" if path.startswith("/key=") else path[:1]
        operation, target = OPERATIONS.get((method, near)), f"/p/resource{target}"
    data = b"" if body is None else json.dumps(body).encode()
    does = tuple(does) or (("close",) if status is None else ())
    headers = [("Authorization", f"Bearer {token:x>30}"), ("User-Agent", program), *head]
    told = [] if retry_after is None else [("Retry-After", str(retry_after))]
    said = b"" if answer is None else json.dumps(answer, separators=(",", ":")).encode()
    principal = Principal("c", frozenset())
    values: dict[str, Any] = {
        "arrived_at": BEGAN + at,
        "client_id": "c",
        "operation_id": operation,
        "method": method,
        "target": target,
        "request": HttpMessage(tuple(headers), data, len(data)),
        "token": None if call == "grant" else VerifiedToken(principal, _NO_ISSUER, None, token, BEGAN + 1e6),
        "connection": None if on is None else (on, 0),
        "answered_s": took,
        "ended_s": took,
        "status": status,
        "answer": None if status is None else HttpMessage(tuple(told), said, len(said)),
    }
    if does:
        replaced = None if not carried_out else 201 if method in ("POST", "PUT") and path == "" else 200
        values["rule"] = {"does": list(does), "carriedOut": carried_out, "replacedStatus": replaced}
    return exchange(**{**values, **members})


_NO_ISSUER: Any = None

BEGAN = 1_800_000_000.0
"""When a scene begins."""


def entries_of_scene(scene: Sequence[Exchange]) -> list[Entry]:
    """The journal of a scene: requests in the order of their arrival, and on their connections."""
    counts: Counter[int] = Counter()
    entries: list[Entry] = []
    for number, each in enumerate(sorted(scene, key=lambda one: one.arrived_at), 1):
        if each.connection is not None:
            counts[each.connection[0]] += 1
            each.connection = each.connection[0], counts[each.connection[0]]
        row = row_of(each, ())
        kept = Kept(number, (row.arrived_us, row.place), row.ended_us, len(row.entry), True, row.entry)
        entries.append(Entry.read(kept, row.entry))
    return entries


def findings_of(scene: Sequence[Exchange]) -> list[tuple[int, str]]:
    """The numbers of the requests of a scene in which something is found, and what."""
    found = observe(entries_of_scene(scene)).found
    return [(number, each.finding.id) for number in sorted(found) for each in found[number]]


def recovery_of(scene: Sequence[Exchange]) -> list[tuple[str, list[int], str]]:
    """The episodes of a scene: trouble, requests, outcome."""
    entries = entries_of_scene(scene)
    found = episodes(entries, observe(entries).again)
    return [(each.trouble, each.requests, str(each.outcome)) for each in found]
