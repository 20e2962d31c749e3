"""The verdict on a client, from which all reports are made, and the report as JSON."""

import json
from collections.abc import Mapping
from typing import Any

from sample_resource_testkit.client.adapter import Hello
from sample_resource_testkit.client.registry import THEMES
from sample_resource_testkit.client.runner import Result
from sample_resource_testkit.expected import Expected
from sample_resource_testkit.outcomes import Outcome
from sample_resource_testkit.reports.as_json import member, of_run, summary
from sample_resource_testkit.verdict import Failure, Terms, Verdict

OF_CLIENTS = Terms(
    command="sample-resource-conformance client",
    item="scenario",
    items="scenarios",
    group="theme",
    groups=THEMES,
    outcomes=(Outcome.PASS, Outcome.FAIL, Outcome.UNSUPPORTED, Outcome.NOT_REACHABLE, Outcome.ERROR),
    has_cases=False,
)

_TITLES = (
    ("call", "Call"),
    ("sent", "What was sent"),
    ("expected", "What was expected"),
    ("answer", "What it was answered"),
    ("returned", "What the client returned"),
    ("log", "What the adapter wrote to stderr"),
)


def verdict_of(
    hello: Hello, results: Mapping[str, Result], expected: Expected, began: str, elapsed_s: float, version: str
) -> Verdict:
    """The verdict on a client by the results of its scenarios."""
    clauses = {number: result.as_clause() for number, result in results.items()}
    listed, stale = expected.applied(clauses)
    return Verdict(
        url=f"{hello.client} {hello.version}".strip(),
        results=clauses,
        failures={number: (_failure(result),) for number, result in results.items() if result.wrong is not None},
        expected=listed,
        stale=stale,
        causes={number: result.cause for number, result in results.items() if result.cause},
        began=began,
        elapsed_s=elapsed_s,
        version=version,
        terms=OF_CLIENTS,
    )


def _failure(result: Result) -> Failure:
    wrong = result.wrong
    texts = {name: getattr(wrong, name, "") for name, _ in _TITLES} | {"log": result.log}
    shown = tuple((name, title, texts[name]) for name, title in _TITLES if texts[name])
    members = {name: text for name, text in texts.items() if text or name != "log"}
    return Failure(result.scenario.number, result.reason, (("wrong", result.reason),), shown, members)


def as_client_json(verdict: Verdict, hello: Hello, results: Mapping[str, Result]) -> str:
    """The verdict as one JSON object. ``docs/adapters.md`` documents the members; new ones may be added."""
    report = {
        "kit": verdict.version,
        "client": hello.client,
        "version": hello.version,
        "features": sorted(hello.features),
        **of_run(verdict),
        "summary": summary(verdict),
        "causes": [{"cause": cause, "scenarios": numbers} for cause, numbers in verdict.groups if len(numbers) > 1],
        "scenarios": [_told(verdict, result) for result in results.values()],
    }
    return json.dumps(report, ensure_ascii=False, indent=1) + "\n"


def _told(verdict: Verdict, result: Result) -> dict[str, Any]:
    scenario = result.scenario
    told: dict[str, Any] = {
        "number": scenario.number,
        "theme": scenario.theme,
        "level": scenario.level,
        "text": scenario.text,
        "clauses": list(scenario.clauses),
        "outcome": member(result.outcome),
        "reason": result.reason,
        "elapsedSeconds": round(result.elapsed_s, 3),
    }
    if result.cause:
        told["cause"] = result.cause
    if scenario.number in verdict.expected:
        told["expectedFailure"] = verdict.expected[scenario.number]
    for failure in verdict.failures.get(scenario.number, ()):
        told |= failure.members
    return told
