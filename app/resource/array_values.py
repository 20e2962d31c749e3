"""The columns with the distinct values of each array of an ObjectType: facets count them, ``<`` and ``>`` compare them.

The worker makes the values from what it has checked, which takes some microseconds. SQL would have to take the
document apart.
"""

import heapq
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, LiteralString

from app.query.fields import OBJECT_TYPE, Stage, ValueArray
from app.resource.object_type import ObjectType

_ITEMS_AT_ONCE = 10_000


def changed_columns(
    before: ObjectType, after: ObjectType, stage: Stage = Stage.CURRENT
) -> dict[LiteralString, str | None]:
    """The columns of a projection that differ between two ObjectTypes, with their values for the second one.

    A value is the literal of an array, sorted as ``array_agg(DISTINCT ...)`` sorts it: numbers by value, texts by code
    point; NULL if there are no values.
    """
    had, has = before.fields, after.fields
    changed: dict[LiteralString, str | None] = {}
    for name, arrays in ARRAYS.items():
        items = has.get(name)
        if items != had.get(name):
            for array in arrays:
                changed[array.column_of(stage)] = _literal(array, items or ())
    return changed


def all_columns(object_type: str | None, stage: Stage = Stage.CURRENT) -> dict[LiteralString, str | None]:
    """Every column of a projection for the text of an ObjectType; NULL each for None."""
    none: dict[LiteralString, str | None] = dict.fromkeys(columns_of(stage))
    return none if object_type is None else none | changed_columns(ObjectType(), ObjectType(object_type), stage)


def columns_of(stage: Stage) -> list[LiteralString]:
    """The columns of a projection, in the order of :func:`all_columns`."""
    return [array.column_of(stage) for arrays in ARRAYS.values() for array in arrays]


ARRAYS: Mapping[LiteralString, tuple[ValueArray, ...]] = {
    field.name: tuple([row.values for row in (field, *field.members.values()) if row.values is not None])
    for field in OBJECT_TYPE.values()
}
"""The columns of each field of ObjectType."""


def _literal(array: ValueArray, items: Sequence[Any]) -> str | None:
    if array.member is not None:
        items = [element[array.member] for element in items if array.member in element]
    return _WRITERS[array.item_type](items) if items else None


# Each writer gets at least one value.


def _integers(values: Sequence[int | float]) -> str:
    # The only float among integers is -0.0, which is no bigint.
    return _numbers(values).replace("-0.0", "0")


def _numbers(values: Sequence[int | float]) -> str:
    distinct = _distinct(values)
    if len(distinct) <= _ITEMS_AT_ONCE:
        return f"{{{repr(distinct)[1:-1]}}}"
    return f"{{{','.join([repr(part)[1:-1] for part in _parts(distinct)])}}}"


def _texts(values: Sequence[str]) -> str:
    distinct = _distinct(values)
    together = "".join(distinct)
    if '"' in together or "\\" in together:
        distinct = [value.replace("\\", r"\\").replace('"', r"\"") for value in distinct]
    return '{"' + '","'.join(distinct) + '"}'


_WRITERS: dict[str, Callable[[Any], str]] = {"bigint": _integers, "numeric": _numbers, "text": _texts}
"""The writers of an array, by the SQL type of its items."""


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
