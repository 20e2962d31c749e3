"""The rules of a project, with their effects, and how often they have matched and acted."""

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, cast

from sample_resource_sandbox.rules.matching import Match

DELAY_MS_AT_MOST = 60_000

STALL_MS = 60_000
"""The time for which ``stall`` is silent, if the rule has no ``delayMs``."""

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
CONNECTIONS = ("close", "reset", "truncate", "stall", "garbage")
WITHOUT_ANSWER = ("close", "reset", "garbage")
BODIES = ("truncatedJson", "html", "empty", "unknownFields")
PHASES = ("before", "after")
KINDS = ("delay", "status", "limit", "expireTokens", "conflict", "headers", "body", *BODIES, *CONNECTIONS)
"""The kinds of effects that rules have."""

_DONE = {
    "close": "connection closed", "reset": "connection reset", "truncate": "answer cut off",
    "stall": "silent after its head", "garbage": "no HTTP",
    "truncatedJson": "body cut off", "html": "a proxy's page",
    "empty": "body left out", "unknownFields": "unknown fields added",
}  # fmt: skip
"""The effect of each value of ``connection`` and ``body`` on an answer, in words."""


class Rule:
    """A checked rule. Members that it does not have are None.

    :param number: its number in the project, counted from 0.
    :param source: the rule as it was sent.
    """

    def __init__(self, number: int, source: Mapping[str, Any]) -> None:
        body = source.get("body")
        self.number = number
        self.source = source
        self.name: str | None = source.get("name")
        self.match = Match(source.get("match", {}))
        self.times: Mapping[str, Any] = source.get("times", {})
        """The member ``times``: for which of the matching requests the rule is due; for all, if it is empty."""
        self.phase: str = source.get("phase", "before")
        self.status: int | None = source.get("status")
        self.code: str | None = source.get("code")
        self.message: str | None = source.get("message")
        self.retry_after: int | None = source.get("retryAfter")
        self.headers: Mapping[str, str] = source.get("headers", {})
        self.delay_ms: int | None = source.get("delayMs")
        self.connection: str | None = source.get("connection")
        self.body: str | None = body if isinstance(body, str) else None
        """The way in which the body is altered, one of :data:`BODIES`."""
        self.own_body = _own_body(cast("dict[str, Any]", body)) if isinstance(body, dict) else None
        """The body with which the rule answers, and its media type."""
        self.limit: Mapping[str, Any] | None = source.get("limit")
        """The number of requests that the rule lets through, and the seconds for which it counts them."""
        self.expire_tokens: bool = source.get("expireTokens", False)
        self.conflict: bool = source.get("conflict", False)

    @property
    def label(self) -> str:
        """The name of the rule in answers and logs: its name, else its number."""
        return str(self.number) if self.name is None else self.name

    @property
    def _effects(self) -> list[tuple[str, str]]:
        """The effects of the rule, each as a word of :data:`KINDS` and as a text for the journal."""
        altered = "a body of its own" if self.own_body is not None else _DONE.get(self.body or "")
        found = (
            ("status", None if self.status is None else str(self.status)),
            ("limit", None if self.limit is None else "429 beyond its limit"),
            ("expireTokens", "401, tokens expired" if self.expire_tokens else None),
            ("conflict", "another writer came first" if self.conflict else None),
            (self.connection or "", _DONE.get(self.connection or "")),
            (self.body or "body", altered),
            ("headers", "headers changed" if self.headers else None),
            ("delay", f"a delay of {self.delay_ms} ms" if self.delay_ms and self.waits_first else None),
        )
        return [(kind, done) for kind, done in found if done]

    @property
    def done(self) -> str:
        """The effects of the rule on a request, in words."""
        by = f"rule {self.number}" if self.name is None else f"rule `{self.name}`"
        return f"{', '.join(done for _, done in self._effects)} by {by}"

    @property
    def kinds(self) -> tuple[str, ...]:
        """The effects of the rule as words of :data:`KINDS`. A delay is named only if it is the only effect."""
        return tuple(kind for kind, _ in self._effects if kind != "delay") or ("delay",)

    @property
    def makes_answer(self) -> bool:
        """Whether the rule makes the status or the whole body of the answer."""
        return self.status is not None or self.own_body is not None or self.body == "html"

    @property
    def replaces_answer(self) -> bool:
        """Whether the rule replaces the whole answer, or leaves none, so that the request need not be carried out."""
        return self.makes_answer or self.expire_tokens or self.limit is not None or self.leaves_no_answer

    @property
    def leaves_no_answer(self) -> bool:
        """Whether the client gets no answer at all."""
        return self.connection in WITHOUT_ANSWER

    @property
    def silence_ms(self) -> int:
        """The silence of ``stall``."""
        return STALL_MS if self.delay_ms is None else self.delay_ms

    @property
    def waits_first(self) -> bool:
        """Whether ``delayMs`` is a wait before the answer, and not the silence of ``stall``."""
        return self.connection != "stall"


def _own_body(source: Mapping[str, Any]) -> tuple[bytes, str]:
    if "json" in source:
        data = json.dumps(source["json"], ensure_ascii=False, separators=(",", ":")).encode()
        return data, source.get("contentType", "application/json; charset=utf-8")
    return source["text"].encode(), source.get("contentType", "text/plain; charset=utf-8")


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


def _is_due(times: Mapping[str, Any], number: int) -> bool:
    """Whether a rule is due for a matching request, counted from 1: the ``first`` requests behind ``after``."""
    behind = number - times.get("after", 0)
    return 0 < behind <= times.get("first", behind)
