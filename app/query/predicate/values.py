"""Literals and texts of the query string to values of a field's type, and the words for those that are none."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from uuid import UUID

from app.query.fields import Kind
from app.query.language import number_of
from app.query.predicate.ast import Literal, Value
from app.values import timestamps
from app.values.strict_json import HugeNumber, encode

TAKES: Mapping[Kind, str] = {
    Kind.ID: "a text in double quotes",
    Kind.TEXT: "a text in double quotes",
    Kind.NUMBER: "a number",
    Kind.TIME: 'a date-time in double quotes, as "2016-02-28T16:41:41.090Z", or a date',
    Kind.TEXTS: "texts in double quotes",
    Kind.NUMBERS: "numbers",
}
"""What a field can be compared with."""


def value_of(literal: Literal, kind: Kind) -> Value | None:
    """The value of a literal, or None if fields of the kind have no such values."""
    value = literal.value
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return None if kind in (Kind.NUMBER, Kind.NUMBERS) else read_value(value, kind)
    return value if kind in (Kind.NUMBER, Kind.NUMBERS) else None


def read_value(text: str, kind: Kind) -> Value | None:
    """The value that a text without quotes means, or None if fields of the kind have no such values."""
    return _READ[kind](text)


def refused_literal(field: str, kind: Kind, literal: Literal) -> str:
    """What to say of a literal that has no value."""
    return f"The field '{field}' takes {TAKES[kind]}, not the {_TYPES[type(literal.value)]} {shown(literal.value)}."


def unknown_field(name: str, known: Iterable[str]) -> str:
    """What to say of a name that no field has, with the nearest one that a field has."""
    return f"The field '{name[:100]}' does not exist.{did_you_mean(name, known)}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The nearest known name as a question to append; nothing if none is near."""
    nearest = difflib.get_close_matches(name[:100], list(known), n=1, cutoff=0.6)
    return f" Did you mean '{nearest[0]}'?" if nearest else ""


def shown(value: str | int | float) -> str:
    """A value as JSON, cut after 100 characters."""
    text = value.literal if isinstance(value, HugeNumber) else encode(value)
    return text if len(text) <= 100 else text[:97] + "..."


_TYPES: Mapping[type, str] = {str: "text", bool: "boolean", int: "number", float: "number", HugeNumber: "number"}

_CANONICAL_ID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)


def _id(text: str) -> UUID | str:
    """An id as it is written in answers; for another text, which no resource has, the text: it can be compared with."""
    return UUID(text) if _CANONICAL_ID.fullmatch(text) else text


def _number(text: str) -> int | float | None:
    return number_of(text) if _NUMBER.fullmatch(text) else None


def _time(text: str) -> datetime | None:
    try:
        return timestamps.parse(text, shortened=True)
    except ValueError:
        return None


_READ: Mapping[Kind, Callable[[str], Value | None]] = {
    Kind.ID: _id,
    Kind.TEXT: str,
    Kind.NUMBER: _number,
    Kind.TIME: _time,
    Kind.TEXTS: str,
    Kind.NUMBERS: _number,
}
