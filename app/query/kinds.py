"""The kinds of values that a field can have, one row each. Some modules have a case of their own for ids, and for texts
in facets."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from app.query.language import compared_number
from app.query.sql_text import utc_time
from app.values import timestamps
from app.values.patterns import JSON_NUMBER, UUID_PATTERN
from app.values.strict_json import HugeNumber

Number = int | float
"""A number in a predicate: an int within int64, else the nearest double; an infinity beyond the range of doubles."""

Value = str | Number | datetime | UUID


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of values.

    :param takes: for messages, what a single value can be compared with, and what an array can be compared with.
    :param cast: the SQL type in which values are compared; for ids, only values that are not UUIDs.
    :param literals: the types of literals that can be values; none for objects, which no operator compares.
    :param read: returns the value that a text stands for, which is the content of a literal in quotes or the value of a
        variable; None if it stands for none.
    :param data_type: the ``dataType`` in the result of a facet.
    :param json: SQL of the JSON of a value in a facet.
    :param json_type: the type of this JSON.
    :param amount: SQL of the value as a number, for the statistics of a facet's ranges; empty if facets on this kind
        have no ranges. Filters have ranges of every kind.
    """

    takes: tuple[str, str] = ("", "")
    cast: LiteralString = "text"
    literals: tuple[type, ...] = ()
    read: Callable[[str], Value | None] = str
    data_type: LiteralString = "text"
    json: LiteralString = "to_json({})::text"
    json_type: str = "string"
    amount: LiteralString = ""

    def value_of(self, literal: str | Number) -> Value | None:
        """The value that a literal stands for; None if the literal is no value of this kind."""
        if type(literal) not in self.literals:  # the exact type, because a bool is an int, too
            return None
        return self.read(literal) if isinstance(literal, str) else literal


_CANONICAL_ID = re.compile(UUID_PATTERN, re.ASCII)


def _id(text: str) -> UUID | str:
    """The UUID, if the text is written as answers write UUIDs, in lower case. Any other text is returned as it is, and
    not refused, because ``<`` and ``>`` compare ids with any text."""
    return UUID(text) if _CANONICAL_ID.fullmatch(text) else text


def _number(text: str) -> Number | None:
    """The number of a text that is a JSON number, such as the value of a variable; None for any other text."""
    return compared_number(text) if JSON_NUMBER.fullmatch(text) else None


def _time(text: str) -> datetime | None:
    """A date-time, also without its zone (it is then UTC), or a date alone; None for any other text."""
    try:
        return timestamps.parse(text, shortened=True)
    except ValueError:
        return None


# A numeric may have more digits than a double. A number that is not whole, or from 1e21 on, becomes the shortest text
# of the nearest double; near the limits of doubles, where the conversion can fail, it keeps its digits.

NUMBER_JSON: LiteralString = """CASE
    WHEN {0} = trunc({0}) AND abs({0}) < 1e21 THEN trunc({0})::text
    WHEN abs({0}) BETWEEN 1e-300 AND 1e300 THEN to_json({0}::double precision)::text
    ELSE {0}::text END"""
"""SQL of a number as JSON."""

_IN_QUOTES = ("a text in double quotes", "texts in double quotes")

ID = Kind(_IN_QUOTES, literals=(str,), read=_id)
TEXT = Kind(_IN_QUOTES, literals=(str,))
NUMBER = Kind(
    ("a number", "numbers"),
    cast="numeric",
    literals=(int, float, HugeNumber),
    read=_number,
    data_type="number",
    json=NUMBER_JSON,
    json_type="number",
    amount="{}",
)
TIME = Kind(
    ('a date-time in double quotes, as "2016-02-28T16:41:41.090Z", or a date', "date-times in double quotes"),
    cast="timestamptz",
    literals=(str,),
    read=_time,
    data_type="datetime",
    json=f"to_json({utc_time('{}')})::text",
    amount="(extract(epoch FROM {}) * 1000)",
)
OBJECT = Kind()
