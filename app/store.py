"""Every SQL statement on the resource. Functions take a connection and the project; none of them commits.

Three rules hold for each statement: ``project_key`` is a condition of it, values are parameters, and a write that
expects a version has it in the WHERE clause of its UPDATE or DELETE.

A write is one statement that locks the row (``before``), computes its new columns (``after``), writes them if all
conditions hold (``written``), and reports what it met either way, so that 404, 409 and 412 need no second look.
"""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import astuple
from functools import lru_cache
from typing import Any, LiteralString
from uuid import UUID

from psycopg.errors import UniqueViolation

from app import errors, listing, words
from app.db import Connection
from app.fields import OBJECT_TEXT, TIME_FORMAT, Stage
from app.listing import Parameters, Selected
from app.model import (
    OBJECT_TYPE_FIELDS,
    AnyVersion,
    Author,
    ById,
    ByKey,
    Change,
    Expression,
    Merged,
    NewResource,
    Paging,
    Preconditions,
    Refusal,
    Refused,
    Resource,
    Selection,
    Sole,
    Stored,
    StoredResource,
    Target,
    Value,
    Written,
    is_id,
    is_key,
)
from app.predicate.compiler import compile_condition, compile_containment
from app.sql_text import numbered

# Columns and the JSON made of them

RESOURCE_HEAD: LiteralString = f"""
    '{{"id":"' || r.id
    || '","version":' || r.version
    || coalesce(',"key":"' || r.key || '"', '')
    || ',"createdAt":"' || to_char(r.created_at AT TIME ZONE 'UTC', {TIME_FORMAT})
    || '","lastModifiedAt":"' || to_char(r.last_modified_at AT TIME ZONE 'UTC', {TIME_FORMAT})
    || '"'"""
"""The beginning of a resource's JSON: what every form of it has."""


def _resource_json(created_by: LiteralString = "''", last_modified_by: LiteralString = "''") -> LiteralString:
    """A resource (interface 2.2) in its current projection, with what stands beside the id in its references."""
    return f"""{RESOURCE_HEAD}
    || ',"createdBy":{{"typeId":"api-client","id":' || to_json(r.created_by) || {created_by}
    || '}},"lastModifiedBy":{{"typeId":"api-client","id":' || to_json(r.last_modified_by) || {last_modified_by}
    || '}},"objectTypeProperty":' || r.object_type
    || coalesce(',"someProperty":' || to_json(r.some_property), '')
    || '}}'"""


_RESOURCE_JSON = _resource_json()


def flat_end(object_text: LiteralString) -> LiteralString:
    """The end of a flat resource's JSON: the fields of an ObjectType, given as text, and the closing brace."""
    return f"CASE {object_text} WHEN '{{}}' THEN '}}' ELSE ',' || substr({object_text}, 2) END"


_FLAT_JSON: LiteralString = f"{RESOURCE_HEAD} || {flat_end(OBJECT_TEXT.current)}"
"""A result of the list (interface 4.1): the fields of ObjectType beside those of the server."""


def _client(column: LiteralString) -> LiteralString:
    """The API client that a column names, as a member to add to the reference; nothing if it is not there any more.

    Of its scopes those of the row's project are shown: the others would tell of other projects.
    """
    return f"""coalesce((
        SELECT ',"obj":{{"id":' || to_json(c.id) || ',"name":' || to_json(c.name)
            || ',"scopes":' || array_to_json(ARRAY(
                SELECT s.scope FROM unnest(c.scopes) WITH ORDINALITY s (scope, position)
                WHERE split_part(s.scope, ':', 2) = r.project_key ORDER BY s.position))
            || '}}'
        FROM api_client c WHERE c.id = {column}), '')"""


_RESULT_JSON: dict[frozenset[str], LiteralString] = {
    frozenset(): _RESOURCE_JSON,
    frozenset(("createdBy",)): _resource_json(created_by=_client("r.created_by")),
    frozenset(("lastModifiedBy",)): _resource_json(last_modified_by=_client("r.last_modified_by")),
    frozenset(("createdBy", "lastModifiedBy")): _resource_json(_client("r.created_by"), _client("r.last_modified_by")),
}
"""A result of the sorted list (interface 4.12), by the references that are expanded."""


# Reads


def get_by_id(connection: Connection, project_key: str, resource_id: str) -> Resource | None:
    """One resource by its id; a text that is no UUID is the id of none."""
    if not is_id(resource_id):
        return None
    row = connection.execute(_GET_BY_ID, {"project_key": project_key, "id": resource_id}).fetchone()
    return None if row is None else Resource(*row)


