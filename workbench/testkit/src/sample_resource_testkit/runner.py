"""Runs cases in threads, each after the cases that it needs: checks of a server, and scenarios of a client."""

import time
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import SimpleQueue

from sample_resource_testkit.clauses import Clause
from sample_resource_testkit.outcomes import OPEN, CaseResult, ClauseResult, Failed, NotReachable, Outcome, Skipped
from sample_resource_testkit.registry import Case, Check
from sample_resource_testkit.world import Server, World


class CircularNeeds(ValueError):
    """Clauses need each other, so that none of them can run first."""


@dataclass(slots=True)
class _Plan:
    """The checks of the clauses that are run, and which clauses each clause waits for."""

    clauses: Mapping[str, Clause]
    checks: dict[str, list[Check]] = field(default_factory=dict[str, list[Check]])
    needs: dict[str, set[str]] = field(default_factory=dict[str, set[str]])


def plan(clauses: Mapping[str, Clause], checks: Iterable[Check], selected: Collection[str]) -> _Plan:
    """Choose the clauses that have to run: the selected ones, and those that they need.

    :raises ValueError: if a check names a clause that does not exist.
    :raises CircularNeeds: if clauses need each other.
    """
    by_clause: dict[str, list[Check]] = {number: [] for number in clauses}
    for check in checks:
        unknown = [number for number in (check.clause, *check.needs) if number not in clauses]
        if unknown:
            raise ValueError(f"{check.name} names clauses that do not exist: {', '.join(unknown)}")
        by_clause[check.clause].append(check)
    made = _Plan(clauses)
    waiting = list(selected)
    while waiting:
        number = waiting.pop()
        if number not in made.checks:
            made.checks[number] = by_clause[number]
            made.needs[number] = {need for check in by_clause[number] for need in check.needs} - {number}
            waiting += made.needs[number]
    _refuse_circles(made.needs)
    return made


def _refuse_circles(needs: dict[str, set[str]]) -> None:
    left = dict(needs)
    while left:
        free = [number for number, wanted in left.items() if not wanted & left.keys()]
        if not free:
            raise CircularNeeds(f"these clauses need each other: {', '.join(sorted(left))}")
        for number in free:
            del left[number]


Progress = Callable[[int, int, ClauseResult | None], None]
"""Gets the number of cases that are done, the number of all cases, and a clause whose last case is done, or None.

It is called from one thread only.
"""


def unseen(done: int, cases: int, clause: ClauseResult | None) -> None:
    """Show no progress."""


def run(server: Server, chosen: _Plan, jobs: int, progress: Progress = unseen) -> dict[str, ClauseResult]:
    """Run the checks of a plan against a server.

    :param jobs: how many cases run at the same time. Cases of checks with ``alone`` come last, one after the other.
    :return: the results of all clauses that were run, also of those that only others needed.
    """
    return run_with(lambda check, case: run_case(server, check, case), chosen, jobs, progress)


Play = Callable[[Check, Case], CaseResult]


def run_with(play: Play, chosen: _Plan, jobs: int, progress: Progress = unseen) -> dict[str, ClauseResult]:
    """Run a plan with a function that runs one case. Apart from that it works as :func:`run`."""
    return _Run(play, chosen, progress).run(jobs)


