"""The SQL of the journal: the last requests of each project, each a JSON text."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

from app.database.connection import Connection

KEPT = 1000
"""Requests of a project that are kept."""

BYTES_KEPT = 16 * 1024 * 1024
"""Bytes of their entries. The last one is kept whatever its size."""

UNREADABLE = json.dumps(
    {
        "startedAt": "1970-01-01T00:00:00.000Z",
        "endedAt": "1970-01-01T00:00:00.000Z",
        "answeredMs": 0,
        "durationMs": 0,
        "underWay": False,
        "clientId": None,
        "operationId": None,
        "request": {"method": "", "target": "", "httpVersion": "", "headers": [], "body": None},
        "response": None,
        "token": None,
        "rule": None,
        "sql": {"statements": 0, "milliseconds": 0},
        "correlationId": "",
        "connection": None,
        "clientGone": False,
        "projectTime": None,
    }
)
"""What an entry has that could not be made, or that cannot be read."""

_LINES: LiteralString = """(
    SELECT split_part(k.line, ' ', 1)::bigint AS arrived_us, split_part(k.line, ' ', 2)::bigint AS place,
        nullif(split_part(k.line, ' ', 3), '')::bigint AS ended_us,
        nullif(split_part(k.line, ' ', 4), '')::int AS status,
        nullif(split_part(k.line, ' ', 5), '') AS operation_id, split_part(k.line, ' ', 6) AS method, e.line AS entry
    FROM string_to_table(%(keys)s, E'\\n') WITH ORDINALITY k (line, number)
    JOIN string_to_table(%(entries)s, E'\\n') WITH ORDINALITY e (line, number) ON e.number = k.number) l"""
"""Entries come as lines of one text each for keys and entries: psycopg escapes each element of an array, which took as
long as all the rest."""

# One statement, so that the count and the entries always fit together.
_ADD: LiteralString = f"""
WITH counted AS (
    INSERT INTO sandbox_request_count AS c (project_key, requests)
    VALUES (%(project_key)s, %(count)s::bigint)
    ON CONFLICT (project_key) DO UPDATE SET requests = c.requests + excluded.requests
    RETURNING requests
)
INSERT INTO sandbox_entry (project_key, arrived_us, place, ended_us, status, operation_id, method, entry)
SELECT %(project_key)s, l.arrived_us, l.place, l.ended_us, l.status, l.operation_id, l.method, l.entry
FROM counted c, {_LINES}
ON CONFLICT DO NOTHING"""

_RENEW: LiteralString = f"""
UPDATE sandbox_entry r SET ended_us = l.ended_us, status = l.status, entry = l.entry
FROM {_LINES}
WHERE r.project_key = %(project_key)s AND r.arrived_us = l.arrived_us AND r.place = l.place"""

_RANKED: LiteralString = """
    SELECT r.*, row_number() OVER newest AS rank, sum(octet_length(r.entry)) OVER newest AS bytes
    FROM sandbox_entry r WHERE r.project_key = %(project_key)s
    WINDOW newest AS (ORDER BY r.arrived_us DESC, r.place DESC ROWS UNBOUNDED PRECEDING)"""
"""The entries of a project with their rank, the newest first, and the bytes of all entries up to them. The length of an
entry is known without reading it."""

_IS_KEPT: LiteralString = "(r.rank <= %(kept)s::bigint AND (r.rank = 1 OR r.bytes <= %(bytes_kept)s::bigint))"

_FORGET: LiteralString = f"""
DELETE FROM sandbox_entry f
WHERE f.project_key = %(project_key)s AND (f.arrived_us, f.place) <= (
    SELECT r.arrived_us, r.place FROM ({_RANKED}) r WHERE NOT {_IS_KEPT} ORDER BY r.rank LIMIT 1)"""

_NUMBERED: LiteralString = f"""
SELECT (SELECT c.requests FROM sandbox_request_count c WHERE c.project_key = %(project_key)s) + 1 - r.rank AS number,
    r.arrived_us, r.place, r.ended_us, r.status, r.operation_id, r.method, r.entry
FROM ({_RANKED}) r WHERE {_IS_KEPT}"""
"""The entries of a project that are kept, with their numbers."""

_WHOLE: LiteralString = f"""
SELECT (SELECT c.requests FROM sandbox_request_count c WHERE c.project_key = %(project_key)s) + 1 - r.rank AS number,
    r.arrived_us, r.place, r.ended_us, octet_length(r.entry) AS size, {_IS_KEPT} AS is_kept, r.entry
