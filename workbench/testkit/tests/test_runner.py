"""Cases run after what they rest on, and end in one of four ways."""

import threading

import pytest
from sample_resource_testkit.access import FixedToken, Vault
from sample_resource_testkit.clauses import Clause
from sample_resource_testkit.outcomes import ClauseResult, Failed, NotReachable, Outcome, Skipped
from sample_resource_testkit.registry import Case, Check
from sample_resource_testkit.runner import CircularNeeds, plan, run
from sample_resource_testkit.world import Server, World
from stub import Stub, http

CLAUSES = {number: Clause(number, "must", "core", "here", "Theme", "It holds.") for number in ("1", "2", "3", "4")}


def passes(_: World) -> None:
    pass


def fails(_: World) -> None:
    raise Failed("this", "that")


def breaks(_: World) -> None:
    raise KeyError("objectTypeProperty")


def skips(_: World) -> None:
    raise Skipped("needs luck")


def is_not_reachable(_: World) -> None:
    raise NotReachable("no way")


def check_of(clause: str, *functions: object, needs: tuple[str, ...] = (), alone: bool = False) -> Check:
    cases = tuple(Case(str(position), function) for position, function in enumerate(functions))  # pyright: ignore[reportArgumentType] -- functions of a world
    return Check(clause, "check", needs, alone, cases)


def results(stub: Stub, *checks: Check, selected: tuple[str, ...] = ("1", "2", "3", "4")) -> dict[str, ClauseResult]:
    server = Server(stub.transport, FixedToken(Vault(), "t", "p", None), "tag")
    return run(server, plan(CLAUSES, checks, selected), jobs=4)


def outcomes(found: dict[str, ClauseResult]) -> dict[str, Outcome]:
    return {number: result.outcome for number, result in found.items()}


def test_a_clause_has_the_outcome_of_its_cases(stub: Stub) -> None:
    found = results(
        stub,
        check_of("1", passes, fails, is_not_reachable),
        check_of("2", passes, is_not_reachable, skips),
        check_of("3", skips, passes),
        check_of("4", skips),
    )
    assert list(outcomes(found).values()) == [Outcome.FAIL, Outcome.NOT_REACHABLE, Outcome.PASS, Outcome.SKIPPED]
    assert found["2"].reason == "no way"
    assert found["4"].reason == "needs luck"
    assert [case.name for case in found["1"].cases] == ["check[0]", "check[1]", "check[2]"]


@pytest.mark.parametrize(("before", "reason"), [(fails, "which fails"), (is_not_reachable, "which is not reachable")])
def test_what_rests_on_a_failing_clause_is_not_reachable(stub: Stub, before: object, reason: str) -> None:
    found = results(
        stub, check_of("3", passes, needs=("2",)), check_of("2", passes, needs=("1",)), check_of("1", before)
    )
    assert [found[number].outcome for number in ("2", "3")] == [Outcome.NOT_REACHABLE] * 2
    assert found["2"].reason == f"rests on 1, {reason}"
    assert found["3"].reason == "rests on 2, which is not reachable"


def test_a_mistake_of_the_kit_is_no_failure_of_the_server(stub: Stub) -> None:
    found = results(stub, check_of("1", breaks, passes), check_of("2", passes, needs=("1",)), selected=("1", "2"))
    assert outcomes(found) == {"1": Outcome.ERROR, "2": Outcome.NOT_REACHABLE}
    (case, _) = found["1"].cases
    assert case.reason.startswith("Traceback (most recent call last):\n")
    assert case.reason.endswith("KeyError: 'objectTypeProperty'\n")
    assert found["2"].reason == "rests on 1, which is an error of the kit"


def test_a_failure_keeps_its_requests_and_a_pass_keeps_none(stub: Stub) -> None:
    stub.answer = lambda _: http(200)

    def asks_and_fails(world: World) -> None:
        world.get("/first")
        world.get("/second").expect_status(404)

    def asks(world: World) -> None:
        world.get("/first").expect_status(200)

    failed, passed = results(stub, check_of("1", asks_and_fails, asks))["1"].cases
    assert [exchange.request.target for exchange in failed.exchanges] == ["/p/resource/first", "/p/resource/second"]
    assert (failed.shown, failed.checks, passed.exchanges, passed.checks) == (1, 1, (), 1)


def test_cases_run_at_once_and_those_alone_by_themselves(stub: Stub) -> None:
    together = threading.Barrier(4)
    running: list[int] = []

    def meets(_: World) -> None:
        running.append(1)
        together.wait(5)
        running.pop()

    def sees_nobody(_: World) -> None:
        if running:
            raise Failed("nobody", "others")

    found = results(
        stub, check_of("1", sees_nobody, alone=True), check_of("2", *[meets] * 8), check_of("3", *[meets] * 4)
    )
    assert set(outcomes({number: found[number] for number in ("1", "2", "3")}).values()) == {Outcome.PASS}


def test_clauses_that_need_each_other_are_refused() -> None:
    checks = (
        check_of("1", passes, needs=("2",)),
        check_of("2", passes, needs=("3",)),
        check_of("3", passes, needs=("1",)),
    )
    with pytest.raises(CircularNeeds, match="1, 2, 3"):
        plan(CLAUSES, checks, ["1"])
