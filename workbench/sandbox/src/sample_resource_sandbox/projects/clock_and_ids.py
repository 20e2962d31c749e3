"""The clocks and sources of ids of sandbox projects, in place of the real ones (:mod:`app.clock_and_ids`)."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import LiteralString
from uuid import UUID

from uuid_utils.compat import uuid7

from app.clock_and_ids import REAL_CLOCK_AND_IDS, ClockAndIds
from app.database.connection import Connection
from app.resource import bulk_store
from sample_resource_sandbox.projects.clock import ProjectClock
from sample_resource_sandbox.projects.registry import Registry

_KEPT_S = 8 * 86_400
"""The seconds for which a token is kept: longer than any sandbox project lives."""

_BEFORE_FIRST_MS = int(datetime(2025, 1, 1, tzinfo=UTC).timestamp() * 1000)
"""The time before the first id, later than the times in the ids of generated resources. Each id has the millisecond
after that of the id before."""

_NEXT: LiteralString = """
INSERT INTO sandbox_ids AS s (project_key, made) VALUES (%(project_key)s, 1)
ON CONFLICT (project_key) DO UPDATE SET made = s.made + 1 RETURNING made"""


def _seeded_id(seed: int, number: int) -> UUID:
    """The id with a number in the sequence of a seed (RFC 9562, section 5.7)."""
    digest = int.from_bytes(sha256(f"{seed}/{number}".encode()).digest()[:10])
    high = (_BEFORE_FIRST_MS + number) << 16 | 0x7000 | (digest >> 62) & 0xFFF
    low = 0b10 << 62 | digest & (1 << 62) - 1
    return UUID(int=high << 64 | low)


def _next_id(connection: Connection, project_key: str, seed: int) -> UUID:
    """Make the next id of a project's sequence that no resource of the project has. Ids may exist if a seed was set
    again."""
    while True:
        row = connection.execute(_NEXT, {"project_key": project_key}).fetchone()
        made = _seeded_id(seed, 0 if row is None else row[0])
        if not bulk_store.existing_ids(connection, project_key, [made]):
            return made


@dataclass(frozen=True, slots=True)
class ProjectClockAndIds:
    """The clock and the source of ids of a sandbox project at the moment of a request.

    :param seed: the seed of the ids; None for random ids.
    """

    clock: ProjectClock
    seed: int | None

    def time(self) -> float:
        """The time of the project's clock."""
        return self.clock.time()

    def write_time(self) -> datetime | None:
        """The time of the project's clock for a write; None if it shows real time."""
        return self.clock.write_time()

    def resource_id(self, connection: Connection, project_key: str) -> UUID:
        """Make the next id of the seed's sequence, or a random id without a seed."""
        return uuid7() if self.seed is None else _next_id(connection, project_key, self.seed)

    def kept_until(self, expires_at: float) -> float:  # noqa: ARG002 -- signature of ClockAndIds
        """A time after the end of the project, because its clock may be set back at any time."""
        return time.time() + _KEPT_S


class SandboxClocks:
    """The clocks and sources of ids of all projects and clients: real ones for those that are not the sandbox's."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def of_project(self, project_key: str) -> ClockAndIds:
        """The clock and source of ids of a project."""
        project = self._registry.find(project_key)
        return REAL_CLOCK_AND_IDS if project is None else ProjectClockAndIds(project.clock, project.seed)

    def of_client(self, client_id: str) -> ClockAndIds:
        """The clock and source of ids of a client."""
        project = self._registry.find_by_client(client_id)
        return REAL_CLOCK_AND_IDS if project is None else ProjectClockAndIds(project.clock, project.seed)
