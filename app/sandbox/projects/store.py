"""The SQL on the table of sandbox projects."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from app.database.connection import Connection
from app.sandbox.projects.clock import ProjectClock
from app.sandbox.projects.model import SandboxProject
from app.sandbox.rules.rules import read_rules

_COLUMNS: LiteralString = """p.project_key, p.client_id, c.secret_hash, p.is_removed, p.clock, p.ids, p.rules,
    p.rules_generation, p.token_epoch, p.token_ttl_s, p.run_id"""

_FIND: LiteralString = f"""
SELECT {_COLUMNS} FROM sandbox_project p LEFT JOIN api_client c ON c.id = p.client_id
WHERE p.project_key = %(project_key)s"""

_FIND_BY_CLIENT: LiteralString = f"""
SELECT {_COLUMNS} FROM sandbox_project p LEFT JOIN api_client c ON c.id = p.client_id
WHERE p.client_id = %(client_id)s"""

_COUNT: LiteralString = "SELECT count(*) FROM sandbox_project WHERE NOT is_removed"

_NAMES: LiteralString = "SELECT project_key, client_id FROM sandbox_project"

_INSERT: LiteralString = """
INSERT INTO sandbox_project (
    project_key, client_id, created_at, expires_at, clock, ids, initial_clock, initial_ids, token_ttl_s, run_id)
VALUES (%(project_key)s, %(client_id)s, %(created_at)s, %(expires_at)s, %(clock)s, %(ids)s,
    %(initial_clock)s, %(initial_ids)s, %(token_ttl_s)s, %(run_id)s)
ON CONFLICT DO NOTHING RETURNING project_key"""

# In statements of their own, so that each finds its rows on one machine.
_USED_BY_RESOURCES: LiteralString = "SELECT EXISTS (SELECT FROM resource WHERE project_key = %(project_key)s)"
_USED_BY_WORDS: LiteralString = "SELECT EXISTS (SELECT FROM word WHERE project_key = %(project_key)s)"
_USED_BY_CLIENTS: LiteralString = """
SELECT EXISTS (
    SELECT FROM api_client c, unnest(c.scopes) s (scope) WHERE split_part(s.scope, ':', 2) = %(project_key)s)"""

_DETAILS: LiteralString = """
SELECT p.project_key, p.created_at, p.expires_at, r.run, p.token_ttl_s, p.clock, p.ids, p.snapshots, p.initial_clock,
    p.initial_ids
