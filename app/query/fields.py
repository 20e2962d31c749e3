"""The fields of a resource: public name to type and SQL, one table for everything that reads a resource by them.

Those of ObjectType follow from :mod:`app.query.object_fields`.

The SQL is code and therefore a ``LiteralString``; ``r`` is the row of the resource. Whatever differs between the
current and the staged projection stands here for both, so that conditions, orders and facets need not tell them apart.
Writes and bulk commands name the columns of both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, Flag
from typing import LiteralString
from uuid import UUID

from app.query import kinds
from app.query.kinds import Kind, Value
from app.query.object_fields import OBJECT_FIELDS, ArrayField, Member
from app.query.sql_text import literal


class Projection(Enum):
    """One of the two projections of a resource."""

    CURRENT = "current"
    STAGED = "staged"


@dataclass(frozen=True, slots=True)
class Column:
    """An SQL expression for each projection."""

    current: LiteralString
    staged: LiteralString

    def for_projection(self, projection: Projection) -> LiteralString:
        """The expression for a projection."""
        return self.current if projection is Projection.CURRENT else self.staged


class Index(Flag):
    """What an index answers. A field has what its index answers, an operator what it asks for."""

    VALUES = 1
    """Which resources have a value. They are taken for few."""
    ORDER = 2
    """The resources in the order of the field. A value or a range is one stretch of it, possibly most of a project. A
    page in this order is read up to its end. Beside another condition the whole stretch may be read in vain."""


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A row of the table.

    :param kind: what it holds, or what the items of an array are.
    :param column: its value, NULL if it is absent; None for the members of an array's elements, which have no column.
    :param members: the fields of an object, or of an array's elements.
    :param text: its value as text, if ``column`` has another SQL type than the public one.
    :param indexed: what its index answers; ``sort`` takes a field whose index has an order.
    :param looked_up: whether the index can be asked for a value.
    :param beginning: what ``sort`` and the index take in place of a value that has no limit; only the current
        projection has such an index.
    :param expandable: ``expand`` takes it.
    :param counted_as: the SQL type that facets count the values of an array as, or those of a member of its elements.
    """

    name: LiteralString
    kind: Kind
    column: Column | None = None
    members: Mapping[str, "Field"] = field(default_factory=dict[str, "Field"])
    text: LiteralString | None = None
    indexed: Index = Index(0)
    looked_up: Callable[[Value], bool] = lambda _: True
    beginning: Column | None = None
    expandable: bool = False
    counted_as: LiteralString = ""
    is_array: bool = False

    def indexed_in(self, projection: Projection) -> Index:
        """What its index answers in a projection."""
        return self.indexed if self.beginning is None or projection is Projection.CURRENT else Index(0)

    @property
    def type_name(self) -> str:
        """What it holds, for people."""
        one, many = self.kind.name
        return f"array of {many}" if self.is_array else one

    @property
    def takes(self) -> str:
        """What it can be compared with, for messages."""
        return self.kind.takes[self.is_array]


# The two projections. The columns of the staged one are NULL as long as it equals the current one.

HAS_STAGED_CHANGES: LiteralString = "r.staged_object_type IS NOT NULL"
"""Whether the projections differ."""

OBJECT_TEXT = Column("r.object_type", "coalesce(r.staged_object_type, r.object_type)")
"""The ObjectType as the text that answers contain."""

DOCUMENT = Column("r.object", "coalesce(r.staged_object, r.object)")
"""The ObjectType as jsonb, whose arrays of numbers and texts have each value once, in order."""

SOME_PROPERTY = Column(
    "r.some_property",
    "CASE WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property END",
)

BEGINNING_LENGTH = 400
"""Characters of someProperty that are indexed and sorted by: an entry of a B-tree has at most 2704 bytes."""

_BEGINNING = Column(
    f'"left"({SOME_PROPERTY.current}, {literal(BEGINNING_LENGTH)})',
    f'"left"({SOME_PROPERTY.staged}, {literal(BEGINNING_LENGTH)})',
)

_DETERS_FULL_SCAN: LiteralString = "CASE WHEN r.version > 0 THEN true ELSE word_stems(r.created_by) IS NULL END"
"""Always true, and cheap, since each version is above 0. The planner adds the COST of ``word_stems`` to every row that
a scan looks at.

It takes each project for 0.5 % of the table, so a scan of the whole project looks cheaper to it than two searches of
GIN indexes, which a condition on the staged projection needs.
"""


