"""What the sandbox does to one request, as its hooks decide it one after the other."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.sandbox.faults.noting import Note
from app.sandbox.faults.preferences import NO_PREFERENCES, Preferences
from app.sandbox.projects.model import SandboxProject
from app.sandbox.rules.rules import Rule


@dataclass(slots=True)
class Decision:
    """What is done to the current request; ``g.sandbox`` has it from :meth:`Hooks.before` on."""

    project: SandboxProject
    note: Note
    client: Any = None
    """The socket of the client; None without a worker."""
    preferences: Preferences = NO_PREFERENCES
    acting: list[Rule] = field(default_factory=list[Rule])
    """The rules that act, in their order."""
    is_carried_out: bool = True
    """Whether the request reached its view."""
    replaced_status: int | None = None
    """The status that the answer had before a rule changed it."""
    waited_s: float = 0.0
    client_gone: bool = False
    """Whether the client closed its connection while the answer waited."""

    @property
    def connection_rule(self) -> Rule | None:
        """The rule that spoils the connection."""
        return next((rule for rule in self.acting if rule.connection is not None), None)

    @property
    def label(self) -> str:
        """What answers and logs say of the rules that act."""
        return ", ".join(rule.label for rule in self.acting)

    @property
    def kinds(self) -> list[str]:
        """What is done, each once, in words of :data:`app.sandbox.rules.rules.KINDS`."""
        kinds = [kind for rule in self.acting for kind in rule.kinds]
        return list(dict.fromkeys([*(["prefer"] if self.preferences.applied else []), *kinds]))

    def described(self) -> Mapping[str, Any] | None:
        """What an entry says of the orders that were carried out; its name and number are those of the last rule."""
        if not self.acting and not self.preferences.applied:
            return None
        rule = self.acting[-1] if self.acting else None
        return {
            "name": None if rule is None else rule.name,
            "number": None if rule is None else rule.number,
            "all": [{"name": each.name, "number": each.number} for each in self.acting],
            "prefer": self.preferences.applied or None,
            "does": self.kinds,
            "phase": None if rule is None else rule.phase,
            "carriedOut": self.is_carried_out,
            "replacedStatus": self.replaced_status,
            "waitedMs": round(self.waited_s * 1000),
        }
