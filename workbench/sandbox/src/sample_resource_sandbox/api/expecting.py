"""Checks whether a client has sent the requests that a test expects, by the journal."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any, cast

from sample_resource_sandbox.api.answering import giving_way
from sample_resource_sandbox.api.orders import Expectation
from sample_resource_sandbox.connections import Wait
from sample_resource_sandbox.journal.entry import Entry
from sample_resource_sandbox.journal.journal import Journal
from sample_resource_sandbox.journal.redaction import Secrets
from sample_resource_sandbox.rules.matching import NOTHING, Sent, Wanted, fits

_PAUSE_S = 0.01
"""The pause between two looks at a journal that changes all the time."""
_NEAREST = 3
_COMPARED = 200
"""The number of last requests among which the nearest ones are sought."""
_TOLD_AT_MOST = 20
"""The most fitting requests in the text of an answer."""
_SHOWN_AT_MOST = 300


@dataclass(slots=True)
class Looked:
    """The requests in the journal that fit an expectation."""

    found: list[Entry] = field(default_factory=list[Entry])
    """The requests that fit."""
    unread: list[Entry] = field(default_factory=list[Entry])
    """The requests whose body was not compared: it is not read yet, or too long, or there were too many comparisons."""

    def fits(self, expectation: Expectation) -> bool:
        """Whether the expectation is met, no matter whether the uncompared requests fit."""
        most = len(self.found) + len(self.unread)
        at_most = expectation.at_most
        return expectation.at_least <= len(self.found) and (at_most is None or most <= at_most)


def expected(find: Callable[[], Journal], expectation: Expectation, wait: Wait) -> tuple[bool, Looked]:
    """Wait until the expectation is met, and stays met for ``settleMs``. Return whether it was met in time.

    The wait ends early if the client closes its connection or the service stops.

    :param find: returns the journal, which a reset replaces.
    """
    outcomes: dict[Entry, bool | None] = {}
    deadline = monotonic() + expectation.within_ms / 1000
    settled_at: float | None = None
    goes_on = True
    while True:
        journal = find()
        looked = _look(journal, expectation, outcomes)
        now, at_most = monotonic(), expectation.at_most
        if looked.fits(expectation):
            settled_at = settled_at or now + expectation.settle_ms / 1000
            if at_most is None or now >= settled_at:
                return True, looked
        else:
            settled_at = None
        are_too_many = at_most is not None and len(looked.found) > at_most
        if are_too_many or not goes_on or (settled_at is None and now >= deadline):
            return False, looked
        with journal.watched(wait.woken):
            goes_on = wait.pause((settled_at or deadline) - now)
        sleep(_PAUSE_S)


def _look(journal: Journal, expectation: Expectation, outcomes: dict[Entry, bool | None]) -> Looked:
    """Compare all entries with an expectation.

    :param outcomes: the results for ended entries, which are compared only once.
    """
    looked = Looked()
    for entry in giving_way(journal.after(expectation.after)):
        outcome = outcomes[entry] if entry in outcomes else _outcome(entry, expectation)
        if not entry.is_under_way:
            outcomes[entry] = outcome
        if outcome is None:
            looked.unread.append(entry)
        elif outcome:
            looked.found.append(entry)
    return looked


def _outcome(entry: Entry, expectation: Expectation) -> bool | None:
    """Whether a request fits; None if its body was not compared."""
    sent = _sent(entry)
    holds = expectation.status in (None, _status_of(entry)) and expectation.match.holds(sent, with_tokens=True)
    return None if sent.is_unread else holds


def _status_of(entry: Entry) -> int | None:
    """The status of the answer; if a rule withheld the answer, the status that it would have had."""
    withheld = None if entry.rule is None else entry.rule["replacedStatus"]
    return entry.status if entry.status is not None else withheld


def _sent(entry: Entry) -> Sent:
    request = entry.request
    return Sent(entry, lambda: request.body if request.size == len(request.body) else None)


def unmet(journal: Journal, expectation: Expectation, looked: Looked) -> dict[str, Any]:
    """The answer for an unmet expectation: the fitting requests, or the nearest ones, as data and as text."""
    found = [_described(entry, journal) for entry in looked.found]
    nearest = [] if found else _nearest(journal, expectation)
    message = _message(expectation, looked)
    told = [message, *map(_line, found[:_TOLD_AT_MOST])]
    if nearest:
        told += ["The nearest request:", _line(nearest[0]), *(f"     {each}" for each in nearest[0]["differs"])]
    elif not found:
        told.append("The journal has no request.")
    return {
        "statusCode": 409,
        "message": message,
        "errors": [{"code": "ExpectationNotMet", "message": message}],
        "requests": [each["number"] for each in found],
        "nearest": nearest,
        "told": "\n".join(told),
    }


def _described(entry: Entry, journal: Journal) -> dict[str, Any]:
    redacted = journal.secrets.redacted
    target, outcome, status = redacted(entry.target), redacted(entry.outcome), _status_of(entry)
    return {"number": entry.number, "method": entry.method, "target": target, "status": status, "outcome": outcome}


def _line(entry: dict[str, Any]) -> str:
    below = "/" + entry["target"].removeprefix("/").partition("/")[2]
    return f"  {entry['number']}: {entry['method']} {below} -> {entry['outcome']}"


def _message(expectation: Expectation, looked: Looked) -> str:
    """The message: the expected request, how often it was expected, and how often it was sent."""
    match, at_least, at_most = expectation.match, expectation.at_least, expectation.at_most
    operations = " or ".join(sorted(match.operation_ids or ()))
    what = " ".join(filter(None, [match.method, match.path])) or operations or "a request"
    given = {name: each for name, each in expectation.order.items() if name in ("query", "header", "body", "status")}
    parts = [f"{name} {_shown(each)}" for name, each in given.items()]
    often = f"at least {_counted(at_least)}" if at_most is None else f"{at_least} to {_counted(at_most)}"
    if at_least == at_most:
        often = _counted(at_least) if at_least else "never"
    what += f" with {', '.join(parts)}" if parts else ""
    after = f" after request {expectation.after}" if expectation.after else ""
    told = f"{what} was expected {often}{after}, and was sent {_counted(len(looked.found))}."
    if looked.unread:
        unread = ", ".join(str(entry.number) for entry in looked.unread[:_TOLD_AT_MOST])
        told += f" Not looked at, because the body is too large or not read yet: {unread}."
    return told


def _counted(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _nearest(journal: Journal, expectation: Expectation) -> list[dict[str, Any]]:
    """Up to three requests that nearly fit, each with its differences."""
    judged: list[tuple[float, Entry, list[str]]] = []
    for entry in giving_way(journal.after(journal.total - _COMPARED)):
        sent = _sent(entry)
        differences = list(_differences(entry, expectation, sent, journal.secrets))
        weight = sum(weight for weight, _ in differences) - _likeness(expectation.match.path or "", sent.path)
        judged.append((weight, entry, [text for _, text in differences]))
    judged.sort(key=lambda each: (each[0], -each[1].number))
    return [{**_described(entry, journal), "differs": differs} for _, entry, differs in judged[:_NEAREST]]


def _likeness(wanted: str, path: str) -> float:
    """The share of the parts of two paths that fit, from 0 to 1."""
    parts, others = wanted.split("/"), path.split("/")
    return sum(map(fits, parts, others)) / max(len(parts), len(others))


def _differences(entry: Entry, expectation: Expectation, sent: Sent, secrets: Secrets) -> Iterator[tuple[float, str]]:
    """Yield the differences between a request and the expected one, each with its weight and a text."""
    match = expectation.match

    def but(name: str, wanted: str, found: str) -> str:
        return secrets.redacted(f"{name}: {wanted} was expected, and it is {found}")

    if entry.number <= expectation.after:
        yield 2, f"it came before request {expectation.after + 1}"
    if match.operation_ids is not None and sent.operation_id not in match.operation_ids:
        yield 3, but("operationId", " or ".join(sorted(match.operation_ids)), str(sent.operation_id))
    if match.method not in (None, sent.method):
        yield 3, but("method", str(match.method), sent.method)
    if match.path is not None and not sent.fits(match.path, sent.path):
        yield 4, but("path", match.path, sent.path[:_SHOWN_AT_MOST])
    if expectation.status not in (None, _status_of(entry)):
        yield 1, but("status", str(expectation.status), str(_status_of(entry)))
    for name, wanted in match.query.items():
        values = sent.parameters.get(name, [])
        if not sent.has(wanted, values):
            yield 1, but(f"query -> {name}", _wanted(wanted), _values(values))
    for name, wanted in match.header.items():
        values = sent.headers.getlist(name)
        if not sent.has(wanted, values):
            shown = [secrets.redacted_header(name, value) for value in values]
            yield 1, but(f"header -> {name}", _wanted(wanted), _values(shown))
    if not match.holds_for_body(sent):
        found = _shown(sent.body) if sent.body else "empty"
        if sent.is_unread:
            yield 1, "body: it was not looked at, because it is too large or not read yet"
        elif isinstance(match.body, str):
            yield 1, but("body", _shown(match.body), found)
        elif sent.json is NOTHING:
            yield 2, but("body", "JSON", found)
        else:
            misfit = _misfit(match.body, sent.json, "body", sent)
            yield 1, secrets.redacted(misfit or "body: it is too large to compare")


def _misfit(wanted: Any, value: Any, path: str, sent: Sent) -> str | None:
    """A text about the first difference between two JSON values; None if there is none."""
    but = "was expected, and it is"
    if isinstance(wanted, dict) and isinstance(value, dict):
        members, found = cast("dict[str, Any]", wanted), cast("dict[str, Any]", value)
        for name, each in members.items():
            if name not in found:
                return f"{path} -> {name}: {_shown(each)} {but} not there"
            if (misfit := _misfit(each, found[name], f"{path} -> {name}", sent)) is not None:
                return misfit
        return None
    if isinstance(wanted, list) and isinstance(value, list):
        missing = (each for each in cast("list[Any]", wanted) if not sent.is_in([each], value))
        return next((f"{path}: an item {_shown(each)} {but} {_shown(value)}" for each in missing), None)
    return None if sent.is_in(wanted, value) else f"{path}: {_shown(wanted)} {but} {_shown(value)}"


def _wanted(wanted: Wanted) -> str:
    if isinstance(wanted, bool):
        return "any value" if wanted else "none"
    return _values([wanted] if isinstance(wanted, str) else wanted)


def _values(values: Iterable[str]) -> str:
    return ", ".join(map(_shown, values)) or "not there"


def _shown(value: Any) -> str:
    """A value as JSON, cut for a message."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= _SHOWN_AT_MOST else f"{text[:_SHOWN_AT_MOST]}..."
