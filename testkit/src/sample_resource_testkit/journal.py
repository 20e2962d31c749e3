"""What a client has sent: entries of the journal of a project, and what a test expects of them."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Self
from urllib.parse import parse_qsl


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A request that reached the server, and its answer.

    :param number: rises with the requests of a project, in the order of their arrival.
    :param path: below the project and without the query, as it came: ``/resource/key=a%2Fb``.
    :param query: what follows the question mark, as it came.
    :param status: of the answer. If the request was carried out and a rule withheld its answer, the status that was
        withheld; None if it was not carried out and had no answer.
    :param answered: whether the client was sent an answer; False for a connection that was closed or reset.
    :param headers: of the request, in their order and spelling; tokens are left out.
    :param body: of the request as text; None without one, or if it is no text.
    :param response_body: of the answer, likewise.
    :param rule: the rule that acted, as the server describes it; None if none did.
    :param data: the whole entry as the server has it, with ``findings``, ``sql`` and others.
    """

    number: int
    method: str
    path: str
    query: str
    status: int | None
    answered: bool
    headers: tuple[tuple[str, str], ...]
    body: str | None
    response_headers: tuple[tuple[str, str], ...]
    response_body: str | None
    rule: Mapping[str, Any] | None
    data: Mapping[str, Any]

    @classmethod
    def of(cls, data: Mapping[str, Any], project: str) -> Self:
        """Read an entry of the journal."""
        request, response, rule = data["request"], data.get("response"), data.get("rule")
        target, _, query = str(request["target"]).partition("?")
        withheld = None if rule is None else rule.get("replacedStatus")
        return cls(
            number=data["number"],
            method=request["method"],
            path=target.removeprefix(f"/{project}"),
            query=query,
            status=response["status"] if response is not None else withheld,
            answered=response is not None,
            headers=_pairs(request),
            body=_text(request),
            response_headers=_pairs(response),
            response_body=_text(response),
            rule=rule,
            data=data,
        )

    @property
    def errors(self) -> tuple[str, ...]:
        """The messages of the error that was answered, each with its code, and what else it tells."""
        body = _json(self.response_body)
        listed = body.get("errors") if isinstance(body, dict) else None
        if self.status is None or self.status < 400 or not isinstance(listed, list):
            return ()
        return tuple(_error_text(each) for each in listed if isinstance(each, dict))

    @property
    def findings(self) -> tuple[Mapping[str, Any], ...]:
        """What should not be so although it works: ``id``, ``title``, ``detail``, ``instead``, ``clauses`` of each."""
        return tuple(self.data.get("findings", ()))

    def __str__(self) -> str:
        target = f"{self.path}?{self.query}" if self.query else self.path
        status = str(self.status) if self.answered else f"no answer ({self.status or 'not carried out'})"
        by_rule = "" if self.rule is None else f", by rule {self.rule.get('name') or self.rule.get('number')}"
        return f"{self.number}: {self.method} {target} -> {status}{by_rule}"


def _pairs(message: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in (message or {}).get("headers", ()))


def _json(text: str | None) -> Any:
    """The value of a JSON text; None if it is none."""
    try:
        return None if text is None else json.loads(text)
    except ValueError:
        return None


def _error_text(error: Mapping[str, Any]) -> str:
    texts = [text for text in (error.get("message"), error.get("detailedErrorMessage")) if text]
    clause = f" ({error['clause']})" if "clause" in error else ""
    return f"{error.get('code')}: {' '.join(map(str, texts))}{clause}"


def _text(message: Mapping[str, Any] | None) -> str | None:
    return ((message or {}).get("body") or {}).get("text")


def told(entries: Iterable[JournalEntry]) -> str:
    """A journal for a reader, oldest first: each request with the errors that it was answered, and what was found."""
    return "\n".join(line for entry in reversed(list(entries)) for line in _told(entry))


def _told(entry: JournalEntry) -> Iterator[str]:
    yield str(entry)
    for error in entry.errors:
        yield f"     {error}"
    for finding in entry.findings:
        clauses = f" ({', '.join(finding['clauses'])})" if finding["clauses"] else ""
        yield f"     finding: {finding['title']}{clauses}: {finding['detail']} {finding['instead']}"


# What a test expects

Values = str | Sequence[str] | re.Pattern[str] | bool
"""Of a parameter or header: its one value, all its values in their order, a pattern that each matches as a whole, or
whether it is there."""

Times = int | tuple[int, int | None]
"""How often: exactly, or at least and at most."""


class _Anything:
    def __repr__(self) -> str:
        return "anything"


