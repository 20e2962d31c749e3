"""Finds, inserts, updates and deletes one resource by SQL. No function begins or ends a transaction.

Every statement keeps three rules: it names ``project_key``, in its WHERE clause if it has one; values are parameters;
and the WHERE clause of an UPDATE or DELETE contains the version that was read.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any, LiteralString

from psycopg.errors import DeadlockDetected, UniqueViolation

from app import errors
from app.database.connection import Connection
from app.resource.model import ById, ByKey, Caller, Content, NewResource, OwnYoungest, Resource, Target, Written
from app.resource.object_type import ObjectType

# Statements

_FIND: LiteralString = """
    SELECT r.id, r.version, r.key, r.created_at, r.last_modified_at, r.created_by, r.last_modified_by,
        r.object_type, r.some_property, r.staged_object_type, r.staged_some_property
    FROM resource r WHERE r.project_key = %(project_key)s AND """

_FIND_TARGET: dict[type[Target], LiteralString] = {
    ById: f"{_FIND}r.id = %(id)s",
    ByKey: f"{_FIND}r.key = %(key)s",
    OwnYoungest: f"{_FIND}r.created_by = %(created_by)s AND r.key IS NULL ORDER BY r.id DESC LIMIT 1",
}
"""The statement that finds a target; its parameters are ``project_key`` and the fields of the target."""

_GIVEN_TIME: LiteralString = "date_trunc('milliseconds', %(now)s::timestamptz)"
"""The SQL of the time of a write by the clock that an extension gives the project.

It is truncated to milliseconds, because the column, a timestamptz(3), would round it up, into the future.
"""

_NOW: LiteralString = "date_trunc('milliseconds', statement_timestamp())"
"""The SQL of the time of a write by the database's clock, which all processes share.

