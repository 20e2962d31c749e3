"""Counts how often the rules of a project have matched and acted, and decides for which requests they are due."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from sample_resource_sandbox.rules.rules import Rule


@dataclass(slots=True)
class CountedRule:
    """A rule of a project with its counts."""

    rule: Rule
    matched: int = 0
    acted: int = 0
    passed: deque[float] = field(default_factory=deque[float])
    """The times of the last requests that a limit has let through."""

    def count(self) -> float | None:
        """Count a request that the rule matches.

        :return: None if the rule does not act, else the seconds until its limit lets a request through; 0.0 without a
            limit.
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
    """Rules with their counts at 0."""
    return tuple(CountedRule(rule) for rule in rules)


def _is_due(times: Mapping[str, Any], number: int) -> bool:
    """Whether a rule is due for a matching request, counted from 1: the ``first`` requests behind ``after``."""
    behind = number - times.get("after", 0)
    return behind > 0 and behind <= times.get("first", behind)
