"""The rules of a write: functions from the stored resource and the request to the resource after the write, or an
error.

They execute no SQL.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from app import errors
from app.resource.model import ById, ByKey, Caller, NewResource, Preconditions, Resource, Target, raise_if_too_large
from app.resource.preconditions import raise_if_refused


@dataclass(frozen=True, slots=True)
class Write:
    """A write that a request asks for.

    :param target: the resource to be written; None if the request always creates one.
    :param change: returns the changed resource for the stored one.
    :param creates: the resource to be created if the target does not exist; None if the request creates none. It is
        ignored if the target is named by its id.
    """

    caller: Caller
    target: Target | None
    change: Callable[[Resource], Resource]
    conditions: Preconditions
    creates: NewResource | None = None


def decide(found: Resource | None, write: Write) -> Resource | NewResource:
    """Return the resource after a write.

    - If ``found`` is None, it is the resource to be created.
    - If the write changes nothing, it is equal to ``found``.
    - Otherwise its version is one higher than that of ``found``, however often ``write.change`` raised the version.

    :param found: the stored target of the write; None if the write has no target, or its target does not exist.
    :raises ApiError: 404 if ``found`` is None and the write creates no resource; 412 if If-Match or If-None-Match does
        not hold; 409 if the stored version is not the expected one; 400 if the changed resource would be too large.
        Of several errors, the first in this order is raised.
    """
    if found is None:
        return _creation(write)
    raise_if_refused(write.conditions, str(found.id), found.version)
    after = write.change(found)
    if after == found:
        return after
    raise_if_too_large(after.current, after.staged)  # merged fields may exceed what the body alone may have
    return replace(after, version=found.version + 1, last_modified_by=write.caller.client_id)


def _creation(write: Write) -> NewResource:
    """Return the resource that a write creates, because it has no target, or its target does not exist.

    :raises ApiError: 404 if the write names an id, or creates none; 412 if it has If-Match, which demands an existing
        resource.
    """
    if isinstance(write.target, ById):  # a client cannot choose an id
        raise errors.not_found_by_id(write.target.id)
    if write.creates is None:
        if isinstance(write.target, ByKey):
            raise errors.not_found_by_key(write.target.key)
        raise errors.no_own_resource(write.caller.project_key)  # a PATCH that names neither id nor key
    if write.conditions.if_match is not None:
        raise errors.precondition_failed("If-Match", None)
    return write.creates
