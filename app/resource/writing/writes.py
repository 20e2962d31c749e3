"""The writes of the service: each finds its target, decides on the resource after the write, and writes it.

Each attempt reads the resource, decides (by :mod:`app.resource.writing.rules`, unless it deletes), and writes only if
the resource still has the version that was read. If another write came in between, the next attempt reads and decides
again. It locks the resource when it reads it, so that each of many concurrent writers gets its turn.
"""

from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial, reduce
from typing import TypeVar

from app import errors
from app.database.connection import Connection, has_citus
from app.database.pool import Database
from app.resource.model import (
    ById,
    ByKey,
    Caller,
    Content,
    NewResource,
    OwnYoungest,
    Preconditions,
    Representation,
    Resource,
    Written,
    canonical_id,
)
from app.resource.object_type import ObjectType
from app.resource.preconditions import raise_if_refused
from app.resource.resource_json import representation_of
from app.resource.schemas import ResourceDraft, Update
from app.resource.searching.dictionary import add_words_of
from app.resource.writing import rules, store
from app.resource.writing.rules import Write

_ATTEMPTS_AT_MOST = 100
"""The most attempts of a write that other writes overtake."""

Result = TypeVar("Result")


def write(
    database: Database, caller: Caller, draft: ResourceDraft, conditions: Preconditions, method: str, *, staged: bool
) -> Written:
    """POST, PUT and PATCH on the collection (interface 4.6 to 4.8).

    POST replaces the stored fields that are sent; the other fields stay. PUT and PATCH replace the whole ObjectType.

    The body decides which resource is the target:

    - With an id: the resource with this id. If it does not exist, none is created.
    - With a key and no id: the resource with this key. If it does not exist, POST and PUT create it.
    - With neither: POST has no target and always creates a resource. The target of PUT and PATCH is the youngest of the
      resources without a key that the caller has created. If there is none, PUT creates one; if one client sends
      several such PUTs at the same time, at most one of them creates a resource.

    :param staged: True changes the content only in the staged projection; the current ObjectType of a created resource
        is then empty.
    :raises ApiError: 400, 404 (the target does not exist, and none is created), 409, 412 or 503; also any error that
        :meth:`app.extension.Extension.writing` raises. :func:`update` and :func:`delete` raise errors from this list.
    """
    target = named = _named_by(draft)
    if method != "POST" and named is None:
        target = OwnYoungest(caller.client_id)
    content = Content(draft.object_type, draft.some_property)
    new = NewResource(
        key=draft.key,
        current=Content(ObjectType()) if staged else content,
        staged=content,
        last_modified_by=caller.client_id,
        created_as_only=method == "PUT" and named is None,  # a unique index lets only one of concurrent PUTs create
    )
    change = partial(_with_body, draft, staged=staged, merges=method == "POST")
    creates = None if method == "PATCH" else new  # rules.decide creates none if the target is named by id
    return _written(database, Write(caller, target, change, conditions.expecting(draft.version), creates))


def update(database: Database, caller: Caller, resource_id: str, body: Update, conditions: Preconditions) -> Written:
    """POST on a resource (interface 4.10): apply all update actions in their order, or none of them."""

    def change(resource: Resource) -> Resource:
        """The resource after all actions of the body."""
        return reduce(lambda changed, action: action.apply(changed), body.actions, resource)

    return _written(database, Write(caller, _by_id(resource_id), change, conditions.expecting(body.version)))


def delete(database: Database, caller: Caller, resource_id: str, conditions: Preconditions) -> Representation:
    """DELETE on a resource (interface 4.11): delete the resource, and return it as it was."""
    target = _by_id(resource_id)

    def attempt(connection: Connection, locks: bool) -> Resource | None:
        """Find the target, check and delete; return None if another write came in between."""
        stored = store.find(connection, caller.project_key, target, locks=locks)
        if stored is None:
            raise errors.not_found_by_id(target.id)
        raise_if_refused(conditions, target.id, stored.version)
        return stored if store.delete(connection, caller.project_key, stored) else None

    return representation_of(_until_done(database, caller.project_key, attempt))


# What a request means


