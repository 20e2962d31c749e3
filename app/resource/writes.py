"""The write rules: which resource a body means, what the write changes, and the error if it cannot be done.

A write is one statement (see :mod:`app.resource.store`), which is its own transaction. If it changes nothing, a second
statement finds out why, or creates the resource. No transaction block binds the two: the first has written nothing, and
the second notices a write that came between, so a block would only hold the row lock for two more round trips.
"""

from dataclasses import replace

from app import errors
from app.database.connection import Connection
from app.database.pool import Database
from app.resource import preconditions, store
from app.resource.actions import change_of
from app.resource.dictionary import index_texts
from app.resource.model import (
    ById,
    ByKey,
    Caller,
    Change,
    Merged,
    NewObject,
    NewResource,
    NewText,
    ObjectType,
    Preconditions,
    Projection,
    Refusal,
    Refused,
    Resource,
    Sole,
    Stored,
    Target,
    Written,
    canonical_id,
)
from app.resource.schemas import ResourceDraft, Update
from app.values.json_fields import MISSING

_ATTEMPTS_AT_MOST = 100
"""Attempts of a write that others keep overtaking; each lost attempt means that another write succeeded."""


def create_or_update(
    database: Database,
    caller: Caller,
    draft: ResourceDraft,
    conditions: Preconditions,
    *,
    staged: bool,
) -> Written:
    """POST on the collection (interface 4.6): sent fields replace stored ones, the others stay.

    A body without id and key creates a resource.

    :raises ApiError: 400, 404, 409 or 412, as do the other functions here.
    """
    if draft.id is None and draft.key is None:
        if not conditions.allows_creation:
            raise errors.precondition_failed("If-Match")
        with database.writing(caller.project_key) as connection:
            new = _new(connection, caller, draft, staged=staged, sole=False)
            created = store.create(connection, caller.project_key, new, caller.client_id, caller.world.write_time())
        if isinstance(created, Refused):
            errors.unreachable("a resource without a key collides with none")
        return _written(database, caller, created)
    merged = Projection(Merged(Stored.CURRENT_OBJECT, draft.object_type), Stored.CURRENT_SOME_PROPERTY)
    staged_merged = Projection(Merged(Stored.STAGED_OBJECT, draft.object_type), Stored.STAGED_SOME_PROPERTY)
    change = Change(current=Change().current if staged else merged, staged=staged_merged)
    return _upsert(database, caller, draft, change, conditions, staged=staged)


def create_or_overwrite(
    database: Database,
    caller: Caller,
    draft: ResourceDraft,
    conditions: Preconditions,
    *,
    staged: bool,
) -> Written:
    """PUT on the collection (interface 4.8): the whole ObjectType is replaced.

    A body without id and key means the project's only resource, which is created if there is none.
    """
    change = _overwriting(draft.object_type, staged=staged)
    return _upsert(database, caller, draft, change, conditions, staged=staged)


def overwrite(
    database: Database,
    caller: Caller,
    draft: ResourceDraft,
    conditions: Preconditions,
    *,
    staged: bool,
) -> Written:
    """PATCH on the collection (interface 4.7): as PUT, for a resource that exists.

    :raises ApiError: 400 also if neither the body nor If-Match has the expected version.
    """
    if conditions.expected is None and conditions.if_match is None:
        raise errors.ApiError([errors.shape_fault(f"version: {MISSING}")])
    target = _target(draft)
    change = replace(_overwriting(draft.object_type, staged=staged), key=_key_change(draft))
    for _ in range(_ATTEMPTS_AT_MOST):
        with database.writing(caller.project_key) as connection:
            outcome = _write(connection, caller, target, change, conditions)
        if isinstance(outcome, Written):
            return _written(database, caller, outcome)
        if outcome.reason is not Refusal.RACE:
            raise _error_for(outcome, caller.project_key, target, conditions)
    raise errors.over_capacity(_OVERTAKEN)


def update(database: Database, caller: Caller, resource_id: str, body: Update, conditions: Preconditions) -> Written:
    """POST on a resource (interface 4.10): applies the actions in their order, all or none."""
    target = _by_id(resource_id)
    with database.writing(caller.project_key) as connection:
        outcome = _write(connection, caller, target, change_of(body.actions), conditions)
    if isinstance(outcome, Refused):
        raise _error_for(outcome, caller.project_key, target, conditions)
    return _written(database, caller, outcome)


