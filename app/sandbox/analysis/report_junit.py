"""The report as JUnit XML, as build servers show it."""

from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from app.sandbox.analysis.coverage import State
from app.sandbox.analysis.findings import FINDINGS

_WHY_SKIPPED = {
    State.NOT_EXERCISED: "no request exercises it",
    State.NOT_OBSERVABLE: "no journal can show it",
}


def as_junit(made: Mapping[str, Any]) -> str:
    """A report as JUnit XML.

    A clause is a test that passes if it was exercised, and else is skipped. A finding, and a fault that the client has
    made worse, are tests that fail.
    """
    name = made.get("run") or made["projectKey"]
    suites = Element("testsuites", name=f"sample-resource report on {name}")
    for profile in made["specification"]["profiles"]:
        suite = SubElement(suites, "testsuite", name=f"specification.{profile['profile']}")
        for clause in made["specification"]["clauses"]:
            if clause["profile"] == profile["profile"]:
                case = _case(suite, f"{clause['number']} {clause['text']}")
                if clause["state"] != State.EXERCISED:
                    SubElement(case, "skipped", message=_WHY_SKIPPED[State(clause["state"])])
    suite = SubElement(suites, "testsuite", name="findings")
    found = {each["id"]: each for each in made["findings"]}
    for finding in FINDINGS:
        case = _case(suite, f"{finding.id}: {finding.title}")
        if finding.id in found:
            _fail(case, f"{found[finding.id]['count']} times. {finding.instead}", _places(found[finding.id]))
    suite = SubElement(suites, "testsuite", name="recovery")
    for trouble, outcomes in made["recovery"].items():
        case = _case(suite, trouble)
        if outcomes["madeWorse"]:
            told = [each["reason"] for each in outcomes["episodes"] if each["outcome"] == "madeWorse"]
            _fail(case, f"made worse {outcomes['madeWorse']} times", told)
        elif not outcomes["recovered"] and not outcomes["gaveUp"]:
            SubElement(case, "skipped", message="it did not happen")
    for suite in suites:
        for name, tag in (("tests", "testcase"), ("failures", "testcase/failure"), ("skipped", "testcase/skipped")):
            suite.set(name, str(len(suite.findall(tag))))
    return tostring(suites, "unicode", xml_declaration=True) + "\n"


def _case(suite: Element, name: str) -> Element:
    return SubElement(suite, "testcase", classname=suite.get("name", ""), name=_clean(name))


def _fail(case: Element, message: str, lines: Iterable[str]) -> None:
    SubElement(case, "failure", message=_clean(message)).text = _clean("\n".join(lines))


def _places(finding: Mapping[str, Any]) -> Iterable[str]:
    for each in finding.get("examples", ()):
        yield f"{each['projectKey']} request {each['request']}: {each['method']} {each['target']}: {each['detail']}"
    for number in finding["requests"]:
        yield f"request {number}"


def _clean(text: str) -> str:
    """Text that XML can hold: control characters as escapes."""
    return "".join(each if each >= " " or each in "\n\t" else f"\\x{ord(each):02x}" for each in text if each != "\x7f")
