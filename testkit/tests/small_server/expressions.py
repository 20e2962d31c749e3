"""Filters and facets: a parser, and what their paths mean."""

import re
from dataclasses import dataclass, field
from typing import Any

from .fields import FIELDS, Field
from .predicates import Fault, Syntax, fitting
from .values import Beyond, milliseconds, number_of, suggestion

KEYWORDS = ("exists", "missing", "range", "subtree", "true", "false")

MOST_CHARACTERS, MOST_RANGES = 16_384, 100

Range = tuple[Any, Any]
"""Lower and upper bound; None: an open end."""


class UnknownPath(Fault):
    """A path that leads to no field."""


@dataclass
class Expression:
    """A filter or a facet.

    :param kind: ``values``, ``ranges``, ``exists``, ``missing``, or ``terms`` for a facet that is only a path.
    """

    path: tuple[str, ...]
    field: Field
    kind: str
    values: list[Any] = field(default_factory=list)
    ranges: list[Range] = field(default_factory=list)
    name: str = ""
    counts_products: bool = False


class Scanner:
    """Reads an expression character by character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def match(self, pattern: str) -> str | None:
        """Take what matches, after blanks."""
        self.blanks()
        found = re.compile(pattern, re.IGNORECASE).match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[0]

    def need(self, pattern: str, expected: str) -> str:
        found = self.match(pattern)
        if found is None:
            raise self.wrong(expected)
        return found

    def wrong(self, expected: str) -> Syntax:
        self.blanks()
        return Syntax(self.at, expected)

    def done(self) -> bool:
        self.blanks()
        return self.at == len(self.text)


def parse(text: str, *, facet: bool) -> Expression:
    """Read a filter or a facet.

    :raises Syntax: if it is none.
    :raises UnknownPath: if its path leads nowhere.
    :raises Fault: for what its field does not have.
    """
    if len(text) > MOST_CHARACTERS:
        raise Fault(f"An expression may have {MOST_CHARACTERS} characters.")
    scanner = Scanner(text)
    written = scanner.need(r"[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*)*", "a path")
    condition: list[tuple[str, Any]] = []
    if not facet or scanner.match(r"(?=as\s|counting\s|$)") is None:
        scanner.need(":", "':'")
        condition = _condition(scanner, facet=facet)
    name = written
    if facet and scanner.match(r"as\s"):
        name = scanner.need(r"[\w.-]+", "a name")
    counts_products = facet and scanner.match(r"counting\s+products\b") is not None
    if not scanner.done():
        raise scanner.wrong("the end")
    path, found = resolve(written)
    made = Expression(path, found, condition[0][0] if condition else "terms", name=name)
    made.counts_products = counts_products
    _fill(made, written, condition, facet=facet)
    return made


def _condition(scanner: Scanner, *, facet: bool) -> list[tuple[str, Any]]:
    if not facet:
        for word in ("exists", "missing"):
            if scanner.match(rf"{word}\b"):
                return [(word, None)]
    if scanner.match(r"range(?=\s*\()"):
        return [("ranges", found) for found in _listed(scanner, _range)]
    if scanner.match(r"subtree(?=\s*\()"):
        raise Fault("No field is a hierarchy, so there is no 'subtree'.")
    return [("values", found) for found in _listed(scanner, _literal)]


def _listed(scanner: Scanner, read: Any) -> list[Any]:
    found = [read(scanner)]
    while scanner.match(","):
        found.append(read(scanner))
    return found


def _range(scanner: Scanner) -> tuple[Any, Any]:
    scanner.need(r"\(", "'('")
    low = None if scanner.match(r"\*") else _literal(scanner)
    scanner.need(r"to\b", "'to'")
    high = None if scanner.match(r"\*") else _literal(scanner)
    scanner.need(r"\)", "')'")
    return low, high


def _literal(scanner: Scanner) -> tuple[str, Any]:
    text = scanner.match(r'"(?:[^"\\]|\\["\\])*"')
    if text is not None:
        return "text", re.sub(r'\\(["\\])', r"\1", text[1:-1])
    number = scanner.match(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]+)?(?![\w.])")
    if number is not None:
        found = number_of(number)
        sign = -1 if number.startswith("-") else 1
        return "number", sign * float("inf") if isinstance(found, Beyond) else found
    word = scanner.match(r"(true|false)\b")
    if word is not None:
        return "boolean", word.lower() == "true"
    wrong = scanner.wrong("a value")
    word = re.match(r"[a-z]*", scanner.text[wrong.position :].lower())
    raise Syntax(wrong.position + fitting(word[0] if word else "", KEYWORDS), "a value")


def _fill(made: Expression, written: str, condition: list[tuple[str, Any]], *, facet: bool) -> None:
    kind = made.field.kind
    if kind == "object" and (facet or made.kind in ("values", "ranges")):
        raise Fault(f"The field '{written}' is an object.")
    if facet and made.kind == "ranges" and kind == "text":
        raise Fault(f"The field '{written}' has no ranges; numbers and times have.")
    if facet and made.kind == "ranges" and len(condition) > MOST_RANGES:
        raise Fault(f"A facet may have {MOST_RANGES} ranges.")
    for what, found in condition:
        if what == "values":
            made.values.append(_typed(written, kind, found))
        elif what == "ranges":
            low, high = (None if bound is None else _typed(written, kind, bound) for bound in found)
            made.ranges.append((low, high))


def _typed(written: str, kind: str, literal: tuple[str, Any]) -> Any:
    given, value = literal
    found = milliseconds(value) if kind == "time" and given == "text" else value
    if found is None or given != ("number" if kind == "number" else "text"):
        takes = {"number": "a number", "text": "a text in double quotes", "time": "a time in double quotes"}[kind]
        raise Fault(f"The field '{written}' takes {takes}.")
    return found


def resolve(written: str) -> tuple[tuple[str, ...], Field]:
    """The field that a path leads to, and the path without ``objectTypeProperty.``.

    :raises UnknownPath: if there is none.
    """
    path = tuple(written.split("."))
    if path[0] == "objectTypeProperty" and len(path) > 1:
        path = path[1:]
        known = FIELDS["objectTypeProperty"].members or {}
    else:
        known = FIELDS
    for position, step in enumerate(path):
        if step not in known:
            raise UnknownPath(f"The field '{written}' does not exist.{suggestion(step, known)}")
        if position == len(path) - 1:
            return path, known[step]
        known = known[step].members or {}
    raise UnknownPath(f"The field '{written}' does not exist.")


def values_at(document: dict[str, Any], path: tuple[str, ...]) -> list[Any]:
    """All values that a path leads to in a document."""
    found: list[Any] = [document]
    for step in path:
        found = [item[step] for item in found if step in item]
        found = [each for item in found for each in (item if isinstance(item, list) else [item])]
    return found