ANYTHING = _Anything()


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A request that a test expects; see :meth:`.SandboxProject.expect`."""

    method: str
    path: str | re.Pattern[str]
    status: int | None = None
    query: str | Mapping[str, Values] | None = None
    headers: Mapping[str, Values] | None = None
    body: Any = ANYTHING

    def __str__(self) -> str:
        path = self.path if isinstance(self.path, str) else f"({self.path.pattern})"
        given = {"status": self.status, "query": self.query, "headers": self.headers}
        parts = [f"{name} {_shown(value)}" for name, value in given.items() if value is not None]
        if self.body is not ANYTHING:
            parts.append(f"body {_shown(self.body)}")
        return f"{self.method} {path}" + (f" with {', '.join(parts)}" if parts else "")

    def misfits(self, entry: JournalEntry) -> list[str]:
        """Why a request is not the expected one; nothing if it is."""
        return [text for _, text in self._misfits(entry)]

    def distance(self, entry: JournalEntry) -> float:
        """How far a request is from the expected one."""
        path = self.path if isinstance(self.path, str) else self.path.pattern
        alike = SequenceMatcher(None, path, entry.path).ratio()
        return sum(weight for weight, _ in self._misfits(entry)) - alike

    def _misfits(self, entry: JournalEntry) -> Iterator[tuple[int, str]]:
        """Each difference, with how much it matters."""
        if entry.method != self.method:
            yield 3, f"method: {self.method} was expected"
        if isinstance(self.path, re.Pattern):
            if self.path.fullmatch(entry.path) is None:
                yield 4, f"path: a match of {self.path.pattern} was expected"
        elif self.path != entry.path:
            yield 4, f"path: {self.path} was expected"
        if self.status not in (None, entry.status):
            yield 1, f"status: {self.status} was expected"
        if isinstance(self.query, str):
            if self.query != entry.query:
                yield 1, f"query: {_shown(self.query)} was expected, and it is {_shown(entry.query)}"
        elif self.query is not None:
            sent = parse_qsl(entry.query, keep_blank_values=True)
            for name, expected in self.query.items():
                yield from _values_misfit(f"query -> {name}", expected, [value for each, value in sent if each == name])
        for name, expected in (self.headers or {}).items():
            values = [value for each, value in entry.headers if each.lower() == name.lower()]
            yield from _values_misfit(f"header {name}", expected, values)
        if self.body is not ANYTHING:
            misfit = _body_misfit(self.body, entry.body)
            if misfit is not None:
                yield 1, misfit


def _values_misfit(name: str, expected: Values, values: list[str]) -> Iterator[tuple[int, str]]:
    found = ", ".join(map(_shown, values)) if values else "not there"
    if isinstance(expected, bool):
        if expected != bool(values):
            yield 1, f"{name}: {'any value' if expected else 'none'} was expected, and it is {found}"
    elif isinstance(expected, re.Pattern):
        if not values or not all(expected.fullmatch(value) for value in values):
            yield 1, f"{name}: a match of {expected.pattern} was expected, and it is {found}"
    else:
        wanted = [expected] if isinstance(expected, str) else list(expected)
        if wanted != values:
            yield 1, f"{name}: {', '.join(map(_shown, wanted))} was expected, and it is {found}"


def _body_misfit(expected: Any, body: str | None) -> str | None:
    if isinstance(expected, re.Pattern):
        fits = body is not None and expected.search(body) is not None
        return None if fits else f"body: a match of {expected.pattern} was expected, and it is {_shown(body)}"
    if expected is None or isinstance(expected, str):
        return None if expected == body else f"body: {_shown(expected)} was expected, and it is {_shown(body)}"
    try:
        sent = json.loads(body or "")
    except ValueError:
        return f"body: JSON was expected, and it is {_shown(body)}"
    return _json_misfit(expected, sent, "body")


def _json_misfit(expected: Any, sent: Any, path: str) -> str | None:
    """The first difference of JSON: members may be more than the expected ones, and items of arrays too."""
    if isinstance(expected, Mapping) and isinstance(sent, dict):
        for name, value in expected.items():
            if name not in sent:
                return f"{path} -> {name}: {_shown(value)} was expected, and it is not there"
            misfit = _json_misfit(value, sent[name], f"{path} -> {name}")
            if misfit is not None:
                return misfit
        return None
    if isinstance(expected, list | tuple) and isinstance(sent, list):
        for value in expected:
            if all(_json_misfit(value, item, path) is not None for item in sent):
                return f"{path}: an item {_shown(value)} was expected, and it is {_shown(sent)}"
        return None
    fits = expected == sent and isinstance(expected, bool) == isinstance(sent, bool)
    return None if fits else f"{path}: {_shown(expected)} was expected, and it is {_shown(sent)}"


_SHOWN_AT_MOST = 300


def _shown(value: Any) -> str:
    """A value as JSON, cut."""
    if value is None:
        return "none"
    text = json.dumps(value, ensure_ascii=False, default=lambda each: getattr(each, "pattern", repr(each)))
    return text if len(text) <= _SHOWN_AT_MOST else f"{text[:_SHOWN_AT_MOST]}..."


def verified(
    expected: Expected,
    entries: Sequence[JournalEntry],
    times: Times | None,
    after: JournalEntry | Sequence[JournalEntry] | None,
) -> list[JournalEntry]:
    """The expected requests.

    :param entries: the journal, oldest first.
    :param times: how often; None: at least once.
    :param after: only requests that arrived later than this one, or than all of these.
    :raises AssertionError: if there are fewer or more; the message has the nearest request if none fits.
    """
    __tracebackhide__ = True
    at_least, at_most = (1, None) if times is None else (times, times) if isinstance(times, int) else times
    earlier = [after] if isinstance(after, JournalEntry) else list(after or ())
    number = max((entry.number for entry in earlier), default=0)
    candidates = [entry for entry in entries if entry.number > number]
    found = [entry for entry in candidates if not expected.misfits(entry)]
    if at_least <= len(found) and (at_most is None or len(found) <= at_most):
        return found
    place = f" after request {number}" if number else ""
    lines = [f"{expected} was expected {_times(at_least, at_most)}{place}, and was sent {_counted(len(found))}."]
    if found:
        lines += [f"  {entry}" for entry in found]
    elif entries:
        nearest = min(candidates or entries, key=expected.distance)
        lines += ["The nearest request:", f"  {nearest}", *(f"     {misfit}" for misfit in expected.misfits(nearest))]
        lines += [] if candidates else ["     it came earlier"]
    else:
        lines.append("The journal has no request.")
    raise AssertionError("\n".join(lines))


def _times(at_least: int, at_most: int | None) -> str:
    if at_least == at_most:
        return "never" if at_least == 0 else _counted(at_least)
    return f"at least {_counted(at_least)}" if at_most is None else f"{at_least} to {_counted(at_most)}"


def _counted(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
