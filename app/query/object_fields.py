"""The table of the fields of ObjectType (interface 2.3), one row each.

From this table follow body schemas, the statements of facets, the arrays that a parameter of a list searches, the
languages of ``where`` and of filters, and the OpenAPI document and its example. CONTRIBUTING.md has the steps to add a
field: besides its row here, one in :mod:`app.bulk.seed`, one in the kit's checks, and some documents.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, LiteralString

from app.query import kinds
from app.query.kinds import Kind
from app.values.json_fields import STORABLE_TEXT, Check, check_int32, check_int64, check_number, check_text


@dataclass(frozen=True, slots=True, eq=False)
class ItemType:
    """The type of an item of an array, or of a member of an object.

    :param check: takes a decoded JSON value and returns the value to keep, or raises a ValidationError.
    :param json_schema: the JSON Schema of a value.
    :param counted_as: the SQL type as which facets count values.
    :param kind: the kind of a value in conditions and facets.
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
class ArrayField:
    """A field of ObjectType. Every field is an array and optional.

    :param type: the type of its items; None if they are objects.
    :param members: the types of the members of these objects. Every member is optional.
    :param unique: whether repeated items are refused; only with ``type``.
    :param length: the number of items; None for any number.
    :param parameters: the parameters of the list (interface 4.1) that select the resources in which the field has an
        item.
    :param example: its items in the example of the OpenAPI document.
    """

    name: LiteralString
    example: list[Any]
    type: ItemType | None = None
    members: Mapping[LiteralString, ItemType] = field(default_factory=dict[LiteralString, ItemType])
    unique: bool = False
    length: int | None = None
    parameters: tuple[str, ...] = ()


SEARCHED = "arrayOfStringExample"
"""The array whose texts are searched, in addition to someProperty. The SQL function ``words_of`` names it, too."""

OBJECT_FIELDS: tuple[ArrayField, ...] = (
    ArrayField("arrayOfIntExample", type=INT64, parameters=("integerParameter",), example=[1, 2, 1, 3, 2, 3, 1]),
    ArrayField(
        "arrayOfUniqueIntExample",
        type=INT64,
        unique=True,
        parameters=("integerParameter",),
        example=[1, 3, 5, 7],
    ),
    ArrayField("arrayOfTwonumbersExample", type=NUMBER, length=2, example=[3, 5]),
    ArrayField("arrayOfFloatExample", type=DOUBLE, parameters=("floatParameter",), example=[0.82]),
    ArrayField(
        "arrayOfNumberNoDefaultsExample",
        type=NUMBER,
        parameters=("withMarkdownDescription",),
        example=[10, 9, 8, 7, 6],
    ),
    ArrayField(
        SEARCHED,
        type=TEXT,
        parameters=("stringParameter", "arrayOfString", "arrayOfStringWithDescription"),
        example=["dog", "cat", "bird"],
    ),
    ArrayField(
        "arrayOfObjectType",
        members={"integerExample": INT64, "integerExampleInt32": INT32},
        example=[
            {"integerExample": 777, "integerExampleInt32": 1},
            {"integerExample": 30000, "integerExampleInt32": 22},
        ],
    ),
)
"""The fields of ObjectType, in the order in which they are written to JSON."""


def arrays_of_parameter(parameter: str) -> list[LiteralString]:
    """The names of the arrays that a parameter of the list (interface 4.1) searches: it selects the resources in which
    at least one of them has the value."""
    return [row.name for row in OBJECT_FIELDS if parameter in row.parameters]