def _served_by_gin(condition: LiteralString) -> Column:
    """A condition on a document or on words, with ``{column}`` and ``{}``, that the index of each column serves."""
    current, staged = condition.replace("{column}", "r."), condition.replace("{column}", "r.staged_")
    return Column(
        current,
        f"((r.staged_object_type IS NULL AND {current} OR r.staged_object_type IS NOT NULL AND {staged})"
        f" AND {_DETERS_FULL_SCAN})",
    )


CONTAINS = _served_by_gin("{column}object @> {0}")
"""Whether the ObjectType contains a document."""

FOUND_BY = _served_by_gin("{column}object @? {0}")
"""Whether a jsonpath finds something in the ObjectType; the GIN indexes serve its comparisons by ``==``."""

MATCHES = _served_by_gin("{column}words @@ {0}")
"""Whether the words of a projection match a ``tsquery``."""

WORDS_TO_RANK = Column("r.words", "CASE WHEN r.staged_object_type IS NULL THEN r.words ELSE r.staged_words END")
"""The words of a projection with their positions."""

WORDS = Column("tsvector_to_array(r.words)", "tsvector_to_array(r.staged_words)")
"""The words of a projection as an array; those of the staged one are NULL as long as the projections are equal."""

# The table


def _both(sql: LiteralString) -> Column:
    return Column(sql, sql)


def _array(row: ArrayField) -> Field:
    """A field of ObjectType, from its row."""
    kind = kinds.OBJECT if row.type is None else row.type.kind
    column = Column(f"{DOCUMENT.current} -> '{row.name}'", f"{DOCUMENT.staged} -> '{row.name}'")
    counted_as = "" if row.type is None else row.type.counted_as
    members = _by_name(*map(_member, row.members))
    return Field(row.name, kind, column, members, indexed=Index.VALUES, counted_as=counted_as, is_array=True)


def _member(row: Member) -> Field:
    return Field(row.name, row.type.kind, indexed=Index.VALUES, counted_as=row.type.counted_as)


def _reference(name: LiteralString, column: LiteralString) -> Field:
    members = _by_name(
        Field("typeId", kinds.TEXT, _both("'api-client'::text")),
        Field("id", kinds.TEXT, _both(column)),
    )
    return Field(name, kinds.OBJECT, _both(column), members, expandable=True)


def _by_name(*rows: Field) -> Mapping[str, Field]:
    return {row.name: row for row in rows}


OBJECT_TYPE: Mapping[str, Field] = _by_name(*map(_array, OBJECT_FIELDS))
"""The fields of ObjectType (interface 2.3), in the order in which they are written to JSON."""


def _is_uuid(value: Value) -> bool:
    return isinstance(value, UUID)


def _is_integer(value: Value) -> bool:
    return isinstance(value, int)


def _is_short(value: Value) -> bool:
    """Whether a text compares with a beginning as it compares with the whole text."""
    return len(str(value)) < BEGINNING_LENGTH


_BOTH = Index.VALUES | Index.ORDER

RESOURCE: Mapping[str, Field] = {
    **_by_name(
        Field("id", kinds.ID, _both("r.id"), text='r.id::text COLLATE "C"', indexed=_BOTH, looked_up=_is_uuid),
        Field("key", kinds.TEXT, _both("r.key"), indexed=_BOTH),
        Field("version", kinds.NUMBER, _both("r.version"), indexed=Index.ORDER, looked_up=_is_integer),
        Field("createdAt", kinds.TIME, _both("r.created_at"), indexed=Index.ORDER),
        Field("lastModifiedAt", kinds.TIME, _both("r.last_modified_at"), indexed=Index.ORDER),
        Field(
            "someProperty",
            kinds.TEXT,
            SOME_PROPERTY,
            indexed=_BOTH,
            looked_up=_is_short,
            beginning=_BEGINNING,
        ),
        _reference("createdBy", "r.created_by"),
        _reference("lastModifiedBy", "r.last_modified_by"),
        Field("objectTypeProperty", kinds.OBJECT, DOCUMENT, OBJECT_TYPE),
    ),
    **OBJECT_TYPE,
}
"""The fields of a resource (interface 2.2, and fields that the server adds), and the fields of its ObjectType."""

SORTABLE: Mapping[str, Field] = {name: row for name, row in RESOURCE.items() if Index.ORDER in row.indexed}
"""Fields that ``sort`` takes."""

EXPANDABLE: Mapping[str, Field] = {name: row for name, row in RESOURCE.items() if row.expandable}
"""References whose target an answer can contain."""