It is not now(), which is the time of BEGIN: a write that has waited for a lock could then get an earlier time than the
write that held the lock. Python chooses this SQL or :data:`_GIVEN_TIME`, because Citus refuses such a choice in SQL.
"""

_THIS_VERSION: LiteralString = "r.project_key = %(project_key)s AND r.id = %(id)s AND r.version = %(read_version)s"

_DELETE: LiteralString = f"DELETE FROM resource r WHERE {_THIS_VERSION}"


@lru_cache(maxsize=256)
def _insert(columns: tuple[LiteralString, ...], *, at_given_time: bool) -> LiteralString:
    """The statement that creates a resource. ``created_by`` gets the value of ``last_modified_by``, which is always
    among the columns."""
    time = _GIVEN_TIME if at_given_time else _NOW
    values: LiteralString = ", ".join([f"%({column})s" for column in columns])
    return f"""
    INSERT INTO resource AS r (
        project_key, id, created_at, last_modified_at, created_by, {", ".join(columns)})
    VALUES (%(project_key)s, %(id)s, {time}, {time}, %(last_modified_by)s, {values})
    RETURNING r.created_at"""


@lru_cache(maxsize=256)
def _update(columns: tuple[LiteralString, ...], *, at_given_time: bool) -> LiteralString:
    """The statement that changes some columns of a resource if it still has the version that was read."""
    time = _GIVEN_TIME if at_given_time else _NOW
    assignments: LiteralString = ", ".join([f"{column} = %({column})s" for column in columns])
    # The clock may have been set back since the creation.
    return f"""
    UPDATE resource r SET {assignments}, last_modified_at = greatest(r.created_at, {time})
    WHERE {_THIS_VERSION}
    RETURNING r.last_modified_at"""


# What a write changes


def _columns(resource: Resource | NewResource) -> dict[LiteralString, Any]:
    """The columns that a write may change, with the values for this resource. The time of the write is not among them,
    because SQL sets it. The staged columns are None if the staged projection equals the current one."""
    current, staged = resource.current, resource.staged
    differ = staged != current
    return {
        "version": resource.version,
        "last_modified_by": resource.last_modified_by,
        "key": resource.key,
        "object_type": current.object_type.text,
        "some_property": current.some_property,
        "staged_object_type": staged.object_type.text if differ else None,
        "staged_some_property": staged.some_property if differ else None,
    }


# Functions


class Overtaken(Exception):
    """Another write came in between, so this one has changed nothing. The caller has to read and decide again."""


@contextmanager
def overtaken_by_deadlock() -> Generator[None]:
    """Raise :class:`Overtaken` if the block ends in a deadlock. The database has rolled the write back, so the caller
    can repeat it.

    Two writes that exchange keys can deadlock, and a write and a migration can, too. Citus also reports false deadlocks
    if many writers change one row, because its deadlock detection takes all statements outside of transactions for one
    transaction.

    :raises Overtaken: in place of the driver's error.
    """
    try:
        yield
    except DeadlockDetected:
        raise Overtaken from None


def find(connection: Connection, project_key: str, target: Target, *, locks: bool = False) -> Resource | None:
    """Return the stored resource that a write applies to; None if it does not exist.

    :param locks: whether to lock the row until the transaction ends, so that other writers wait.
    :raises Overtaken: only for an :class:`OwnYoungest` with ``locks``. One statement finds the client's youngest
        resource without a key, and another one locks it; in between, another transaction has deleted the resource or
        given it a key.
    """
    if locks and isinstance(target, OwnYoungest):
        return _lock_own_youngest(connection, project_key, target)
    statement = _FIND_TARGET[type(target)]
    parameters = {"project_key": project_key, **asdict(target)}
    return _resource(connection.execute(f"{statement} FOR UPDATE" if locks else statement, parameters).fetchone())


def _lock_own_youngest(connection: Connection, project_key: str, target: OwnYoungest) -> Resource | None:
    """Find a client's youngest resource without a key, then lock it by a second statement.

    One statement with FOR UPDATE could return a wrong resource. While the statement waits for the lock, the transaction
    that holds the lock may delete the resource, or give it a key, and create a younger one. The statement does not see
    the younger one, because it sees only rows that existed when it began. It would return the next older one, or none.

    :raises Overtaken: if the resource was deleted or got a key before it was locked.
    """
    youngest = find(connection, project_key, target)
    if youngest is None:
        return None
    found = find(connection, project_key, ById(str(youngest.id)), locks=True)
    if found is None or found.key is not None:
        raise Overtaken
    return found


def _resource(row: tuple[Any, ...] | None) -> Resource | None:
    """Make the resource from a row of :data:`_FIND`; None if there is no row.

    If ``staged_object_type`` is NULL, the resource has no staged changes. Then ``current`` and ``staged`` are the same
    Python object. This saves time: :meth:`Resource.with_content` computes a change of both projections only once.
    """
    if row is None:
        return None
    *members, object_type, some_property, staged_object_type, staged_some_property = row
    current = staged = Content(ObjectType(object_type), some_property)
    if staged_object_type is not None:
        staged = Content(ObjectType(staged_object_type), staged_some_property)
    return Resource(*members, current=current, staged=staged)


def save(
    connection: Connection, caller: Caller, before: Resource | None, after: Resource | NewResource
) -> Written | None:
    """Write the columns that differ between two states of a resource, and the time of the write. If none differs, write
    nothing.

    :param before: the resource as it was read; None for a creation.
    :param after: the resource to be stored: a :class:`NewResource` for a creation, else a ``Resource``. If nothing
        changes, it equals ``before``. Otherwise it has its new version and author, but not yet the time of this write.
    :return: None if the resource no longer exists with the version that was read.
    :raises Overtaken: if a unique index refuses a creation, in one of two cases:

        - Another resource of the project has the key or the id.
        - ``after`` has the mark ``created_as_only`` (:class:`NewResource`), and the project already has a resource
          without a key that the same client created with this mark.

    :raises ApiError: 400 if the key of an existing resource is changed to a key that another resource has.
    """
    old: dict[LiteralString, Any] = {} if before is None else _columns(before)
    columns: dict[LiteralString, Any] = {
        name: value for name, value in _columns(after).items() if value != old.get(name)
    }
    if before is not None and not columns:
        return Written(before)
    if isinstance(after, NewResource) and after.created_as_only:
        # A unique index refuses a second resource of the same client that has this mark and no key.
        columns["created_as_only"] = True
    project_key, at = caller.project_key, caller.clock_and_ids.write_time()
    statement = (_insert if before is None else _update)(tuple(columns), at_given_time=at is not None)
    resource_id = caller.clock_and_ids.resource_id(connection, project_key) if before is None else before.id
    # An INSERT does not use read_version.
    which = {"project_key": project_key, "id": resource_id, "read_version": 0 if before is None else before.version}
    try:
        row = connection.execute(statement, {**which, "now": at, **columns}).fetchone()
    except UniqueViolation:
        # An update violates only the uniqueness of keys: another resource has the key. The index of created_as_only has
        # only resources with the mark and without a key, and no update sets the mark or removes a key.
        if before is not None:
            raise errors.duplicate_field("key", after.key) from None
        raise Overtaken from None
    if row is None:
        return None
    if isinstance(after, NewResource):
        resource = after.created(resource_id, row[0])
    else:
        resource = replace(after, last_modified_at=row[0])
    return Written(resource, is_new=before is None)


def delete(connection: Connection, project_key: str, stored: Resource) -> bool:
    """Delete a resource. Return False if it no longer exists with the version that was read."""
    parameters = {"project_key": project_key, "id": stored.id, "read_version": stored.version}
    return connection.execute(_DELETE, parameters).rowcount == 1