_GET_BY_ID: LiteralString = f"""
SELECT r.id::text, r.version, {_RESOURCE_JSON}
FROM resource r WHERE r.project_key = %(project_key)s AND r.id = %(id)s::uuid"""


def get_by_key(connection: Connection, project_key: str, key: str) -> Resource | None:
    """One resource by its key; a text that no key can be, U+0000 among them, is the key of none."""
    if not is_key(key):
        return None
    row = connection.execute(_GET_BY_KEY, {"project_key": project_key, "key": key}).fetchone()
    return None if row is None else Resource(*row)


_GET_BY_KEY: LiteralString = f"""
SELECT r.id::text, r.version, {_RESOURCE_JSON}
FROM resource r WHERE r.project_key = %(project_key)s AND r.key = %(key)s"""


def exists(connection: Connection, project_key: str, selection: Selection) -> bool:
    """Whether at least one resource is selected."""
    selected = _selected(selection)
    parameters = {"project_key": project_key, **selected.parameters}
    row = connection.execute(_EXISTS.format(selected.where), parameters).fetchone()
    return row is not None and row[0]


_EXISTS: LiteralString = """
    WITH found AS MATERIALIZED (SELECT FROM resource r WHERE {})
    SELECT EXISTS (SELECT FROM found)"""
"""Planned as if all that match were wanted, and ended by the first: for the first alone a scan of the whole project
looks cheaper than an index, as long as nobody knows that there is none."""


def flat_page(connection: Connection, project_key: str, selection: Selection, paging: Paging) -> str:
    """A page of flat ObjectTypes (interface 4.1) as JSON text, put together by PostgreSQL."""
    return _page(connection, project_key, selection, paging, _FLAT_JSON)


def page(
    connection: Connection,
    project_key: str,
    selection: Selection,
    paging: Paging,
    expanded: frozenset[str] = frozenset(),
) -> str:
    """A page of resources (interface 4.12) as JSON text, put together by PostgreSQL.

    :param expanded: names of the references whose target stands beside them.
    """
    return _page(connection, project_key, selection, paging, _RESULT_JSON[expanded])


def _page(connection: Connection, project_key: str, selection: Selection, paging: Paging, json: LiteralString) -> str:
    order = listing.terms_of(paging.sort, Stage.CURRENT)
    return listing.page(connection, _selected(selection), {"project_key": project_key}, paging, order, json)


def _selected(selection: Selection) -> Selected:
    clauses = [
        compile_containment(containment.any_of, Stage.CURRENT, numbered("contained", number))
        for number, containment in enumerate(selection.containments)
    ]
    if selection.predicate is not None:
        clauses.append(compile_condition(selection.predicate, Stage.CURRENT))
    return Selected(clauses)


# Writes


def create(connection: Connection, project_key: str, new: NewResource, author: Author) -> Written | Refused:
    """Make a resource.

    Refused as a race if its key, or its place as the only one of the project, has been taken.
    """
    lesson = words.lesson(connection, project_key, new.object_type.searched)
    statement = _CREATE_AND_LEARN if lesson.needed else _CREATE
    row = connection.execute(statement, _new_parameters(project_key, new, author)).fetchone()
    if row is None:
        return Refused(Refusal.RACE)
    words.remember(connection, project_key, lesson)
    return Written(Resource(*row), created=True)


_INSERT: LiteralString = """
    INSERT INTO resource AS r (
        project_key, id, version, key, created_at, last_modified_at, created_by, last_modified_by,
        object_type, staged_object_type, sole)
    VALUES (%(project_key)s, %(new_id)s, 1, %(new_key)s, %(at)s, %(at)s,
        %(client_id)s, %(client_id)s, %(new_object)s, %(new_staged_object)s, %(new_sole)s)
    ON CONFLICT DO NOTHING"""

_RETURNING: LiteralString = """
    RETURNING r.id, r.version, r.key, r.created_at, r.last_modified_at, r.created_by, r.last_modified_by,
        r.object_type, r.some_property"""
"""Columns only: Citus refuses a RETURNING with a function that is not immutable, and most that make JSON are not."""

_RETURNING_WORDS: LiteralString = f"{_RETURNING}, r.words, r.staged_words"

_WRITTEN: LiteralString = f"SELECT r.id::text AS id, r.version, {_RESOURCE_JSON} AS json FROM written r"