def _by_id(text: str) -> ById:
    """The target with this id.

    :raises ApiError: 404 for a text that is no UUID, because no resource has such an id.
    """
    resource_id = canonical_id(text)
    if resource_id is None:
        raise errors.not_found_by_id(text)
    return ById(resource_id)


def _named_by(draft: ResourceDraft) -> ById | ByKey | None:
    """The resource that a body names: by its id, else by its key; None if the body has neither.

    :raises ApiError: 404 for an id that is no UUID.
    """
    if draft.id is not None:
        return _by_id(draft.id)
    return None if draft.key is None else ByKey(draft.key)


def _with_body(draft: ResourceDraft, stored: Resource, *, staged: bool, merges: bool) -> Resource:
    """Apply a body to a stored resource, and return the changed resource. The ObjectType of the body, which every body
    has, is merged into the stored one or replaces it; someProperty and the key are replaced only if the body has them.

    :param staged: True changes the content only in the staged projection. A key in the body replaces the stored key
        also then, because the key belongs to no projection.
    :param merges: True keeps the stored fields of ObjectType that the body lacks; False removes them.
    """

    def changed(content: Content) -> Content:
        """The content of a projection, changed by the body."""
        object_type = content.object_type.merged_with(draft.object_type) if merges else draft.object_type
        return Content(object_type, content.some_property if draft.some_property is None else draft.some_property)

    resource = stored.with_content(changed, staged_only=staged)
    return resource if draft.key is None else replace(resource, key=draft.key)


# Attempts


def _written(database: Database, write: Write) -> Written:
    """Carry out a write, in as many attempts as it needs."""
    project_key, target = write.caller.project_key, write.target

    def attempt(connection: Connection, locks: bool) -> Written | None:
        """Find the target, decide and write; return None if another write came in between."""
        found = None if target is None else store.find(connection, project_key, target, locks=locks)
        after = rules.decide(found, write)
        # Without Citus, triggers add the words of the resource to the dictionary of the search. Citus distributes no
        # table with triggers, so the service adds the words there, in the transaction of the write.
        if not has_citus(connection):
            return store.save(connection, write.caller, found, after)
        with connection.transaction():
            written = store.save(connection, write.caller, found, after)
            if written is not None:
                add_words_of(connection, project_key, [written.resource.id])
            return written

    return _until_done(database, project_key, attempt)


def _until_done(database: Database, project_key: str, attempt: Callable[[Connection, bool], Result | None]) -> Result:
    """Repeat an attempt to write until no other write overtakes it (comes in between). An overtaken attempt has changed
    nothing.

    The first attempt reads the target without a lock, because few writes are overtaken. Each later attempt runs in a
    transaction, and locks the target when it reads it. No other write can change a locked target.

    :param attempt: takes the connection and whether to lock. It is overtaken in four cases:

        - It has read the target without a lock, and then another write changed or deleted the target. It returns None.
          Only the first attempt reads without a lock, so only the first attempt returns None.
        - It creates a resource, and a unique index refuses the new resource. For example, another write has just given
          the same key to a resource. The attempt raises Overtaken. No lock prevents this, because a creation has no
          target that could be locked.
        - It locks the target, and the target is an :class:`OwnYoungest`. One statement finds the client's youngest
          resource without a key, and a second one locks it. In between, another write deleted the resource or gave it a
          key. The attempt raises Overtaken.
        - It ends in a deadlock. :func:`app.resource.writing.store.overtaken_by_deadlock` then raises Overtaken in place
          of the driver's error.

    :raises ApiError: 503 if all of :data:`_ATTEMPTS_AT_MOST` attempts were overtaken; and what an attempt or the
        checkout of a connection raises.
    """
    for number in range(_ATTEMPTS_AT_MOST):
        locks = number > 0
        with (
            suppress(store.Overtaken),
            database.writing(project_key) as connection,
            store.overtaken_by_deadlock(),  # inside the checkout, which would answer 503 for a deadlock
            connection.transaction() if locks else nullcontext(),
        ):
            done = attempt(connection, locks)
            if done is not None:
                return done
    raise errors.over_capacity("The resource is being changed by others all the time.")
