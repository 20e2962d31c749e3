"""Makes the report on a client: the exercised parts of the interface, the recovery from faults, and the findings."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from app import errors
from app.values.suggestions import did_you_mean
from sample_resource_sandbox.analysis.exercised import KINDS, Names
from sample_resource_sandbox.analysis.findings import FINDINGS
from sample_resource_sandbox.analysis.look import TROUBLES
from sample_resource_sandbox.analysis.stories import Outcome
from sample_resource_sandbox.analysis.tally import Tally

Report = dict[str, Any]


def report(about: Mapping[str, Any], tally: Tally, known: Names, asked: Mapping[str, Any]) -> Report:
    """Make the report on the requests of a project or of a run.

    :param about: names the project or run: ``projectKey``, or ``run`` and ``projects``.
    :param known: the names of all parts of the interface that can be exercised.
    :param asked: the parameters of the report. ``allow`` are the ids of findings that are left out, with the faults
        that they made worse. ``min``, ``of`` and ``noFindings`` are the conditions of the gate.
    :raises ApiError: 400 if a name in ``of`` is unknown.
    """
    allow: Collection[str] = asked.get("allow", ())
    recovered = {trouble: _ended(trouble, Outcome.RECOVERED, tally, ()) for trouble in TROUBLES}
    counts = {
        **tally.counts,
        "recoveries": Counter({f"recovered:{trouble}": n for trouble, n in recovered.items() if n}),
    }
    exercised = {kind: _exercised(counts.get(kind, Counter()), known[kind]) for kind in KINDS}
    met = sum(len(set(counts.get(kind, ())) & set(known[kind])) for kind in KINDS)
    made: Report = {
        **about,
        "requests": {"total": tally.requests},
        "incomplete": tally.is_cut,
        "percent": percent_of(met, sum(len(known[kind]) for kind in KINDS)),
        "exercised": exercised,
        "recovery": {trouble: _recovery(trouble, tally, allow) for trouble in TROUBLES},
        "findings": _findings(tally, allow),
    }
    told = [INCOMPLETE] if tally.is_cut else []
    if "min" in asked:
        told += _too_little(exercised, asked["min"], asked.get("of", ()))
    if asked.get("noFindings"):
        told += [f"Finding {each['told']}" for each in made["findings"]]
    return {**made, "gate": {"passed": not told, "told": "\n".join(told)}}


def _too_little(exercised: Mapping[str, Any], minimum: int, of: Sequence[str]) -> list[str]:
    """The reason why the gate fails for ``min``; none if enough was exercised.

    :param of: the kinds and names that count; all, if it is empty.
    """
    known = [(kind, one) for kind, each in exercised.items() for one in (*_met(each), *each["notMet"])]
    words = {word for pair in known for word in pair}
    for word in of:
        if word not in words:
            raise errors.invalid_parameter(
                "of", f"Nothing that can be exercised is called {word[:100]!r}.{did_you_mean(word[:100], words)}"
            )
    counted = [pair for pair in known if not of or not set(of).isdisjoint(pair)]
    missing = [name for kind, name in counted if name in exercised[kind]["notMet"]]
    met, all_ = len(counted) - len(missing), len(counted)
    if percent_of(met, all_) >= minimum:
        return []
    return [
        f"Exercised {percent_of(met, all_)} % of {', '.join(of) or 'what can be exercised'} ({met} of {all_});"
        f" at least {minimum} % were wanted. Missing: {', '.join(sorted(missing))}."
    ]


def _met(each: Mapping[str, Any]) -> list[str]:
    return [one["name"] for one in each["met"]]


def percent_of(met: int, known: int) -> int:
    """A share in percent, rounded down, so that 100 means all."""
    return 100 if not known else met * 100 // known


def _exercised(counts: Counter[str], known: Any) -> dict[str, Any]:
    others = sorted(set(counts) - set(known))
    return {
        "percent": percent_of(sum(name in counts for name in known), len(known)),
        "met": [{"name": name, "times": counts[name]} for name in (*known, *others) if name in counts],
        "notMet": [name for name in known if name not in counts],
    }


def _ended(trouble: str, outcome: Outcome, tally: Tally, allow: Collection[str]) -> int:
    """The number of faults of one kind with an outcome."""
    return sum(n for (*ended, by), n in tally.outcomes.items() if ended == [trouble, outcome] and by not in allow)


def _recovery(trouble: str, tally: Tally, allow: Collection[str]) -> dict[str, Any]:
    worst_first = (Outcome.MADE_WORSE, Outcome.NOT_JUDGED, Outcome.GAVE_UP, Outcome.RECOVERED)
    return {
        **{str(outcome): _ended(trouble, outcome, tally, allow) for outcome in Outcome},
        "episodes": [
            each
            for outcome in worst_first
            for (*ended, by), episodes in tally.episodes.items()
            if ended == [trouble, outcome] and by not in allow
            for each in episodes
        ],
    }


def _findings(tally: Tally, allow: Collection[str]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for finding in FINDINGS:
        count, examples = tally.findings[finding.id], tally.found.get(finding.id)
        if examples and finding.id not in allow:
            described = finding.described(examples[0]["detail"])
            made.append({**described, "count": count, "examples": examples, "told": finding.told(count, examples)})
    return made


INCOMPLETE = "It is incomplete: the service was started again meanwhile, and earlier requests are not known any more."


def as_text(made: Mapping[str, Any]) -> str:
    """The report as text for a terminal."""
    about = f"Project {made['projectKey']}" if "projectKey" in made else f"Run {made['run']}"
    of = f" of {made['projects']} projects" if "projects" in made else ""
    lines = [f"{about}: {made['requests']['total']} requests{of}."]
    lines += [INCOMPLETE] if made["incomplete"] else []
    lines += ["", f"Exercised: {made['percent']} %."]
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
