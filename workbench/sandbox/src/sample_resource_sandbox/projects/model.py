"""A sandbox project as requests see it."""

from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock

from sample_resource_sandbox.analysis.observer import Observer
from sample_resource_sandbox.journal.journal import Journal
from sample_resource_sandbox.projects.clock import ProjectClock
from sample_resource_sandbox.projects.lock import ProjectLock
from sample_resource_sandbox.rules.counting import CountedRule


@dataclass(slots=True, eq=False, kw_only=True)
class SandboxProject:
    """What the process knows of a project. What outlives it is in the database too."""

    key: str
    client_id: str
    secret_hash: bytes
    """Of the client's secret."""
    created_at: datetime
    expires_at: datetime
    is_removed: bool = False
    """From here on no request reaches it any more."""
    clock: ProjectClock
    seed: int | None
    """Of the ids; None: by chance."""
    token_epoch: int = 0
    """Tokens that were issued in an earlier epoch are refused."""
    run: str | None = None
    """The run of tests that it belongs to."""
    rules: tuple[CountedRule, ...] = ()
    lock: ProjectLock
    changing: Lock = field(default_factory=Lock)
    """Held by what changes its clock, ids or epoch, so that memory and database agree."""
    observer: Observer

    @property
    def journal(self) -> Journal:
        """Its last requests."""
        return self.observer.journal
