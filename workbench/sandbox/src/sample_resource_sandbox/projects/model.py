"""The state of a sandbox project in the process."""

from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any

from sample_resource_sandbox.analysis.observer import Observer
from sample_resource_sandbox.journal.journal import Journal
from sample_resource_sandbox.projects.clock import ProjectClock
from sample_resource_sandbox.projects.lock import ProjectLock
from sample_resource_sandbox.rules.rules import CountedRule


@dataclass(slots=True, eq=False, kw_only=True)
class SandboxProject:
    """The state of a sandbox project in the process. The database has the members that a restart must keep."""

    key: str
    client_id: str
    secret_hash: bytes
    """The hash of the client's secret."""
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime
    is_removed: bool = False
    """Whether its removal has begun: writes to it get 401, and the sandbox's routes for it 404."""
    clock: ProjectClock
    seed: int | None
    """The seed of the ids; None for random ids."""
    initial_clock: dict[str, Any]
    """The order by which a reset sets the clock."""
    initial_ids: dict[str, Any]
    """The order by which a reset sets the source of ids."""
    run: str | None = None
    """The run of tests to which it belongs."""
    rules: tuple[CountedRule, ...] = ()
    lock: ProjectLock
    changing: Lock = field(default_factory=Lock)
    """The lock for changes of its clock or ids, so that memory and database agree."""
    removing: Lock = field(default_factory=Lock)
    """The lock for its whole removal, so that a second removal does not delete a new project with its key."""
    observer: Observer

    @property
    def journal(self) -> Journal:
        """The journal of the project's last requests."""
        return self.observer.journal
