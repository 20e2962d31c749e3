"""Plays another writer for a rule: it changes a resource just before a request that writes to it.

So the service itself answers 409 or 412 to a write that expects a version, its ``currentVersion`` is true, and a write
that expects this version succeeds. A write that expects no version overwrites the change.
"""

from collections.abc import Callable
from dataclasses import replace

from flask import Request

from app.database.pool import Database
from app.resource.model import ById, ByKey, Caller, OwnYoungest, Target, canonical_id
from app.resource.writing import store
from sample_resource_sandbox.analysis.look import WRITES
from sample_resource_sandbox.faults import requests
from sample_resource_sandbox.journal.entry import Entry
from sample_resource_sandbox.projects.clock_and_ids import ProjectClockAndIds
from sample_resource_sandbox.projects.model import SandboxProject

OTHER_WRITER = "sandbox-other-writer"
"""The client id of the other writer in ``lastModifiedBy``."""

_ATTEMPTS = 20


def write_before(
    database: Database, project: SandboxProject, request: Request, entry: Entry, count: Callable[[], float | None]
) -> float | None:
    """Raise the version of a write's target, without another change, if the rule is due.

    :param count: counts the request for the rule, and returns None if the rule is not due. It is not called for a
        request that means no existing resource.
    :return: the result of ``count``; None if there is no such resource.
    """
    target = _target(request, entry) if entry.operation in WRITES else None
    if target is None:
        return None
    counted = None
    other_writer = Caller(project.key, OTHER_WRITER, ProjectClockAndIds(project.clock, project.seed))
    for _ in range(_ATTEMPTS):  # a real writer may be faster
        with database.writing(project.key) as connection:
            found = store.find(connection, project.key, target)
            if found is None or (counted is None and (counted := count()) is None):
                return None
            after = replace(found, version=found.version + 1, last_modified_by=other_writer.client_id)
            if store.save(connection, other_writer, found, after) is not None:
                break
    return counted


def _target(request: Request, entry: Entry) -> Target | None:
    """The target of a write; None if it always creates a resource, or if its id is no UUID."""
    named = (request.view_args or {}).get("resource_id")
    if named is None:
        body = requests.json_members(request)
        named, key = body.get("id"), body.get("key")
        if named is None:
            if isinstance(key, str):
                return ByKey(key)
            return None if entry.operation == "createOrUpdateResource" else OwnYoungest(entry.client_id or "")
    found = canonical_id(named) if isinstance(named, str) else None
    return None if found is None else ById(found)
