"""Seeded ids: a sequence of rising UUIDv7 that depends only on the seed."""

from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, LiteralString
from uuid import UUID

from app.database.connection import Connection
from app.resource import bulk_store

_FIRST_MS = int(datetime(2025, 1, 1, tzinfo=UTC).timestamp() * 1000)
"""The time in the first id, which is later than in the ids of generated resources. The next id has the next
millisecond."""

_NEXT: LiteralString = """
INSERT INTO sandbox_ids AS s (project_key, made) VALUES (%(project_key)s, 1)
ON CONFLICT (project_key) DO UPDATE SET made = s.made + 1 RETURNING made"""

_BEGIN: LiteralString = "DELETE FROM sandbox_ids WHERE project_key = %(project_key)s"


def seeded_id(seed: int, number: int) -> UUID:
    """The id with a number in the sequence of a seed (RFC 9562, section 5.7)."""
    digest = int.from_bytes(sha256(f"{seed}/{number}".encode()).digest()[:10])
    high = (_FIRST_MS + number) << 16 | 0x7000 | (digest >> 62) & 0xFFF
    low = 0b10 << 62 | digest & (1 << 62) - 1
    return UUID(int=high << 64 | low)


def next_id(connection: Connection, project_key: str, seed: int) -> UUID:
    """Make the next id of a project's sequence that no resource of the project has. Ids may exist if a seed was set
    again."""
    while True:
        row = connection.execute(_NEXT, {"project_key": project_key}).fetchone()
        made = seeded_id(seed, 0 if row is None else row[0])
        if not bulk_store.existing_ids(connection, project_key, [made]):
            return made


def begin_sequence(connection: Connection, project_key: str) -> None:
    """Let a project's sequence begin anew."""
    connection.execute(_BEGIN, {"project_key": project_key})


def seed_of(order: dict[str, Any]) -> int | None:
    """The seed in an order; None for random ids."""
    return order.get("seed")
