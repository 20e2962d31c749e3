"""The SQL of the journal: the last requests of each project, each a JSON text."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString

from app.database.connection import Connection

KEPT = 1000
"""Requests of a project that are kept."""

# One statement: the row of the count is locked until the end, so entries become visible in the order of their numbers.
_ADD: LiteralString = """
WITH counted AS (
    INSERT INTO sandbox_request_count AS c (project_key, requests)
    SELECT %(project_key)s, %(count)s::bigint
    WHERE EXISTS (SELECT FROM sandbox_project p WHERE p.project_key = %(project_key)s)
    ON CONFLICT (project_key) DO UPDATE SET requests = c.requests + excluded.requests
    RETURNING requests
), forgotten AS (
    DELETE FROM sandbox_request r
    WHERE r.project_key = %(project_key)s AND r.number <= (SELECT requests FROM counted) - %(kept)s::bigint
)
INSERT INTO sandbox_request (project_key, number, started_at, status, operation_id, method, entry)
SELECT %(project_key)s, c.requests - %(added)s::bigint + e.place, e.started_at, e.status, e.operation_id, e.method,
    e.entry
FROM counted c, unnest(%(started_at)s::timestamptz[], %(status)s::int[], %(operation_id)s::text[], %(method)s::text[],
    %(entry)s::text[]) WITH ORDINALITY e (started_at, status, operation_id, method, entry, place)"""

_NARROWED: LiteralString = """r.project_key = %(project_key)s
    AND (%(status)s::int IS NULL OR r.status = %(status)s::int)
    AND (%(operation_id)s::text IS NULL OR r.operation_id = %(operation_id)s::text)
    AND (%(method)s::text IS NULL OR r.method = %(method)s::text)"""

_PAGE: LiteralString = f"""
SELECT r.number, r.entry FROM sandbox_request r WHERE {_NARROWED}
ORDER BY r.started_at DESC, r.number DESC LIMIT %(limit)s OFFSET %(offset)s"""

_TOTAL: LiteralString = f"SELECT count(*) FROM sandbox_request r WHERE {_NARROWED}"

_GET: LiteralString = """
SELECT r.number, r.entry FROM sandbox_request r
WHERE r.project_key = %(project_key)s AND r.number = %(number)s::bigint"""

_AFTER: LiteralString = """
SELECT r.number, r.entry FROM sandbox_request r
WHERE r.project_key = %(project_key)s AND r.number > %(after)s::bigint ORDER BY r.number LIMIT 200"""

_LAST: LiteralString = "SELECT requests FROM sandbox_request_count WHERE project_key = %(project_key)s"

_DELETE: LiteralString = "DELETE FROM sandbox_request WHERE project_key = %(project_key)s"

_DELETE_COUNT: LiteralString = "DELETE FROM sandbox_request_count WHERE project_key = %(project_key)s"

Numbered = tuple[int, str]
"""The number of an entry and its JSON text, an object without the number."""


@dataclass(frozen=True, slots=True)
class Row:
    """An entry to be added."""

    started_at: datetime
    status: int | None
    operation_id: str | None
    method: str
    entry: str


def add(connection: Connection, project_key: str, rows: Sequence[Row], count: int) -> None:
    """Add entries, and drop those that are not kept any more; nothing is added to a project that is gone.

    :param rows: the last ones of those that are counted.
    :param count: how many requests there were.
    """
    connection.execute(
        _ADD,
        {
            "project_key": project_key,
            "count": count,
            "added": len(rows),
            "kept": KEPT,
            "started_at": [row.started_at for row in rows],
            "status": [row.status for row in rows],
            "operation_id": [row.operation_id for row in rows],
            "method": [row.method for row in rows],
            "entry": [row.entry for row in rows],
        },
    )


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Which entries of a project are listed."""

    status: int | None = None
    operation_id: str | None = None
    method: str | None = None

    def parameters(self, project_key: str) -> dict[str, Any]:
        """For the statements."""
        return {
            "project_key": project_key,
            "status": self.status,
            "operation_id": self.operation_id,
            "method": self.method,
        }


def page(
    connection: Connection, project_key: str, narrowing: Narrowing, limit: int, offset: int
) -> tuple[list[Numbered], int]:
    """A page of entries, newest first, and how many there are."""
    parameters = {**narrowing.parameters(project_key), "limit": limit, "offset": offset}
    rows = connection.execute(_PAGE, parameters).fetchall()
    total = connection.execute(_TOTAL, parameters).fetchone()
    return [(row[0], row[1]) for row in rows], 0 if total is None else total[0]


def get(connection: Connection, project_key: str, number: int) -> Numbered | None:
    """One entry; None if it is not kept."""
    row = connection.execute(_GET, {"project_key": project_key, "number": number}).fetchone()
    return None if row is None else (row[0], row[1])


def after(connection: Connection, project_key: str, number: int) -> list[Numbered]:
    """The next entries after a number, in the order of their numbers."""
    rows = connection.execute(_AFTER, {"project_key": project_key, "after": number}).fetchall()
    return [(row[0], row[1]) for row in rows]


def last_number(connection: Connection, project_key: str) -> int:
    """The number of the last entry; 0 if there is none."""
    row = connection.execute(_LAST, {"project_key": project_key}).fetchone()
    return 0 if row is None else row[0]


def delete_all(connection: Connection, project_key: str) -> None:
    """Delete the journal of a project; numbers begin again with 1."""
    connection.execute(_DELETE, {"project_key": project_key})
    connection.execute(_DELETE_COUNT, {"project_key": project_key})
