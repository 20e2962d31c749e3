"""Rules: which requests they match, when they are due, and what they do; read from JSON and checked as a whole."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import re2  # pyright: ignore[reportMissingTypeStubs] -- it has none; its matching takes linear time, that of re does not
from marshmallow import ValidationError

from app.values.json_fields import (
    MISSING,
    Check,
    between,
    check_boolean,
    check_int64,
    check_items,
    check_number,
    check_text,
    object_check,
    one_of,
    refuse_shape,
    refuse_value,
)

DELAY_MS_AT_MOST = 60_000
RULES_AT_MOST = 100
PATTERNS_AT_MOST = 20
"""Different patterns of a project's rules."""
PATTERN_LENGTH_AT_MOST = 500
INSTRUCTIONS_AT_MOST = 10_000
"""Of the programs that RE2 makes of a project's patterns. Matching takes time in proportion to it."""
_MATCHED_PATH_AT_MOST = 2_000
"""Characters of a path; a longer one matches no pattern."""
_PATTERN_BYTES = 128 * 1024
"""Memory of RE2 for a pattern, with what it remembers while it matches."""
LIMITED_REQUESTS_AT_MOST = 1000
"""The most requests that a ``limit`` can let through in its time, since the time of each is stored."""

STALL_MS = 60_000
"""How long ``stall`` is silent if the rule has no ``delayMs``."""
DRIP_MS = 100
"""The time between two bytes of ``drip`` if the rule has no ``delayMs``."""

TOKEN_OPERATION = "getToken"  # noqa: S105 -- an operationId

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
CONNECTIONS = ("close", "reset", "truncate", "stall", "drip", "garbage")
_WITHOUT_ANSWER = ("close", "reset", "garbage")
BODIES = ("truncatedJson", "html", "empty", "unknownFields")
PHASES = ("before", "after")


@dataclass(frozen=True, slots=True)
class Times:
    """Which of the requests that a rule matches are due; without a member, all."""

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
class Sent:
    """What rules look at in a request.

    :param path: the raw path below the project, with its slash.
    """

    operation_id: str | None
    method: str
    path: str
    client_id: str | None


@dataclass(frozen=True)
class Rule:
    """A checked rule."""

    number: int
    """Counted from 0."""
    source: str
    """As it was sent, as JSON text."""
    name: str | None
    operation_ids: frozenset[str] | None
    method: str | None
    path: str | None
    client: str | None
    times: Times
    phase: str
    status: int | None
    code: str | None
    message: str | None
    retry_after: int | None
    delay_ms: int | None
    jitter_ms: int
    connection: str | None
    body: str | None
    limit: Limit | None
    expire_tokens: bool
    conflict: bool

    @property
    def label(self) -> str:
        """What answers and logs call it: its name, else its number."""
        return str(self.number) if self.name is None else self.name

    def _matches_path(self, path: str) -> bool:
        if self.path is None:
            return True
        try:
            return len(path) <= _MATCHED_PATH_AT_MOST and _compile(self.path).fullmatch(path) is not None
        except re2.error:
            return False  # stored when larger ones were taken

    def matches(self, sent: Sent) -> bool:
        """Whether all of its conditions hold for a request. A request for a token has to be named by its operation."""
        if self.operation_ids is None:
            if sent.operation_id == TOKEN_OPERATION:
                return False
        elif sent.operation_id not in self.operation_ids:
            return False
        return (
            (self.method is None or sent.method == self.method)
            and (self.client is None or sent.client_id == self.client)
            and self._matches_path(sent.path)
        )

    @property
    def answers_itself(self) -> bool:
        """Whether the rule gives an answer of its own, so that the request need not be carried out."""
        return (
            self.status is not None
            or self.expire_tokens
            or self.limit is not None
            or self.leaves_no_answer
            or self.body == "html"
        )

    @property
    def leaves_no_answer(self) -> bool:
        """Whether the client gets no answer at all."""
        return self.connection in _WITHOUT_ANSWER

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
        """What it does, in words of :data:`app.telemetry.metrics.SANDBOX_ORDER_KINDS`."""
        found = [
            *(["status"] if self.status is not None else []),
            *(["limit"] if self.limit is not None else []),
            *(["expireTokens"] if self.expire_tokens else []),
            *(["conflict"] if self.conflict else []),
            *([self.connection] if self.connection is not None else []),
            *(["body"] if self.body is not None else []),
        ]
        return tuple(found) or ("delay",)


