"""The table of a resource's fields: public name, type and SQL. Conditions, orders and facets read it.

The fields of ObjectType follow from :mod:`app.query.object_fields`.

The SQL is code and therefore a ``LiteralString``; ``r`` is the row of the resource. The table has the SQL of both
projections, so that conditions, orders and facets need no cases for them. Writes and bulk commands do not use its SQL:
they name the columns of both projections.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, Flag
from typing import LiteralString
from uuid import UUID

from app.query import kinds
from app.query.kinds import Kind, Value
from app.query.object_fields import OBJECT_FIELDS, ArrayField
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
    """Kinds of conditions that an index serves. A field has the kinds that its index serves; an operator has the kinds
    of the conditions that it forms."""

    VALUES = 1
    """Equality with a value. The resources with the value are assumed to be few."""
    ORDER = 2
    """A value or a range in the order of the field. Its resources are one stretch of the index, possibly most of a
    project. For a page in this order, PostgreSQL reads the stretch up to the end of the page, or of what is counted for
    ``total``. If there is another condition, PostgreSQL may read the whole stretch in vain."""


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A field of a resource, a row of the table.

    :param kind: the kind of its value; of an array, the kind of its items.
    :param column: SQL of its value; NULL if the field is absent. A member of an array's elements has no column.
    :param members: the fields of an object, or of the elements of an array.
    :param text: SQL of its value as text, if it is compared as a text although ``column`` is not a text.
    :param indexed: the conditions that its index serves.
    :param looked_up: returns whether the index serves a comparison with a value.
    :param beginning: SQL of the beginning of a text that may be too long for an index. ``sort`` and the index use it in
        place of the value; only the current projection has such an index.
    :param counted_as: the SQL type in which facets count the items of an array, or a member of its elements. Empty
        where facets count the column as it is, and for objects, which they do not count.
    """

    name: LiteralString
    kind: Kind
    column: Column = Column("NULL", "NULL")
    members: Mapping[str, "Field"] = field(default_factory=dict[str, "Field"])
    text: LiteralString = ""
    indexed: Index = Index(0)
    looked_up: Callable[[Value], bool] = lambda _: True
    beginning: Column | None = None
    counted_as: LiteralString = ""
    is_array: bool = False

    def indexed_in(self, projection: Projection) -> Index:
        """The kinds of conditions that the field's index serves in a projection. An index of the beginning of a text
        exists for the current projection only, so it serves none in the staged one."""
        return self.indexed if self.beginning is None or projection is Projection.CURRENT else Index(0)

    @property
    def sorted_by(self) -> Column:
        """The SQL that ``sort`` and the field's index use: the beginning of a text that may be too long for an index,
        else the column."""
        return self.beginning or self.column

    @property
    def takes(self) -> str:
        """A phrase for messages that says what the field can be compared with, such as ``a number``; for an array, such
        as ``numbers``."""
        return self.kind.takes[self.is_array]


# The two projections. The columns of the staged projection are NULL as long as the projections are equal.

HAS_STAGED_CHANGES: LiteralString = "r.staged_object_type IS NOT NULL"
"""SQL condition that the projections differ."""

OBJECT_TEXT = Column("r.object_type", "coalesce(r.staged_object_type, r.object_type)")
"""SQL of the ObjectType as the text that answers contain."""

DOCUMENT = Column("r.object", "coalesce(r.staged_object, r.object)")
"""SQL of the ObjectType as jsonb. Its arrays of scalars contain each value once, in order."""

SOME_PROPERTY = Column(
    "r.some_property",
    "CASE WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property END",
)

BEGINNING_LENGTH = 400
"""The number of characters at the beginning of someProperty that are indexed and sorted by. The whole text would not
fit, because an entry of a B-tree has at most 2704 bytes."""

_BEGINNING = Column(
    f'"left"({SOME_PROPERTY.current}, {literal(BEGINNING_LENGTH)})',
    f'"left"({SOME_PROPERTY.staged}, {literal(BEGINNING_LENGTH)})',
)

_DETERS_FULL_SCAN: LiteralString = "CASE WHEN r.version > 0 THEN true ELSE word_stems(r.created_by) IS NULL END"
"""A condition that is true of every row, since versions begin at 1, and that the planner counts as expensive.

A condition on the staged projection needs two searches of GIN indexes. The planner estimates each project at 0.5 % of
the table. In a table of some thousand rows it therefore prefers to scan the whole project. This term raises its
estimate of a scan: it adds the COST of ``word_stems`` for every row that is scanned, though PostgreSQL never calls the
function.
"""


def _served_by_gin(condition: LiteralString) -> Column:
    """For each projection, the SQL of a condition on the document or the words of a resource, in a form that the GIN
    indexes serve. For the staged projection, the SQL tests the staged column in rows with staged changes, and the
    current column in all other rows.

    The indexes of the staged columns are partial. PostgreSQL uses a partial index only if the condition contains the
    predicate of the index, here ``r.staged_object_type IS NOT NULL``. So the SQL joins this predicate to the test of
    the staged column by AND. The predicate changes no result: in a row without staged changes the staged column is
    NULL, and its test would not be true anyway.

    :param condition: SQL with two placeholders: ``{0}`` for the operand, and ``{prefix}`` directly before the column's
        name. ``{prefix}`` becomes ``r.`` for the current column, and ``r.staged_`` for the staged column.
    """
    current, staged = condition.replace("{prefix}", "r."), condition.replace("{prefix}", "r.staged_")
    return Column(
        current,
        f"((r.staged_object_type IS NULL AND {current} OR r.staged_object_type IS NOT NULL AND {staged})"
        f" AND {_DETERS_FULL_SCAN})",
    )


