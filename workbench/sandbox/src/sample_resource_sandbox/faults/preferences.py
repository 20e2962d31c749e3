"""Reads ``Prefer: code=503, delay=1500`` of a request to a sandbox project (RFC 7240) as a rule for this request."""

from typing import Any

from werkzeug.http import parse_list_header

from sample_resource_sandbox.rules.rules import DELAY_MS_AT_MOST, Rule


def preferred_rule(header: str | None, own_codes: frozenset[int]) -> Rule | None:
    """The rule for a header ``Prefer``; None if it orders nothing. The first preference of each name counts. A
    preference that cannot be fulfilled is ignored (RFC 7240, section 2).

    :param own_codes: the statuses that the endpoint itself offers. A code among them is left to the endpoint.
    """
    given: dict[str, int] = {}
    for preference in parse_list_header(header or ""):
        name, _, value = preference.partition(";")[0].partition("=")
        text = value.strip().strip('"')
        if text.isascii() and text.isdecimal() and len(text) <= 6:
            given.setdefault(name.strip().lower(), int(text))
    code, delay_ms = given.get("code", 0), given.get("delay", 0)
    source: dict[str, Any] = {}
    if 400 <= code <= 599 and code not in own_codes:
        source["status"] = code
    if 0 < delay_ms <= DELAY_MS_AT_MOST:
        source["delayMs"] = delay_ms
    return Rule(None, {"name": "Prefer", **source}) if source else None


def preference_applied(rule: Rule) -> str:
    """The value of ``Preference-Applied`` for a rule of :func:`preferred_rule`."""
    applied = {"code": rule.status, "delay": rule.delay_ms}
    return ", ".join(f"{name}={value}" for name, value in applied.items() if value is not None)