FROM ({_RANKED}) r ORDER BY r.rank DESC"""

_NARROWED: LiteralString = """(%(status)s::int IS NULL OR r.status = %(status)s::int)
    AND (%(operation_id)s::text IS NULL OR r.operation_id = %(operation_id)s::text)
    AND (%(method)s::text IS NULL OR r.method = %(method)s::text)
    AND (%(number)s::numeric IS NULL OR r.number = %(number)s::numeric)"""

_LISTED: LiteralString = f"""
SELECT l.number, l.arrived_us, l.place, l.ended_us, octet_length(l.entry) AS size, l.is_wanted,
    CASE WHEN l.is_wanted AND l.nth BETWEEN %(offset)s::bigint + 1 AND %(offset)s::bigint + %(limit)s::bigint
        THEN l.entry END AS entry
FROM (
    SELECT w.*, count(*) FILTER (WHERE w.is_wanted) OVER (
        ORDER BY w.number DESC ROWS UNBOUNDED PRECEDING) AS nth
    FROM (SELECT r.*, {_NARROWED} AS is_wanted FROM ({_NUMBERED}) r) w
) l
ORDER BY l.number"""
"""One statement, so that a page and its total fit together. The texts of the page only are read."""

_WANTED: LiteralString = """sandbox_entry r
JOIN unnest(%(arrivals)s::bigint[], %(places)s::bigint[]) w (arrived_us, place)
    ON w.arrived_us = r.arrived_us AND w.place = r.place"""

_TEXTS: LiteralString = f"""
SELECT r.arrived_us, r.place, r.entry FROM {_WANTED}
WHERE r.project_key = %(project_key)s"""

_AFTER: LiteralString = f"""
SELECT r.number, r.arrived_us, r.place, r.ended_us, octet_length(r.entry) AS size, true, r.entry FROM ({_NUMBERED}) r
WHERE r.number > %(after)s::bigint AND r.arrived_us <= %(arrived_by_us)s::bigint ORDER BY r.number LIMIT 200"""

_ENDED: LiteralString = f"""
SELECT r.arrived_us, r.place, r.ended_us, r.entry FROM {_WANTED}
WHERE r.project_key = %(project_key)s AND r.ended_us <= %(ended_by_us)s::bigint"""

_LAST: LiteralString = "SELECT requests FROM sandbox_request_count WHERE project_key = %(project_key)s"

_DELETE: LiteralString = "DELETE FROM sandbox_entry WHERE project_key = %(project_key)s"

_DELETE_COUNT: LiteralString = "DELETE FROM sandbox_request_count WHERE project_key = %(project_key)s"


@dataclass(frozen=True, slots=True)
class Row:
    """An entry to be written.

    :param arrived_us: microseconds since 1970.
    :param place: distinguishes entries that arrive at the same time.
    :param ended_us: likewise; None: it is under way.
    :param entry: in ASCII, and without line breaks.
    """

    arrived_us: int
    place: int
    ended_us: int | None
    status: int | None
    operation_id: str | None
    method: str
    entry: str


def add(connection: Connection, project_key: str, rows: Sequence[Row], count: int) -> None:
    """Add entries; within a transaction that keeps the project there. :func:`forget` has to follow now and then.

    :param rows: the entries that are written: the last ``count``, or fewer if some of them would be deleted at once.
    :param count: how many requests the number of the project's requests grows by.
    """
    connection.execute(_ADD, {"project_key": project_key, "count": count, **_lines(rows)})


def renew(connection: Connection, project_key: str, rows: Sequence[Row]) -> None:
    """Write entries again that were written while they were under way. Those that were deleted since stay deleted."""
    connection.execute(_RENEW, {"project_key": project_key, **_lines(rows)})


def _lines(rows: Sequence[Row]) -> dict[str, str]:
    keys = [
        f"{row.arrived_us} {row.place} {'' if row.ended_us is None else row.ended_us}"
        f" {'' if row.status is None else row.status} {row.operation_id or ''} {row.method}"
        for row in rows
    ]
    return {"keys": "\n".join(keys), "entries": "\n".join([row.entry for row in rows])}


def forget(connection: Connection, project_key: str, *, spared: int = 0, bytes_spared: int = 0) -> None:
    """Delete the entries that are not kept any more. Reads leave them out anyway.

    :param spared: entries that are left all the same, and bytes of them.
    """
    bounds = {"kept": KEPT + spared, "bytes_kept": BYTES_KEPT + bytes_spared}
    connection.execute(_FORGET, {"project_key": project_key, **bounds})


def whole(connection: Connection, project_key: str) -> list["Kept"]:
    """All entries that are there with their texts, oldest first; those that are not kept any more are not wanted."""
    parameters = {"project_key": project_key, "kept": KEPT, "bytes_kept": BYTES_KEPT}
    return [_kept(row) for row in connection.execute(_WHOLE, parameters).fetchall()]


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Which entries of a project are listed."""

    status: int | None = None
    operation_id: str | None = None
    method: str | None = None
    number: int | None = None

    def parameters(self, project_key: str) -> dict[str, Any]:
        """For the statements."""
        return {
            "project_key": project_key,
            "kept": KEPT,
            "bytes_kept": BYTES_KEPT,
            "status": self.status,
            "operation_id": self.operation_id,
            "method": self.method,
            "number": self.number,
        }


