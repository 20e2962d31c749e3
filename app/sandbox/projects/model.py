"""A sandbox project as requests see it."""

from dataclasses import dataclass
from uuid import UUID

from app.sandbox.projects.clock import ProjectClock
from app.sandbox.rules.rules import Rule


@dataclass(frozen=True, slots=True)
class SandboxProject:
    """What a worker keeps in memory of a project, until it hears of a change."""

    key: str
    client_id: str
    secret_hash: bytes
    """Of the client's secret, so that the journal can leave it out."""
    is_removed: bool
    clock: ProjectClock
    seed: int | None
    """Of the ids; None: by chance."""
    rules: tuple[Rule, ...]
    rules_generation: int
    token_epoch: int
    """Tokens that were issued in an earlier epoch are refused."""
    token_ttl_s: int | None = None
    """How long its tokens are good; None: as those of other clients."""
    run_id: UUID | None = None
    """Of the run of tests that it belongs to; None: to none."""
