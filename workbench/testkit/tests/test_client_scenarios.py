"""The scenarios for clients: their numbers and clauses, and the reference adapter, which passes them."""

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from client_faults import FAULTS
from sample_resource_testkit.client.messages import Wrong
from sample_resource_testkit.client.operations import Call, expected, operations
from sample_resource_testkit.client.registry import BASICS, scenario, scenarios
from sample_resource_testkit.client.runner import Cast, Result, run, settled
from sample_resource_testkit.client.scenarios.requests_operations import ALONE, TOGETHER, optional
from sample_resource_testkit.outcomes import Outcome
from sample_resource_testkit.sandbox import SandboxServer

PLANTED = (sys.executable, str(Path(__file__).with_name("planted_adapter.py")))

KNOWN = scenarios()

PART = [number for place, number in enumerate(KNOWN) if place % 4 == 1]
"""Of the scenarios that the reference adapter passes in ``make test``; ``make test-slow ARGS=-madapters`` takes all."""

FAULTS_TRIED = list(FAULTS.values())[3::20]
"""``make test-slow ARGS=-madapters`` takes all."""


def played(
    server: SandboxServer, numbers: list[str], *fault: str, removes: bool = False, jobs: int = 3
) -> dict[str, Result]:
    """What becomes of scenarios and of those that they rest on with the reference adapter, and a fault in it.

    :param removes: whether projects are removed: a sandbox has room for 1,000.
    """
    cast = Cast((*PLANTED, *fault), server, timeout_s=20, start_timeout_s=60, removes=removes)
    return run(cast, KNOWN, numbers, jobs)


def test_each_scenario_says_what_is_true_of_a_right_client() -> None:
    texts = [each.text for each in KNOWN.values()]
    assert len(set(texts)) == len(texts)
    assert [text for text in texts if text.endswith(".") or len(text) > 170] == []


def test_the_scenarios_call_each_operation_with_each_parameter() -> None:
    assert sorted(BASICS.keys() ^ operations().keys()) == [], "BASICS in client/registry.py has a row for each"
    parameters = {parameter for operation in operations() for parameter in optional(operation)}
    lacking = sorted(parameters - (ALONE.keys() & TOGETHER.keys()))
    assert lacking == [], "ALONE and TOGETHER in scenarios/requests_operations.py have a row for each parameter"


def test_the_reference_adapter_knows_each_operation() -> None:
    text = (Path(__file__).parents[1] / "clients/httpx/adapter.py").read_text("utf-8")
    lacking = [operation for operation in operations() if not re.search(rf"\b{operation}\b", text)]
    assert lacking == [], "workbench/testkit/clients/httpx/adapter.py lacks a row for these"


def test_a_number_that_is_taken_is_refused() -> None:
    with pytest.raises(ValueError, match="C-req-1 is taken"):
        scenario("C-req-1")(lambda _: None)


def test_the_reference_adapter_passes_a_part_of_the_scenarios(sample_resource: SandboxServer) -> None:
    found = played(sample_resource, PART)
    wrong = {number: result.reason for number, result in found.items() if result.outcome is not Outcome.PASS}
    assert wrong == {}


def test_what_clauses_permit_is_no_failure_and_nothing_rests_on_it(sample_resource: SandboxServer) -> None:
    musts = [number for number, each in KNOWN.items() if each.level == "must"]
    found = played(sample_resource, musts, "permitted", jobs=6)
    assert {number: found[number].reason for number in musts if found[number].outcome is not Outcome.PASS} == {}


@pytest.mark.parametrize("fault", FAULTS_TRIED, ids=lambda fault: fault.name)
def test_a_planted_fault_fails_the_scenarios_that_speak_of_it(fault: Any, sample_resource: SandboxServer) -> None:
    name, numbers = fault.name, list(fault.scenarios)
    found = played(sample_resource, numbers, name)
    assert {number for number, result in found.items() if result.outcome is Outcome.FAIL} == set(numbers)


def test_each_scenario_speaks_of_a_fault() -> None:
    spoken_of = {number for fault in FAULTS.values() for number in fault.scenarios}
    assert sorted(spoken_of ^ KNOWN.keys()) == [], "plant a fault in workbench/testkit/tests/client_faults/"


def test_a_mistake_of_the_kit_is_no_failure_of_the_client(sample_resource: SandboxServer) -> None:
    def breaks(_: Any) -> None:
        raise KeyError("of the kit")

    known = {**KNOWN, "C-req-2": replace(KNOWN["C-req-2"], play=breaks)}
    cast = Cast(PLANTED, sample_resource, timeout_s=20, start_timeout_s=60)
    result = run(cast, known, ["C-req-2", "C-req-3"], jobs=1)
    assert [each.outcome for each in result.values()] == [Outcome.ERROR, Outcome.PASS]
    assert result["C-req-2"].reason.endswith("KeyError: 'of the kit'\n")


def outcome_of(number: str, *wrong: Wrong) -> Result:
    if not wrong:
        return Result(KNOWN[number], Outcome.PASS)
    wrong[0].also = wrong[1:]
    return Result(KNOWN[number], Outcome.FAIL, wrong[0].reason, wrong[0])


def of_request(cause: str) -> Wrong:
    return Wrong(f"the request has {cause}", cause=cause, is_request=True)


def test_one_cause_is_one_failure() -> None:
    found = settled(
        [
            outcome_of("C-req-31", of_request("brackets")),
            outcome_of("C-req-33", of_request("brackets"), of_request("no sort")),
            outcome_of("C-req-107", of_request("no sort"), of_request("brackets")),
            outcome_of("C-req-108"),
            outcome_of("C-ans-11", of_request("brackets")),
            outcome_of("C-ans-12", of_request("something new")),
            outcome_of("C-err-9", Wrong("no version", cause="errors without currentVersion")),
            outcome_of("C-err-49", Wrong("no error", cause="errors of the network")),
            outcome_of("C-err-60", Wrong("no connection", cause="errors of the network")),
            outcome_of("C-err-29", Wrong("no version", cause="errors without currentVersion")),
        ]
    )
    assert {number: (str(result.outcome), result.reason) for number, result in found.items()} == {
        "C-req-31": ("fail", "the request has brackets"),
        "C-req-33": ("fail", "the request has no sort"),
        "C-req-107": ("not reachable", "rests on C-req-33, which fails: no sort"),
        "C-req-108": ("pass", ""),
        "C-ans-11": ("not reachable", "rests on C-req-31, which fails: brackets"),
        "C-ans-12": ("fail", "the request has something new"),
        "C-err-9": ("fail", "no version"),
        "C-err-49": ("fail", "no error"),
        "C-err-60": ("not reachable", "rests on C-err-49, which fails"),
        "C-err-29": ("fail", "no version"),
    }
    assert found["C-ans-11"].cause == found["C-req-31"].cause == "brackets"


def test_an_argument_that_an_operation_does_not_have_is_a_mistake_of_the_scenario() -> None:
    with pytest.raises(ValueError, match="listResources has no limt"):
        expected(Call("listResources", {"limt": 5}), "p")


def test_a_request_is_told_in_its_usual_spelling() -> None:
    call = Call("getResourceByKey", {"key": "a/b c", "If-Match": '"1"'})
    assert expected(call, "p").told() == 'GET /p/resource/key=a%2Fb%20c\nIf-Match: "1"'
    form = expected(Call("searchProductProjections", {"limit": 1}, {"text": {"en": ["a b"]}, "fuzzy": True}), "p")
    assert re.fullmatch(r"POST /p/resource/[a-z-]+\?limit=1\nContent-Type: .+\n\ntext.en=a\+b&fuzzy=true", form.told())
