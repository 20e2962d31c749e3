"""Rules: which requests they match, when they are due, and what they do."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.sandbox.rules.matching import Match, Sent, made_match

DELAY_MS_AT_MOST = 60_000

STALL_MS = 60_000
"""How long ``stall`` is silent if the rule has no ``delayMs``."""
DRIP_MS = 100
"""The time between two bytes of ``drip`` if the rule has no ``delayMs``."""

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
CONNECTIONS = ("close", "reset", "truncate", "stall", "drip", "garbage")
WITHOUT_ANSWER = ("close", "reset", "garbage")
BODIES = ("truncatedJson", "html", "empty", "unknownFields")
PHASES = ("before", "after")
KINDS = ("prefer", "delay", "status", "limit", "expireTokens", "conflict", "headers", "body", *CONNECTIONS)
"""What is done to answers on order: as the request itself asked, or what a rule says."""

_DONE = {
    "close": "connection closed", "reset": "connection reset", "truncate": "answer cut off",
    "stall": "silent after its head", "drip": "sent byte by byte", "garbage": "no HTTP",
    "truncatedJson": "body cut off", "html": "a proxy's page",
    "empty": "body left out", "unknownFields": "unknown fields added",
}  # fmt: skip
"""What was done to an answer, in words, by ``connection`` and ``body``."""


@dataclass(frozen=True, slots=True)
class Times:
    """Which of the requests that a rule matches are due; without a member, all.

    Together: of those behind ``after``, each that ``every`` names, the ``first`` of these, and these by chance.
    """

    first: int | None = None
    after: int | None = None
    every: int | None = None
    probability: float | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Limit:
    """How many requests a rule lets through."""

    requests: int
    per_seconds: float


@dataclass(frozen=True, slots=True)
class OwnBody:
    """A body that a rule answers with."""

    data: bytes
    content_type: str


@dataclass(frozen=True)
class Rule:
    """A checked rule."""

    number: int
    """Counted from 0."""
    source: Mapping[str, Any]
    """As it was sent."""
    name: str | None
    match: Match
    times: Times
    phase: str
    status: int | None
    code: str | None
    message: str | None
    retry_after: int | None
    headers: tuple[tuple[str, str], ...]
    delay_ms: int | None
    jitter_ms: int
    connection: str | None
    body: str | None
    """How the body is altered, one of :data:`BODIES`."""
    own_body: OwnBody | None
    limit: Limit | None
    expire_tokens: bool
    conflict: bool

    @property
    def label(self) -> str:
        """What answers and logs call it: its name, else its number."""
        return str(self.number) if self.name is None else self.name

    @property
    def done(self) -> str:
        """What it has done to a request, in words."""
        parts = [
            *([f"{self.delay_ms} ms later"] if self.delay_ms and self.waits_first else []),
            *([str(self.status)] if self.status is not None else []),
            *(["429 beyond its limit"] if self.limit is not None else []),
            *(["401, tokens expired"] if self.expire_tokens else []),
            *(["another writer came first"] if self.conflict else []),
            *([_DONE[self.connection]] if self.connection is not None else []),
            *([_DONE[self.body]] if self.body is not None else []),
            *(["a body of its own"] if self.own_body is not None else []),
            *(["headers changed"] if self.headers else []),
        ]
        name = str(self.number) if self.name is None else f"`{self.name}`"
        return f"{', '.join(parts) or 'up to ' + str(self.jitter_ms) + ' ms later'} by rule {name}"

    def matches(self, sent: Sent) -> bool:
        """Whether all of its conditions hold for a request."""
        return self.match.holds(sent)

    @property
    def answers(self) -> bool:
        """Whether it makes up an answer."""
        return self.status is not None or self.own_body is not None or self.body == "html"

    @property
    def answers_itself(self) -> bool:
        """Whether the rule gives an answer of its own, so that the request need not be carried out."""
        return self.answers or self.expire_tokens or self.limit is not None or self.leaves_no_answer

    @property
    def leaves_no_answer(self) -> bool:
        """Whether the client gets no answer at all."""
        return self.connection in WITHOUT_ANSWER

    @property
    def pace_ms(self) -> int:
        """The silence of ``stall``, or the time between two bytes of ``drip``."""
        return self.delay_ms if self.delay_ms is not None else STALL_MS if self.connection == "stall" else DRIP_MS

    @property
    def waits_first(self) -> bool:
        """Whether ``delayMs`` is a wait before the answer, and not part of how it is sent."""
        return self.connection not in ("stall", "drip")

    @property
    def kinds(self) -> tuple[str, ...]:
        """What it does, in words of :data:`KINDS`."""
        found = [
            *(["status"] if self.status is not None else []),
            *(["limit"] if self.limit is not None else []),
            *(["expireTokens"] if self.expire_tokens else []),
            *(["conflict"] if self.conflict else []),
            *([self.connection] if self.connection is not None else []),
            *(["body"] if self.body is not None or self.own_body is not None else []),
            *(["headers"] if self.headers else []),
        ]
        return tuple(found) or ("delay",)


def made_rule(number: int, source: dict[str, Any]) -> Rule:
    """The rule of a checked source."""
    limit, body = source.get("limit"), source.get("body")
    return Rule(
        number=number,
        source=source,
        name=source.get("name"),
        match=made_match(source.get("match", {})),
        times=Times(**source.get("times", {})),
        phase=source.get("phase", "before"),
        status=source.get("status"),
        code=source.get("code"),
        message=source.get("message"),
        retry_after=source.get("retryAfter"),
        headers=tuple(source.get("headers", {}).items()),
        delay_ms=source.get("delayMs"),
        jitter_ms=source.get("jitterMs", 0),
        connection=source.get("connection"),
        body=body if isinstance(body, str) else None,
        own_body=_own_body(body) if isinstance(body, dict) else None,
        limit=None if limit is None else Limit(limit["requests"], limit["perSeconds"]),
        expire_tokens=source.get("expireTokens", False),
        conflict=source.get("conflict", False),
    )


def _own_body(source: dict[str, Any]) -> OwnBody:
    if "json" in source:
        data = json.dumps(source["json"], ensure_ascii=False, separators=(",", ":")).encode()
        return OwnBody(data, source.get("contentType", "application/json; charset=utf-8"))
    return OwnBody(source["text"].encode(), source.get("contentType", "text/plain; charset=utf-8"))
