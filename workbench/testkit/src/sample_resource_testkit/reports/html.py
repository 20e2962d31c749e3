"""The report as one HTML file, which needs no scripts and no other files, so that it can be sent to a colleague."""

import re
from html import escape
from importlib.resources import files

from sample_resource_testkit.clauses import LEVELS
from sample_resource_testkit.outcomes import ClauseResult, Outcome
from sample_resource_testkit.verdict import Failure, Verdict

_CLASSES = {
    Outcome.PASS: "pass",
    Outcome.FAIL: "fail",
    Outcome.SKIPPED: "skip",
    Outcome.UNSUPPORTED: "skip",
    Outcome.NOT_REACHABLE: "open",
    Outcome.ERROR: "error",
}


def as_html(verdict: Verdict) -> str:
    """The whole verdict as one document."""
    failing = verdict.unexpected_failures
    style = (files("sample_resource_testkit.reports") / "report.css").read_text(encoding="utf-8")
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Conformance of {escape(verdict.url)}</title><style>{style}</style></head><body>",
        f"<h1>{_headline(verdict)}</h1>",
        f'<p class="faint"><code>{escape(verdict.url)}</code>, held against the sample-resource specification by'
        f" sample-resource-testkit {escape(verdict.version)}, {escape(verdict.began.replace('T', ' ')[:16])} UTC:"
        f" {_counts(verdict)},"
        f" {verdict.elapsed_s:.1f} s.</p>",
        _levels(verdict),
        _table(verdict),
    ]
    if failing:
        parts.append(f'<section aria-labelledby="failing"><h2 id="failing">What fails ({len(failing)})</h2>')
        for cause, numbers in verdict.groups:
            if len(numbers) > 1:
                parts.append(f"<h3>{escape(cause)}: {len(numbers)} {verdict.terms.items} wait for this one</h3>")
            parts += [_clause(verdict, number, is_open=len(failing) <= 5) for number in numbers]
        if verdict.shell:
            parts.append('<h2>Variables of the curl lines</h2><p class="faint">Paste these first.</p>')
            parts.append(f"<pre>{escape(chr(10).join(verdict.shell))}</pre>")
        parts.append("</section>")
    if verdict.errors:
        parts.append(f"<h2>Mistakes of the kit ({len(verdict.errors)})</h2>")
        parts += [_clause(verdict, number, is_open=True) for number in verdict.errors]
    parts.append('<section aria-labelledby="clauses"><h2 id="clauses">' + f"All {verdict.terms.items}</h2>")
    parts.append(_filter(verdict))
    parts += [_clause(verdict, number) for number in verdict.results]
    parts.append("</section></body></html>")
    return "\n".join(parts) + "\n"


def _counts(verdict: Verdict) -> str:
    count = f"{len(verdict.results)} {verdict.terms.items}"
    if not verdict.terms.has_cases:
        return count
    return f"{verdict.checks:,} checks in {verdict.cases:,} cases of {count}"


def _headline(verdict: Verdict) -> str:
    terms, count = verdict.terms, len(verdict.unexpected_failures)
    if count:
        what, verb = (terms.item, "fails") if count == 1 else (terms.items, "fail")
        return f'{count} {what} <span class="is-fail">{verb}</span>'
    if verdict.stale:
        return f"Listed as expected failures, and not failing: {escape(', '.join(verdict.stale))}"
    if verdict.failing:
        return f"No {terms.item} fails that was not expected to"
    return f'No {terms.item} <span class="is-pass">fails</span>'


def _levels(verdict: Verdict) -> str:
    """A card for each level, with the share that passes and a bar."""
    cards: list[str] = []
    for level in LEVELS:
        counts = {outcome: verdict.count(outcome, level) for outcome in verdict.terms.outcomes}
        total = sum(counts.values())
        if not total:
            continue
        bar = "".join(
            f'<i class="{_CLASSES[outcome]}" style="width:{100 * count / total:.2f}%"></i>'
            for outcome, count in counts.items()
            if count
        )
        told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
        cards.append(
            f'<div class="level"><span class="faint">{level}: {verdict.terms.levels[level]}</span>'
            f"<b>{counts[Outcome.PASS]} of {total} pass</b>"
            f'<div class="bar" role="img" aria-label="{told}">{bar}</div><span class="faint">{told}</span></div>'
        )
    return f'<div class="levels">{"".join(cards)}</div>'


