"""The report on a client: which clauses of the specification it has exercised, what it met, how it recovered."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from textwrap import fill, indent
from typing import Any

from app.sandbox.analysis.coverage import Covered, State, covered
from app.sandbox.analysis.findings import FINDINGS, Found
from app.sandbox.analysis.notations import NOTATIONS
from app.sandbox.analysis.observer import observe
from app.sandbox.analysis.recovery import Episode, Outcome, episodes
from app.sandbox.clauses.conditions import ENOUGH
from app.sandbox.journal.entries import TROUBLES, Entry, tolerantly


def report(project_key: str, entries: Sequence[Entry], total: int) -> dict[str, Any]:
    """The report of a project.

    :param entries: the journal, in the order of its numbers.
    :param total: how many requests there were, also those that are no longer kept.
    """
    observed = observe(entries)
    return {
        "projectKey": project_key,
        "requests": {"total": total, "kept": len(entries), "underWay": sum(entry.is_under_way for entry in entries)},
        "specification": specification_part(covered(entries)),
        "notations": _notations(entries),
        "operations": counted_part("operationId", Counter(entry.operation or "none" for entry in entries)),
        "statuses": counted_part("status", Counter(str(entry.status or "none") for entry in entries)),
        "recovery": _recovery(episodes(entries, observed.again)),
        "findings": _findings(observed.found),
    }


def specification_part(clauses: Sequence[Covered]) -> dict[str, Any]:
    """How much of the specification was exercised: in all, by profile, and by clause."""
    profiles = dict.fromkeys(each.clause.profile for each in clauses)
    return {
        **_share([each.state for each in clauses]),
        "profiles": [
            {"profile": profile, **_share([each.state for each in clauses if each.clause.profile == profile])}
            for profile in profiles
        ],
        "clauses": [
            {
                "number": each.clause.number,
                "level": each.clause.level,
                "profile": each.clause.profile,
                "text": each.clause.text,
                "state": str(each.state),
                "requests": list(each.requests),
            }
            for each in clauses
        ],
    }


def _share(states: Sequence[State]) -> dict[str, int]:
    exercised = states.count(State.EXERCISED)
    observable = len(states) - states.count(State.NOT_OBSERVABLE)
    return {
        "exercised": exercised,
        "observable": observable,
        "notObservable": len(states) - observable,
        "percent": percent_of(exercised, observable),
    }


def percent_of(exercised: int, observable: int) -> int:
    """The share of clauses that were exercised, cut, so that 100 means all of them."""
    return 0 if not observable else exercised * 100 // observable


def _notations(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for notation in NOTATIONS:
        numbers = [entry.number for entry in entries if tolerantly(partial(notation.is_in, entry), False, entry)]
        found.append({"id": notation.id, "title": notation.title, "count": len(numbers), "requests": numbers[:ENOUGH]})
    return found


def counted_part(name: str, counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """How often each was met."""
    return [{name: key, "count": count} for key, count in sorted(counts.items())]


def _recovery(found: Sequence[Episode]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for trouble in TROUBLES:
        of_it = [episode for episode in found if episode.trouble == trouble]
        outcomes = Counter(episode.outcome for episode in of_it)
        made[trouble] = {
            **{str(outcome): outcomes[outcome] for outcome in Outcome},
            "episodes": [episode.described() for episode in of_it[:ENOUGH]],
        }
    return made


def _findings(found: Mapping[int, Sequence[Found]]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for finding in FINDINGS:
        numbers = sorted(number for number, each in found.items() if any(one.finding is finding for one in each))
        if numbers:
            details = [one.detail for one in found[numbers[0]] if one.finding is finding]
            described = finding.described(details[0])
            made.append({**described, "count": len(numbers), "requests": numbers[:ENOUGH]})
    return made


def as_text(made: Mapping[str, Any]) -> str:
    """The report for a terminal."""
    requests, specification = made["requests"], made["specification"]
    kept = "" if requests["total"] == requests["kept"] else f", of which the last {requests['kept']} are kept"
    about = f"Project {made['projectKey']}" if "projectKey" in made else f"Run {made['run']}"
    of = f" of {made['projects']} projects" if "projects" in made else ""
    lines = [
        f"{about}: {requests['total']} requests{of}{kept}.",
        "",
        f"Specification: {specification['exercised']} of {specification['observable']} clauses exercised,"
        f" {specification['percent']} %. {specification['notObservable']} cannot be observed.",
    ]
    lines += [
        f"  {each['percent']:>4} %  {each['profile']}: {each['exercised']} of {each['observable']}"
        for each in specification["profiles"]
        if each["observable"]
    ]
    missing = [each for each in specification["clauses"] if each["state"] == State.NOT_EXERCISED]
    if missing:
        numbers = fill(", ".join(each["number"] for each in missing), 100, break_on_hyphens=False)
        lines += ["Not exercised (docs/specification.md):", indent(numbers, "  ")]
    lines += ["", "Notations:"]
    lines += [f"  {each['count']:>5}  {each['title']}" for each in made["notations"]]
    lines += ["", "Recovery:               recovered  gave up  made it worse"]
    for trouble, outcomes in made["recovery"].items():
        title = "answer lost" if trouble == "lost" else trouble
        lines.append(f"  {title:<22}{outcomes['recovered']:>9}{outcomes['gaveUp']:>9}{outcomes['madeWorse']:>15}")
    lines += ["", f"Findings: {len(made['findings']) or 'none'}"]
    for each in made["findings"]:
        lines.append(
            f"  {each['count']:>5}  {each['title']} ({each['id']}), first in {_first(each)}. {each['instead']}"
        )
    return "\n".join(lines)


def _first(finding: Mapping[str, Any]) -> str:
    """Where a finding was made first."""
    example = next(iter(finding.get("examples", ())), None)
    if example is None:
        return f"request {finding['requests'][0]}"
    return f"request {example['request']} of {example['projectKey']}, {example['method']} {example['target']}"
