"""The fields of a resource: public name to type and SQL, one table for all that reads a resource by them.

The SQL is code and therefore a ``LiteralString``; ``r`` is the resource's row. What differs between the current and
the staged projection is spelt out for both, so that whoever asks for a field says which one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import LiteralString


class Kind(Enum):
    """What a field holds."""

    ID = "id"
    TEXT = "text"
    NUMBER = "number"
    TIME = "time"
    TEXTS = "array of texts"
    NUMBERS = "array of numbers"
    OBJECT = "object"
    OBJECTS = "array of objects"


class Stage(Enum):
    """Which projection of a resource is looked at."""

    CURRENT = "current"
    STAGED = "staged"


@dataclass(frozen=True, slots=True)
class Column:
    """An SQL expression for each projection."""

    current: LiteralString
    staged: LiteralString

    def of(self, stage: Stage) -> LiteralString:
        """The expression for a projection."""
        return self.current if stage is Stage.CURRENT else self.staged


@dataclass(frozen=True, slots=True)
class Part:
    """Resources whose order by a field one index serves.

    :param condition: which they are.
    :param begins: what the index holds of the field, if that is not all of it.
    """

    condition: LiteralString
    begins: LiteralString | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A row of the table.

    :param column: its value, NULL if it is absent; None for the members of an array's elements, which have no column.
    :param members: the fields of an object, or of an array's elements.
    :param text: its value as text, where ``column`` has another type than the public one.
    :param sortable: ``sort`` takes it.
    :param parts: of sortable fields that a resource may lack: all resources, divided so that an index serves the order
        of each part of the current projection. The last part lacks the field.
    :param expandable: ``expand`` takes it.
    """

    name: LiteralString
    kind: Kind
    column: Column | None = None
    members: Mapping[str, "Field"] = field(default_factory=dict[str, "Field"])
    text: LiteralString | None = None
    sortable: bool = False
    parts: tuple[Part, ...] = ()
    expandable: bool = False


TIME_FORMAT: LiteralString = '\'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\''
"""How ``to_char`` writes a time in UTC as answers have it."""

OBJECT_TEXT = Column("r.object_type", "coalesce(r.staged_object_type, r.object_type)")
"""The ObjectType as it is answered."""

DOCUMENT = Column("r.object", "coalesce(r.staged_object, r.object)")
"""The ObjectType as jsonb."""

CONTAINS = Column(
    "r.object @> {}",
    "(r.staged_object_type IS NULL AND r.object @> {0} OR r.staged_object_type IS NOT NULL AND r.staged_object @> {0})",
)
"""Whether the ObjectType contains a document, written so that the GIN index of each column serves it."""

MATCHES = Column(
    "r.words @@ {0}",
    "(r.staged_object_type IS NULL AND r.words @@ {0} OR r.staged_object_type IS NOT NULL AND r.staged_words @@ {0})",
)
"""Whether the words of a projection match a ``tsquery``, written so that the GIN index of each column serves it."""

RELEVANCE = Column(
    "ts_rank(r.words, {0})",
    "ts_rank(CASE WHEN r.staged_object_type IS NULL THEN r.words ELSE r.staged_words END, {0})",
)
"""How well they match it: the more, and the nearer to one another, the higher."""


def _both(sql: LiteralString) -> Column:
    return Column(sql, sql)


def _in_document(name: LiteralString, kind: Kind, *members: Field) -> Field:
    column = Column(f"r.object -> '{name}'", f"coalesce(r.staged_object, r.object) -> '{name}'")
    return Field(name, kind, column, _by_name(*members))


def _reference(name: LiteralString, column: LiteralString) -> Field:
    members = _by_name(
        Field("typeId", Kind.TEXT, _both("'api-client'::text")),
        Field("id", Kind.TEXT, _both(column)),
    )
    return Field(name, Kind.OBJECT, _both(column), members, expandable=True)


def _by_name(*rows: Field) -> Mapping[str, Field]:
    return {row.name: row for row in rows}


OBJECT_TYPE: Mapping[str, Field] = _by_name(
    _in_document("arrayOfIntExample", Kind.NUMBERS),
    _in_document("arrayOfUniqueIntExample", Kind.NUMBERS),
    _in_document("arrayOfTwonumbersExample", Kind.NUMBERS),
    _in_document("arrayOfFloatExample", Kind.NUMBERS),
    _in_document("arrayOfNumberNoDefaultsExample", Kind.NUMBERS),
    _in_document("arrayOfStringExample", Kind.TEXTS),
    _in_document(
        "arrayOfObjectType",
        Kind.OBJECTS,
        Field("integerExample", Kind.NUMBER),
        Field("integerExampleInt32", Kind.NUMBER),
    ),
)
"""The fields of ObjectType (interface 2.3)."""

RESOURCE: Mapping[str, Field] = {
    **_by_name(
        Field("id", Kind.ID, _both("r.id"), text='r.id::text COLLATE "C"', sortable=True),
        Field(
            "key",
            Kind.TEXT,
            _both("r.key"),
            sortable=True,
            parts=(Part("r.key IS NOT NULL"), Part("r.key IS NULL")),
        ),
        Field("version", Kind.NUMBER, _both("r.version"), sortable=True),
        Field("createdAt", Kind.TIME, _both("r.created_at"), sortable=True),
        Field("lastModifiedAt", Kind.TIME, _both("r.last_modified_at"), sortable=True),
        Field(
            "someProperty",
            Kind.TEXT,
            Column(
                "r.some_property",
                "CASE WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property END",
            ),
            sortable=True,
            parts=(
                Part("octet_length(r.some_property) <= 2000"),
                Part("octet_length(r.some_property) > 2000", begins='"left"(r.some_property, 400)'),
                Part("r.some_property IS NULL"),
            ),
        ),
        _reference("createdBy", "r.created_by"),
        _reference("lastModifiedBy", "r.last_modified_by"),
        Field("objectTypeProperty", Kind.OBJECT, DOCUMENT, OBJECT_TYPE),
    ),
    **OBJECT_TYPE,
}
"""The fields of a resource (interface 2.2 and what the server adds); those of its ObjectType stand here too."""

SORTABLE: Mapping[str, Field] = {name: row for name, row in RESOURCE.items() if row.sortable}
"""Fields that lists are sorted by."""

EXPANDABLE: Mapping[str, Field] = {name: row for name, row in RESOURCE.items() if row.expandable}
"""References whose target an answer can hold."""
