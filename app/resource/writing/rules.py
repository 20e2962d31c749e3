"""The write rules: what a write makes of the resource that it finds. Values in, values or a refusal out; no SQL."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn

from app import errors
from app.resource.model import (
    ById,
    ByKey,
    Caller,
    NewResource,
    Preconditions,
    Resource,
    Target,
    YoungestWithoutKey,
    raise_if_too_large,
)
from app.resource.preconditions import failed_precondition


@dataclass(frozen=True, slots=True)
class Write:
    """What a request asks for.

    :param target: the resource that it means; None if it always creates one.
    :param change: from the resource as it is to what it becomes.
    :param creates: what it creates if there is no such resource; None if it creates none.
    """

    caller: Caller
    target: Target | None
    change: Callable[[Resource], Resource]
    conditions: Preconditions
    creates: NewResource | None = None


def decide(found: Resource | None, write: Write) -> Resource | NewResource:
    """The resource after a write.

    :param found: the resource that the write names; None if there is no such resource.
    :raises ApiError: 404, 409, 412 or 400.
    """
    return _creation(write) if found is None else _change(found, write)


def _change(stored: Resource, write: Write) -> Resource:
    """What becomes of a stored resource.

    It is equal to ``stored`` if nothing changes; else its version is one more, whatever the change has made of it.

    :raises ApiError: 412 or 409, in this order; 400 if the resource would be too large.
    """
    raise_if_refused(stored, write.conditions)
    after = write.change(stored)
    if after == stored:
        return after
    raise_if_too_large(after.current, after.staged)
    return replace(after, version=stored.version + 1, last_modified_by=write.caller.client_id)


def raise_if_refused(stored: Resource, conditions: Preconditions) -> None:
    """Check the preconditions of a write.

    :raises ApiError: 412 or 409.
    """
    refusal = failed_precondition(conditions, str(stored.id), stored.version)
    if refusal is not None:
        raise refusal


def _creation(write: Write) -> NewResource:
    """The resource that a write creates, because there is none that it means.

    :raises ApiError: 404 if it creates none; 412, since If-Match demands a resource; 400 if the resource would be too
        large.
    """
    if write.creates is None or isinstance(write.target, ById):  # ids are the server's
        _raise_not_found(write.target, write.caller)
    if not write.conditions.allows_creation:
        raise errors.precondition_failed("If-Match")
    raise_if_too_large(write.creates.current, write.creates.staged)
    return write.creates


def _raise_not_found(target: Target | None, caller: Caller) -> NoReturn:
    match target:
        case ById(id=resource_id):
            raise errors.not_found_by_id(resource_id)
        case ByKey(key=key):
            raise errors.not_found_by_key(key)
        case YoungestWithoutKey() | None:
            raise errors.not_found_in_project(caller.project_key)
