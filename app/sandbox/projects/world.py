"""The worlds of sandbox projects: their clocks and ids in place of real ones (:mod:`app.resource.world`)."""

import re
import time
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from uuid_utils.compat import uuid7

from app.database.connection import Connection
from app.resource.world import REAL_WORLD, RealWorld, World, project_token_id
from app.sandbox.projects.ids import next_id
from app.sandbox.projects.model import SandboxProject

_KEPT_S = 8 * 86_400
"""Longer than any sandbox project lives."""

_TOKEN_ID = re.compile("e([0-9]{1,18})-.*", re.ASCII)
"""The id of a token that was issued in an epoch of a project."""


class ProjectWorld:
    """The clock and the ids of a sandbox project, as they are at the moment of a request."""

    __slots__ = ("_project",)

    def __init__(self, project: SandboxProject) -> None:
        self._project = project

    def time(self) -> float:
        """The time of the project's clock."""
        return self._project.clock.time()

    def write_time(self) -> datetime | None:
        """The same for writes; None if the clock shows real time."""
        return self._project.clock.write_time()

    def resource_id(self, connection: Connection, project_key: str) -> UUID:
        """The next id of the seed, or one by chance."""
        seed = self._project.seed
        return uuid7() if seed is None else next_id(connection, project_key, seed)

    def token_id(self) -> str:
        """A random id that begins with the project's epoch."""
        return project_token_id(self._project.token_epoch)

    def accepts_token(self, token_id: str | None) -> bool:
        """Whether the token was issued in the present epoch of a project that is not being removed."""
        match = _TOKEN_ID.fullmatch(token_id or "")
        return not self._project.is_removed and match is not None and int(match[1]) >= self._project.token_epoch

    def token_lifetime_s(self, usual: int) -> int:
        """As the project was made."""
        return usual if self._project.token_ttl_s is None else self._project.token_ttl_s

    def kept_until(self, expires_at: float) -> float:  # noqa: ARG002 -- World's signature
        """A time after the end of the project, since its clock may be set back at any time."""
        return time.time() + _KEPT_S


class _RemovedWorld(RealWorld):
    """The world of a client whose project was removed a moment ago."""

    def accepts_token(self, token_id: str | None) -> bool:  # noqa: ARG002 -- World's signature
        """None."""
        return False


_REMOVED_WORLD: World = _RemovedWorld()


class SandboxWorlds:
    """The worlds of all projects and clients; those that are not the sandbox's get the real one.

    :param of_project: finds a sandbox project by its key.
    :param of_client: the same by its client.
    :param is_removed: whether a client belonged to a project that was removed lately.
    """

    def __init__(
        self,
        of_project: Callable[[str], SandboxProject | None],
        of_client: Callable[[str], SandboxProject | None],
        is_removed: Callable[[str], bool],
    ) -> None:
        self._of_project = of_project
        self._of_client = of_client
        self._is_removed = is_removed

    def of_project(self, project_key: str) -> World:
        """The world of a project."""
        project = self._of_project(project_key)
        return REAL_WORLD if project is None else ProjectWorld(project)

    def of_client(self, client_id: str) -> World:
        """The world of a client."""
        project = self._of_client(client_id)
        if project is not None:
            return ProjectWorld(project)
        return _REMOVED_WORLD if self._is_removed(client_id) else REAL_WORLD
