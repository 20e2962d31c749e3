"""Reads rules from JSON and checks them as a whole."""

import json
import re
import secrets
from collections.abc import Mapping
from typing import Any, cast

import re2  # pyright: ignore[reportMissingTypeStubs] -- it has none
from marshmallow import ValidationError

from app.sandbox.rules.matching import compiled
from app.sandbox.rules.rules import BODIES, CONNECTIONS, DELAY_MS_AT_MOST, METHODS, PHASES, WITHOUT_ANSWER
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

RULES_AT_MOST = 100
PATTERNS_AT_MOST = 20
"""Different patterns of a project's rules."""
PATTERN_LENGTH_AT_MOST = 500
INSTRUCTIONS_AT_MOST = 10_000
"""Of the programs that RE2 makes of a project's patterns. Matching takes time in proportion to it."""
LIMITED_REQUESTS_AT_MOST = 1000
"""The most requests that a ``limit`` can let through in its time, since the time of each is stored."""
NAMES_AT_MOST = 20
"""Parameters or headers that a rule asks for, or headers that it sets."""
OWN_BODY_AT_MOST = 64 * 1024
"""Characters of a body that a rule answers with, or that it looks for."""


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


def _pattern(value: Any) -> str:
    text = check_text(value)
    if len(text) > PATTERN_LENGTH_AT_MOST:
        refuse_value(text, f"A regular expression of at most {PATTERN_LENGTH_AT_MOST} characters is expected.")
    try:
        compiled(text)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        refuse_value(text, f"A regular expression of RE2 is expected: {reason}.")
    return text


# times and limit

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
    if not times.keys() - {"seed"}:
        refuse_shape("At least one of first, after, every and probability is expected.")
    if "seed" in times and "probability" not in times:
        raise ValidationError({"seed": ["Only a probability has a seed."]})
    return times


def _check_limit(value: Any) -> dict[str, Any]:
    limit: dict[str, Any] = _limit(value)
    missing = [name for name in ("requests", "perSeconds") if name not in limit]
    if missing:
        raise ValidationError({name: [MISSING] for name in missing})
    return limit


# match


def _names_check(check_value: Check, name_pattern: str, expected: str) -> Check:
    """A check of an object whose members have any names of a pattern."""
    named = re.compile(name_pattern, re.ASCII)

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            refuse_shape("JSON object expected.")
        members = cast("dict[str, Any]", value)
        if not 1 <= len(members) <= NAMES_AT_MOST:
            refuse_value(len(members), f"1 to {NAMES_AT_MOST} names are expected.")
        checked: dict[str, Any] = {}
        for name, each in members.items():
            if named.fullmatch(name) is None:
                raise ValidationError({name: [expected]})
            try:
                checked[name] = check_value(each)
            except ValidationError as error:
                raise ValidationError(cast(Any, {name: error.messages})) from None
        return checked

    return check


def _wanted(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, list):
        if not value:
            refuse_shape("At least one value is expected.")
        return check_items(value, _message)
    if not isinstance(value, str):
        refuse_shape("A text, an array of texts, true (it is there) or false (it is not) is expected.")
    return _message(value)


def _searched_body(value: Any) -> Any:
    if isinstance(value, str):
        return _pattern(value)
    if len(json.dumps(value)) > OWN_BODY_AT_MOST:
        refuse_shape(f"JSON of at most {OWN_BODY_AT_MOST} characters is expected.")
    return value


_HEADER_NAME = "[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}"
_query = _names_check(_wanted, r"[^\x00]{1,200}", "A name of 1 to 200 characters is expected.")
_header = _names_check(_wanted, _HEADER_NAME, "The name of a header is expected.")


def _match_check(operation_ids: frozenset[str]) -> Check:
    known = one_of(*sorted(operation_ids))

    def check_operations(value: Any) -> Any:
        if not isinstance(value, list):
            return known(value)
        if not value:
            refuse_shape("At least one operationId is expected.")
        return check_items(value, known)

    return object_check(
        {
            "operationId": check_operations,
            "method": one_of(*METHODS),
            "path": _pattern,
            "client": _short_text,
            "query": _query,
            "header": _header,
            "body": _searched_body,
        }
    )


# Answers of one's own

