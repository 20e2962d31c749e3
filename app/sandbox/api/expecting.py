"""What a test expects a client to have sent, held against the journal."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from difflib import SequenceMatcher
from typing import Any, cast

from app.sandbox.api.orders import Expectation
from app.sandbox.faults.requests import path_below, sent_of
from app.sandbox.journal.entry import Entry
from app.sandbox.journal.journal import Journal
from app.sandbox.journal.redaction import Secrets, redacted, redacted_header
from app.sandbox.rules.matching import NOTHING, Budget, Match, Sent, Wanted

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
    return sent_of(entry, lambda: entry.request.body, budget)


def told(expectation: Expectation, found: int) -> str:
    """What was expected, and how often it was sent instead."""
    match, at_least, at_most = expectation.match, expectation.at_least, expectation.at_most
    operations = " or ".join(sorted(match.operation_ids or ()))
    what = " ".join(filter(None, [match.method, match.path])) or operations or "a request"
    given = {name: each for name, each in expectation.order.items() if name in ("query", "header", "body", "status")}
    parts = [f"{name} {_shown(each)}" for name, each in given.items()]
    often = f"at least {_counted(at_least)}" if at_most is None else f"{at_least} to {_counted(at_most)}"
    if at_least == at_most:
        often = _counted(at_least) if at_least else "never"
    return "".join(
        [
            what,
            f" with {', '.join(parts)}" if parts else "",
            f" was expected {often}",
            f" after request {expectation.after}" if expectation.after else "",
            f", and was sent {_counted(found)}.",
        ]
    )


def _counted(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def nearest(journal: Journal, expectation: Expectation) -> list[dict[str, Any]]:
    """Up to three requests that nearly fit, and how they differ."""
    budget = Budget(comparisons=2_000_000, steps=200_000_000)
    judged: list[tuple[float, Entry, list[str]]] = []
    for entry in journal.after(journal.total - _COMPARED):
        differences = list(_differences(entry, expectation, _sent(entry, budget), journal.secrets))
        path = expectation.match.path or ""
        alike = SequenceMatcher(None, path, path_below(entry.target)[:200], autojunk=False).ratio() if path else 0.0
        judged.append((sum(weight for weight, _ in differences) - alike, entry, [text for _, text in differences]))
    judged.sort(key=lambda each: (each[0], -each[1].number))
    return [
        {
            "number": entry.number,
            "method": entry.method,
            "target": redacted(entry.target, journal.secrets),
            "status": _status_of(entry),
            "differs": differs,
        }
        for _, entry, differs in judged[:_NEAREST]
    ]


def _differences(entry: Entry, expectation: Expectation, sent: Sent, secrets: Secrets) -> Iterator[tuple[float, str]]:
    """How a request differs from the expected one: how much that matters, and a text."""
    match = expectation.match

    def but(name: str, wanted: str, found: str) -> str:
        return redacted(f"{name}: {wanted} was expected, and it is {found}", secrets)

    if entry.number <= expectation.after:
        yield 2, f"it came before request {expectation.after + 1}"
    if match.operation_ids is not None and sent.operation_id not in match.operation_ids:
        yield 3, but("operationId", " or ".join(sorted(match.operation_ids)), str(sent.operation_id))
    if match.method not in (None, sent.method):
        yield 3, but("method", str(match.method), sent.method)
    if match.path is not None and not sent.finds(match.path, in_body=False):
        yield 4, but("path", match.path, sent.path[:_SHOWN_AT_MOST])
    if match.client not in (None, sent.client_id):
        yield 1, but("client", str(match.client), str(sent.client_id))
    if expectation.status not in (None, _status_of(entry)):
        yield 1, but("status", str(expectation.status), str(_status_of(entry)))
    for name, wanted in match.query:
        values = sent.parameters.get(name, [])
        if not Match.is_wanted(wanted, values):
            yield 1, but(f"query -> {name}", _wanted(wanted), _values(values))
    for name, wanted in match.header:
        values = sent.headers.getlist(name)
        if not Match.is_wanted(wanted, values):
            shown = [redacted_header(name, value, secrets) for value in values]
            yield 1, but(f"header -> {name}", _wanted(wanted), _values(shown))
    if match.body is not NOTHING and not match.holds_for_body(sent):
        if isinstance(match.body, str):
            yield 1, but("body", f"a match of {match.body}", _shown(sent.body) if sent.body else "empty")
        elif sent.json is NOTHING:
            yield 2, but("body", "JSON", _shown(sent.body) if sent.body else "empty")
        else:
            yield (
                1,
                redacted(_misfit(match.body, sent.json, "body", sent) or "body: it is too large to compare", secrets),
            )


def _misfit(wanted: Any, value: Any, path: str, sent: Sent) -> str | None:
    """The first difference of JSON."""
    if isinstance(wanted, dict) and isinstance(value, dict):
        members, found = cast("dict[str, Any]", wanted), cast("dict[str, Any]", value)
        for name, each in members.items():
            if name not in found:
                return f"{path} -> {name}: {_shown(each)} was expected, and it is not there"
            if (misfit := _misfit(each, found[name], f"{path} -> {name}", sent)) is not None:
                return misfit
        return None
    if isinstance(wanted, list) and isinstance(value, list):
        missing = next((each for each in cast("list[Any]", wanted) if not sent.is_in([each], value)), NOTHING)
        item = (
            "" if missing is NOTHING else f"{path}: an item {_shown(missing)} was expected, and it is {_shown(value)}"
        )
        return item or None
    return None if sent.is_in(wanted, value) else f"{path}: {_shown(wanted)} was expected, and it is {_shown(value)}"


def _wanted(wanted: Wanted) -> str:
    return (
        ("any value" if wanted else "none")
        if isinstance(wanted, bool)
        else _values([wanted] if isinstance(wanted, str) else wanted)
    )


def _values(values: Iterable[str]) -> str:
    return ", ".join(map(_shown, values)) or "not there"


def _shown(value: Any) -> str:
    """A value as JSON, cut."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= _SHOWN_AT_MOST else f"{text[:_SHOWN_AT_MOST]}..."