class _Run:
    def __init__(self, play: Play, chosen: _Plan, progress: Progress) -> None:
        self._play = play
        self._plan = chosen
        self._progress = progress
        self._results = {
            number: ClauseResult(chosen.clauses[number]) for number in chosen.clauses if number in chosen.checks
        }
        self._done: set[str] = set()
        self._running: dict[Future[CaseResult], str] = {}
        self._ended: SimpleQueue[Future[CaseResult]] = SimpleQueue()
        self._left: dict[str, int] = {}
        self._finished = 0
        self._all = sum(len(check.cases) for checks in chosen.checks.values() for check in checks)

    def run(self, jobs: int) -> dict[str, ClauseResult]:
        with ThreadPoolExecutor(jobs, thread_name_prefix="checks") as threads:
            try:
                self._run(threads)
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                raise
        return self._results

    def _run(self, threads: ThreadPoolExecutor) -> None:
        alone: list[str] = []
        waiting = list(self._results)
        self._progress(0, self._all, None)
        while waiting or self._running or alone:
            ready = [number for number in waiting if self._plan.needs[number] <= self._done]
            waiting = [number for number in waiting if number not in ready]
            for number in ready:
                if any(check.alone for check in self._plan.checks[number]):
                    alone.append(number)
                else:
                    self._start(number, threads)
            if self._running:
                self._collect()
            elif alone:
                self._run_alone(alone.pop(0))

    def _start(self, number: str, threads: ThreadPoolExecutor) -> None:
        checks = self._plan.checks[number]
        self._left[number] = sum(len(check.cases) for check in checks)
        for check in checks:
            for case in check.cases:
                future = threads.submit(self._case, check, case)
                self._running[future] = number
                future.add_done_callback(self._ended.put)
        if not self._left[number]:
            self._end(number)

    def _collect(self) -> None:
        future = self._ended.get()
        self._add(self._running.pop(future), future.result())

    def _run_alone(self, number: str) -> None:
        cases = [(check, case) for check in self._plan.checks[number] for case in check.cases]
        self._left[number] = len(cases)
        for check, case in cases:
            self._add(number, self._case(check, case))

    def _add(self, number: str, result: CaseResult) -> None:
        self._results[number].cases.append(result)
        self._finished += 1
        self._left[number] -= 1
        self._progress(self._finished, self._all, None)
        if not self._left[number]:
            self._end(number)

    def _end(self, number: str) -> None:
        # Threads end in any order; the report lists cases in the order of the code.
        names = [name_of(check, case) for check in self._plan.checks[number] for case in check.cases]
        self._results[number].cases.sort(key=lambda case: names.index(case.name))
        self._done.add(number)
        self._progress(self._finished, self._all, self._results[number])

    def _case(self, check: Check, case: Case) -> CaseResult:
        for need in check.needs:
            if need != check.clause and self._results[need].outcome in OPEN:
                why = OPEN[self._results[need].outcome]
                return CaseResult(name_of(check, case), Outcome.NOT_REACHABLE, reason=f"rests on {need}, which {why}")
        return self._play(check, case)


def name_of(check: Check, case: Case) -> str:
    """The name of a case in reports."""
    return f"{check.name}[{case.name}]" if case.name else check.name


def run_case(server: Server, check: Check, case: Case) -> CaseResult:
    """Run one case, and return its result. Every exception of a check becomes a result."""
    name = name_of(check, case)
    world = World(server, f"{check.clause}/{name}")
    began = time.monotonic()
    outcome, reason, expected, got, exchange = Outcome.PASS, "", "", "", None
    try:
        case.run(world)
    except Skipped as skipped:
        outcome, reason = Outcome.SKIPPED, str(skipped)
    except NotReachable as unreached:
        outcome, reason = Outcome.NOT_REACHABLE, str(unreached)
    except Failed as failed:
        outcome, expected, got, exchange = Outcome.FAIL, failed.expected, failed.got, failed.exchange
    except Exception:  # noqa: BLE001 -- a mistake of the kit ends no run
        outcome, reason = Outcome.ERROR, traceback.format_exc()
    failing = outcome is Outcome.FAIL
    exchanges = tuple(world.exchanges) if failing else ()
    shown = exchanges.index(exchange) if exchange in exchanges else len(exchanges) - 1
    return CaseResult(
        name=name,
        outcome=outcome,
        checks=world.checks,
        reason=reason,
        expected=expected,
        got=got,
        exchanges=exchanges,
        shown=shown if failing else -1,
        elapsed_s=time.monotonic() - began,
    )