def delete(database: Database, caller: Caller, resource_id: str, conditions: Preconditions) -> Resource:
    """DELETE (interface 4.11): returns the resource as it was."""
    target = _by_id(resource_id)
    with database.writing(caller.project_key) as connection:
        outcome = store.delete(connection, caller.project_key, target, conditions)
    if isinstance(outcome, Refused):
        raise _error_for(outcome, caller.project_key, target, conditions)
    return outcome.resource


_OVERTAKEN = "The resource is being created and deleted by others."


def _upsert(
    database: Database,
    caller: Caller,
    draft: ResourceDraft,
    change: Change,
    conditions: Preconditions,
    *,
    staged: bool,
) -> Written:
    target = _target(draft)
    change = replace(change, key=_key_change(draft))
    new: NewResource | None = None
    for _ in range(_ATTEMPTS_AT_MOST):
        with database.writing(caller.project_key) as connection:
            outcome = _write(connection, caller, target, change, conditions)
            not_found = isinstance(outcome, Refused) and outcome.reason is Refusal.NOT_FOUND
            if not_found and not isinstance(target, ById):
                if not conditions.allows_creation:
                    raise errors.precondition_failed("If-Match")
                new = new or _new(connection, caller, draft, staged=staged, sole=isinstance(target, Sole))
                outcome = store.create(connection, caller.project_key, new, caller.client_id, caller.world.write_time())
        if isinstance(outcome, Written):
            return _written(database, caller, outcome)
        if outcome.reason is not Refusal.RACE:
            raise _error_for(outcome, caller.project_key, target, conditions)
    raise errors.over_capacity(_OVERTAKEN)


def _written(database: Database, caller: Caller, written: Written) -> Written:
    """The result of a write, with what can wait until after the answer."""
    if written.leaves_text:
        database.leisure.add(caller.project_key, index_texts)
    return written


def _write(
    connection: Connection, caller: Caller, target: Target, change: Change, conditions: Preconditions
) -> Written | Refused:
    return store.write(
        connection, caller.project_key, target, change, conditions, caller.client_id, caller.world.write_time()
    )


def _by_id(text: str) -> ById:
    resource_id = canonical_id(text)
    if resource_id is None:
        raise errors.not_found_by_id(text)
    return ById(resource_id)


def _target(draft: ResourceDraft) -> Target:
    """The resource that a body means: by its id, else by its key, else the project's only one."""
    if draft.id is not None:
        return _by_id(draft.id)
    return Sole() if draft.key is None else ByKey(draft.key)


def _key_change(draft: ResourceDraft) -> NewText | Stored:
    """A key beside an id is set; a key alone has found the resource and stays."""
    return Stored.KEY if draft.id is None or draft.key is None else NewText(draft.key)


def _overwriting(object_type: ObjectType, *, staged: bool) -> Change:
    value = NewObject(object_type.text, object_type.searched, object_type.arrays)
    current = Change().current if staged else Projection(value, Stored.CURRENT_SOME_PROPERTY)
    return Change(current=current, staged=Projection(value, Stored.STAGED_SOME_PROPERTY))


def _new(connection: Connection, caller: Caller, draft: ResourceDraft, *, staged: bool, sole: bool) -> NewResource:
    return NewResource(
        id=caller.world.resource_id(connection, caller.project_key),
        key=draft.key,
        object_type=draft.object_type,
        staged_only=staged,
        sole=sole,
    )


def _error_for(refused: Refused, project_key: str, target: Target, conditions: Preconditions) -> errors.ApiError:
    """The error for a write that changed nothing."""
    if refused.reason is Refusal.AMBIGUOUS:
        return errors.invalid_input(
            f"The project '{project_key}' has more than one Resource: the body needs an id or a key."
        )
    if refused.id is not None and refused.version is not None:
        refusal = preconditions.failed_precondition(conditions, refused.id, refused.version)
        if refusal is not None:
            return refusal
    match target:
        case ById(id=resource_id):
            return errors.not_found_by_id(resource_id)
        case ByKey(key=key):
            return errors.not_found_by_key(key)
        case Sole():
            return errors.not_found_in_project(project_key)
