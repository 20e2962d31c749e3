"""The report on a client: what of the interface it has exercised, how it recovered from faults, what was found."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from app.sandbox.analysis.exercised import KINDS, Names
from app.sandbox.analysis.findings import FINDINGS
from app.sandbox.analysis.look import TROUBLES
from app.sandbox.analysis.recovery import Outcome
from app.sandbox.analysis.tally import Tally

Report = dict[str, Any]


def report(about: Mapping[str, Any], tally: Tally, known: Names) -> Report:
    """The report on what requests have shown.

    :param about: whose requests: ``projectKey``, or ``run`` and ``projects``.
    :param known: what can be exercised.
    """
    counts = {**tally.counts, "recoveries": tally.recoveries()}
    exercised = {kind: _exercised(counts.get(kind, Counter()), known[kind]) for kind in KINDS}
    met = sum(len(set(counts.get(kind, ())) & set(known[kind])) for kind in KINDS)
    return {
        **about,
        "requests": {"total": tally.requests},
        "percent": percent_of(met, sum(len(known[kind]) for kind in KINDS)),
        "exercised": exercised,
        "recovery": {trouble: _recovery(trouble, tally) for trouble in TROUBLES},
        "findings": _findings(tally),
    }


def percent_of(met: int, known: int) -> int:
    """The share, cut, so that 100 means all of them."""
    return 100 if not known else met * 100 // known


def _exercised(counts: Counter[str], known: Any) -> dict[str, Any]:
    others = sorted(set(counts) - set(known))
    return {
        "percent": percent_of(sum(name in counts for name in known), len(known)),
        "met": [{"name": name, "times": counts[name]} for name in (*known, *others) if name in counts],
        "notMet": [name for name in known if name not in counts],
    }


def _recovery(trouble: str, tally: Tally) -> dict[str, Any]:
    worst_first = (Outcome.MADE_WORSE, Outcome.NOT_JUDGED, Outcome.GAVE_UP, Outcome.RECOVERED)
    return {
        **{str(outcome): tally.outcomes[trouble, outcome] for outcome in Outcome},
        "episodes": [each for outcome in worst_first for each in tally.episodes.get((trouble, outcome), ())],
    }


def _findings(tally: Tally) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for finding in FINDINGS:
        if tally.findings[finding.id]:
            count, examples = tally.findings[finding.id], tally.found[finding.id]
            described = finding.described(examples[0]["detail"])
            made.append({**described, "count": count, "examples": examples, "told": finding.told(count, examples)})
    return made


def as_text(made: Mapping[str, Any]) -> str:
    """The report for a terminal."""
    about = f"Project {made['projectKey']}" if "projectKey" in made else f"Run {made['run']}"
    of = f" of {made['projects']} projects" if "projects" in made else ""
    lines = [f"{about}: {made['requests']['total']} requests{of}.", "", f"Exercised: {made['percent']} %."]
    for kind, each in made["exercised"].items():
        met = len(each["met"])
        lines.append(f"  {each['percent']:>4} %  {kind}: {met} met, {len(each['notMet'])} not")
    lines += ["", "Recovery:               recovered  gave up  made it worse  not judged"]
    for trouble, outcomes in made["recovery"].items():
        title = "answer lost" if trouble == "lost" else trouble
        lines.append(
            f"  {title:<22}{outcomes['recovered']:>9}{outcomes['gaveUp']:>9}{outcomes['madeWorse']:>15}"
            f"{outcomes['notJudged']:>12}"
        )
    reasons = dict.fromkeys(
        episode["reason"]
        for outcomes in made["recovery"].values()
        for episode in outcomes["episodes"]
        if episode["outcome"] == Outcome.NOT_JUDGED
    )
    lines += [f"  Not judged: {reason}" for reason in reasons]
    lines += ["", f"Findings: {len(made['findings']) or 'none'}"]
    return "\n".join([*lines, *(each["told"] for each in made["findings"])])
