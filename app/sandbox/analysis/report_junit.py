"""The report as JUnit XML, as build servers show it."""

from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from app.sandbox.analysis.findings import FINDINGS


def as_junit(made: Mapping[str, Any]) -> str:
    """A report as JUnit XML.

    What can be exercised is a test that passes if it was, and else is skipped. A finding, and a fault that the client
    has made worse, are tests that fail; what could not be judged is skipped with the reason.
    """
    name = made.get("run") or made["projectKey"]
    suites = Element("testsuites", name=f"sample-resource report on {name}")
    for kind, exercised in made["exercised"].items():
        suite = SubElement(suites, "testsuite", name=f"exercised.{kind}")
        for each in exercised["met"]:
            _case(suite, each["name"])
        for each in exercised["notMet"]:
            SubElement(_case(suite, each), "skipped", message="no request exercises it")
    suite = SubElement(suites, "testsuite", name="findings")
    found = {each["id"]: each for each in made["findings"]}
    for finding in FINDINGS:
        case = _case(suite, f"{finding.id}: {finding.title}")
        if finding.id in found:
            _fail(case, f"{found[finding.id]['count']} times. {finding.instead}", _places(found[finding.id]))
    suite = SubElement(suites, "testsuite", name="recovery")
    for trouble, outcomes in made["recovery"].items():
        case = _case(suite, trouble)
        told = {each["outcome"]: each["reason"] for each in outcomes["episodes"]}
        if outcomes["madeWorse"]:
            reasons = [each["reason"] for each in outcomes["episodes"] if each["outcome"] == "madeWorse"]
            _fail(case, f"made worse {outcomes['madeWorse']} times", reasons)
        elif outcomes["notJudged"]:
            SubElement(case, "skipped", message=f"not judged: {told['notJudged']}")
        elif not outcomes["recovered"] and not outcomes["gaveUp"]:
            SubElement(case, "skipped", message="it did not happen")
    for suite in suites:
        for count, tag in (("tests", "testcase"), ("failures", "testcase/failure"), ("skipped", "testcase/skipped")):
            suite.set(count, str(len(suite.findall(tag))))
    return tostring(suites, "unicode", xml_declaration=True) + "\n"


def _case(suite: Element, name: str) -> Element:
    return SubElement(suite, "testcase", classname=suite.get("name", ""), name=_clean(name))


def _fail(case: Element, message: str, lines: Iterable[str]) -> None:
    SubElement(case, "failure", message=_clean(message)).text = _clean("\n".join(lines))


def _places(finding: Mapping[str, Any]) -> Iterable[str]:
    for each in finding["examples"]:
        yield f"{each['projectKey']} request {each['request']}: {each['method']} {each['target']}: {each['detail']}"


def _clean(text: str) -> str:
    """Text that XML can hold: control characters as escapes."""
    return "".join(each if each >= " " or each in "\n\t" else f"\\x{ord(each):02x}" for each in text if each != "\x7f")
