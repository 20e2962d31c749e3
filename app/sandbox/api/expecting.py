"""What a test expects a client to have sent, held against the journal."""

import time
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import Any

from werkzeug.datastructures import Headers

from app.sandbox.api.orders import Expectation
from app.sandbox.faults.requests import TOKEN_PATH, path_below
from app.sandbox.journal.entry import Entry
from app.sandbox.journal.journal import Journal
from app.sandbox.journal.redaction import redacted, redacted_header
from app.sandbox.rules.matching import NOTHING, Budget, Match, Sent

_LOOK_S = 0.05
_NEAREST = 3
_COMPARED = 200
"""Of the last requests the nearest ones are sought."""
_SHOWN_AT_MOST = 300


def expected(journal: Journal, expectation: Expectation, pause: Callable[[float], None]) -> tuple[bool, list[int]]:
    """Whether it is so, within the time that it may take, and the numbers of the requests that fit.

    That none is sent is waited for until the end: one may still come.
    """
    deadline = time.monotonic() + expectation.within_ms / 1000
    at_least, at_most = expectation.at_least, expectation.at_most
    found: list[int] = []
    looked = -1
    while True:
        if looked != journal.changes:
            looked = journal.changes
            found = list(_fitting(journal, expectation))
        fits = at_least <= len(found) and (at_most is None or len(found) <= at_most)
        is_too_much = at_most is not None and len(found) > at_most
        if is_too_much or (fits and at_most != 0) or time.monotonic() >= deadline:
            return fits, found
        pause(_LOOK_S)


def _fitting(journal: Journal, expectation: Expectation) -> Iterator[int]:
    budget = Budget(comparisons=2_000_000, steps=200_000_000)
    for entry in journal.after(expectation.after):
        if expectation.status in (None, _status_of(entry)) and expectation.match.holds(
            _sent(entry, budget), is_named=True
        ):
            yield entry.number


def _status_of(entry: Entry) -> int | None:
    """That of the answer; if a rule withheld it, that which it would have had."""
    withheld = None if entry.rule is None else entry.rule["replacedStatus"]
    return entry.status if entry.status is not None else withheld


def _sent(entry: Entry, budget: Budget) -> Sent:
    path = entry.target.partition("?")[0]
    return Sent(
        entry.operation,
        entry.method,
        TOKEN_PATH if path == TOKEN_PATH else path_below(entry.target),
        entry.client_id,
        query=entry.target.partition("?")[2],
        headers=Headers(list(entry.request.pairs())),
        read=lambda: entry.request.body,
        budget=budget,
    )


def nearest(journal: Journal, expectation: Expectation) -> list[dict[str, Any]]:
    """Up to three requests that nearly fit, and how they differ."""
    budget = Budget(comparisons=2_000_000, steps=200_000_000)
    judged: list[tuple[float, Entry, list[str]]] = []
    for entry in journal.after(journal.total - _COMPARED):
        differs = list(_differences(entry, expectation, _sent(entry, budget), journal))
        path = expectation.match.path or ""
        alike = SequenceMatcher(None, path, path_below(entry.target)[:200], autojunk=False).ratio() if path else 0.0
        judged.append((len(differs) - alike, entry, differs))
    judged.sort(key=lambda each: (each[0], -each[1].number))
    return [
        {
            "number": entry.number,
            "method": entry.method,
            "target": redacted(entry.target, journal.secrets),
            "status": entry.status,
            "differs": differs,
        }
        for _, entry, differs in judged[:_NEAREST]
    ]


def _differences(entry: Entry, expectation: Expectation, sent: Sent, journal: Journal) -> Iterator[str]:
    """How a request differs from the expected one, a text for each member."""
    match = expectation.match

    def shown(text: str | None) -> str:
        clean = redacted(text or "", journal.secrets)
        return clean if len(clean) <= _SHOWN_AT_MOST else f"{clean[:_SHOWN_AT_MOST]}..."

    if entry.number <= expectation.after:
        yield f"number: it came before request {expectation.after + 1}"
    if expectation.status not in (None, _status_of(entry)):
        yield f"status: it is {_status_of(entry)}, and {expectation.status} was expected"
    if match.operation_ids is not None and sent.operation_id not in match.operation_ids:
        yield f"operationId: it is {sent.operation_id}"
    if match.method not in (None, sent.method):
        yield f"method: it is {sent.method}, and {match.method} was expected"
    if match.path is not None and not sent.finds(match.path, in_body=False):
        yield f"path: it is {shown(sent.path)}"
    for name, wanted in match.query:
        values = sent.parameters.get(name, [])
        if not Match.is_wanted(wanted, values):
            yield f"query -> {name}: it is {', '.join(map(shown, values)) or 'not there'}"
    for name, wanted in match.header:
        values = [redacted_header(name, value, journal.secrets) for value in sent.headers.getlist(name)]
        if not Match.is_wanted(wanted, sent.headers.getlist(name)):
            yield f"header -> {name}: it is {', '.join(map(shown, values)) or 'not there'}"
    if match.body is not NOTHING and not match.holds_for_body(sent):
        yield f"body: it is {shown(sent.body) or 'empty'}"
