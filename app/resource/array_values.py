"""The columns with the distinct values of each array of an ObjectType: facets count them, ``<`` and ``>`` compare them.

The worker makes the values from what it has checked, which takes some microseconds. SQL would have to take the
document apart.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, LiteralString

from app.query.fields import OBJECT_TYPE, Stage, ValueArray
from app.resource.object_type import ObjectType


def array_columns(object_type: ObjectType | None, stage: Stage = Stage.CURRENT) -> dict[LiteralString, str | None]:
    """The columns of a projection for an ObjectType; all are NULL for None.

    A value is the literal of an array, sorted as ``array_agg(DISTINCT ...)`` sorts it: numbers by value, texts by code
    point; NULL if there are no values.
    """
    columns: dict[LiteralString, str | None] = {}
    for name, arrays in ARRAYS.items():
        items = [] if object_type is None else object_type.items(name)
        for array in arrays:
            member = array.member
            values = items if member is None else [element[member] for element in items if member in element]
            columns[array.column_of(stage)] = _WRITERS[array.item_type](values) if values else None
    return columns


def columns_of(stage: Stage) -> list[LiteralString]:
    """The columns of a projection, in the order of :func:`array_columns`."""
    return [array.column_of(stage) for arrays in ARRAYS.values() for array in arrays]


ARRAYS: Mapping[LiteralString, tuple[ValueArray, ...]] = {
    field.name: tuple([row.values for row in (field, *field.members.values()) if row.values is not None])
    for field in OBJECT_TYPE.values()
}
"""The columns of each field of ObjectType."""


# Each writer gets at least one value.


def _integers(values: Sequence[int | float]) -> str:
    # The only float among integers is -0.0, which is no bigint.
    return _numbers(values).replace("-0.0", "0")


def _numbers(values: Sequence[int | float]) -> str:
    return f"{{{repr(sorted(set(values)))[1:-1]}}}"


def _texts(values: Sequence[str]) -> str:
    distinct = sorted(set(values))
    together = "".join(distinct)
    if '"' in together or "\\" in together:
        distinct = [value.replace("\\", r"\\").replace('"', r"\"") for value in distinct]
    return '{"' + '","'.join(distinct) + '"}'


_WRITERS: dict[str, Callable[[Any], str]] = {"bigint": _integers, "numeric": _numbers, "text": _texts}
"""The writers of an array, by the SQL type of its items."""
