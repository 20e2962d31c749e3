"""What a worker knows of the sandbox projects: all their names, and the state of those that it has met."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from time import monotonic

from app.database.connection import Connection
from app.resource.writing import store
from app.sandbox.projects import store as project_store
from app.sandbox.projects.bus import Message
from app.sandbox.projects.model import SandboxProject

_REMOVED_KEPT_S = 60.0
"""How long the clients of removed projects are remembered: until all processes have read that they are removed."""


class Registry:
    """The projects by key and by client.

    While the worker is sure to hear of every change, a look costs no statement; otherwise each asks the database.

    :param connect: a connection for what the service itself has to know.
    :param is_trusted: whether it is sure.
    """

    def __init__(
        self, connect: Callable[[], AbstractContextManager[Connection]], is_trusted: Callable[[], bool]
    ) -> None:
        self._connect = connect
        self._is_trusted = is_trusted
        self._clients: dict[str, str] = {}
        """By project."""
        self._projects: dict[str, str] = {}
        """By client."""
        self._known: dict[str, SandboxProject] = {}
        self._removed: dict[str, float] = {}
        self._changes = 0

    def load(self, connection: Connection) -> None:
        """Read all names, and forget everything else."""
        clients = project_store.names(connection)
        self._changes += 1
        self._known.clear()
        self._clients = clients
        self._projects = {client_id: project_key for project_key, client_id in clients.items()}

    def hear(self, message: Message) -> None:
        """Take note of a change."""
        key = message.project_key
        self._changes += 1
        self._known.pop(key, None)
        if message.kind == "made":
            self._clients[key] = message.client_id
            self._projects[message.client_id] = key
        elif message.kind == "gone":
            self._clients.pop(key, None)
            self._projects.pop(message.client_id, None)
            store.forget_words(key)
            now = monotonic()
            self._removed = {each: since for each, since in self._removed.items() if now - since < _REMOVED_KEPT_S}
            self._removed[message.client_id] = now

    def is_removed(self, client_id: str) -> bool:
        """Whether a client belonged to a project that was removed a moment ago."""
        return client_id in self._removed

    def find(self, project_key: str) -> SandboxProject | None:
        """The sandbox project with this key; None for a project that the sandbox has not made."""
        if not self._is_trusted():
            with self._connect() as connection:
                return project_store.find(connection, project_key)
        if project_key not in self._clients:
            return None
        known = self._known.get(project_key)
        if known is not None:
            return known
        changes = self._changes
        with self._connect() as connection:
            found = project_store.find(connection, project_key)
        if found is not None and changes == self._changes:
            self._known[project_key] = found
        return found

    def find_by_client(self, client_id: str) -> SandboxProject | None:
        """The sandbox project of an API client."""
        if not self._is_trusted():
            with self._connect() as connection:
                return project_store.find_by_client(connection, client_id)
        project_key = self._projects.get(client_id)
        return None if project_key is None else self.find(project_key)