_OF_THE_CONNECTION = frozenset(
    ("connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "date", "server")
)
"""Headers that the service's worker sets itself."""


def _header_value(value: Any) -> str:
    text = check_text(value)
    if len(text) > 2000 or not all(" " <= each <= "~" or each == "\t" for each in text):
        refuse_value(text, "A text of at most 2000 printable characters of ASCII is expected.")
    return text


_set_headers = _names_check(_header_value, _HEADER_NAME, "The name of a header is expected.")


def _check_headers(value: Any) -> dict[str, str]:
    headers: dict[str, str] = _set_headers(value)
    for name in headers:
        if name.lower() in _OF_THE_CONNECTION:
            raise ValidationError({name: ["The service sets this header itself."]})
    return headers


_altered = one_of(*BODIES)
_own = object_check({"json": lambda value: value, "text": check_text, "contentType": _header_value})


def _check_body(value: Any) -> Any:
    if not isinstance(value, dict):
        return _altered(value)
    own: dict[str, Any] = _own(value)
    if len({"json", "text"} & own.keys()) != 1:
        refuse_shape("One of json and text is expected.")
    if len(json.dumps(own)) > OWN_BODY_AT_MOST:
        refuse_shape(f"A body of at most {OWN_BODY_AT_MOST} characters is expected.")
    return own


# A rule


def _rule_check(operation_ids: frozenset[str]) -> Check:
    members = object_check(
        {
            "name": _short_text,
            "match": _match_check(operation_ids),
            "times": _check_times,
            "phase": one_of(*PHASES),
            "status": between(200, 599),
            "code": _short_text,
            "message": _message,
            "retryAfter": between(0, 86_400),
            "headers": _check_headers,
            "delayMs": between(0, DELAY_MS_AT_MOST),
            "jitterMs": between(0, DELAY_MS_AT_MOST),
            "connection": one_of(*CONNECTIONS),
            "body": _check_body,
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


_EFFECTS = (
    "status", "headers", "delayMs", "jitterMs", "connection", "body", "limit", "expireTokens", "conflict",
)  # fmt: skip


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
    has_own_body = isinstance(rule.get("body"), dict)
    if rule.get("conflict"):
        answer = next((name for name in ("status", *alone) if rule.get(name)), None)
        answer = answer or ("body" if has_own_body or rule.get("body") == "html" else None)
        if rule.get("phase") == "after":
            found["phase"] = ["conflict acts before a request is carried out."]
        elif answer is not None or rule.get("connection") in WITHOUT_ANSWER:
            found["conflict"] = [f"It needs the service's own answer, and {answer or 'connection'} is another one."]
    for name in ("code", "message", "retryAfter"):
        if name in rule and "status" not in rule and not (name == "message" and alone):
            found[name] = ["It needs a status."]
    for name in ("code", "message"):
        if name in rule and (has_own_body or rule.get("status", 400) < 400):
            found[name] = ["Only an error in the platform's envelope has it."]
    if rule.get("connection") in WITHOUT_ANSWER:
        for name in ("status", "body", "headers"):
            if name in rule:
                found[name] = [f"With connection {rule['connection']} there is no answer."]
    if has_own_body and rule.get("status") in (204, 304):
        found["body"] = [f"An answer with status {rule['status']} has no body."]
    if rule.get("jitterMs") and not rule.get("delayMs") and rule.get("connection") in ("stall", "drip"):
        found["jitterMs"] = ["It needs delayMs."]
    if not any(rule.get(name) for name in _EFFECTS):
        found["_schema"] = [f"The rule does nothing: one of {', '.join(_EFFECTS)} is expected."]
    return found


# All rules


def _patterns(rules: Any) -> set[str]:
    """The different patterns in rules, which may not be checked yet."""
    found: set[str] = set()
    for rule in cast("list[Any]", rules) if isinstance(rules, list) else []:
        match = cast("dict[str, Any]", rule).get("match") if isinstance(rule, dict) else None
        conditions = cast("dict[str, Any]", match) if isinstance(match, dict) else {}
        found |= {each for each in (conditions.get("path"), conditions.get("body")) if isinstance(each, str)}
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
        size = sum(compiled(each).programsize for each in _patterns(rules))
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
