"""Journals without a service: scenes of requests with times of their own."""

import json
import socket
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sample_resource_sandbox.analysis.observer import Observer
from sample_resource_sandbox.analysis.report import report
from sample_resource_sandbox.analysis.tally import Tally
from sample_resource_sandbox.journal.entry import Entry, Message
from sample_resource_sandbox.journal.journal import Journal, Shelf
from sample_resource_sandbox.journal.redaction import Secrets


def an_entry(**members: Any) -> Entry:
    """A GET of a list, answered with 200 at once, but for some members."""
    values: dict[str, Any] = dict.fromkeys(("client_id", "connection", "project_time"))
    values |= dict.fromkeys(("arrived_at", "answered_s", "ended_s"), 0.0)
    values |= {"operation": "listResources", "method": "GET", "target": "/p/resource", "http_version": "HTTP/1.1"}
    return Entry(**{**values, "request": Message(()), "correlation_id": "", "status": 200, **members})


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
    retry_after: int | str | None = None,
    does: Sequence[str] = (),
    carried_out: bool = True,
    token: str = "t1",  # noqa: S107 -- an id
    program: str = "client/1",
    **members: Any,
) -> Entry:
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
        answer = {"access_token": f"{token:x>30}", "expires_in": 172_800} if answer is None else answer
    else:
        near = path if (method, path) in OPERATIONS else "/key=" if path.startswith("/key=") else path[:1]
        operation, target = OPERATIONS.get((method, near)), f"/p/resource{target}"
    data = b"" if body is None else json.dumps(body).encode()
    does = tuple(does) or (("close",) if status is None else ())
    headers = [("Authorization", f"Bearer {token:x>30}"), ("User-Agent", program), *head]
    told = [] if retry_after is None else [("Retry-After", str(retry_after))]
    said = b"" if answer is None else json.dumps(answer, separators=(",", ":")).encode()
    if does:
        replaced = None if not carried_out else 201 if method in ("POST", "PUT") and path == "" else 200
        rule = {"does": list(does), "carriedOut": carried_out, "replacedStatus": replaced, "did": "x"}
        members = {"rule": rule, **members}
    members = {"answered_s": took, "ended_s": took, **members}
    return an_entry(
        arrived_at=BEGAN + at, client_id="c", operation=operation, method=method, target=target, status=status,
        request=Message(tuple(headers), data, len(data)), connection=None if on is None else (on, 0),
        answer=None if status is None else Message(tuple(told), said, len(said)), **members,
    )  # fmt: skip


BEGAN = 1_800_000_000.0
"""When a scene begins."""


def replayed(scene: Sequence[Entry]) -> tuple[Journal, Tally]:
    """The journal of a scene, and what it shows: requests arrive and end in the order of their times."""
    journal = Journal(Shelf(2**30), Secrets())
    observer = Observer("p", "c", journal)
    counts: Counter[int] = Counter()
    events: list[tuple[float, int, Entry]] = []
    sockets: list[socket.socket] = []
    fresh = [replace(each, findings=(), is_judged=False, is_beside=False) for each in scene]
    for each in sorted(fresh, key=lambda one: one.arrived_at):
        if each.connection is not None:
            counts[each.connection[0]] += 1
            each.connection = each.connection[0], counts[each.connection[0]]
        if each.client_gone:
            each.client, other_end = socket.socketpair()
            sockets.append(each.client)
            other_end.close()
        events.append((each.arrived_at, 1, each))
        if each.ended_s is not None:
            events.append((each.ended_at, 0, each))
    for _, begins, each in sorted(events, key=lambda event: event[:2]):
        if begins:
            observer.begin(each)
        else:
            observer.end(each)
    tally = observer.tally()
    for each in sockets:
        each.close()
    return journal, tally


def findings_of(scene: Sequence[Entry]) -> list[tuple[int, str]]:
    """The numbers of the requests of a scene in which something is found, and what."""
    journal, _ = replayed(scene)
    return [(entry.number, each["id"]) for entry in journal.after(0) for each in entry.findings]


def stories_in(report: dict[str, Any]) -> list[tuple[str, list[int], str]]:
    """The stories of a report: trouble, requests, outcome."""
    return [
        (story["trouble"], each["requests"], story["outcome"])
        for story in report["stories"]
        for each in story["examples"]
    ]


def recovery_of(scene: Sequence[Entry]) -> list[tuple[str, list[int], str]]:
    """The stories of a scene."""
    return stories_in(report({"projectKey": "p"}, replayed(scene)[1]))