def read_rules(stored: str) -> tuple[Rule, ...]:
    """Rules from the JSON text in which they are stored."""
    return tuple(_made(number, source) for number, source in enumerate(json.loads(stored)))


# Checks


def _short_text(value: Any) -> str:
    text = check_text(value)
    if not 1 <= len(text) <= 200 or not text.isascii() or not text.isprintable():
        refuse_value(text, "A text of 1 to 200 printable characters of ASCII is expected.")
    return text


def _message(value: Any) -> str:
    text = check_text(value)
    if len(text) > 2000:
        refuse_value(text, "A text of at most 2000 characters is expected.")
    return text


@lru_cache(maxsize=512)
def _compile(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PATTERN_BYTES
    return re2.compile(pattern, options)


def _pattern(value: Any) -> str:
    text = check_text(value)
    if len(text) > PATTERN_LENGTH_AT_MOST:
        refuse_value(text, f"A regular expression of at most {PATTERN_LENGTH_AT_MOST} characters is expected.")
    try:
        _compile(text)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        refuse_value(text, f"A regular expression of RE2 is expected: {reason}.")
    return text


_COUNT = between(1, 2**53)
_times = object_check(
    {
        "first": _COUNT,
        "after": between(0, 2**53),
        "every": _COUNT,
        "probability": between(0, 1, check_number),
        "seed": check_int64,
    }
)
_limit = object_check(
    {"requests": between(1, LIMITED_REQUESTS_AT_MOST), "perSeconds": between(0.001, 3600, check_number)}
)


def _check_times(value: Any) -> dict[str, Any]:
    times: dict[str, Any] = _times(value)
    kinds = [name for name in ("first", "after", "every", "probability") if name in times]
    if len(kinds) != 1:
        refuse_shape("One of first, after, every and probability is expected.")
    if "seed" in times and kinds != ["probability"]:
        raise ValidationError({"seed": ["Only a probability has a seed."]})
    return times


def _check_limit(value: Any) -> dict[str, Any]:
    limit: dict[str, Any] = _limit(value)
    missing = [name for name in ("requests", "perSeconds") if name not in limit]
    if missing:
        raise ValidationError({name: [MISSING] for name in missing})
    return limit


def _match_check(operation_ids: frozenset[str]) -> Check:
    known = one_of(*sorted(operation_ids))

    def check_operations(value: Any) -> Any:
        if not isinstance(value, list):
            return known(value)
        if not value:
            refuse_shape("At least one operationId is expected.")
        return check_items(value, known)

    return object_check(
        {"operationId": check_operations, "method": one_of(*METHODS), "path": _pattern, "client": _short_text}
    )


def _rule_check(operation_ids: frozenset[str]) -> Check:
    members = object_check(
        {
            "name": _short_text,
            "match": _match_check(operation_ids),
            "times": _check_times,
            "phase": one_of(*PHASES),
            "status": between(400, 599),
            "code": _short_text,
            "message": _message,
            "retryAfter": between(0, 86_400),
            "delayMs": between(0, DELAY_MS_AT_MOST),
            "jitterMs": between(0, DELAY_MS_AT_MOST),
            "connection": one_of(*CONNECTIONS),
            "body": one_of(*BODIES),
            "limit": _check_limit,
            "expireTokens": check_boolean,
            "conflict": check_boolean,
        }
    )

    def check(value: Any) -> dict[str, Any]:
        rule: dict[str, Any] = members(value)
        faults = _contradictions(rule)
        if faults:
            raise ValidationError(cast(Any, faults))
        return rule

    return check


_EFFECTS = ("status", "delayMs", "jitterMs", "connection", "body", "limit", "expireTokens", "conflict")


def _contradictions(rule: Mapping[str, Any]) -> dict[str, list[str]]:
    """What its members say against one another, by the member that cannot be."""
    found: dict[str, list[str]] = {}
    alone = [name for name in ("limit", "expireTokens") if rule.get(name)]
    for name in alone:
        others = [other for other in ("status", "code", "retryAfter", "connection", "body") if other in rule]
        if others or len(alone) > 1:
            other = others[0] if others else next(each for each in alone if each != name)
            found[name] = [f"It is an answer of its own, and {other} is another one."]
        elif rule.get("phase") == "after":
            found["phase"] = [f"{name} acts before a request is carried out."]
    if rule.get("conflict"):
        answer = next((name for name in ("status", "limit", "expireTokens") if rule.get(name)), None)
        if rule.get("phase") == "after":
            found["phase"] = ["conflict acts before a request is carried out."]
        elif answer is not None or rule.get("connection") in _WITHOUT_ANSWER:
            found["conflict"] = [f"It needs the service's own answer, and {answer or 'connection'} is another one."]
    for name in ("code", "message", "retryAfter"):
        if name in rule and "status" not in rule and not (name == "message" and alone):
            found[name] = ["It needs a status."]
    if rule.get("connection") in _WITHOUT_ANSWER:
        for name in ("status", "body"):
            if name in rule:
                found[name] = [f"With connection {rule['connection']} there is no answer."]
    if rule.get("jitterMs") and not rule.get("delayMs") and rule.get("connection") in ("stall", "drip"):
        found["jitterMs"] = ["It needs delayMs."]
    if not any(rule.get(name) for name in _EFFECTS):
        found["_schema"] = [f"The rule does nothing: one of {', '.join(_EFFECTS)} is expected."]
    return found


def _patterns(rules: Any) -> set[str]:
    """The different patterns in rules, which may not be checked yet."""
    found: set[str] = set()
    for rule in cast("list[Any]", rules) if isinstance(rules, list) else []:
        match = cast("dict[str, Any]", rule).get("match") if isinstance(rule, dict) else None
        path = cast("dict[str, Any]", match).get("path") if isinstance(match, dict) else None
        if isinstance(path, str):
            found.add(path)
    return found


def _check_number_of_patterns(rules: Any) -> None:
    """Before any is compiled, since each takes some milliseconds."""
    number = len(_patterns(rules))
    if number > PATTERNS_AT_MOST:
        refuse_value(number, f"At most {PATTERNS_AT_MOST} different patterns are expected in the rules of a project.")


def rules_check(operation_ids: frozenset[str]) -> Check:
    """A check of ``{"rules": [...]}``; returns the JSON text to store.

    :param operation_ids: those that ``match`` may name.
    """
    check_rule = _rule_check(operation_ids)

    def check_rules(value: Any) -> list[dict[str, Any]]:
        if isinstance(value, list) and len(cast("list[Any]", value)) > RULES_AT_MOST:
            refuse_value(len(cast("list[Any]", value)), f"At most {RULES_AT_MOST} rules are expected.")
        _check_number_of_patterns(value)
        rules: list[dict[str, Any]] = check_items(value, check_rule)
        size = sum(_compile(each).programsize for each in _patterns(rules))
        if size > INSTRUCTIONS_AT_MOST:
            refuse_value(
                size, f"The patterns of a project have at most {INSTRUCTIONS_AT_MOST} instructions of RE2 together."
            )
        for rule in rules:
            if "probability" in rule.get("times", {}):
                # Chance, but the same for all workers: they decide by the seed and the count.
                rule["times"].setdefault("seed", secrets.randbits(62))
        return rules

    body = object_check({"rules": check_rules})

    def check(value: Any) -> str:
        loaded: dict[str, Any] = body(value)
        if "rules" not in loaded:
            raise ValidationError({"rules": [MISSING]})
        return json.dumps(loaded["rules"])

    return check


def _made(number: int, source: dict[str, Any]) -> Rule:
    match: dict[str, Any] = source.get("match", {})
    operations = match.get("operationId")
    limit = source.get("limit")
    return Rule(
        number=number,
        source=json.dumps(source),
        name=source.get("name"),
        operation_ids=None
        if operations is None
        else frozenset([operations] if isinstance(operations, str) else operations),
        method=match.get("method"),
        path=match.get("path"),
        client=match.get("client"),
        times=Times(**source.get("times", {})),
        phase=source.get("phase", "before"),
        status=source.get("status"),
        code=source.get("code"),
        message=source.get("message"),
        retry_after=source.get("retryAfter"),
        delay_ms=source.get("delayMs"),
        jitter_ms=source.get("jitterMs", 0),
        connection=source.get("connection"),
        body=source.get("body"),
        limit=None if limit is None else Limit(limit["requests"], limit["perSeconds"]),
        expire_tokens=source.get("expireTokens", False),
        conflict=source.get("conflict", False),
    )
