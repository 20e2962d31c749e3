"""The SQL on the tables of sandbox projects and runs."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, LiteralString

from app.database.connection import Connection
from sample_resource_sandbox.projects.clock import ProjectClock

_ALL: LiteralString = """
SELECT p.project_key, p.client_id, c.secret_hash, c.scopes, p.created_at, p.expires_at, p.clock, p.ids,
    p.initial_clock, p.initial_ids, p.run, p.allow, p.is_removed
FROM sandbox_project p LEFT JOIN api_client c ON c.id = p.client_id"""

_INSERT: LiteralString = """
INSERT INTO sandbox_project (
    project_key, client_id, created_at, expires_at, clock, ids, initial_clock, initial_ids, run, allow)
VALUES (%(project_key)s, %(client_id)s, %(created_at)s, %(expires_at)s, %(clock)s, %(ids)s,
    %(initial_clock)s, %(initial_ids)s, %(run)s, %(allow)s)
ON CONFLICT DO NOTHING RETURNING project_key"""

# Three statements, so that each finds its rows on one machine of a cluster.
_USED_BY_RESOURCES: LiteralString = "SELECT EXISTS (SELECT FROM resource WHERE project_key = %(project_key)s)"
_USED_BY_WORDS: LiteralString = "SELECT EXISTS (SELECT FROM word WHERE project_key = %(project_key)s)"
_USED_BY_CLIENTS: LiteralString = """
SELECT EXISTS (
    SELECT FROM api_client c, unnest(c.scopes) s (scope) WHERE split_part(s.scope, ':', 2) = %(project_key)s)"""

_SET_CLOCK: LiteralString = "UPDATE sandbox_project SET clock = %(clock)s WHERE project_key = %(project_key)s"

_SET_IDS: LiteralString = "UPDATE sandbox_project SET ids = %(ids)s WHERE project_key = %(project_key)s"

_MARK_REMOVED: LiteralString = "UPDATE sandbox_project SET is_removed = true WHERE project_key = %(project_key)s"

_DELETE: LiteralString = "DELETE FROM sandbox_project WHERE project_key = %(project_key)s"

_DELETE_IDS: LiteralString = "DELETE FROM sandbox_ids WHERE project_key = %(project_key)s"

_ALL_RUNS: LiteralString = "SELECT run FROM sandbox_run"

_INSERT_RUN: LiteralString = "INSERT INTO sandbox_run (run) VALUES (%(run)s) ON CONFLICT DO NOTHING"

_DELETE_RUN: LiteralString = "DELETE FROM sandbox_run WHERE run = %(run)s"

_LEAVE_RUN: LiteralString = "UPDATE sandbox_project SET run = NULL WHERE run = %(run)s"


@dataclass(frozen=True, slots=True)
class Row:
    """The stored members of a project, with the secret and scopes of its client. These two are None once the client is
    removed, which is before the project is."""

    project_key: str
    client_id: str
    secret_hash: bytes | None
    scopes: Sequence[str] | None
    created_at: datetime
    expires_at: datetime
    clock: str
    ids: str
    initial_clock: str
    initial_ids: str
    run: str | None
    allow: str
    is_removed: bool = False


def all_rows(connection: Connection) -> list[Row]:
    """All projects, including those that are being removed."""
    return [Row(*row) for row in connection.execute(_ALL).fetchall()]


def insert(connection: Connection, row: Row) -> bool:
    """Insert a project. Return False if the sandbox already has a project with this key."""
    if row.run is not None:
        connection.execute(_INSERT_RUN, {"run": row.run})
    return connection.execute(_INSERT, asdict(row)).fetchone() is not None


def all_runs(connection: Connection) -> list[str]:
    """The names of all runs."""
    return [run for (run,) in connection.execute(_ALL_RUNS).fetchall()]


def delete_run(connection: Connection, run: str) -> None:
    """Delete a run. Its projects stay, and belong to no run any more."""
    connection.execute(_LEAVE_RUN, {"run": run})
    connection.execute(_DELETE_RUN, {"run": run})


def is_used(connection: Connection, project_key: str) -> bool:
    """Whether a project has or had resources, or a client has a scope for it."""
    statements = (_USED_BY_RESOURCES, _USED_BY_WORDS, _USED_BY_CLIENTS)
    return any(connection.execute(each, {"project_key": project_key}).fetchone() == (True,) for each in statements)


def set_clock(connection: Connection, project_key: str, clock: ProjectClock) -> None:
    """Store the clock of a project."""
    connection.execute(_SET_CLOCK, {"project_key": project_key, "clock": clock.stored()})


def set_ids(connection: Connection, project_key: str, order: dict[str, Any]) -> None:
    """Store the source of a project's ids, and let a sequence begin anew."""
    connection.execute(_SET_IDS, {"project_key": project_key, "ids": json.dumps(order)})
    connection.execute(_DELETE_IDS, {"project_key": project_key})


def mark_removed(connection: Connection, project_key: str) -> None:
    """Mark a project as being removed, so that a later process continues its removal."""
    connection.execute(_MARK_REMOVED, {"project_key": project_key})


def delete(connection: Connection, project_key: str) -> None:
    """Delete the row of a project, and the count of its ids."""
    connection.execute(_DELETE, {"project_key": project_key})
    connection.execute(_DELETE_IDS, {"project_key": project_key})
