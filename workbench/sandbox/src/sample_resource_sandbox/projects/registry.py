"""The sandbox projects of the process, by their keys and their clients."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from threading import Lock
from time import monotonic

from app.database.connection import Connection
from sample_resource_sandbox.projects.model import SandboxProject

_REMOVED_KEPT_S = 60.0
"""The seconds for which the clients of removed projects are remembered, longer than a process remembers tokens."""


class Registry:
    """All sandbox projects, in memory: finding one needs no SQL statement.

    :param connect: opens a connection for the service's own queries.
    :param load: reads all projects. Called when a project is first looked for.
    """

    def __init__(
        self,
        connect: Callable[[], AbstractContextManager[Connection]],
        load: Callable[[Connection], Iterable[SandboxProject]],
    ) -> None:
        self._connect = connect
        self._load = load
        self._projects: dict[str, SandboxProject] | None = None
        self._by_client: dict[str, SandboxProject] = {}
        self._removed: dict[str, float] = {}
        self._loading = Lock()

    def _all(self) -> dict[str, SandboxProject]:
        if self._projects is None:
            with self._loading:
                if self._projects is None:
                    with self._connect() as connection:
                        loaded = list(self._load(connection))
                    self._by_client = {each.client_id: each for each in loaded}
                    self._projects = {each.key: each for each in loaded}
        return self._projects

    def all(self) -> list[SandboxProject]:
        """All sandbox projects, the oldest first."""
        return sorted(self._all().values(), key=lambda each: (each.created_at, each.key))

    def add(self, project: SandboxProject) -> None:
        """Add a new project."""
        self._all()[project.key] = project
        self._by_client[project.client_id] = project

    def remove(self, project: SandboxProject) -> None:
        """Remove a project, and remember its client as removed."""
        if self._all().get(project.key) is project:
            del self._all()[project.key]
        self._by_client.pop(project.client_id, None)
        now = monotonic()
        self._removed = {each: since for each, since in self._removed.items() if now - since < _REMOVED_KEPT_S}
        self._removed[project.client_id] = now

    def is_removed(self, client_id: str) -> bool:
        """Whether a client belonged to a project whose removal ended a moment ago."""
        return client_id in self._removed

    def find(self, project_key: str) -> SandboxProject | None:
        """The sandbox project with this key; None for a project that the sandbox has not made."""
        return self._all().get(project_key)

    def find_by_client(self, client_id: str) -> SandboxProject | None:
        """The sandbox project of an API client; None for a client that is not the sandbox's."""
        self._all()
        return self._by_client.get(client_id)