CONTAINS = _served_by_gin("{prefix}object @> {0}")
"""SQL condition that the ObjectType contains a document."""

FOUND_BY = _served_by_gin("{prefix}object @? {0}")
"""SQL condition that a jsonpath finds something in the ObjectType. The GIN indexes serve the comparisons by ``==`` in
it."""

MATCHES = _served_by_gin("{prefix}words @@ {0}")
"""SQL condition that the words of a projection match a ``tsquery``."""

WORDS_TO_RANK = Column("r.words", "CASE WHEN r.staged_object_type IS NULL THEN r.words ELSE r.staged_words END")
"""SQL of the words of a projection with their positions."""

WORDS = Column("tsvector_to_array(r.words)", "tsvector_to_array(r.staged_words)")
"""SQL of the words of a projection as an array. For the staged projection it is NULL as long as the projections are
equal."""

# The table


def _shared(sql: LiteralString) -> Column:
    """A column that has one value for both projections."""
    return Column(sql, sql)


def _array(row: ArrayField) -> Field:
    """Make the :class:`Field` of one of ObjectType's arrays from the array's row in :mod:`app.query.object_fields`.

    If the items of the array are objects, ``row.type`` is None. The kind of the field is then OBJECT, and facets count
    the members of the objects, but not the objects themselves.
    """
    kind = kinds.OBJECT if row.type is None else row.type.kind
    column = Column(f"{DOCUMENT.current} -> '{row.name}'", f"{DOCUMENT.staged} -> '{row.name}'")
    counted_as = "" if row.type is None else row.type.counted_as
    members = {
        name: Field(name, member.kind, indexed=Index.VALUES, counted_as=member.counted_as)
        for name, member in row.members.items()
    }
    return Field(row.name, kind, column, members, indexed=Index.VALUES, counted_as=counted_as, is_array=True)


def _reference(name: LiteralString, column: LiteralString) -> Field:
    """The field of a reference to an API client: an object with the members ``typeId`` and ``id``.

    :param column: SQL of the client's id. It is the column of the member ``id``, and also that of the reference itself,
        so that ``is defined`` works on the reference.
    """
    members = _by_name(
        # Without COLLATE, comparisons with the constant would use the collation of the database. The columns of texts
        # have "C".
        Field("typeId", kinds.TEXT, _shared("'api-client'::text COLLATE \"C\"")),
        Field("id", kinds.TEXT, _shared(column)),
    )
    return Field(name, kinds.OBJECT, _shared(column), members)


def _by_name(*rows: Field) -> Mapping[str, Field]:
    """Fields by their names."""
    return {row.name: row for row in rows}


OBJECT_TYPE: Mapping[str, Field] = _by_name(*map(_array, OBJECT_FIELDS))
"""The fields of ObjectType (interface 2.3), in the order in which they are written to JSON."""


def _is_uuid(value: Value) -> bool:
    """Whether the index of ids serves a comparison with a value: only if the value is a UUID. Any other value is a
    text. No id equals such a text, so ``=`` and ``in`` do not find an id by it. The other operators compare it with the
    text of the id, which has no index."""
    return isinstance(value, UUID)


def _is_short(value: Value) -> bool:
    """Whether the index of someProperty serves a comparison with a value: only if the value has fewer than
    :data:`BEGINNING_LENGTH` characters. The index contains only the first :data:`BEGINNING_LENGTH` characters of each
    text. If the value is shorter than that, comparing these characters gives the same result as comparing the whole
    text."""
    return len(str(value)) < BEGINNING_LENGTH


_BOTH_KINDS = Index.VALUES | Index.ORDER

RESOURCE: Mapping[str, Field] = {
    **_by_name(
        Field("id", kinds.ID, _shared("r.id"), text='r.id::text COLLATE "C"', indexed=_BOTH_KINDS, looked_up=_is_uuid),
        Field("key", kinds.TEXT, _shared("r.key"), indexed=_BOTH_KINDS),
        Field("version", kinds.NUMBER, _shared("r.version")),
        Field("createdAt", kinds.TIME, _shared("r.created_at"), indexed=Index.ORDER),
        Field("lastModifiedAt", kinds.TIME, _shared("r.last_modified_at"), indexed=Index.ORDER),
        Field(
            "someProperty", kinds.TEXT, SOME_PROPERTY, indexed=_BOTH_KINDS, looked_up=_is_short, beginning=_BEGINNING
        ),
        _reference("createdBy", "r.created_by"),
        _reference("lastModifiedBy", "r.last_modified_by"),
        Field("objectTypeProperty", kinds.OBJECT, DOCUMENT, OBJECT_TYPE),
    ),
    **OBJECT_TYPE,
}
"""The fields of a resource by their names: those of interface 2.2, those that the server adds, and those of its
ObjectType."""

SORTABLE: Mapping[str, Field] = {
    name: RESOURCE[name] for name in ("id", "key", "version", "createdAt", "lastModifiedAt", "someProperty")
}
"""The fields that ``sort`` accepts. No index has the order of versions: every update would have to write to it, and
few clients sort by version."""
