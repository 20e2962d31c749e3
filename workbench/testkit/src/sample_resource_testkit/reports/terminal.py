"""The report for a terminal or a log, and the progress of a run."""

import shutil
import textwrap
import time
from typing import TextIO

from sample_resource_testkit.outcomes import ClauseResult, Outcome
from sample_resource_testkit.verdict import Failure, Terms, Verdict

_SHOWN_WHOLE = 20
"""The most failing clauses, one for each cause, whose requests and answers are shown. Of others only the message is."""

_MARKS = {
    Outcome.PASS: "32",
    Outcome.FAIL: "31;1",
    Outcome.SKIPPED: "33",
    Outcome.UNSUPPORTED: "33",
    Outcome.NOT_REACHABLE: "35",
    Outcome.ERROR: "31;1",
}


class Style:
    """Colours, if the output can show them."""

    def __init__(self, *, coloured: bool) -> None:
        self._coloured = coloured

    def paint(self, text: str, code: str) -> str:
        """A text in a colour of ANSI terminals."""
        return f"\x1b[{code}m{text}\x1b[0m" if self._coloured else text


class ProgressLine:
    """A line with the progress of a run. It is shown only on a terminal."""

    def __init__(self, stream: TextIO, terms: Terms, *, shown: bool) -> None:
        self._stream = stream
        self._terms = terms
        self._shown = shown
        self._failing = 0
        self._next = 0.0

    def __call__(self, done: int, cases: int, clause: ClauseResult | None) -> None:
        """Show the progress, ten times a second at most."""
        if clause is not None and clause.outcome is Outcome.FAIL:
            self._failing += 1
        now = time.monotonic()
        if not self._shown or (now < self._next and done < cases):
            return
        self._next = now + 0.1
        width = 24
        full = width * done // max(1, cases)
        failing = f", {_fail(self._failing, self._terms)}" if self._failing else ""
        self._stream.write(f"\r\x1b[K[{'#' * full}{'.' * (width - full)}] {done} of {cases} cases{failing}")
        self._stream.flush()

    def end(self) -> None:
        """Remove the line."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def as_text(verdict: Verdict, *, coloured: bool = False, details: str = "") -> str:
    """The whole verdict as text.

    :param details: the file that describes each failure in full; empty if there is no such file.
    """
    style = Style(coloured=coloured)
    lines: list[str] = []
    failing = verdict.unexpected_failures
    if failing and verdict.shell:
        lines += ["The curl lines below use these variables:", *(f"  {line}" for line in verdict.shell), ""]
    shown = 0
    for cause, numbers in verdict.groups:
        fails = [number for number in numbers if number in failing]
        if len(numbers) > 1:
            told = f"{cause}: {len(numbers)} {verdict.terms.items} have this cause"
            lines += [style.paint(told, "1"), ""]
        for position, number in enumerate(fails):
            is_whole = not position and shown < _SHOWN_WHOLE
            shown += is_whole
            lines += _failing(verdict.results[number], verdict.failures[number], style, whole=is_whole)
        if resting := [number for number in numbers if number not in failing]:
            lines += [*_wrapped(f"not reachable: {', '.join(resting)}"), ""]
    if shown < len(failing):
        where = details or "a file: --json FILE"
        lines += [f"Each failure with all that was sent and answered is in {where}.", ""]
    lines += _others(verdict, style)
    lines += _table(verdict, style)
    lines += _conclusion(verdict, style)
    return "\n".join(lines) + "\n"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _width(), initial_indent="  ", subsequent_indent="  ")


def _width() -> int:
    return max(60, min(120, shutil.get_terminal_size((100, 24)).columns))


def _failing(result: ClauseResult, failures: tuple[Failure, ...], style: Style, *, whole: bool) -> list[str]:
    clause = result.clause
    first = failures[0]
    lines = [style.paint(f"FAIL {clause.number} ({clause.level}, {clause.profile})", _MARKS[Outcome.FAIL])]
    lines += _wrapped(clause.text)
    lines += [f"  {name:<10}{text}".rstrip() for name, text in first.facts]
    for label, _, text in first.texts if whole else ():
        lines += [
            f"  {label if not position else '':<10}{line}".rstrip() for position, line in enumerate(text.splitlines())
        ]
    if len(failures) > 1:
        names = ", ".join(failure.name for failure in failures[1:6])
        more = f" and {len(failures) - 6} more" if len(failures) > 6 else ""
        lines.append(f"  also      {names}{more}")
    return [*lines, ""]


def _others(verdict: Verdict, style: Style) -> list[str]:
    """Lines on the undecided clauses by their reasons, and on the expected failures that did not fail."""
    lines: list[str] = []
    for number in verdict.errors:
        lines.append(style.paint(f"ERROR {number}: a mistake of the kit", _MARKS[Outcome.ERROR]))
        lines += [f"  {line}" for line in verdict.results[number].reason.splitlines()]
    grouped = {number for _, numbers in verdict.groups for number in numbers}
    for outcome in (Outcome.NOT_REACHABLE, Outcome.UNSUPPORTED, Outcome.SKIPPED):
        by_reason: dict[str, list[str]] = {}
        for number, result in verdict.results.items():
            if result.outcome is outcome and number not in grouped:
                by_reason.setdefault(result.reason, []).append(number)
        for reason, numbers in by_reason.items():
            head = style.paint(f"{outcome}: {reason}", _MARKS[outcome])
            lines += [head, *_wrapped(", ".join(numbers))]
    known = [number for number in verdict.failing if number in verdict.expected]
    if known:
        lines += ["fail as expected:", *(f"  {number} {verdict.expected[number]}".rstrip() for number in known)]
    for line in verdict.stale:
        lines.append(style.paint(f"{line} is listed as an expected failure, and does not fail", _MARKS[Outcome.FAIL]))
    return [*lines, ""] if lines else []


def _table(verdict: Verdict, style: Style) -> list[str]:
    """A table with the counts of each outcome by group and level, and with the totals of each level."""
    outcomes = verdict.terms.outcomes
    head = f"{'':10} {'':7}" + "".join(f"{outcome:>15}" for outcome in outcomes)
    rows = [(f"{profile:10} {level:7}", counts) for profile, level, counts in verdict.rows()]
    sums = [(f"{'all':10} {level:7}", counts) for level, counts in verdict.totals() if any(counts)]
    lines = [style.paint(head, "1")]
    for name, counts in (*rows, *sums):
        cells = [
            style.paint(f"{count:>15}", _MARKS[outcome]) if count else f"{'-':>15}"
            for outcome, count in zip(outcomes, counts, strict=True)
        ]
        lines.append(name + "".join(cells))
    return lines


def _conclusion(verdict: Verdict, style: Style) -> list[str]:
    terms, count = verdict.terms, len(verdict.results)
    of = "" if not terms.has_cases else f"{verdict.checks} checks in {verdict.cases} cases of "
    lines = ["", f"{of}{count} {terms.items} against {verdict.url}, {verdict.elapsed_s:.1f} s"]
    unexpected, stale = len(verdict.unexpected_failures), len(verdict.stale)
    if verdict.is_as_expected:
        told = f"No {terms.item} fails" if not verdict.failing else f"No {terms.item} fails that was not expected to"
        return [*lines, style.paint(f"{told}.", _MARKS[Outcome.PASS])]
    parts = [_fail(unexpected, terms)] if unexpected else []
    if verdict.errors:
        parts.append(f"{len(verdict.errors)} could not be judged, by a mistake of the kit")
    if stale:
        parts.append(f"{stale} listed as expected to fail {'does' if stale == 1 else 'do'} not fail")
    return [*lines, style.paint(f"{', '.join(parts)}.", _MARKS[Outcome.FAIL])]


def _fail(count: int, terms: Terms) -> str:
    return f"1 {terms.item} fails" if count == 1 else f"{count} {terms.items} fail"
