"""The messages for unknown fields, and for values that a field cannot be compared with."""

import re
from collections.abc import Iterable, Mapping

from app.query.fields import Field
from app.query.language import Literal
from app.values.strict_json import HugeNumber, encode
from app.values.suggestions import did_you_mean


def refused_literal(name: str, field: Field, literal: Literal) -> str:
    """The message for a literal that the field cannot be compared with: either the literal has another type than the
    values of the field, or the field has times and the literal is a text that is no time.

    :param name: the field as the client has written it; in a filter, its path.
    """
    refused = f"The field '{name}' takes {field.takes}, not the {_TYPES[type(literal.value)]} {shown(literal.value)}."
    return refused + plus_hint(literal.value)


_BLANK_FOR_PLUS = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9:.]+ [0-9]{2}:[0-9]{2}", re.ASCII)


def plus_hint(value: object) -> str:
    """The hint for a text like a time whose ``+`` has become a blank, as it does in a URL; empty for other values."""
    return " In a URL, + is written as %2B." if isinstance(value, str) and _BLANK_FOR_PLUS.fullmatch(value) else ""


def unknown_field(name: str, known: Iterable[str]) -> str:
    """The message for an unknown field, with a similar name, or with all names if none is similar."""
    return f"The field '{name[:100]}' does not exist.{similar_or_all(name, known)}"


def similar_or_all(name: str, known: Iterable[str]) -> str:
    """A hint for an unknown name: a similar known name, or all known names if none is similar."""
    names = list(known)
    return did_you_mean(name, names) or f" Known are: {', '.join(names)}."


def shown(value: str | int | float) -> str:
    """A value as JSON, cut to at most 100 characters."""
    text = value.literal if isinstance(value, HugeNumber) else encode(value)
    return text if len(text) <= 100 else text[:97] + "..."


_TYPES: Mapping[type, str] = {str: "text", bool: "boolean", int: "number", float: "number", HugeNumber: "number"}
