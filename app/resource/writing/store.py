"""Finds, inserts, updates and deletes one resource. Functions take a connection and the project; none of them commits.

Three rules hold for every statement: ``project_key`` is one of its conditions, values are parameters, and an UPDATE or
DELETE has the version that was read in its WHERE clause.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, LiteralString, assert_never

from psycopg.errors import DeadlockDetected, UniqueViolation

from app import errors
from app.database.connection import Connection
from app.query.object_fields import SEARCHED
from app.query.sql_text import Parameters
from app.resource.model import ById, ByKey, Caller, Content, NewResource, Resource, Target, Written, YoungestWithoutKey
from app.resource.object_type import ObjectType
from app.resource.searching.dictionary import NOTED, WordCache

_word_cache = WordCache()
"""The one cache of this process; its entries belong to connections."""


def forget_words(project_key: str) -> None:
    """Have this process add all words of a project to the dictionary again, because they have been deleted there."""
    _word_cache.forget(project_key)


# Statements

_WHICH: dict[type[Target], LiteralString] = {
    ById: "r.id = %(id)s",
    ByKey: "r.key = %(key)s",
    YoungestWithoutKey: "r.key IS NULL ORDER BY r.key DESC, r.id DESC LIMIT 1",
}
"""The resource that a target means. ``r.key DESC`` looks idle beside ``r.key IS NULL``; without it PostgreSQL does not
see that the index of keys has this order."""

_FIND: dict[type[Target], LiteralString] = {
    target: f"""
    SELECT r.id, r.version, r.key, r.created_at, r.last_modified_at, r.created_by, r.last_modified_by,
        r.object_type, r.some_property, r.staged_object_type, r.staged_some_property
    FROM resource r WHERE r.project_key = %(project_key)s AND {which}"""
    for target, which in _WHICH.items()
}

_YOUNGEST_WITHOUT_KEY: LiteralString = f"""
    SELECT r.id FROM resource r WHERE r.project_key = %(project_key)s AND {_WHICH[YoungestWithoutKey]}"""

_LOCK_WITHOUT_KEY: LiteralString = f"{_FIND[ById]} AND r.key IS NULL"

_GIVEN_TIME: LiteralString = "date_trunc('milliseconds', %(now)s::timestamptz)"
"""The time of a write by the project's own clock.

Truncated here, because the column, a timestamptz(3), would round it up, into the future.
"""

_NOW: LiteralString = "date_trunc('milliseconds', statement_timestamp())"
"""The time of a write by the database's clock, which all processes share. Citus refuses a choice of the two in SQL.

