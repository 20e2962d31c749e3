"""Notations of the interface that clients often get wrong: which of them the requests of a journal have."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from app.sandbox.journal.entries import Entry


@dataclass(frozen=True, slots=True)
class Notation:
    """A notation, and how it is seen in a request."""

    id: str
    title: str
    is_in: Callable[[Entry], bool]


def _is_repeated(entry: Entry) -> bool:
    names = [name for name, _ in entry.parameters]
    return len(names) != len(set(names))


def _named(pattern: str) -> Callable[[Entry], bool]:
    compiled = re.compile(pattern)
    return lambda entry: any(compiled.fullmatch(name) for name, _ in entry.parameters)


NOTATIONS: tuple[Notation, ...] = (
    Notation("equalSign", "a value in an equal-sign segment: key=...", lambda entry: "/key=" in entry.path),
    Notation("encodedSlash", "%2F inside a segment of the path", lambda entry: "%2f" in entry.path.lower()),
    Notation("variables", "variables of predicates: var.<name>", _named(r"var[.][a-zA-Z0-9]+")),
    Notation("texts", "texts by language: text.<language>", _named(r"text.[a-z]{2}(-[A-Z]{2})?")),
    Notation("repetition", "a parameter more than once", _is_repeated),
    Notation("form", "a form in place of JSON", lambda entry: entry.is_resource and bool(entry.form)),
    Notation("prefer", "Prefer: code=... for an alternative answer", lambda entry: "prefer" in entry.headers),
    Notation("ifMatch", "If-Match or If-None-Match", lambda entry: bool(_PRECONDITIONS & entry.headers.keys())),
)

_PRECONDITIONS = frozenset(("if-match", "if-none-match"))
