"""A resource as JSON text, in each form that answers have.

For a page, SQL makes the JSON of each result from its row ``r``, so that many results cost the worker little time.
After a write, Python makes the JSON from the columns, because Citus refuses most functions that make JSON in RETURNING
of a distributed table; Python also makes it for a read of a single resource.
"""

# encode_basestring quotes a text as strict_json.encode does, with less work, and with the escapes of PostgreSQL's
# to_json.
from json.encoder import encode_basestring
from operator import attrgetter
from typing import Any, LiteralString

from app.query.fields import HAS_STAGED_CHANGES, OBJECT_TEXT, SOME_PROPERTY, Projection
from app.query.sql_text import utc_time
from app.resource.model import Representation, Resource
from app.values.timestamps import text_of

# JSON text in SQL: the arguments and results of these functions are SQL expressions, except for the names of members.
# The stored text of an ObjectType becomes part of an answer as it is. PostgreSQL's own functions for JSON would parse
# it for each row and write other white space.


def concatenated(*texts: LiteralString) -> LiteralString:
    """The SQL that concatenates texts. Adjacent literals are merged, which saves a concatenation for each row.

    Two texts are merged if the first ends with a quote and the second begins with one. So an expression such as
    ``x -> 'a'`` must not be passed: with ``'b'`` after it, the SQL would be ``x -> 'ab'``.

    :param texts: SQL. Each text is a literal, a result of this function, or an expression that binds more tightly than
        ``||`` and neither begins nor ends with a literal. To add no text, pass the empty SQL literal ``''``. An empty
        ``str`` would leave a ``||`` without an operand.
    """
    merged: list[LiteralString] = []
    for text in texts:
        if merged and merged[-1].endswith("'") and text.startswith("'"):
            merged[-1] = merged[-1][:-1] + text[1:]
        else:
            merged.append(text)
    return " || ".join(merged)


def quoted(value: LiteralString) -> LiteralString:
    """The SQL that makes a JSON string of a text without escapes, which puts it in double quotes.

    :param value: SQL of a text that has no character to be escaped.
    """
    return concatenated("'\"'", value, "'\"'")


def member(name: LiteralString, value: LiteralString) -> LiteralString:
    """The SQL of the text ``,"name":value``: a member of a JSON object, with a comma before it.

    :param name: the name itself, which needs no escapes.
    :param value: SQL that makes the JSON of the value. If it is NULL, the whole member is NULL.
    """
    return concatenated(f"',\"{name}\":'", value)


def text_member(name: LiteralString, value: LiteralString) -> LiteralString:
    """A member whose value is a text that needs no escapes, with a comma before it."""
    return member(name, quoted(value))


def optional_member(name: LiteralString, value: LiteralString) -> LiteralString:
    """A member of an object, with a comma before it; an empty text if the value is NULL."""
    return f"coalesce({member(name, value)}, '')"


def members(*each: LiteralString) -> LiteralString:
    """The SQL of members of an object, without the comma before the first member.

    The SQL of a member begins with a literal, such as ``',"id":'``. The quote and the comma of the first literal are
    removed, and the quote is put back. The first member must not be optional: the SQL of an optional member begins with
    ``coalesce(``, so nothing would be removed, and the quote would be one too many.
    """
    return "'" + concatenated(*each).removeprefix("',")


def object_(*each: LiteralString) -> LiteralString:
    """A JSON object with these members; the first one must not be optional."""
    return concatenated("'{'", members(*each), "'}'")


def object_with_members_of(other: LiteralString, *each: LiteralString) -> LiteralString:
    """A JSON object with these members, followed by the members of the object ``other``.

    :param other: the text of an object without white space at its beginning: ``{}`` or ``{"...``.
    """
    rest: LiteralString = f"CASE {other} WHEN '{{}}' THEN '}}' ELSE ',' || substr({other}, 2) END"
    return concatenated("'{'", members(*each), rest)


# One resource

COLUMNS: LiteralString = """
    r.id, r.version, r.key, r.created_at, r.last_modified_at, r.created_by, r.last_modified_by, r.object_type,
    r.some_property"""
"""The columns that :func:`representation_of_row` needs."""


