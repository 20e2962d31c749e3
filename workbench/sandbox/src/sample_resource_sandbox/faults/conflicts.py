"""Another writer, on order: it changes a resource just before a request that expects the version that was there.

The 409 of that request is the service's own, its ``currentVersion`` is true, and a write of that version succeeds.
"""

from dataclasses import replace

from flask import Request

from app.clock_and_ids import ClockAndIds
from app.database.pool import Database
from app.resource.model import ById, ByKey, Caller, Target, YoungestWithoutKey, canonical_id
from app.resource.writing import store
from sample_resource_sandbox.analysis.look import BODIES_OF_RESOURCES, WRITES_BY_ID
from sample_resource_sandbox.faults import requests

OTHER_WRITER = "sandbox-other-writer"
"""The id of the client that the other writer seems to be, as ``lastModifiedBy`` has it."""

OPERATIONS = BODIES_OF_RESOURCES | WRITES_BY_ID
"""The writes that can expect a version."""

_ATTEMPTS = 20


def expects_version(request: Request, operation_id: str | None) -> bool:
    """Whether a request says which version it expects, so that another writer makes a difference."""
    if operation_id not in OPERATIONS:
        return False
    return "If-Match" in request.headers or requests.version_sent(request) is not None


def write_before(
    database: Database, clock_and_ids: ClockAndIds, project_key: str, request: Request, operation_id: str
) -> None:
    """Give the resource that a write means the next version, with the same content. Without a resource, do nothing."""
    target = _target(request, operation_id)
    if target is None:
        return
    other_writer = Caller(project_key, OTHER_WRITER, clock_and_ids)
    for _ in range(_ATTEMPTS):  # a writer that is no fiction may be faster
        with database.writing(project_key) as connection:
            found = store.find(connection, project_key, target)
            if found is None:
                return
            after = replace(found, version=found.version + 1, last_modified_by=other_writer.client_id)
            if store.save(connection, other_writer, found, after) is not None:
                return


def _target(request: Request, operation_id: str) -> Target | None:
    """The resource that a write means."""
    arguments = request.view_args or {}
    named = arguments.get("resource_id")
    if named is None:
        body = requests.json_members(request)
        named, key = body.get("id"), body.get("key")
        if named is None:
            if isinstance(key, str):
                return ByKey(key)
            return None if operation_id == "createOrUpdateResource" else YoungestWithoutKey()
    found = canonical_id(named) if isinstance(named, str) else None
    return None if found is None else ById(found)
