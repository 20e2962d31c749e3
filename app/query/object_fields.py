"""The fields of ObjectType (interface 2.3), one row each.

What knows a field by its name follows from this table: body schemas, the statements of facets, the parameters of lists,
the languages of ``where`` and of filters, the document, its example, and made-up resources. A new field is a row here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, LiteralString

from app.query import kinds
from app.query.kinds import Kind
from app.values.json_fields import STORABLE_TEXT, Check, check_int32, check_int64, check_number, check_text


@dataclass(frozen=True, slots=True, eq=False)
class ItemType:
    """What a value is.

    :param check: keeps a decoded JSON value, or refuses it.
    :param json_schema: its JSON Schema.
    :param counted_as: the SQL type that facets count it as.
    :param kind: what it is to conditions and facets.
    """

    check: Check
    json_schema: Mapping[str, Any]
    counted_as: LiteralString
    kind: Kind


INT64 = ItemType(check_int64, {"type": "integer", "format": "int64"}, "bigint", kinds.NUMBER)
INT32 = ItemType(check_int32, {"type": "integer", "format": "int32"}, "bigint", kinds.NUMBER)
NUMBER = ItemType(check_number, {"type": "number"}, "numeric", kinds.NUMBER)
DOUBLE = ItemType(check_number, {"type": "number", "format": "double"}, "numeric", kinds.NUMBER)
TEXT = ItemType(check_text, dict(STORABLE_TEXT), "text", kinds.TEXT)


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A member of the objects of an array; each is optional."""

    name: LiteralString
    type: ItemType


@dataclass(frozen=True, slots=True)
class Chance:
    """What a made-up value is drawn from: a stream of its own for each field, so that a new field changes no other one.

    :param word: draws a word, common ones more often.
    """

    random: Random
    word: Callable[[Random], str]

    def integers(self, below: int, at_most: int) -> list[int]:
        """One to ``at_most`` integers from 0."""
        return [self.random.randrange(below) for _ in range(self.random.randrange(1, at_most + 1))]

    def number(self, value: float, digits: int) -> int | float:
        """A rounded number as the service stores it: an integer if it is whole."""
        rounded = round(value, digits)
        return int(rounded) if rounded.is_integer() else rounded


@dataclass(frozen=True, slots=True, eq=False)
class ArrayField:
    """A field of ObjectType. Each is an array, and optional.

    :param type: what its items are; None for objects, which ``members`` describe.
    :param unique: items do not repeat.
    :param length: the number of items; None for any.
    :param parameters: the parameters of the list (interface 4.1) that look for one item.
    :param example: its items in the example of the document.
    :param made: its items in a made-up resource.
    """

    name: LiteralString
    example: list[Any]
    made: Callable[[Chance], list[Any]]
    type: ItemType | None = None
    members: tuple[Member, ...] = ()
    unique: bool = False
    length: int | None = None
    parameters: tuple[str, ...] = field(default=())


SEARCHED = "arrayOfStringExample"
"""The field whose texts a search looks at, beside someProperty; the schema's function ``words_of`` names it too."""

OBJECT_FIELDS: tuple[ArrayField, ...] = (
    ArrayField(
        "arrayOfIntExample",
        type=INT64,
        parameters=("integerParameter",),
        example=[1, 2, 1, 3, 2, 3, 1],
        made=lambda chance: chance.integers(1000, 7),
    ),
    ArrayField(
        "arrayOfUniqueIntExample",
        type=INT64,
        unique=True,
        parameters=("integerParameter",),
        example=[1, 3, 5, 7],
        made=lambda chance: sorted(set(chance.integers(10_000, 7))),
    ),
    ArrayField(
        "arrayOfTwonumbersExample",
        type=NUMBER,
        length=2,
        example=[3, 5],
        made=lambda chance: [chance.random.randrange(-90, 90), chance.random.randrange(-180, 180)],
    ),
    ArrayField(
        "arrayOfFloatExample",
        type=DOUBLE,
        parameters=("floatParameter",),
        example=[0.82],
        made=lambda chance: [chance.number(chance.random.gauss(50, 20), 2)],
    ),
    ArrayField(
        "arrayOfNumberNoDefaultsExample",
        type=NUMBER,
        parameters=("withMarkdownDescription",),
        example=[10, 9, 8, 7, 6],
        made=lambda chance: [chance.random.randrange(1_000_000), chance.number(chance.random.random(), 3)],
    ),
    ArrayField(
        SEARCHED,
        type=TEXT,
        parameters=("stringParameter",),
        example=["dog", "cat", "bird"],
        made=lambda chance: [chance.word(chance.random) for _ in range(chance.random.randrange(1, 5))],
    ),
    ArrayField(
        "arrayOfObjectType",
        members=(
            Member("integerExample", INT64),
            Member("integerExampleInt32", INT32),
        ),
        example=[
            {"integerExample": 777, "integerExampleInt32": 1},
            {"integerExample": 30000, "integerExampleInt32": 22},
        ],
        made=lambda chance: [
            {"integerExample": chance.random.randrange(100_000), "integerExampleInt32": chance.random.randrange(100)}
            for _ in range(chance.random.randrange(3))
        ],
    ),
)
"""In the order in which they are written to JSON."""


def looked_at_by(parameter: str) -> list[LiteralString]:
    """The arrays in which a parameter of the list looks for its value."""
    return [row.name for row in OBJECT_FIELDS if parameter in row.parameters]
