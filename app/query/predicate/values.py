"""Converts literals, and values of variables, to values of a field's type; messages for those that cannot be."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from uuid import UUID

from app.query.fields import FieldType
from app.query.language import number_of
from app.query.predicate.ast import Literal, Value
from app.values import timestamps
from app.values.numbers import JSON_NUMBER
from app.values.strict_json import HugeNumber, encode
from app.values.suggestions import did_you_mean

TAKES: Mapping[FieldType, str] = {
    FieldType.ID: "a text in double quotes",
    FieldType.TEXT: "a text in double quotes",
    FieldType.NUMBER: "a number",
    FieldType.TIME: 'a date-time in double quotes, as "2016-02-28T16:41:41.090Z", or a date',
    FieldType.TEXTS: "texts in double quotes",
    FieldType.NUMBERS: "numbers",
}
"""What a field can be compared with, for messages."""


def value_of(literal: Literal, field_type: FieldType) -> Value | None:
    """The value of a literal, or None if fields of this type have no such values."""
    value = literal.value
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return None if field_type in (FieldType.NUMBER, FieldType.NUMBERS) else read_value(value, field_type)
    return value if field_type in (FieldType.NUMBER, FieldType.NUMBERS) else None


def read_value(text: str, field_type: FieldType) -> Value | None:
    """The value of a text without quotes, or None if fields of this type have no such values."""
    return _READ[field_type](text)


def refused_literal(field: str, field_type: FieldType, literal: Literal) -> str:
    """The message for a literal of another type than the field's."""
    return (
        f"The field '{field}' takes {TAKES[field_type]}, not the {_TYPES[type(literal.value)]} {shown(literal.value)}."
    )


def unknown_field(name: str, known: Iterable[str]) -> str:
    """The message for a name that no field has, with the nearest name of a field."""
    return f"The field '{name[:100]}' does not exist.{did_you_mean(name, known)}"


def shown(value: str | int | float) -> str:
    """A value as JSON, cut after 100 characters."""
    text = value.literal if isinstance(value, HugeNumber) else encode(value)
    return text if len(text) <= 100 else text[:97] + "..."


_TYPES: Mapping[type, str] = {str: "text", bool: "boolean", int: "number", float: "number", HugeNumber: "number"}

_CANONICAL_ID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)


def _id(text: str) -> UUID | str:
    """A UUID if the text is an id as answers write it, else the text: ``<`` and ``>`` take any text."""
    return UUID(text) if _CANONICAL_ID.fullmatch(text) else text


def _number(text: str) -> int | float | None:
    return number_of(text) if JSON_NUMBER.fullmatch(text) else None


def _time(text: str) -> datetime | None:
    try:
        return timestamps.parse(text, shortened=True)
    except ValueError:
        return None


_READ: Mapping[FieldType, Callable[[str], Value | None]] = {
    FieldType.ID: _id,
    FieldType.TEXT: str,
    FieldType.NUMBER: _number,
    FieldType.TIME: _time,
    FieldType.TEXTS: str,
    FieldType.NUMBERS: _number,
}