FROM sandbox_project p LEFT JOIN sandbox_run r ON r.id = p.run_id
WHERE NOT p.is_removed AND p.project_key = coalesce(%(project_key)s, p.project_key)
ORDER BY p.created_at, p.project_key"""

_LOCK: LiteralString = """
SELECT clock, ids, snapshots, initial_clock, initial_ids FROM sandbox_project
WHERE project_key = %(project_key)s AND NOT is_removed FOR NO KEY UPDATE"""

_IS_THERE: LiteralString = """
SELECT FROM sandbox_project
WHERE project_key = %(project_key)s AND client_id = %(client_id)s AND NOT is_removed"""

# While a transaction has this lock, the row is not deleted. It lets all other changes of the row pass.
_KEEP: LiteralString = f"{_IS_THERE} FOR KEY SHARE"

_SET_CLOCK: LiteralString = "UPDATE sandbox_project SET clock = %(clock)s WHERE project_key = %(project_key)s"

_SET_IDS: LiteralString = "UPDATE sandbox_project SET ids = %(ids)s WHERE project_key = %(project_key)s"

_SET_RULES: LiteralString = """
UPDATE sandbox_project SET rules = %(rules)s, rules_generation = rules_generation + 1
WHERE project_key = %(project_key)s AND NOT is_removed RETURNING rules_generation"""

_SET_SNAPSHOTS: LiteralString = """
UPDATE sandbox_project SET snapshots = %(snapshots)s WHERE project_key = %(project_key)s"""

_NEXT_EPOCH: LiteralString = """
UPDATE sandbox_project SET token_epoch = token_epoch + 1 WHERE project_key = %(project_key)s"""

_MARK_REMOVED: LiteralString = """
UPDATE sandbox_project SET is_removed = true WHERE project_key = %(project_key)s RETURNING client_id"""

_DELETE: LiteralString = "DELETE FROM sandbox_project WHERE project_key = %(project_key)s"

_DELETE_IDS: LiteralString = "DELETE FROM sandbox_ids WHERE project_key = %(project_key)s"

_SCOPES: LiteralString = """
SELECT c.scopes FROM sandbox_project p JOIN api_client c ON c.id = p.client_id WHERE p.project_key = %(project_key)s"""

_EXPIRED: LiteralString = """
SELECT project_key FROM sandbox_project WHERE expires_at <= now() OR is_removed ORDER BY expires_at"""

_COUNT_REQUESTS: LiteralString = "SELECT requests FROM sandbox_request_count WHERE project_key = %(project_key)s"


def find(connection: Connection, project_key: str) -> SandboxProject | None:
    """The project with this key, also one that is being removed; None if the sandbox has made none."""
    return _project(connection.execute(_FIND, {"project_key": project_key}).fetchone())


def find_by_client(connection: Connection, client_id: str) -> SandboxProject | None:
    """The project of a client."""
    return _project(connection.execute(_FIND_BY_CLIENT, {"client_id": client_id}).fetchone())


def _project(row: tuple[Any, ...] | None) -> SandboxProject | None:
    if row is None:
        return None
    key, client_id, secret_hash, is_removed, clock, ids, rules, generation, epoch, token_ttl_s, run_id = row
    return SandboxProject(
        key,
        client_id,
        bytes(secret_hash or b""),
        is_removed,
        ProjectClock.read(clock),
        json.loads(ids).get("seed"),
        read_rules(rules),
        generation,
        epoch,
        token_ttl_s,
        run_id,
    )


def count(connection: Connection) -> int:
    """How many projects there are, without those that are being removed."""
    row = connection.execute(_COUNT).fetchone()
    return 0 if row is None else row[0]


def names(connection: Connection) -> dict[str, str]:
    """The keys of all projects, and the client of each."""
    return dict(connection.execute(_NAMES).fetchall())


def insert(
    connection: Connection,
    project_key: str,
    client_id: str,
    created_at: datetime,
    expires_at: datetime,
    clock: ProjectClock,
    clock_order: dict[str, Any],
    ids_order: dict[str, Any],
    *,
    ids_made: int = 0,
    token_ttl_s: int | None = None,
    run_id: UUID | None = None,
) -> bool:
    """Insert a project; False if the sandbox has one with this key.

    :param ids_made: how many ids of its seed its first resources have.
    :param run_id: of the run that it belongs to.
    """
    row = connection.execute(
        _INSERT,
        {
            "project_key": project_key,
            "client_id": client_id,
            "created_at": created_at,
            "expires_at": expires_at,
            "clock": clock.stored(),
            "ids": json.dumps(ids_order),
            "initial_clock": json.dumps(clock_order),
            "initial_ids": json.dumps({**ids_order, "made": ids_made}),
            "token_ttl_s": token_ttl_s,
            "run_id": run_id,
        },
    ).fetchone()
    return row is not None


def is_used(connection: Connection, project_key: str) -> bool:
    """Whether a project has or had resources, or a client has a scope for it."""
    for statement in (_USED_BY_RESOURCES, _USED_BY_WORDS, _USED_BY_CLIENTS):
        row = connection.execute(statement, {"project_key": project_key}).fetchone()
        if row is not None and row[0]:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Details:
    """What is stored of a project beside what requests need."""

    project_key: str
    created_at: datetime
    expires_at: datetime
    run: str | None
    token_ttl_s: int | None
    clock: ProjectClock
    ids: dict[str, Any]
    snapshots: dict[str, dict[str, Any]]
    initial_clock: dict[str, Any]
    initial_ids: dict[str, Any]


def details(connection: Connection, project_key: str | None = None) -> list[Details]:
    """All projects, oldest first, or the one with this key."""
    rows = connection.execute(_DETAILS, {"project_key": project_key}).fetchall()
    return [_details(row) for row in rows]


def _details(row: tuple[Any, ...]) -> Details:
    project_key, created_at, expires_at, run, token_ttl_s, clock, *texts = row
    ids, snapshots, initial_clock, initial_ids = (json.loads(text) for text in texts)
    return Details(
        project_key,
        created_at,
        expires_at,
        run,
        token_ttl_s,
        ProjectClock.read(clock),
        ids,
        snapshots,
        initial_clock,
        initial_ids,
    )


def lock(connection: Connection, project_key: str) -> tuple[ProjectClock, dict[str, Any], dict[str, Any], Any, Any]:
    """Lock a project until the transaction ends: its clock, ids, snapshots, initial clock and initial ids.

    :raises LookupError: if there is none.
    """
    row = connection.execute(_LOCK, {"project_key": project_key}).fetchone()
    if row is None:
        raise LookupError(project_key)
    clock, *texts = row
    ids, snapshots, initial_clock, initial_ids = (json.loads(text) for text in texts)
    return ProjectClock.read(clock), ids, snapshots, initial_clock, initial_ids


def is_there(connection: Connection, project_key: str, client_id: str) -> bool:
    """Whether a project is there and not being removed.

    :param client_id: its client, which tells it from a later project with the same key.
    """
    return connection.execute(_IS_THERE, {"project_key": project_key, "client_id": client_id}).fetchone() is not None


def keep(connection: Connection, project_key: str, client_id: str) -> bool:
    """The same, and it stays there until the transaction ends."""
    return connection.execute(_KEEP, {"project_key": project_key, "client_id": client_id}).fetchone() is not None


def set_clock(connection: Connection, project_key: str, clock: ProjectClock) -> None:
    """Set the clock."""
    connection.execute(_SET_CLOCK, {"project_key": project_key, "clock": clock.stored()})


def set_ids(connection: Connection, project_key: str, order: dict[str, Any]) -> None:
    """Set where ids come from."""
    connection.execute(_SET_IDS, {"project_key": project_key, "ids": json.dumps(order)})


def set_rules(connection: Connection, project_key: str, rules: str) -> int:
    """Replace the rules, and return their generation.

    :raises LookupError: if there is no such project.
    """
    row = connection.execute(_SET_RULES, {"project_key": project_key, "rules": rules}).fetchone()
    if row is None:
        raise LookupError(project_key)
    return row[0]


def set_snapshots(connection: Connection, project_key: str, snapshots: dict[str, Any]) -> None:
    """Set what is known of the snapshots."""
    connection.execute(_SET_SNAPSHOTS, {"project_key": project_key, "snapshots": json.dumps(snapshots)})


def begin_token_epoch(connection: Connection, project_key: str) -> None:
    """From now on, refuse all tokens that have been issued."""
    connection.execute(_NEXT_EPOCH, {"project_key": project_key})


def mark_removed(connection: Connection, project_key: str) -> str | None:
    """Let no request reach the project any more, and return its client; None if there is no such project."""
    row = connection.execute(_MARK_REMOVED, {"project_key": project_key}).fetchone()
    return None if row is None else row[0]


def delete(connection: Connection, project_key: str) -> None:
    """Delete the project's row, and how many ids it has made."""
    connection.execute(_DELETE, {"project_key": project_key})
    connection.execute(_DELETE_IDS, {"project_key": project_key})


def scopes(connection: Connection, project_key: str) -> tuple[str, ...]:
    """The scopes of the project's client; none if the project is gone."""
    row = connection.execute(_SCOPES, {"project_key": project_key}).fetchone()
    return () if row is None else tuple(row[0])


def expired(connection: Connection) -> list[str]:
    """The projects whose time is over, or whose removal was interrupted."""
    return [row[0] for row in connection.execute(_EXPIRED).fetchall()]


def count_requests(connection: Connection, project_key: str) -> int:
    """How many requests a project has had."""
    row = connection.execute(_COUNT_REQUESTS, {"project_key": project_key}).fetchone()
    return 0 if row is None else row[0]
