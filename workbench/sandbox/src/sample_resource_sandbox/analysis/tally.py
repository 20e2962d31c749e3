"""The counted results of requests: of one project, or of all projects of a run."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from sample_resource_sandbox.analysis.look import Look
from sample_resource_sandbox.analysis.stories import Episode, Outcome

EXAMPLES_KEPT = 20
"""The most examples of each counted kind."""

_TARGET_AT_MOST = 200
"""The most characters of a target in an example."""

_CARRIED_OUT = (404, 409, 412)
"""The error statuses that depend on the resources of the project. A request that gets one of them was valid."""

Example = dict[str, Any]

Ended = tuple[str, Outcome, tuple[str, ...]]
"""A trouble, its outcome, and the ids of the findings by which it was made worse."""


@dataclass(slots=True)
class Tally:
    """Counts of requests, findings and outcomes, with their first examples."""

    requests: int = 0
    clients: set[str] = field(default_factory=set[str])
    """The clients of the projects that have had requests. Each project has a client of its own, also if its key was
    used before."""
    is_cut: bool = False
    """Whether there were further requests, which are not known any more."""
    operations: Counter[str] = field(default_factory=Counter[str])
    """How often the service has carried out each operation."""
    findings: Counter[str] = field(default_factory=Counter[str])
    """How often each finding occurred."""
    found: dict[str, list[Example]] = field(default_factory=lambda: defaultdict(list[Example]))
    """The first examples of each finding."""
    outcomes: Counter[Ended] = field(default_factory=Counter[Ended])
    """How often troubles ended in each way."""
    episodes: dict[Ended, list[Example]] = field(default_factory=lambda: defaultdict(list[Example]))
    """The first examples of each such end."""

    def count(self, client_id: str, look: Look) -> None:
        """Count a request, and its operation if the service itself has carried it out.

        :param client_id: the project's own client.
        """
        self.requests += 1
        self.clients.add(client_id)
        status = look.own_status
        if look.operation is not None and status is not None and (status < 400 or status in _CARRIED_OUT):
            self.operations[look.operation] += 1

    def find(self, id_: str, project_key: str, number: int, method: str, target: str, detail: str) -> None:
        """Count a finding."""
        self.findings[id_] += 1
        if len(self.found[id_]) < EXAMPLES_KEPT:
            example = {"projectKey": project_key, "request": number, "method": method}
            self.found[id_].append({**example, "target": target[:_TARGET_AT_MOST], "detail": detail})

    def judge(self, project_key: str, episode: Episode) -> None:
        """Count an episode."""
        key = episode.trouble, episode.outcome, tuple(episode.worse)
        self.outcomes[key] += 1
        if len(self.episodes[key]) < EXAMPLES_KEPT:
            example = {"projectKey": project_key, "requests": episode.requests, "reason": episode.reason}
            self.episodes[key].append({**example, "worse": episode.worse})

    def add(self, other: "Tally") -> None:
        """Add the counts of another tally."""
        self.requests += other.requests
        self.clients |= other.clients
        self.is_cut |= other.is_cut
        self.operations += other.operations
        self.findings += other.findings
        self.outcomes += other.outcomes
        for id_, examples in other.found.items():
            self.found[id_] = [*self.found[id_], *examples][:EXAMPLES_KEPT]
        for key, examples in other.episodes.items():
            self.episodes[key] = [*self.episodes[key], *examples][:EXAMPLES_KEPT]
