"""The messages for unknown fields, and for values that a field cannot be compared with."""

from collections.abc import Iterable, Mapping

from app.query.fields import Field
from app.query.language import Literal
from app.values.strict_json import HugeNumber, encode
from app.values.suggestions import did_you_mean


def refused_literal(name: str, field: Field, literal: Literal) -> str:
    """The message for a literal whose type the field cannot be compared with."""
    return f"The field '{name}' takes {field.takes}, not the {_TYPES[type(literal.value)]} {shown(literal.value)}."


def unknown_field(name: str, known: Iterable[str]) -> str:
    """The message for an unknown field, with a similar name if there is one."""
    return f"The field '{name[:100]}' does not exist.{did_you_mean(name, known)}"


def shown(value: str | int | float) -> str:
    """A value as JSON, cut after 100 characters."""
    text = value.literal if isinstance(value, HugeNumber) else encode(value)
    return text if len(text) <= 100 else text[:97] + "..."


_TYPES: Mapping[type, str] = {str: "text", bool: "boolean", int: "number", float: "number", HugeNumber: "number"}