Not now(), the time of BEGIN: a write that has waited for a lock since then would date itself before the write that it
waited for.
"""

_THIS_VERSION: LiteralString = "r.project_key = %(project_key)s AND r.id = %(id)s AND r.version = %(read_version)s"

_DELETE: LiteralString = f"DELETE FROM resource r WHERE {_THIS_VERSION}"


@lru_cache(maxsize=256)
def _insert(columns: tuple[LiteralString, ...], *, dated: bool, notes_text: bool) -> LiteralString:
    time = _GIVEN_TIME if dated else _NOW
    values: LiteralString = ", ".join([f"%({column})s" for column in columns])
    return f"""{_noting(notes_text=notes_text)}
    INSERT INTO resource AS r (
        project_key, id, created_at, last_modified_at, created_by, {", ".join(columns)})
    VALUES (%(project_key)s, %(id)s, {time}, {time}, %(last_modified_by)s, {values})
    RETURNING r.created_at"""


@lru_cache(maxsize=256)
def _update(columns: tuple[LiteralString, ...], *, dated: bool, notes_text: bool) -> LiteralString:
    assignments: list[LiteralString] = [f"{column} = %({column})s" for column in columns]
    if "version" in columns:
        assignments.append(f"last_modified_at = {_GIVEN_TIME if dated else _NOW}")
    return f"""{_noting(notes_text=notes_text)}
    UPDATE resource r SET {", ".join(assignments)}
    WHERE {_THIS_VERSION}
    RETURNING r.last_modified_at"""


def _noting(*, notes_text: bool) -> LiteralString:
    return f"WITH {NOTED}" if notes_text else ""


# What a write changes


def _columns(resource: Resource | NewResource) -> dict[LiteralString, Any]:
    """The columns that a write may change, without times; documents are not yet JSON, but ObjectTypes."""
    current, staged = resource.current, resource.staged
    differ = staged is not current and staged != current
    return {
        "version": resource.version,
        "last_modified_by": resource.last_modified_by,
        "key": resource.key,
        "object_type": current.object_type,
        "some_property": current.some_property,
        "staged_object_type": staged.object_type if differ else None,
        "staged_some_property": staged.some_property if differ else None,
    }


def _changed(before: Resource | None, after: Resource | NewResource) -> dict[LiteralString, Any]:
    """The columns of :func:`_columns` that get another value.

    :param before: the resource as it was read; None if it is created.
    """
    old: dict[LiteralString, Any] = {} if before is None else _columns(before)
    return {name: value for name, value in _columns(after).items() if value != old.get(name)}


def _stored(changed: dict[LiteralString, Any]) -> dict[LiteralString, Any]:
    """Columns with their values, of a document its text."""
    return {name: value.text if isinstance(value, ObjectType) else value for name, value in changed.items()}


def _texts(changed: dict[LiteralString, Any]) -> Generator[Sequence[str]]:
    """The texts that a search looks at, by the values that contain them, of the columns that change."""
    for name, value in changed.items():
        if isinstance(value, ObjectType):
            yield value.items(SEARCHED)
        elif name in ("some_property", "staged_some_property") and value is not None:
            yield (value,)


# Functions


class Overtaken(Exception):
    """Another write came in between, so this write has changed nothing. Its caller has to decide anew."""


@contextmanager
def overtaken_by_deadlock() -> Generator[None]:
    """Take a deadlock for a write that came in between, because PostgreSQL rolls back one of the writes.

    One row for each write makes no deadlock of its own. But Citus (13.2) takes all statements outside of transactions
    for one and the same in its graph of waits, and so sees deadlocks among many writers of one row that are none.

    :raises Overtaken: in place of the driver's error.
    """
    try:
        yield
    except DeadlockDetected:
        raise Overtaken from None


def find(connection: Connection, project_key: str, target: Target, *, locks: bool = False) -> Resource | None:
    """The resource that a write applies to, as it is committed.

    :param locks: whether other writers of it wait until the transaction ends.
    :raises Overtaken: if the youngest resource without a key was deleted, or got a key, before it could be locked.
    """
    if locks and isinstance(target, YoungestWithoutKey):
        return _lock_youngest_without_key(connection, project_key)
    statement = _FIND[type(target)]
    parameters = {"project_key": project_key, **_parameters(target)}
    return _resource(connection.execute(f"{statement} FOR UPDATE" if locks else statement, parameters).fetchone())


def _lock_youngest_without_key(connection: Connection, project_key: str) -> Resource | None:
    """Look which resource it is, then lock it by a statement of its own.

    One statement would not do. The write that it waits for may delete the resource or give it a key, and READ COMMITTED
    does not look again then which resource is the youngest: others that were made meanwhile would not be seen.

    :raises Overtaken: if it was deleted or got a key in between.
    """
    youngest = connection.execute(_YOUNGEST_WITHOUT_KEY, {"project_key": project_key}).fetchone()
    if youngest is None:
        return None
    parameters = {"project_key": project_key, "id": youngest[0]}
    found = _resource(connection.execute(f"{_LOCK_WITHOUT_KEY} FOR UPDATE", parameters).fetchone())
    if found is None:
        raise Overtaken
    return found


def _resource(row: tuple[Any, ...] | None) -> Resource | None:
    if row is None:
        return None
    *members, object_type, some_property, staged_object_type, staged_some_property = row
    current = staged = Content(ObjectType(object_type), some_property)
    if staged_object_type is not None:
        staged = Content(ObjectType(staged_object_type), staged_some_property)
    return Resource(*members, current=current, staged=staged)


def _parameters(target: Target) -> Parameters:
    match target:
        case ById(id=resource_id):
            return {"id": resource_id}
        case ByKey(key=key):
            return {"key": key}
        case YoungestWithoutKey():
            return {}
        case _:
            assert_never(target)


def save(
    connection: Connection, caller: Caller, before: Resource | None, after: Resource | NewResource
) -> Written | None:
    """Write what differs between two states of a resource.

    :param before: as it was read; None if it is created.
    :param after: as it was decided; its time becomes that of this write.
    :return: None if it is not there any more with the version that was read.
    :raises Overtaken: if another write has taken its key, or has created the only resource without a key before it.
    :raises ApiError: 400 if it gets a key that another resource has.
    """
    changed = _changed(before, after)
    if before is not None and not changed:
        return Written(before)
    columns = _stored(changed)
    if isinstance(after, NewResource) and after.created_as_only:
        columns["created_as_only"] = True
    project_key, at = caller.project_key, caller.clock_and_ids.write_time()
    words = _word_cache.new_words(connection, project_key, _texts(changed))
    build = _insert if before is None else _update
    statement = build(tuple(columns), dated=at is not None, notes_text=bool(words))
    resource_id = caller.clock_and_ids.resource_id(connection, project_key) if before is None else before.id
    which = {"project_key": project_key, "id": resource_id, "read_version": 0 if before is None else before.version}
    try:
        row = connection.execute(statement, {**which, "now": at, "new_words": words.text, **columns}).fetchone()
    except UniqueViolation:
        if before is not None:  # only a creation sets the mark, so another resource has the key
            raise errors.duplicate_field("key", after.key) from None
        raise Overtaken from None
    if row is None:
        return None
    _word_cache.add(connection, project_key, words)
    return Written(after.as_stored(resource_id, row[0]), is_new=before is None, leaves_text=bool(words))


def delete(connection: Connection, project_key: str, stored: Resource) -> bool:
    """Delete a resource; False if it is not there any more with the version that was read."""
    parameters = {"project_key": project_key, "id": stored.id, "read_version": stored.version}
    return connection.execute(_DELETE, parameters).rowcount == 1