_CREATE: LiteralString = f"WITH written AS ({_INSERT} {_RETURNING}) {_WRITTEN}"

_CREATE_AND_LEARN: LiteralString = f"""
WITH written AS ({_INSERT} {_RETURNING_WORDS}), learnt AS ({words.LEARNT}) {_WRITTEN}"""


def _new_parameters(project_key: str, new: NewResource, author: Author) -> Parameters:
    text = new.object_type.text
    staged_differs = new.staged_only and text != "{}"
    return {
        "project_key": project_key,
        "client_id": author.client_id,
        "at": author.at,
        "new_id": new.id,
        "new_key": new.key,
        "new_object": "{}" if new.staged_only else text,
        "new_staged_object": text if staged_differs else None,
        "new_sole": new.sole,
    }


def write(
    connection: Connection,
    project_key: str,
    target: Target,
    change: Change,
    preconditions: Preconditions,
    author: Author,
) -> Written | Refused:
    """Change the resource that the target names.

    A change that leaves everything as it was writes nothing: version and lastModifiedAt stay.

    :raises ApiError: 400 ``DuplicateField`` if the change sets a key that another resource has.
    """
    slots = _slots(change)
    parameters: Parameters = {
        "project_key": project_key,
        "client_id": author.client_id,
        "at": author.at,
        "touched": change.touched,
        **_target_parameters(target),
        **_precondition_parameters(preconditions),
    }
    for name, expression in slots.items():
        if isinstance(expression, Value):
            parameters[name] = expression.text
        elif isinstance(expression, Merged):
            parameters[name] = expression.fields.text
            parameters["field_order"] = list(OBJECT_TYPE_FIELDS)
    # Both projections often get the same texts.
    searched = dict.fromkeys(text for expression in slots.values() for text in _searched(expression))
    lesson = words.lesson(connection, project_key, searched)
    shapes = tuple(_shape(expression) for expression in slots.values())
    try:
        row = connection.execute(_write_statement(type(target), shapes, lesson.needed), parameters).fetchone()
    except UniqueViolation as error:
        # Citus does not pass on the name of the constraint, which on a shard is another one.
        if error.diag.constraint_name not in ("resource_key_unique", None) or not isinstance(change.key, Value):
            raise
        raise errors.duplicate_field("key", change.key.text) from None
    outcome = _outcome(row)
    if isinstance(outcome, Written):
        words.remember(connection, project_key, lesson)
    return outcome


def _searched(expression: Expression) -> tuple[str, ...]:
    """The texts that an expression brings for searches to look at; stored ones are there already."""
    match expression:
        case Merged(fields=fields):
            return fields.searched
        case Value(searched=texts):
            return texts
        case Stored():
            return ()


def delete(
    connection: Connection, project_key: str, resource_id: UUID, preconditions: Preconditions
) -> Written | Refused:
    """Delete a resource; the answer holds what it was."""
    target = ById(resource_id)
    parameters: Parameters = {
        "project_key": project_key,
        **_target_parameters(target),
        **_precondition_parameters(preconditions),
    }
    return _outcome(connection.execute(_DELETE, parameters).fetchone())


def _outcome(row: tuple[Any, ...] | None) -> Written | Refused:
    """Read the one row that a write reports: how many resources the target means, the one it met, the written one."""
    if row is None:
        errors.unreachable("a write reports one row")
    found, met_id, met_version, met_json, conditions_held, written_id, written_version, written_json = row
    if found > 1:
        return Refused(Refusal.AMBIGUOUS)
    if written_id is not None:
        return Written(Resource(written_id, written_version, written_json), created=False)
    if met_id is None:
        # A target that was counted and could not be locked has been deleted in between.
        return Refused(Refusal.RACE if found else Refusal.NOT_FOUND)
    if conditions_held:
        return Written(Resource(met_id, met_version, met_json), created=False)
    return Refused(Refusal.PRECONDITION, met_id, met_version)


def _target_parameters(target: Target) -> Parameters:
    match target:
        case ById(id=resource_id):
            return {"id": resource_id}
        case ByKey(key=key):
            return {"key": key}
        case Sole():
            return {}


def _precondition_parameters(preconditions: Preconditions) -> Parameters:
    expected, if_match, if_none_match = preconditions.expected, preconditions.if_match, preconditions.if_none_match
    return {
        "expected": None if expected is None else expected.comparable,
        "if_match": None if if_match is None or if_match is AnyVersion.ANY else list(if_match),
        "if_none_match": None if if_none_match is None or if_none_match is AnyVersion.ANY else list(if_none_match),
        "only_create": if_none_match is AnyVersion.ANY,
    }


