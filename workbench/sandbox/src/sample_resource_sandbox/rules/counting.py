"""How often the rules of a project have matched and acted, and which request is due: exactly, one after the other."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from time import monotonic
from typing import Any

from sample_resource_sandbox.rules.rules import Rule


@dataclass(slots=True)
class CountedRule:
    """A rule in force."""

    rule: Rule
    matched: int = 0
    acted: int = 0
    passed: deque[float] = field(default_factory=deque[float])
    """When the requests came that a limit has let through last."""

    def count(self) -> float | None:
        """Count a request that it matches.

        :return: None if it does not act, else the seconds until its limit lets a request pass.
        """
        self.matched += 1
        if not _is_due(self.rule.times, self.matched):
            return None
        limit = self.rule.limit
        wait_s = 0.0
        if limit is not None:
            now = monotonic()
            requests, seconds = limit["requests"], limit["perSeconds"]
            if len(self.passed) < requests or self.passed[0] <= now - seconds:
                self.passed.append(now)
                if len(self.passed) > requests:
                    self.passed.popleft()
                return None
            wait_s = self.passed[0] + seconds - now
        self.acted += 1
        return wait_s


def counted(rules: Sequence[Rule]) -> tuple[CountedRule, ...]:
    """Rules that begin to count."""
    return tuple(CountedRule(rule) for rule in rules)


def _is_due(times: Mapping[str, Any], number: int) -> bool:
    """Of the requests behind ``after``, each that ``every`` names, the ``first`` of these, and these by chance."""
    behind, every = number - times.get("after", 0), times.get("every", 1)
    if behind <= 0 or behind % every or ("first" in times and behind // every > times["first"]):
        return False
    if "probability" not in times:
        return True
    # Chance, but the same for the same seed and request.
    digest = blake2b(f"{times['seed']}/{number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) < times["probability"] * 2**64
