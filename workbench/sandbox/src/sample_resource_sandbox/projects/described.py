"""Reads and describes the state of a sandbox project for answers, and makes the errors about projects."""

from typing import Any

from app import errors
from app.database.connection import Connection
from app.resource import bulk_store
from app.values.timestamps import text_of
from sample_resource_sandbox.projects import store
from sample_resource_sandbox.projects.model import SandboxProject


def not_found(project_key: str) -> errors.ApiError:
    """The error 404 for a key that no sandbox project has, even if the service has a project with this key."""
    return errors.ApiError([errors.Fault("ResourceNotFound", f"The sandbox has no project '{project_key}'.")])


def removed(project_key: str) -> errors.ApiError:
    """The error 401 for a token of a project that is gone."""
    return errors.token_refused(project_key, "its project is gone")


def details_of(connection: Connection, project: SandboxProject) -> store.Details:
    """Read the stored details of a project.

    :raises ApiError: 404 if the project is gone.
    """
    found = store.details(connection, project.key, project.client_id)
    if found is None:
        raise not_found(project.key)
    return found


def describe(connection: Connection, project: SandboxProject) -> dict[str, Any] | None:
    """The project in the form of an answer; None if it is gone."""
    details = store.details(connection, project.key, project.client_id)
    if details is None:
        return None
    return {
        "projectKey": project.key,
        "createdAt": text_of(project.created_at),
        "expiresAt": text_of(project.expires_at),
        "run": project.run,
        "allow": list(project.observer.allow),
        "resources": bulk_store.weight(connection, project.key)[0],
        "requests": project.journal.total,
        "clock": project.clock.described(),
        "ids": details.ids,
    }
