"""The clocks and sources of ids of sandbox projects, in place of the real ones (:mod:`app.clock_and_ids`)."""

import re
import time
from datetime import datetime
from uuid import UUID

from uuid_utils.compat import uuid7

from app.clock_and_ids import REAL_CLOCK_AND_IDS, ClockAndIds, RealClockAndIds, project_token_id
from app.database.connection import Connection
from sample_resource_sandbox.projects.clock import ProjectClock
from sample_resource_sandbox.projects.ids import next_id
from sample_resource_sandbox.projects.model import SandboxProject
from sample_resource_sandbox.projects.registry import Registry

_KEPT_S = 8 * 86_400
"""The seconds for which a revocation is kept: longer than any sandbox project lives."""

_TOKEN_ID = re.compile("e([0-9]{1,18})-.*", re.ASCII)
"""The form of a token's id that names an epoch of its project."""


class ProjectClockAndIds:
    """The clock and the source of ids of a sandbox project at the moment of a request.

    :param seed: the seed of the ids; None for random ids.
    :param token_epoch: the project's epoch. Tokens of earlier epochs are refused; None: all tokens are refused.
    """

    __slots__ = ("_clock", "_seed", "_token_epoch")

    def __init__(self, clock: ProjectClock, seed: int | None, token_epoch: int | None) -> None:
        self._clock = clock
        self._seed = seed
        self._token_epoch = token_epoch

    @classmethod
    def of(cls, project: SandboxProject) -> "ProjectClockAndIds":
        """Make the clock and source of ids of a project."""
        epoch = None if project.is_removed else project.token_epoch
        return cls(project.clock, project.seed, epoch)

    def time(self) -> float:
        """The time of the project's clock."""
        return self._clock.time()

    def write_time(self) -> datetime | None:
        """The time of the project's clock for a write; None if it shows real time."""
        return self._clock.write_time()

    def resource_id(self, connection: Connection, project_key: str) -> UUID:
        """Make the next id of the seed's sequence, or a random id without a seed."""
        return uuid7() if self._seed is None else next_id(connection, project_key, self._seed)

    def token_id(self) -> str:
        """Make a random id that begins with the project's epoch."""
        return project_token_id(self._token_epoch or 0)

    def accepts_token(self, token_id: str | None) -> bool:
        """Whether a token was issued in the present epoch of the project, which must not be in removal."""
        match = _TOKEN_ID.fullmatch(token_id or "")
        return self._token_epoch is not None and match is not None and int(match[1]) >= self._token_epoch

    def kept_until(self, expires_at: float) -> float:  # noqa: ARG002 -- signature of ClockAndIds
        """A time after the end of the project, because its clock may be set back at any time."""
        return time.time() + _KEPT_S


class _RemovedClockAndIds(RealClockAndIds):
    """The clock and source of ids for a client whose project was removed a moment ago. No token is accepted."""

    def accepts_token(self, token_id: str | None) -> bool:  # noqa: ARG002 -- signature of ClockAndIds
        """Return False, because the project is removed."""
        return False


_REMOVED: ClockAndIds = _RemovedClockAndIds()


class SandboxClocks:
    """The clocks and sources of ids of all projects and clients: real ones for those that are not the sandbox's."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def of_project(self, project_key: str) -> ClockAndIds:
        """The clock and source of ids of a project."""
        project = self._registry.find(project_key)
        return REAL_CLOCK_AND_IDS if project is None else ProjectClockAndIds.of(project)

    def of_client(self, client_id: str) -> ClockAndIds:
        """The clock and source of ids of a client."""
        project = self._registry.find_by_client(client_id)
        if project is not None:
            return ProjectClockAndIds.of(project)
        return _REMOVED if self._registry.is_removed(client_id) else REAL_CLOCK_AND_IDS
