"""The report as JSON. The README documents the members; new ones may be added."""

import json
from typing import Any

from sample_resource_testkit.verdict import Verdict


def as_json(verdict: Verdict) -> str:
    """The whole verdict as one JSON object."""
    return json.dumps(_report(verdict), ensure_ascii=False, indent=1) + "\n"


def _report(verdict: Verdict) -> dict[str, Any]:
    return {
        "kit": verdict.version,
        "url": verdict.url,
        **of_run(verdict),
        "checks": verdict.checks,
        "cases": verdict.cases,
        "shell": list(verdict.shell),
        "summary": summary(verdict),
        "clauses": [_clause(verdict, number) for number in verdict.results],
    }


def of_run(verdict: Verdict) -> dict[str, Any]:
    """The members that the JSON reports on servers and on clients share."""
    return {
        "began": verdict.began,
        "elapsedSeconds": round(verdict.elapsed_s, 3),
        "asExpected": verdict.is_as_expected,
        "unexpectedFailures": list(verdict.unexpected_failures),
        "unexpectedPasses": list(verdict.unexpected_passes),
        "staleExpectations": list(verdict.stale),
    }


def summary(verdict: Verdict) -> list[dict[str, Any]]:
    """The counts of each outcome by group and level."""
    outcomes = [member(name) for name in verdict.terms.outcomes]
    return [
        {verdict.terms.group: group, "level": level, **dict(zip(outcomes, counts, strict=True))}
        for group, level, counts in verdict.rows()
    ]


def member(outcome: str) -> str:
    """The name of the member for an outcome, such as ``notReachable``."""
    first, *others = outcome.split()
    return first + "".join(word.title() for word in others)


def _clause(verdict: Verdict, number: str) -> dict[str, Any]:
    result = verdict.results[number]
    failures = {failure.name: failure for failure in verdict.failures.get(number, ())}
    cases: list[dict[str, Any]] = []
    for case in result.cases:
        told: dict[str, Any] = {"name": case.name, "outcome": str(case.outcome), "checks": case.checks}
        told["elapsedSeconds"] = round(case.elapsed_s, 3)
        if case.reason:
            told["reason"] = case.reason
        if case.name in failures:
            told |= failures[case.name].members
        cases.append(told)
    clause = result.clause
    told = {"number": number, "level": clause.level, "profile": clause.profile, "source": clause.source}
    told |= {"text": clause.text, "outcome": str(result.outcome)}
    if result.reason:
        told["reason"] = result.reason
    if number in verdict.expected:
        told["expectedFailure"] = verdict.expected[number]
    return {**told, "checks": result.checks, "cases": cases}