ALL = Narrowing()


Position = tuple[int, int]
"""Where an entry stands for good: when it arrived, and its place among those that arrived at the same time."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry that is kept.

    :param ended_us: microseconds since 1970; None: it is under way.
    :param size: bytes of its text.
    :param is_wanted: whether the narrowing leaves it.
    :param entry: its text, if it is on the page that was asked for.
    """

    number: int
    position: Position
    ended_us: int | None
    size: int
    is_wanted: bool
    entry: str | None


def listed(
    connection: Connection, project_key: str, narrowing: Narrowing = ALL, limit: int = KEPT, offset: int = 0
) -> list[Kept]:
    """All entries that are kept, oldest first, with the texts of a page.

    :param limit: how many of the wanted entries are on the page, the newest first; without it, all of them.
    :param offset: how many wanted entries are before the page.
    """
    parameters = {**narrowing.parameters(project_key), "limit": limit, "offset": offset}
    return [_kept(row) for row in connection.execute(_LISTED, parameters).fetchall()]


def _kept(row: tuple[Any, ...]) -> Kept:
    number, arrived_us, place, ended_us, size, is_wanted, entry = row
    return Kept(number, (arrived_us, place), ended_us, size, bool(is_wanted), entry)


def texts(connection: Connection, project_key: str, positions: Sequence[Position]) -> dict[Position, str]:
    """The texts of some entries. Those that are not kept any more may be absent."""
    rows = connection.execute(_TEXTS, {"project_key": project_key, **_places(positions)}).fetchall()
    return {(row[0], row[1]): row[2] for row in rows}


def ended(
    connection: Connection, project_key: str, positions: Sequence[Position], ended_by_us: int
) -> dict[Position, tuple[int, str]]:
    """Those of some entries that have ended until a time: when, and their texts."""
    parameters = {"project_key": project_key, "ended_by_us": ended_by_us, **_places(positions)}
    rows = connection.execute(_ENDED, parameters).fetchall()
    return {(row[0], row[1]): (row[2], row[3]) for row in rows}


def _places(positions: Sequence[Position]) -> dict[str, list[int]]:
    return {"arrivals": [each[0] for each in positions], "places": [each[1] for each in positions]}


def after(connection: Connection, project_key: str, number: int, arrived_by_us: int) -> list[Kept]:
    """The next entries after a number, with their texts, in the order of their numbers.

    :param arrived_by_us: later ones are left for the next time: other workers may still have earlier ones to write.
    """
    bounds = {"kept": KEPT, "bytes_kept": BYTES_KEPT}
    parameters = {"project_key": project_key, **bounds, "after": number, "arrived_by_us": arrived_by_us}
    return [_kept(row) for row in connection.execute(_AFTER, parameters).fetchall()]


def last_number(connection: Connection, project_key: str) -> int:
    """The number of the last entry; 0 if there is none."""
    row = connection.execute(_LAST, {"project_key": project_key}).fetchone()
    return 0 if row is None else row[0]


def delete_all(connection: Connection, project_key: str) -> None:
    """Delete the journal of a project; numbers begin again with 1."""
    connection.execute(_DELETE, {"project_key": project_key})
    connection.execute(_DELETE_COUNT, {"project_key": project_key})