def representation_of_row(row: tuple[Any, ...]) -> Representation:
    """The resource (interface 2.2) of a row with :data:`COLUMNS`. Its JSON is equal to the JSON that
    :data:`RESULT_JSON` makes without expanded references."""
    uuid, version, key, created_at, last_modified_at, created_by, last_modified_by, object_type, some_property = row
    resource_id = str(uuid)
    key_member = "" if key is None else f'"key":"{key}",'  # no character of a key needs an escape
    some_property_member = "" if some_property is None else f',"someProperty":{encode_basestring(some_property)}'
    return Representation(
        resource_id,
        version,
        f'{{"id":"{resource_id}","version":{version},{key_member}'
        f'"createdAt":"{text_of(created_at)}","lastModifiedAt":"{text_of(last_modified_at)}",'
        f'"createdBy":{{"typeId":"api-client","id":{encode_basestring(created_by)}}},'
        f'"lastModifiedBy":{{"typeId":"api-client","id":{encode_basestring(last_modified_by)}}},'
        f'"objectTypeProperty":{object_type}{some_property_member}}}',
    )


def representation_of(resource: Resource) -> Representation:
    """Make what an answer has of a resource: its id, its version, and its JSON (interface 2.2), which shows the current
    projection and not the staged one."""
    return representation_of_row(_row_of(resource))


_row_of = attrgetter(
    *("id", "version", "key", "created_at", "last_modified_at", "created_by", "last_modified_by"),
    *("current.object_type.text", "current.some_property"),
)


# Results of a page: SQL on the row ``r``

_FIRST_MEMBERS: tuple[LiteralString, ...] = (
    text_member("id", "r.id"),
    member("version", "r.version"),
    optional_member("key", quoted("r.key")),
    text_member("createdAt", utc_time("r.created_at")),
    text_member("lastModifiedAt", utc_time("r.last_modified_at")),
)
"""The members with which the JSON of every result begins."""


def _resource(*expanded: LiteralString) -> LiteralString:
    """The SQL expression that makes the JSON of a resource (interface 2.2) in its current projection.

    :param expanded: the references to expand: ``createdBy``, ``lastModifiedBy``, both or none. An expanded reference
        also contains the API client itself, as ``obj``, unless the client was removed.
    """
    return object_(
        *_FIRST_MEMBERS,
        member("createdBy", _reference("r.created_by", expand="createdBy" in expanded)),
        member("lastModifiedBy", _reference("r.last_modified_by", expand="lastModifiedBy" in expanded)),
        member("objectTypeProperty", OBJECT_TEXT.current),
        optional_member("someProperty", f"to_json({SOME_PROPERTY.current})"),
    )


def _reference(column: LiteralString, *, expand: bool) -> LiteralString:
    """The SQL of a reference to the API client whose id the column contains.

    :param expand: whether the reference also contains the API client itself, as ``obj``, unless the client was removed.
    """
    client_id = member("id", f"to_json({column})")
    return object_(
        member("typeId", "'\"api-client\"'"), concatenated(client_id, _client(column)) if expand else client_id
    )


def _client(column: LiteralString) -> LiteralString:
    """The SQL of the member ``obj``: the API client whose id the column contains; an empty text if the client was
    removed.

    The member ``scopes`` contains only scopes for the project of the row, because the others would name other projects.
    """
    scopes: LiteralString = """array_to_json(ARRAY(
        SELECT s.scope FROM unnest(c.scopes) WITH ORDINALITY s (scope, position)
        WHERE split_part(s.scope, ':', 2) = r.project_key ORDER BY s.position))"""
    client = object_(member("id", "to_json(c.id)"), member("name", "to_json(c.name)"), member("scopes", scopes))
    return f"coalesce((SELECT {member('obj', client)} FROM api_client c WHERE c.id = {column}), '')"


EXPANDABLE: tuple[LiteralString, LiteralString] = ("createdBy", "lastModifiedBy")
"""The references that have an effect in ``expand``: an answer can contain the referenced API client."""

RESULT_JSON: dict[frozenset[str], LiteralString] = {
    frozenset(names): _resource(*names) for names in ((), EXPANDABLE[:1], EXPANDABLE[1:], EXPANDABLE)
}
"""A result of the sorted list (interface 4.12), by the names of the expanded references."""

FLAT_JSON: LiteralString = object_with_members_of(OBJECT_TEXT.current, *_FIRST_MEMBERS)
"""A result of the list (interface 4.1): the fields of ObjectType are next to id, version, key and the two times."""


def _projection(projection: Projection) -> LiteralString:
    """The SQL of a result of a search in a projection."""
    return object_with_members_of(
        OBJECT_TEXT.for_projection(projection),
        *_FIRST_MEMBERS,
        member("hasStagedChanges", f"({HAS_STAGED_CHANGES})"),
        optional_member("someProperty", f"to_json({SOME_PROPERTY.for_projection(projection)})"),
    )


PROJECTION_JSON: dict[Projection, LiteralString] = {projection: _projection(projection) for projection in Projection}
"""A result of a search, by its projection: a flat ObjectType as in the list, with someProperty and
``hasStagedChanges``."""
