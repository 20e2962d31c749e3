"""The counted results of requests: of one project, or of all projects of a run."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sample_resource_sandbox.analysis.findings import Found
from sample_resource_sandbox.analysis.stories import Episode, Outcome

EXAMPLES_KEPT = 20
"""The most examples of each counted kind."""

_TARGET_AT_MOST = 200
"""The most characters of a target in an example."""
_NAMES_AT_MOST = 1000
"""The most different names of a kind, because testers may use many made-up statuses and codes."""

Example = dict[str, Any]


_Ended = tuple[str, Outcome, str]
"""A trouble, its outcome, and the id of the finding by which it was made worse."""


@dataclass(slots=True)
class Tally:
    """Counts of requests, findings and outcomes, with their first examples."""

    requests: int = 0
    is_cut: bool = False
    """Whether there were further requests, which are not known any more."""
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter[str]))
    """The counts of exercised parts of the interface, by kind and name."""
    findings: Counter[str] = field(default_factory=Counter[str])
    found: dict[str, list[Example]] = field(default_factory=lambda: defaultdict(list[Example]))
    outcomes: Counter[_Ended] = field(default_factory=Counter[_Ended])
    episodes: dict[_Ended, list[Example]] = field(default_factory=lambda: defaultdict(list[Example]))

    def count(self, exercised: Iterable[tuple[str, str]]) -> None:
        """Count a request, and the parts of the interface that it has exercised."""
        self.requests += 1
        for kind, name in exercised:
            counter = self.counts[kind]
            if name in counter or len(counter) < _NAMES_AT_MOST:
                counter[name] += 1

    def find(self, project_key: str, found: Found, method: str, target: str) -> None:
        """Count a finding."""
        id_ = found.finding.id
        self.findings[id_] += 1
        if len(self.found[id_]) < EXAMPLES_KEPT:
            self.found[id_].append(
                {
                    "projectKey": project_key,
                    "request": found.number,
                    "method": method,
                    "target": target[:_TARGET_AT_MOST],
                    "detail": found.detail,
                }
            )

    def withdraw(self, project_key: str, found: Found) -> None:
        """Remove a finding."""
        id_ = found.finding.id
        self.findings[id_] -= 1
        about = project_key, found.number
        self.found[id_] = [each for each in self.found[id_] if (each["projectKey"], each["request"]) != about]

    def judge(self, project_key: str, episode: Episode) -> None:
        """Count an episode."""
        key = episode.trouble, episode.outcome, episode.finding
        self.outcomes[key] += 1
        if len(self.episodes[key]) < EXAMPLES_KEPT:
            self.episodes[key].append({"projectKey": project_key, **episode.described()})

    def add(self, other: "Tally") -> None:
        """Add the counts of another tally."""
        self.requests += other.requests
        self.is_cut |= other.is_cut
        for kind, counter in other.counts.items():
            self.counts[kind] += counter
        self.findings += other.findings
        self.outcomes += other.outcomes
        for id_, examples in other.found.items():
            self.found[id_] = [*self.found[id_], *examples][:EXAMPLES_KEPT]
        for key, examples in other.episodes.items():
            self.episodes[key] = [*self.episodes[key], *examples][:EXAMPLES_KEPT]
