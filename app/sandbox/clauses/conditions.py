"""Conditions on entries of a journal, made of small ones by ``&``, ``|`` and ``~``."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeVar, cast

from app.sandbox.journal.entries import Entry, tolerantly

ENOUGH = 20
"""Requests that are named for one thing, such as a clause."""

Known = TypeVar("Known")


@dataclass(frozen=True, slots=True)
class When:
    """A condition that one entry fulfils by itself.

    :param holds: whether it does.
    :param operations: outside of which it never does; None: that is not known.
    :param statuses: the same for statuses. Both let most conditions pass over most entries of a journal at once.
    """

    holds: Callable[[Entry], bool]
    operations: frozenset[str | None] | None = None
    statuses: frozenset[int | None] | None = None

    def __and__(self, other: "When") -> "When":
        return When(
            lambda entry: self.holds(entry) and other.holds(entry),
            _both(self.operations, other.operations),
            _both(self.statuses, other.statuses),
        )

    def __or__(self, other: "When") -> "When":
        return When(
            lambda entry: self.holds(entry) or other.holds(entry),
            _either(self.operations, other.operations),
            _either(self.statuses, other.statuses),
        )

    def __invert__(self) -> "When":
        return When(lambda entry: not self.holds(entry))

    def numbers(self, entries: Sequence[Entry]) -> tuple[int, ...]:
        """The numbers of the first entries that fulfil it."""
        found: list[int] = []
        operations, statuses = self.operations, self.statuses
        for entry in entries:
            if operations is not None and entry.operation not in operations:
                continue
            if statuses is not None and entry.status not in statuses:
                continue
            if tolerantly(partial(self.holds, entry), False, entry):
                found.append(entry.number)
                if len(found) == ENOUGH:
                    break
        return tuple(found)


def _both(some: frozenset[Known] | None, others: frozenset[Known] | None) -> frozenset[Known] | None:
    return others if some is None else some if others is None else some & others


def _either(some: frozenset[Known] | None, others: frozenset[Known] | None) -> frozenset[Known] | None:
    return None if some is None or others is None else some | others


@dataclass(frozen=True, slots=True)
class Then:
    """A condition that an entry fulfils after another one has fulfilled the first condition.

    :param of: what both have to have in common, such as the path.
    """

    first: When
    second: When
    of: Callable[[Entry], object]

    def numbers(self, entries: Sequence[Entry]) -> tuple[int, ...]:
        """The numbers of the first entries that fulfil it."""
        begun: set[object] = set()
        found: list[int] = []
        for entry in entries:
            if (
                len(found) < ENOUGH
                and tolerantly(partial(self.second.holds, entry), False, entry)
                and self.of(entry) in begun
            ):
                found.append(entry.number)
            if tolerantly(partial(self.first.holds, entry), False, entry):
                begun.add(self.of(entry))
        return tuple(found)


Condition = When | Then


def same_path(entry: Entry) -> object:
    """For :class:`Then`: both are about one path."""
    return entry.path


def same_call(entry: Entry) -> object:
    """For :class:`Then`: both are the same request."""
    return entry.call


def same_project(_: Entry) -> object:
    """For :class:`Then`: both are in the journal."""
    return True


def _regex(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> Callable[[], re.Pattern[str]]:
    """Compiles a regular expression when it is first asked for: compiling all of them took 20 ms of each start."""
    return cache(lambda: re.compile(pattern, flags))


def _named(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Whether a text is one of some names, of which those that are no words are regular expressions."""
    given = frozenset(patterns)
    words = frozenset(each for each in given if each.isidentifier())
    others = [_regex(pattern) for pattern in given - words]
    return lambda text: text in words or any(regex().fullmatch(text) for regex in others)


# The request


def op(*ids: str) -> When:
    """One of the operations."""
    known = frozenset(ids)
    return When(lambda entry: entry.operation in known, frozenset[str | None](known))


def method(*names: str) -> When:
    """One of the methods."""
    return When(lambda entry: entry.method in names)


def target(pattern: str) -> When:
    """The raw target contains a match."""
    regex = _regex(pattern)
    return When(lambda entry: regex().search(entry.target) is not None)


def path(pattern: str) -> When:
    """The raw path contains a match."""
    regex = _regex(pattern)
    return When(lambda entry: regex().search(entry.path) is not None)


def par(name: str, value: str = "") -> When:
    """A parameter whose name matches, with a value that contains a match."""
    is_named, regex = _named([name]), _regex(value, re.IGNORECASE | re.DOTALL)
    return When(
        lambda entry: any(is_named(each) and regex().search(text) is not None for each, text in entry.parameters)
    )


def exactly(name: str, *values: str) -> When:
    """A parameter with one of the values."""
    return When(lambda entry: any(each == name and text in values for each, text in entry.parameters))


def repeated(name: str) -> When:
    """A parameter whose name matches, more than once."""
    is_named = _named([name])
    return When(lambda entry: sum(is_named(each) for each, _ in entry.parameters) > 1)


def head(name: str, value: str = "") -> When:
    """A header of the request whose value contains a match."""
    regex = _regex(value, re.IGNORECASE)
    return When(lambda entry: name in entry.headers and regex().search(entry.headers[name]) is not None)


def has(*names: str) -> When:
    """The JSON body has all of the members; dots lead into objects."""
    return When(lambda entry: all(_member(entry.json, name.split(".")) is not _NOTHING for name in names))


_NOTHING = object()


def _member(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        if not isinstance(value, dict) or name not in value:
            return _NOTHING
        value = cast("dict[str, Any]", value)[name]
    return value


def text(pattern: str) -> When:
    """The body of the request contains a match."""
    regex = _regex(pattern, re.DOTALL)
    return When(lambda entry: regex().search(entry.text) is not None)


def action(pattern: str) -> When:
    """The body has an update action whose JSON contains a match."""
    regex = _regex(pattern)
    return When(
        lambda entry: regex().search(entry.text) is not None and _member(entry.json, ["actions"]) is not _NOTHING
    )


# The answer


def status(*codes: int) -> When:
    """One of the statuses."""
    return _among(codes)


def _among(statuses: Iterable[int]) -> When:
    known = frozenset[int | None](statuses)
    return When(lambda entry: entry.status in known, statuses=known)


def code(*names: str) -> When:
    """An error with one of the codes."""
    known = frozenset(names)
    return refused & When(lambda entry: not known.isdisjoint(entry.error_codes))


def said(pattern: str) -> When:
    """The body of the answer contains a match."""
    regex = _regex(pattern, re.DOTALL)
    return When(lambda entry: regex().search(entry.answer_text) is not None)


def told(name: str) -> When:
    """The answer has a header."""
    return When(lambda entry: name in entry.answer_headers)


any_request = When(lambda entry: entry.is_resource)
ok = _among(range(200, 300))
refused = _among(range(400, 600))
faulty = status(400)
"""The answers are those that the client met, ordered ones included: it has dealt with them all the same."""
