"""The report as JUnit XML for CI systems: a suite for each profile or theme, and a test case for each case."""

import re
from xml.etree import ElementTree

from sample_resource_testkit.outcomes import CaseResult, ClauseResult, Outcome
from sample_resource_testkit.verdict import Failure, Verdict

_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(verdict: Verdict) -> str:
    """The whole verdict as one XML document.

    An expected failure, and a case that is not reachable, are skipped tests with their reason. A line of the expected
    failures that no failing clause matches is a failed test. A clause without checks is a skipped test.
    """
    root = ElementTree.Element("testsuites", name=verdict.terms.command, time=f"{verdict.elapsed_s:.3f}")
    for profile in verdict.terms.groups:
        results = [result for result in verdict.results.values() if result.clause.profile == profile]
        if results:
            _suite(root, profile, results, verdict)
    if verdict.stale:
        name = "expected failures"
        suite = ElementTree.SubElement(root, "testsuite", name=name, timestamp=verdict.began[:19], hostname="")
        for line in verdict.stale:
            test = ElementTree.SubElement(suite, "testcase", name=line, classname=name, time="0.000")
            ElementTree.SubElement(test, "failure", message="it is listed as an expected failure, and does not fail")
        _count(suite, 0.0)
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(root: ElementTree.Element, profile: str, results: list[ClauseResult], verdict: Verdict) -> None:
    suite = ElementTree.SubElement(root, "testsuite", name=profile, timestamp=verdict.began[:19], hostname="")
    for result in results:
        for case in result.cases or [CaseResult("no check", Outcome.SKIPPED)]:
            _case(suite, result, case, verdict)
    _count(suite, sum(result.elapsed_s for result in results))


def _count(suite: ElementTree.Element, elapsed_s: float) -> None:
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("time", f"{elapsed_s:.3f}")


def _case(suite: ElementTree.Element, result: ClauseResult, case: CaseResult, verdict: Verdict) -> None:
    number = result.clause.number
    test = _test(suite, result, case.name, case.elapsed_s)
    if case.outcome is Outcome.FAIL:
        failure = next(found for found in verdict.failures[number] if found.name == case.name)
        message = _clean(failure.message)
        if number in verdict.expected:
            reason = _clean(f"expected failure: {verdict.expected[number]}".removesuffix(": "))
            ElementTree.SubElement(test, "skipped", message=reason).text = message
        else:
            ElementTree.SubElement(test, "failure", message=message).text = _clean(_details(result, failure))
    elif case.outcome is Outcome.ERROR:
        ElementTree.SubElement(test, "error", message="a mistake of the kit").text = _clean(case.reason)
    elif case.outcome is not Outcome.PASS:
        reason = case.reason or result.reason
        ElementTree.SubElement(test, "skipped", message=_clean(f"{case.outcome}: {reason}"))


def _test(suite: ElementTree.Element, result: ClauseResult, name: str, elapsed_s: float) -> ElementTree.Element:
    clause = result.clause
    classname = f"{clause.profile}.{clause.level}.{clause.number.replace('.', '_')}"
    return ElementTree.SubElement(
        suite, "testcase", name=_clean(f"{clause.number} {name}"), classname=classname, time=f"{elapsed_s:.3f}"
    )


def _details(result: ClauseResult, failure: Failure) -> str:
    lines = [f"{result.clause.number} ({result.clause.level}): {result.clause.text}", ""]
    for _, title, text in failure.texts:
        lines += [f"{title}:", text, ""]
    return "\n".join(lines)


def _clean(text: str) -> str:
    """A text without the characters that XML cannot have; they become question marks."""
    return _NOT_IN_XML.sub("?", text)
