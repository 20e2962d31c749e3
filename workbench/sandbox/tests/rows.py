"""What the database has of a project of the sandbox."""

from app.database.connection import Connection

TABLES = ("resource", "sandbox_copy", "resource_count", "sandbox_ids", "sandbox_project")
"""The tables that have rows of every project that has resources and a seed."""


def rows_of(connection: Connection, project_key: str) -> dict[str, int]:
    """How many rows each table has of a project, without those that have none."""
    found: dict[str, int] = {}
    for table in (*TABLES, "word"):
        row = connection.execute(f"SELECT count(*) FROM {table} WHERE project_key = %s", (project_key,)).fetchone()
        if row is not None and row[0]:
            found[table] = row[0]
    return found
