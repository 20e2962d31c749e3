"""The distinct values of the arrays of an ObjectType, as the value of a column ``arrays`` (see ``app.query.fields``).

The worker makes it from the values that it has checked, which takes some microseconds. SQL would have to take the
document apart.
"""

import heapq
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, LiteralString

from app.query.fields import OBJECT_TYPE, ValueArray

_ITEMS_AT_ONCE = 10_000


def literal(object_type: Mapping[str, Any]) -> str:
    """The text of an ``array_values`` for the members of a valid ObjectType.

    Each array is sorted as ``array_agg(DISTINCT ...)`` sorts it: numbers by value, texts by code point. One without
    values is left out, which means NULL.
    """
    parts: list[str] = []
    for name, member, write in _ATTRIBUTES:
        values = object_type.get(name)
        if values and member is not None:
            values = [element[member] for element in values if member in element]
        parts.append(write(values) if values else "")
    return f"({','.join(parts)})"


# Each writer gets at least one value.


def _integers(values: Sequence[int | float]) -> str:
    # The only float among integers is -0.0, which is no bigint.
    return _numbers(values).replace("-0.0", "0")


def _numbers(values: Sequence[int | float]) -> str:
    distinct = _distinct(values)
    if len(distinct) <= _ITEMS_AT_ONCE:
        return f'"{{{repr(distinct)[1:-1]}}}"'
    return f'"{{{",".join([repr(part)[1:-1] for part in _parts(distinct)])}}}"'


def _texts(values: Sequence[str]) -> str:
    distinct = _distinct(values)
    together = "".join(distinct)
    if '"' in together or "\\" in together:
        # Quotes and backslashes are escaped twice: for the array, and for the composite around it.
        distinct = [value.replace("\\", r"\\\\").replace('"', r'\\""') for value in distinct]
    return '"{""' + '"",""'.join(distinct) + '""}"'


def _distinct(values: Sequence[Any]) -> list[Any]:
    """The distinct values, sorted; other threads run meanwhile if there are many.

    Functions written in C hold Python's interpreter lock: sorting a million numbers at once takes a third of a second.
    """
    if len(values) <= _ITEMS_AT_ONCE:
        return sorted(set(values))
    distinct: set[Any] = set()
    for part in _parts(values):
        distinct.update(part)
    return list(heapq.merge(*[sorted(part) for part in _parts(list(distinct))]))


def _parts(values: Sequence[Any]) -> Generator[Sequence[Any]]:
    for begin in range(0, len(values), _ITEMS_AT_ONCE):
        yield values[begin : begin + _ITEMS_AT_ONCE]


_WRITERS: dict[str, Callable[[Any], str]] = {"bigint": _integers, "numeric": _numbers, "text": _texts}
"""The writers of an array, by the SQL type of its items."""


VALUE_ARRAYS: tuple[tuple[LiteralString, ValueArray], ...] = tuple(
    [
        (field.name, row.values)
        for field in OBJECT_TYPE.values()
        for row in (field, *field.members.values())
        if row.values is not None
    ]
)
"""Each attribute in its order, with the name of the field of ObjectType that it is made from."""

_ATTRIBUTES: tuple[tuple[str, str | None, Callable[[Any], str]], ...] = tuple(
    [
        (field.name, None if row is field else row.name, _WRITERS[row.values.item_type])
        for field in OBJECT_TYPE.values()
        for row in (field, *field.members.values())
        if row.values is not None
    ]
)
"""For each attribute, the field, the member of its elements if there is one, and the writer."""

EMPTY = literal({})
"""The arrays of an ObjectType without fields."""