_CONDITIONS: LiteralString = """
    (%(expected)s::bigint IS NULL OR r.version = %(expected)s::bigint)
    AND (%(if_match)s::bigint[] IS NULL OR r.version = ANY (%(if_match)s::bigint[]))
    AND (%(if_none_match)s::bigint[] IS NULL OR r.version <> ALL (%(if_none_match)s::bigint[]))
    AND NOT %(only_create)s::boolean"""
"""The preconditions on the version of ``r``."""

_BEFORE: LiteralString = """
    SELECT r.*,
        r.object_type AS current_object,
        r.some_property AS current_some,
        coalesce(r.staged_object_type, r.object_type) AS staged_object_text,
        CASE WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property END AS staged_some
    FROM resource r
    WHERE r.project_key = %(project_key)s"""
"""The resource as it is, both projections spelt out, locked until the transaction ends."""

_MET: dict[type[Target], LiteralString] = {
    ById: f"""
    target AS (SELECT 0 AS found),
    before AS MATERIALIZED ({_BEFORE} AND r.id = %(id)s FOR UPDATE)""",
    ByKey: f"""
    target AS (SELECT 0 AS found),
    before AS MATERIALIZED ({_BEFORE} AND r.key = %(key)s FOR UPDATE)""",
    Sole: f"""
    candidate AS MATERIALIZED (SELECT r.id FROM resource r WHERE r.project_key = %(project_key)s LIMIT 2),
    target AS MATERIALIZED (SELECT count(*) AS found FROM candidate),
    before AS MATERIALIZED ({_BEFORE}
        AND (SELECT found FROM target) = 1 AND r.id = (SELECT id FROM candidate LIMIT 1) FOR UPDATE)""",
}

_REPORT: LiteralString = f"""
SELECT t.found, r.id::text, r.version, CASE WHEN w.id IS NULL THEN {_RESOURCE_JSON} END,
    ({_CONDITIONS}), w.id, w.version, w.json
FROM target t LEFT JOIN before r ON true LEFT JOIN ({_WRITTEN}) w ON true"""

_DELETE: LiteralString = f"""
WITH {_MET[ById]},
written AS (
    DELETE FROM resource r USING before b
    WHERE r.project_key = %(project_key)s AND r.id = b.id AND {_CONDITIONS}
    {_RETURNING})
{_REPORT}"""

_UPDATE: LiteralString = f"""
    UPDATE resource r SET
        version = r.version + 1,
        last_modified_at = %(at)s::timestamptz,
        last_modified_by = %(client_id)s,
        key = a.key,
        object_type = a.current_object,
        some_property = a.current_some,
        staged_object_type = CASE WHEN a.differs THEN a.staged_object END,
        staged_some_property = CASE WHEN a.differs THEN a.staged_some END
    FROM (
        SELECT n.*, (n.staged_object, n.staged_some) IS DISTINCT FROM (n.current_object, n.current_some) AS differs
        FROM after n
    ) a, before b
    WHERE r.project_key = %(project_key)s AND r.id = b.id AND {_CONDITIONS}
        AND (%(touched)s
            OR (a.key, a.current_object, a.current_some, a.staged_object, a.staged_some)
            IS DISTINCT FROM (b.key, b.current_object, b.current_some, b.staged_object_text, b.staged_some))"""

_STORED: dict[Stored, LiteralString] = {
    Stored.CURRENT_OBJECT: "b.current_object",
    Stored.CURRENT_SOME: "b.current_some",
    Stored.STAGED_OBJECT: "b.staged_object_text",
    Stored.STAGED_SOME: "b.staged_some",
    Stored.KEY: "b.key",
}

_SLOTS: tuple[LiteralString, ...] = ("key", "current_object", "current_some", "staged_object", "staged_some")
"""The columns of ``after``, which are also the names of their parameters."""


def _slots(change: Change) -> dict[str, Expression]:
    current, staged = change.current, change.staged
    return dict(
        zip(
            _SLOTS,
            (change.key, current.object_type, current.some_property, staged.object_type, staged.some_property),
            strict=True,
        )
    )


_Shape = Stored | type[Value] | tuple[type[Merged], Stored]
"""What an expression looks like, without its values: statements of one shape have one text, and so one plan."""


