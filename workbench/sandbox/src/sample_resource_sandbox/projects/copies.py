"""The SQL on the copy of the resources with which a project began. Each row is JSON, so a new column of resources
changes nothing here."""

from typing import LiteralString

from app.database.connection import Connection
from app.resource.bulk_store import STORED

_AT_ONCE = 100
"""The most resources that one statement writes. With more, a statement could exceed its time limit."""

_ROWS: LiteralString = f"""
        SELECT r.id, to_jsonb(s) AS stored
        FROM resource r, LATERAL (SELECT {STORED}) s"""
"""The resources of all projects; each use adds the project's condition."""

_SAVE: LiteralString = f"""
    INSERT INTO sandbox_copy (project_key, id, stored)
    SELECT %(project_key)s, f.id, f.stored FROM ({_ROWS} WHERE r.project_key = %(source)s) f"""

# Only different rows are written, because most tests change few resources, and writing a row takes fifty times as long
# as comparing it. EXCEPT is used, because for a join the planner would choose a nested loop: it expects few rows of a
# new project.
_DELETE_DIFFERENT: LiteralString = f"""
    DELETE FROM resource r
    WHERE r.project_key = %(project_key)s AND r.id = ANY (ARRAY(
        SELECT d.id FROM ({_ROWS} WHERE r.project_key = %(project_key)s
            EXCEPT
            SELECT c.id, c.stored FROM sandbox_copy c
            WHERE c.project_key = %(project_key)s) d))"""

_MISSING: LiteralString = """
    SELECT c.id FROM sandbox_copy c WHERE c.project_key = %(project_key)s
    EXCEPT
    SELECT r.id FROM resource r WHERE r.project_key = %(project_key)s"""

_RESTORE: LiteralString = f"""
    INSERT INTO resource (project_key, {STORED})
    SELECT %(project_key)s, s.* FROM sandbox_copy c, LATERAL (
        SELECT {STORED} FROM jsonb_populate_record(NULL::resource, c.stored)) s
    WHERE c.project_key = %(project_key)s AND c.id = ANY (%(ids)s)"""

_DELETE: LiteralString = "DELETE FROM sandbox_copy c WHERE c.project_key = %(project_key)s"


def save(connection: Connection, project_key: str, source: str) -> None:
    """Save the resources of a project as the copy of a new project, which may be the same. To be called in a
    transaction.

    :param source: the key of the project whose resources they are.
    """
    connection.execute(_SAVE, {"project_key": project_key, "source": source})


def restore(connection: Connection, project_key: str) -> None:
    """Restore the resources of a project from its copy. To be called in a transaction, while no client can write to the
    project.

    Without a copy, all resources are deleted. The dictionary keeps its words, because words that no resource has find
    nothing.
    """
    parameters = {"project_key": project_key}
    connection.execute(_DELETE_DIFFERENT, parameters)
    missing = [row[0] for row in connection.execute(_MISSING, parameters).fetchall()]
    for begin in range(0, len(missing), _AT_ONCE):
        connection.execute(_RESTORE, {**parameters, "ids": missing[begin : begin + _AT_ONCE]})


def delete(connection: Connection, project_key: str) -> None:
    """Delete the copy of a project."""
    connection.execute(_DELETE, {"project_key": project_key})
