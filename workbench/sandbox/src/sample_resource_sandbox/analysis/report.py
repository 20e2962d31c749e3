"""Makes the report on a client: what it has used of the interface, how it went on after faults, and the findings."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from sample_resource_sandbox.analysis.findings import FINDINGS
from sample_resource_sandbox.analysis.look import TROUBLES
from sample_resource_sandbox.analysis.stories import Outcome
from sample_resource_sandbox.analysis.tally import EXAMPLES_KEPT, Tally

Report = dict[str, Any]

INCOMPLETE = "It is incomplete: the service was started again meanwhile, and earlier requests are not known any more."

_OUTCOMES = {
    Outcome.MADE_WORSE: "made it worse",
    Outcome.GAVE_UP: "gave up",
    Outcome.NOT_JUDGED: "not judged",
    Outcome.RECOVERED: "recovered",
}
"""The words for the outcomes, the worst first."""


def report(about: Mapping[str, Any], tally: Tally, allow: Collection[str] = ()) -> Report:
    """Make the report on the requests of a project or of a run.

    :param about: names the project or run: ``projectKey``, or ``run`` and ``projects``.
    :param allow: the ids of findings that are expected, and left out.
    """
    stories = _stories(tally, allow)
    made: Report = {
        **about,
        "requests": tally.requests,
        "incomplete": tally.is_cut,
        "operations": [{"name": name, "times": times} for name, times in sorted(tally.operations.items())],
        "recovered": {each["trouble"]: each["times"] for each in stories if each["outcome"] == Outcome.RECOVERED},
        "stories": stories,
        "findings": _findings(tally, allow),
    }
    return {**made, "told": _told(made)}


def verdict(name: str, tally: Tally, allow: Collection[str]) -> tuple[bool, str]:
    """Judge a run: whether it had requests, is complete and has no finding; and the report as text."""
    made = report({"run": name, "projects": len(tally.clients)}, tally, allow)
    passed = made["requests"] > 0 and not made["incomplete"] and not made["findings"]
    return passed, f"{'PASSED' if passed else 'FAILED'}. {made['told']}"


def _stories(tally: Tally, allow: Collection[str]) -> list[dict[str, Any]]:
    """The outcomes of each trouble, the worst first. Without the allowed findings, a trouble may be no worse."""
    counts: Counter[tuple[str, Outcome]] = Counter()
    examples: dict[tuple[str, Outcome], list[dict[str, Any]]] = {}
    for ended, times in tally.outcomes.items():
        trouble, outcome, ids = ended
        worse = [id_ for id_ in ids if id_ not in allow]
        key = trouble, Outcome.MADE_WORSE if worse else outcome
        counts[key] += times
        listed = examples.setdefault(key, [])
        for each in tally.episodes[ended]:
            reason = " ".join(each["worse"][id_] for id_ in worse) or each["reason"]
            listed.append({"projectKey": each["projectKey"], "requests": each["requests"], "reason": reason})
    return [
        {
            "trouble": trouble, "outcome": str(outcome), "times": counts[trouble, outcome],
            "examples": examples[trouble, outcome][:EXAMPLES_KEPT],
        }
        for outcome in _OUTCOMES for trouble in TROUBLES if counts[trouble, outcome]
    ]  # fmt: skip


def _findings(tally: Tally, allow: Collection[str]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for finding in FINDINGS:
        count, examples = tally.findings[finding.id], tally.found.get(finding.id)
        if examples and finding.id not in allow:
            described = finding.described(examples[0]["detail"])
            made.append({**described, "count": count, "examples": examples, "told": finding.told(count, examples)})
    return made


def _told(made: Mapping[str, Any]) -> str:
    """The report as text for a terminal."""
    about = f"Project {made['projectKey']}" if "projectKey" in made else f"Run {made['run']}"
    of = f" of {made['projects']} projects" if "projects" in made else ""
    operations = ", ".join(f"{each['name']} {each['times']}" for each in made["operations"])
    lines = [f"{about}: {made['requests']} requests{of}."]
    lines += [INCOMPLETE] if made["incomplete"] else []
    lines += [] if made["requests"] else ["No request was sent, so there is nothing to judge."]
    lines += [f"Carried out: {operations or 'nothing'}."]
    for each in made["stories"]:
        trouble = "answer lost" if each["trouble"] == "lost" else each["trouble"]
        line = f"{_OUTCOMES[Outcome(each['outcome'])]}: {trouble}, {often(each['times'])}"
        is_plain = each["outcome"] in (Outcome.RECOVERED, Outcome.GAVE_UP)
        lines.append(line if is_plain else f"{line}: {each['examples'][0]['reason']}")
    lines += [f"Findings: {len(made['findings']) or 'none'}."]
    return "\n".join([*lines, *(each["told"] for each in made["findings"])])


def often(times: int) -> str:
    """A number of times in words."""
    return {1: "once", 2: "twice"}.get(times, f"{times} times")