def _shape(expression: Expression) -> _Shape:
    match expression:
        case Merged(base=base):
            return (Merged, base)
        case Value():
            return Value
        case Stored():
            return expression


@lru_cache(maxsize=256)
def _write_statement(target: type[Target], shapes: tuple[_Shape, ...], learns: bool) -> LiteralString:
    columns = ", ".join(
        [f"{_column(slot, shape)} AS {slot}" for slot, shape in zip(_SLOTS, shapes, strict=True)],
    )
    written: LiteralString = f"written AS ({_UPDATE} {_RETURNING})"
    if learns:
        written = f"written AS ({_UPDATE} {_RETURNING_WORDS}), learnt AS ({words.LEARNT})"
    return f"WITH {_MET[target]}, after AS (SELECT {columns} FROM before b), {written} {_REPORT}"


def _column(slot: LiteralString, shape: _Shape) -> LiteralString:
    if isinstance(shape, Stored):
        return _STORED[shape]
    if isinstance(shape, tuple):
        return _merged(_STORED[shape[1]], slot)
    return f"%({slot})s::text"


def _merged(base: LiteralString, slot: LiteralString) -> LiteralString:
    """The fields of ``base`` and those sent, each as it was written: a sent one replaces a stored one.

    json and not jsonb, which would rewrite the numbers; in the fields' own order, so that equal objects are equal
    texts.
    """
    return f"""(
        SELECT '{{' || coalesce(string_agg(to_json(f.name) || ':' || f.value, ','
                ORDER BY array_position(%(field_order)s::text[], f.name)), '')
            || '}}'
        FROM (
            SELECT coalesce(n.key, o.key) AS name, coalesce(n.value, o.value)::text AS value
            FROM json_each({base}::json) o FULL JOIN json_each(%({slot})s::json) n ON n.key = o.key
        ) f)"""


# Bulk


_COLUMNS: LiteralString = (
    "id, version, key, created_at, last_modified_at, created_by, last_modified_by,"
    " object_type, some_property, staged_object_type, staged_some_property"
)
"""The columns of :class:`StoredResource`, in the order of its fields."""


def copy_in(connection: Connection, project_key: str, resources: Iterable[StoredResource]) -> None:
    """Load many resources by COPY: all of them or, if one is in the way, none.

    :raises UniqueViolation: if an id or a key is in use.
    """
    statement: LiteralString = f"COPY resource (project_key, {_COLUMNS}) FROM STDIN"
    with connection.transaction():
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            for resource in resources:
                copy.write_row((project_key, *astuple(resource)))
        words.learn_all(connection, project_key)


def insert_many(connection: Connection, project_key: str, resources: Sequence[StoredResource]) -> set[UUID]:
    """Insert those whose id and key are free, and return their ids."""
    statement: LiteralString = f"""
        INSERT INTO resource AS r (project_key, {_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
        ON CONFLICT DO NOTHING RETURNING r.id"""
    with connection.cursor() as cursor:
        cursor.executemany(statement, [(project_key, *astuple(resource)) for resource in resources], returning=True)
        inserted = {row[0] for result in cursor.results() for row in result.fetchall()}
    words.learn_those_of(connection, project_key, inserted)
    return inserted


def existing_ids(connection: Connection, project_key: str, ids: Sequence[UUID]) -> set[UUID]:
    """Those of the ids that resources of the project have."""
    rows = connection.execute(
        "SELECT r.id FROM resource r WHERE r.project_key = %(project_key)s AND r.id = ANY (%(ids)s)",
        {"project_key": project_key, "ids": list(ids)},
    ).fetchall()
    return {row[0] for row in rows}


def export(connection: Connection, project_key: str) -> Generator[StoredResource]:
    """All resources of a project in the order of their ids, as they are at one moment, streamed."""
    statement: LiteralString = f"""
        SELECT {_EXPORTED} FROM resource r WHERE r.project_key = %(project_key)s ORDER BY r.id"""
    with connection.transaction(), connection.cursor(name="export") as cursor:
        cursor.itersize = 1000
        for row in cursor.execute(statement, {"project_key": project_key}):
            yield StoredResource(*row)


_EXPORTED: LiteralString = f"""
    r.id, r.version, r.key,
    to_char(r.created_at AT TIME ZONE 'UTC', {TIME_FORMAT}),
    to_char(r.last_modified_at AT TIME ZONE 'UTC', {TIME_FORMAT}),
    r.created_by, r.last_modified_by,
    r.object_type, r.some_property, r.staged_object_type, r.staged_some_property"""