def _table(verdict: Verdict) -> str:
    head = "".join(f"<th scope='col'>{outcome}</th>" for outcome in verdict.terms.outcomes)
    rows: list[str] = []
    for profile, level, counts in verdict.rows():
        cells = "".join(
            f'<td class="is-{_CLASSES[outcome]}">{count}</td>' if count else '<td class="zero">0</td>'
            for outcome, count in zip(verdict.terms.outcomes, counts, strict=True)
        )
        rows.append(f"<tr><td>{profile}</td><td>{level}</td>{cells}</tr>")
    columns = f"<tr><th scope='col'>{verdict.terms.group}</th><th scope='col'>level</th>{head}</tr>"
    table = f"<table><thead>{columns}</thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<h2>By {verdict.terms.group}</h2><div class="wide">{table}</div>'


def _filter(verdict: Verdict) -> str:
    choices = [
        ("all", "all", " checked"),
        *((_CLASSES[outcome], str(outcome), "") for outcome in verdict.terms.outcomes),
    ]
    labels = "".join(
        f'<label><input type="radio" name="show" id="show-{name}"{checked}> {told}</label>'
        for name, told, checked in choices
    )
    return f'<fieldset class="filter"><legend class="faint">Show</legend>{labels}</fieldset>'


def _clause(verdict: Verdict, number: str, *, is_open: bool = False) -> str:
    result = verdict.results[number]
    clause, name = result.clause, _CLASSES[result.outcome]
    told = str(result.outcome)
    if result.outcome is Outcome.FAIL and number in verdict.expected:
        told = "fail, expected"
    inside = [f'<p class="faint">{verdict.terms.source}: {escape(clause.source)}</p>']
    if result.reason:
        tag = "pre" if result.outcome is Outcome.ERROR else "p"
        inside.append(f"<{tag}>{escape(result.reason)}</{tag}>")
    if verdict.expected.get(number):
        inside.append(f"<p>Expected to fail: {escape(verdict.expected[number])}</p>")
    inside += [_failure(failure) for failure in verdict.failures.get(number, ())]
    inside += _cases(verdict, result)
    return (
        f'<details class="d-{name}"{" open" if is_open else ""}><summary><span class="number">{escape(number)}</span>'
        f'<span class="kind">{clause.level}, {clause.profile}</span><span class="what">{_marked(clause.text)}</span>'
        f'<span class="outcome is-{name}">{told}</span></summary><div class="inside">{"".join(inside)}</div></details>'
    )


def _failure(failure: Failure) -> str:
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in failure.facts)
    parts = [f"<dl>{facts}</dl>"]
    parts += [f'<p class="faint">{title}</p><pre>{escape(text)}</pre>' for _, title, text in failure.texts]
    return "".join(parts)


def _cases(verdict: Verdict, result: ClauseResult) -> list[str]:
    others = [case for case in result.cases if case.outcome is not Outcome.FAIL]
    if not others or not verdict.terms.has_cases:
        return []
    items = "".join(
        f'<li>{escape(case.name)}: <span class="is-{_CLASSES[case.outcome]}">{case.outcome}</span>'
        f"{f', {escape(case.reason)}' if case.reason else ''}</li>"
        for case in others
    )
    return [f"<ul>{items}</ul>"]


def _marked(text: str) -> str:
    """The Markdown of a clause as HTML: code between backticks, everything else as it is."""
    parts = re.split(r"(``.+?``|`[^`]+`)", text)
    return "".join(
        f"<code>{escape(part.strip('`').strip())}</code>" if part.startswith("`") else escape(part) for part in parts
    )
