"""The kinds of values that a field can hold, one row each: everything that tells kinds apart is read from here."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from app.query.language import number_of
from app.query.sql_text import utc_time
from app.values import timestamps
from app.values.patterns import JSON_NUMBER, UUID_PATTERN
from app.values.strict_json import HugeNumber

Number = int | float
"""A number of a predicate: an exact int within int64, else the nearest double, and beyond all doubles an infinity."""

Value = str | Number | datetime | UUID


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A row.

    :param name: the name of a value, and of an array of such values.
    :param takes: what a value is compared with, for messages, and what those of an array are.
    :param cast: the SQL type that values are compared as.
    :param literals: the types of literals that can be values; none for objects, which are compared with nothing.
    :param read: the value of a text without quotes; None if it is none.
    :param data_type: the ``dataType`` of a facet's terms.
    :param json: SQL for the JSON of a value in a facet.
    :param amount: SQL for the value as a number, for the statistics of a facet's ranges; empty if it has no ranges.
    """

    name: tuple[str, str]
    takes: tuple[str, str] = ("", "")
    cast: LiteralString = "text"
    literals: tuple[type, ...] = ()
    read: Callable[[str], Value | None] = str
    data_type: LiteralString = "text"
    json: LiteralString = "to_json({})::text"
    amount: LiteralString = ""

    def value_of(self, literal: str | Number) -> Value | None:
        """The value of a literal; None if it is none."""
        if type(literal) not in self.literals:
            return None
        return self.read(literal) if isinstance(literal, str) else literal


_CANONICAL_ID = re.compile(UUID_PATTERN, re.ASCII)


def _id(text: str) -> UUID | str:
    """A UUID if the text is an id as answers write it, else the text: ``<`` and ``>`` take any text."""
    return UUID(text) if _CANONICAL_ID.fullmatch(text) else text


def _number(text: str) -> Number | None:
    return number_of(text) if JSON_NUMBER.fullmatch(text) else None


def _time(text: str) -> datetime | None:
    try:
        return timestamps.parse(text, shortened=True)
    except ValueError:
        return None


# A numeric has more digits than a double. If it is not a whole number, the shortest text of the nearest double is
# meant, if there is a double near it.

NUMBER_JSON: LiteralString = """CASE
    WHEN {0} = trunc({0}) AND abs({0}) < 1e21 THEN trunc({0})::text
    WHEN abs({0}) BETWEEN 1e-300 AND 1e300 THEN to_json({0}::double precision)::text
    ELSE {0}::text END"""
"""A number as JSON."""

_DECIMAL_JSON: LiteralString = (
    f"{NUMBER_JSON} || CASE WHEN {{0}} = trunc({{0}}) AND abs({{0}}) < 1e21 THEN '.0' ELSE '' END"
)
"""A number with a fraction, ``.0`` if it is whole."""

_IN_QUOTES = ("a text in double quotes", "texts in double quotes")

ID = Kind(("id", "ids"), _IN_QUOTES, literals=(str,), read=_id)
TEXT = Kind(("text", "texts"), _IN_QUOTES, literals=(str,))
NUMBER = Kind(
    ("number", "numbers"),
    ("a number", "numbers"),
    cast="numeric",
    literals=(int, float, HugeNumber),
    read=_number,
    data_type="number",
    json=_DECIMAL_JSON,
    amount="{}",
)
TIME = Kind(
    ("time", "times"),
    ('a date-time in double quotes, as "2016-02-28T16:41:41.090Z", or a date', "date-times in double quotes"),
    cast="timestamptz",
    literals=(str,),
    read=_time,
    data_type="datetime",
    json=f"to_json({utc_time('{}')})::text",
    amount="(extract(epoch FROM {}) * 1000)",
)
OBJECT = Kind(("object", "objects"))
