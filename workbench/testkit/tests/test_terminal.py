"""What a person sees on a terminal, and what a log gets."""

import json
from io import StringIO

from sample_resource_testkit.clauses import Clause
from sample_resource_testkit.outcomes import CaseResult, ClauseResult, Outcome
from sample_resource_testkit.reports.as_json import as_json
from sample_resource_testkit.reports.junit import as_junit
from sample_resource_testkit.reports.terminal import ProgressLine, as_text
from sample_resource_testkit.verdict import OF_SERVERS, Failure, Verdict


def clause(number: str, outcome: Outcome, level: str = "must", cases: int = 1) -> ClauseResult:
    made = Clause(number, level, "core", "here", "Theme", "It `holds`.")
    reason = "" if outcome in (Outcome.PASS, Outcome.FAIL) else "needs luck"
    return ClauseResult(made, [CaseResult(f"case {case}", outcome, 2, reason) for case in range(cases)])


def verdict(*results: ClauseResult, **more: object) -> Verdict:
    failures = {
        result.clause.number: tuple(
            Failure(case.name, "not this", (("case", case.name), ("expected", "this"), ("got", "that")))
            for case in result.cases
        )
        for result in results
        if result.outcome is Outcome.FAIL
    }
    found = {result.clause.number: result for result in results}
    return Verdict("http://a", found, failures, **more)  # pyright: ignore[reportArgumentType] -- the rest of its fields


def test_must_and_should_are_counted_apart() -> None:
    text = as_text(
        verdict(
            clause("1", Outcome.PASS, cases=3),
            clause("2", Outcome.PASS, "should"),
            clause("3", Outcome.SKIPPED, "should"),
            clause("4", Outcome.NOT_REACHABLE, "should"),
        )
    )
    rows = [" ".join(line.split()) for line in text.splitlines() if line.startswith(("core", "all"))]
    wanted = ["core must 1 - - - -", "core should 1 - 1 1 -", "all must 1 - - - -", "all should 1 - 1 1 -"]
    assert rows == wanted
    assert "12 checks in 6 cases of 4 clauses against http://a" in text
    assert "skipped: needs luck\n  3\n" in text
    assert text.endswith("No clause fails.\n")


def test_a_mistake_of_the_kit_is_in_all_reports() -> None:
    broken = ClauseResult(
        clause("1", Outcome.PASS).clause, [CaseResult("case", Outcome.ERROR, 1, "Traceback\n  <line>")]
    )
    told = verdict(broken, clause("2", Outcome.PASS))
    assert not told.is_as_expected
    text = as_text(told)
    assert "ERROR 1: a mistake of the kit\n  Traceback\n    <line>\n" in text
    assert text.endswith("1 could not be judged, by a mistake of the kit.\n")
    assert '<testcase name="1 case"' in as_junit(told)
    assert '<error message="a mistake of the kit">Traceback\n  &lt;line&gt;</error>' in as_junit(told)
    assert [each["outcome"] for each in json.loads(as_json(told))["clauses"]] == ["error", "pass"]


def test_what_was_expected_is_told_apart() -> None:
    failing, passing = clause("1", Outcome.FAIL), clause("2", Outcome.PASS)
    text = as_text(verdict(failing, passing, expected={"1": "it is old"}))
    assert "fail as expected:\n  1 it is old\n" in text
    assert "FAIL 1" not in text
    text = as_text(verdict(clause("3", Outcome.FAIL), passing, expected={"2": ""}, stale=("2",)))
    assert "2 is listed as an expected failure, and does not fail" in text
    assert text.endswith("1 clause fails, 1 listed as expected to fail does not fail.\n")


def test_progress_is_one_line_that_goes_away() -> None:
    stream = StringIO()
    line = ProgressLine(stream, OF_SERVERS, shown=True)
    line(0, 4, None)
    line(4, 4, clause("1", Outcome.FAIL))
    line.end()
    assert stream.getvalue().endswith("[########################] 4 of 4 cases, 1 clause fails\r\x1b[K")
