"""The columns with the distinct values of each array of an ObjectType: facets count them, ``<`` and ``>`` compare them.

The worker makes the values from what it has checked, which takes some microseconds. SQL would have to take the
document apart.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, LiteralString

from app.query.fields import OBJECT_TYPE, Stage, ValueArray
from app.resource.object_type import PART, ObjectType


def array_columns(object_type: ObjectType | None, stage: Stage = Stage.CURRENT) -> dict[LiteralString, str | None]:
    """The columns of a projection for an ObjectType; all are NULL for None.

    A value is the literal of an array, sorted as ``array_agg(DISTINCT ...)`` sorts it: numbers by value, texts by code
    point; NULL if there are no values.
    """
    if object_type is None:
        return dict.fromkeys(columns_of(stage))
    columns: dict[LiteralString, str | None] = {}
    for name, arrays in ARRAYS.items():
        if name not in object_type.literals:
            object_type.literals[name] = _literals(object_type.items(name), arrays)
        for array, literal in zip(arrays, object_type.literals[name], strict=True):
            columns[array.column_of(stage)] = literal
    return columns


def _literals(items: Sequence[Any], arrays: Sequence[ValueArray]) -> list[str | None]:
    literals: list[str | None] = []
    for array in arrays:
        member = array.member
        values = items if member is None else [element[member] for element in items if member in element]
        literals.append(_WRITERS[array.item_type](values) if values else None)
    return literals


def columns_of(stage: Stage) -> list[LiteralString]:
    """The columns of a projection, in the order of :func:`array_columns`."""
    return [array.column_of(stage) for arrays in ARRAYS.values() for array in arrays]


ARRAYS: Mapping[LiteralString, tuple[ValueArray, ...]] = {
    field.name: tuple([row.values for row in (field, *field.members.values()) if row.values is not None])
    for field in OBJECT_TYPE.values()
}
"""The columns of each field of ObjectType."""


# Each writer gets at least one value. Of a large array it makes part by part, and lets other requests go on between two
# parts: a single call of Python's library for all values would stop them for a tenth of a second.


def _parts(values: Sequence[Any]) -> Iterator[slice]:
    for begin in range(0, len(values), PART):
        if begin:
            time.sleep(0)  # gevent runs other greenlets
        yield slice(begin, begin + PART)


def _distinct(values: Sequence[Any]) -> list[Any]:
    distinct = list(set(values))
    for part in _parts(distinct):
        distinct[part] = sorted(distinct[part])
    if len(distinct) > PART:
        time.sleep(0)
        distinct.sort()  # merges the parts
        time.sleep(0)
    return distinct


def _integers(values: Sequence[int | float]) -> str:
    # The only float among integers is -0.0, which is no bigint.
    return _numbers(values).replace("-0.0", "0")


def _numbers(values: Sequence[int | float]) -> str:
    distinct = _distinct(values)
    return f"{{{', '.join([repr(distinct[part])[1:-1] for part in _parts(distinct)])}}}"


def _texts(values: Sequence[str]) -> str:
    distinct = _distinct(values)
    together = "".join(distinct)
    if '"' in together or "\\" in together:
        distinct = [value.replace("\\", r"\\").replace('"', r"\"") for value in distinct]
    return '{"' + '","'.join(distinct) + '"}'


_WRITERS: dict[str, Callable[[Any], str]] = {"bigint": _integers, "numeric": _numbers, "text": _texts}
"""The writers of an array, by the SQL type of its items."""
