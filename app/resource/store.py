"""Every SQL statement on the resource. Functions take a connection and the project; none of them commits.

Three rules hold for each statement: ``project_key`` is a condition of it, values are parameters, and a write that
expects a version has it in the WHERE clause of its UPDATE or DELETE.

A write whose client names the version it expects is one UPDATE. If that finds nothing to do, or if the version is not
known beforehand, the write is one statement that locks the row (``before``), computes its new columns (``after``),
writes them if all conditions hold (``written``), and reports what it met either way, for 404, 409 and 412.
"""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import astuple
from functools import lru_cache
from typing import Any, LiteralString
from uuid import UUID

from psycopg.errors import UniqueViolation

from app import errors
from app.database.connection import Connection
from app.query.fields import OBJECT_TEXT, TIME_FORMAT, Stage
from app.query.predicate.compiler import compile_condition, compile_containment
from app.query.sql_text import numbered
from app.resource import listing, words
from app.resource.listing import Parameters, Selected
from app.resource.model import (
    OBJECT_TYPE_FIELDS,
    AnyVersion,
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


def create(connection: Connection, project_key: str, new: NewResource, client_id: str) -> Written | Refused:
    """Make a resource.

    Refused as a race if its key, or its place as the only one of the project, has been taken.
    """
    lesson = words.lesson(connection, project_key, new.object_type.searched)
    statement = _create_statement(may_collide=new.key is not None or new.sole, learns=lesson.needed)
    row = connection.execute(statement, _new_parameters(project_key, new, client_id)).fetchone()
    if row is None:
        return Refused(Refusal.RACE)
    words.remember(connection, project_key, lesson)
    return Written(Resource(*row), created=True)


_NOW: LiteralString = "date_trunc('milliseconds', now())"
"""When a write happens, by the one clock that all processes share; cut, since a column would round it up."""

_INSERT: LiteralString = f"""
    INSERT INTO resource AS r (
        project_key, id, version, key, created_at, last_modified_at, created_by, last_modified_by,
        object_type, staged_object_type, sole)
    VALUES (%(project_key)s, %(new_id)s, 1, %(new_key)s, {_NOW}, {_NOW},
        %(client_id)s, %(client_id)s, %(new_object)s, %(new_staged_object)s, %(new_sole)s)"""

_RETURNING: LiteralString = """
    RETURNING r.id, r.version, r.key, r.created_at, r.last_modified_at, r.created_by, r.last_modified_by,
        r.object_type, r.some_property"""
"""Columns only: Citus refuses a RETURNING with a function that is not immutable, and most that make JSON are not."""

_RETURNING_WORDS: LiteralString = f"{_RETURNING}, r.words, r.staged_words"

_WRITTEN: LiteralString = f"SELECT r.id::text AS id, r.version, {_RESOURCE_JSON} AS json FROM written r"


@lru_cache(maxsize=4)
def _create_statement(*, may_collide: bool, learns: bool) -> LiteralString:
    """A resource without a key collides with none, and ON CONFLICT looks through every unique index beforehand."""
    insert = f"{_INSERT} ON CONFLICT DO NOTHING" if may_collide else _INSERT
    return f"WITH {_writing(insert, learns=learns)} {_WRITTEN}"


def _writing(write: LiteralString, *, learns: bool) -> LiteralString:
    """A write as ``written``, and with it what its words add to the dictionary."""
    if learns:
        return f"written AS ({write} {_RETURNING_WORDS}), learnt AS ({words.LEARNT})"
    return f"written AS ({write} {_RETURNING})"


def _new_parameters(project_key: str, new: NewResource, client_id: str) -> Parameters:
    text = new.object_type.text
    staged_differs = new.staged_only and text != "{}"
    return {
        "project_key": project_key,
        "client_id": client_id,
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
    client_id: str,
) -> Written | Refused:
    """Change the resource that the target names.

    A change that leaves everything as it was writes nothing: version and lastModifiedAt stay.

    :raises ApiError: 400 ``DuplicateField`` if the change sets a key that another resource has.
    """
    parameters: Parameters = {
        "project_key": project_key,
        "client_id": client_id,
        "touched": change.touched,
        **_target_parameters(target),
        **_precondition_parameters(preconditions),
    }
    forms, texts, searched = _taken_apart(change)
    parameters.update(texts)
    lesson = words.lesson(connection, project_key, searched)
    try:
        outcome = None
        if _is_likely(target, forms, preconditions):
            asked = tuple(name for name in _VERSION_CONDITIONS if parameters[name] is not None)
            statement = _likely_statement(type(target), forms, asked, learns=lesson.needed)
            row = connection.execute(statement, parameters).fetchone()
            outcome = None if row is None else Written(Resource(*row), created=False)
        if outcome is None:
            statement = _write_statement(type(target), forms, learns=lesson.needed)
            outcome = _outcome(connection.execute(statement, parameters).fetchone())
    except UniqueViolation as error:
        # Citus does not pass on the name of the constraint, which on a shard is another one.
        if error.diag.constraint_name not in ("resource_key_unique", None) or not isinstance(change.key, Value):
            raise
        raise errors.duplicate_field("key", change.key.text) from None
    if isinstance(outcome, Written):
        words.remember(connection, project_key, lesson)
    return outcome


def delete(connection: Connection, project_key: str, target: ById, preconditions: Preconditions) -> Written | Refused:
    """Delete a resource; the answer holds what it was."""
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


_VERSION_CONDITIONS: dict[str, tuple[LiteralString, LiteralString]] = {
    "expected": ("%(expected)s::bigint", "r.version = {}"),
    "if_match": ("%(if_match)s::bigint[]", "r.version = ANY ({})"),
    "if_none_match": ("%(if_none_match)s::bigint[]", "r.version <> ALL ({})"),
}
"""The preconditions on the version of ``r`` by the names of their parameters, which are NULL if they are not asked."""


def _holds(name: str) -> LiteralString:
    value, condition = _VERSION_CONDITIONS[name]
    return condition.format(value)


_ANY_CONDITIONS: LiteralString = " AND ".join(
    [f"({value} IS NULL OR {_holds(name)})" for name, (value, _) in _VERSION_CONDITIONS.items()]
)
_CONDITIONS: LiteralString = f"{_ANY_CONDITIONS} AND NOT %(only_create)s::boolean"
"""All preconditions, whichever of them are asked."""

_STORED: dict[Stored, LiteralString] = {
    Stored.CURRENT_OBJECT: "r.object_type",
    Stored.CURRENT_SOME: "r.some_property",
    Stored.STAGED_OBJECT: "coalesce(r.staged_object_type, r.object_type)",
    Stored.STAGED_SOME: "CASE WHEN r.staged_object_type IS NULL THEN r.some_property ELSE r.staged_some_property END",
    Stored.KEY: "r.key",
}
"""The values before the write, from the columns of the resource."""

_WHICH: dict[type[Target], LiteralString] = {ById: "r.id = %(id)s::uuid", ByKey: "r.key = %(key)s"}

_BEFORE: LiteralString = "SELECT r.* FROM resource r WHERE r.project_key = %(project_key)s"
"""The resource as it is, to be locked until the transaction ends."""

_MET: dict[type[Target], LiteralString] = {
    **{
        target: f"""
    target AS (SELECT 0 AS found),
    before AS MATERIALIZED ({_BEFORE} AND {which} FOR UPDATE)"""
        for target, which in _WHICH.items()
    },
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

_SLOTS: dict[LiteralString, Stored] = {
    "key": Stored.KEY,
    "current_object": Stored.CURRENT_OBJECT,
    "current_some": Stored.CURRENT_SOME,
    "staged_object": Stored.STAGED_OBJECT,
    "staged_some": Stored.STAGED_SOME,
}
"""What a write may change, by the names of parameters and of columns of ``after``."""

_Form = Stored | type[Value] | tuple[type[Merged], Stored]
"""What an expression looks like, without its values: statements of the same forms have one text, and so one plan."""


def _taken_apart(change: Change) -> tuple[tuple[_Form, ...], Parameters, Iterable[str]]:
    """What a change looks like, its values as parameters, and the texts among them that searches look at."""
    current, staged = change.current, change.staged
    in_the_order_of_slots: tuple[Expression, ...] = (
        change.key,
        current.object_type,
        current.some_property,
        staged.object_type,
        staged.some_property,
    )
    forms: list[_Form] = []
    parameters: Parameters = {}
    # Both projections often get the same texts.
    searched: dict[str, None] = {}
    for slot, expression in zip(_SLOTS, in_the_order_of_slots, strict=True):
        match expression:
            case Stored():
                forms.append(expression)
            case Value(text=text, searched=texts):
                forms.append(Value)
                parameters[slot] = text
                searched.update(dict.fromkeys(texts))
            case Merged(base=base, fields=fields):
                forms.append((Merged, base))
                parameters[slot] = fields.text
                parameters["field_order"] = list(OBJECT_TYPE_FIELDS)
                searched.update(dict.fromkeys(fields.searched))
    return tuple(forms), parameters, searched


def _is_likely(target: Target, forms: tuple[_Form, ...], preconditions: Preconditions) -> bool:
    """Whether the resource is most probably there and as the client believes, since it names the version.

    What the UPDATE makes can then be made of the resource's own columns, where each text may stand several times;
    merging is too dear for that.
    """
    return (
        (preconditions.expected is not None or preconditions.if_match is not None)
        and preconditions.if_none_match is not AnyVersion.ANY
        and type(target) in _WHICH
        and not any(isinstance(form, tuple) for form in forms)
    )


@lru_cache(maxsize=256)
def _write_statement(target: type[Target], forms: tuple[_Form, ...], *, learns: bool) -> LiteralString:
    """Locks the resource, writes it if all conditions hold, and reports either way."""
    after = ", ".join([f"{text} AS {slot}" for slot, text in _made(forms).items()])
    before = ", ".join([f"{_STORED[stored]} AS {slot}_before" for slot, stored in _SLOTS.items()])
    update = _update(
        forms,
        after={slot: f"a.{slot}" for slot in _SLOTS},
        before={slot: f"a.{slot}_before" for slot in _SLOTS},
        which="r.id = a.id",
        conditions=[_CONDITIONS],
        source="FROM after a",
    )
    return f"""
WITH {_MET[target]},
after AS MATERIALIZED (SELECT r.id, {after}, {before} FROM before r),
{_writing(update, learns=learns)}
{_REPORT}"""


@lru_cache(maxsize=256)
def _likely_statement(
    target: type[Target], forms: tuple[_Form, ...], asked: tuple[str, ...], *, learns: bool
) -> LiteralString:
    """Writes the resource if all conditions hold; if not, it does nothing and says nothing."""
    update = _update(
        forms,
        after=_made(forms),
        before={slot: _STORED[stored] for slot, stored in _SLOTS.items()},
        which=_WHICH[target],
        conditions=[_holds(name) for name in asked],
    )
    return f"WITH {_writing(update, learns=learns)} {_WRITTEN}"


def _update(
    forms: tuple[_Form, ...],
    *,
    after: dict[LiteralString, LiteralString],
    before: dict[LiteralString, LiteralString],
    which: LiteralString,
    conditions: Sequence[LiteralString],
    source: LiteralString = "",
) -> LiteralString:
    """The UPDATE of a write. A column that stays is left out, so that nothing that depends on it is made anew."""
    changed: list[LiteralString] = [
        slot for (slot, stored), form in zip(_SLOTS.items(), forms, strict=True) if form is not stored
    ]
    columns: dict[LiteralString, LiteralString] = {
        column: after[slot] for slot, column in _COLUMN_OF.items() if slot in changed
    }
    if any(slot != "key" for slot in changed):
        object_type, some = after["staged_object"], after["staged_some"]
        current_object, current_some = after["current_object"], after["current_some"]
        differs: LiteralString = f"({object_type}, {some}) IS DISTINCT FROM ({current_object}, {current_some})"
        columns["staged_object_type"] = f"CASE WHEN {differs} THEN {object_type} END"
        columns["staged_some_property"] = f"CASE WHEN {differs} THEN {some} END"
    assignments = "".join([f", {column} = {text}" for column, text in columns.items()])
    or_changes = "".join([f" OR {after[slot]} IS DISTINCT FROM {before[slot]}" for slot in changed])
    and_conditions = "".join([f" AND {condition}" for condition in conditions])
    return f"""
    UPDATE resource r SET version = r.version + 1, last_modified_at = {_NOW},
        last_modified_by = %(client_id)s{assignments}
    {source}
    WHERE r.project_key = %(project_key)s AND {which}{and_conditions} AND (%(touched)s::boolean{or_changes})"""


_COLUMN_OF: dict[LiteralString, LiteralString] = {
    "key": "key",
    "current_object": "object_type",
    "current_some": "some_property",
}


def _made(forms: tuple[_Form, ...]) -> dict[LiteralString, LiteralString]:
    """What becomes of each slot, made of the columns of ``r`` and of parameters."""
    return {slot: _text_of(slot, form) for slot, form in zip(_SLOTS, forms, strict=True)}


def _text_of(slot: LiteralString, form: _Form) -> LiteralString:
    if isinstance(form, Stored):
        return _STORED[form]
    if isinstance(form, tuple):
        return _merged(_STORED[form[1]], slot)
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
            FROM json_each(({base})::json) o FULL JOIN json_each(%({slot})s::json) n ON n.key = o.key
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
