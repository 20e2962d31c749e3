"""Puts an adapter through scenarios: several processes of it at once, each with one scenario at a time."""

import contextlib
import threading
import time
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sample_resource_testkit.client.adapter import Adapter, AdapterFailed, Hello
from sample_resource_testkit.client.messages import Unsupported, Wrong
from sample_resource_testkit.client.registry import BASICS, Scenario
from sample_resource_testkit.client.stage import Shared, Stage
from sample_resource_testkit.outcomes import CaseResult, ClauseResult, NotReachable, Outcome
from sample_resource_testkit.sandbox import SandboxError, SandboxServer

Trace = Callable[[str, str], None]
"""Gets the number of the scenario, and a line."""

Progress = Callable[[int, int, ClauseResult | None], None]

_OPEN = (Outcome.FAIL, Outcome.NOT_REACHABLE)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a scenario.

    :param wrong: of one that failed, what is wrong.
    :param log: what the adapter wrote to stderr meanwhile.
    """

    scenario: Scenario
    outcome: Outcome
    reason: str = ""
    wrong: Wrong | None = None
    log: str = ""
    elapsed_s: float = 0.0

    def as_clause(self) -> ClauseResult:
        """The result in the form of what reports count."""
        case = CaseResult(self.scenario.number, self.outcome, 1, self.reason, elapsed_s=self.elapsed_s)
        return ClauseResult(self.scenario.as_clause(), [case])


@dataclass
class Cast:
    """What a run needs.

    :param command: the program of the adapter and its arguments.
    :param timeout_s: for one answer of it.
    :param start_timeout_s: for its first answer, since a program may have to be compiled or warm up.
    :param seed: of the values that scenarios draw.
    :param removes: whether projects are removed after their scenarios.
    """

    command: Sequence[str]
    server: SandboxServer
    timeout_s: float
    start_timeout_s: float
    seed: int = 0
    trace: Trace | None = None
    progress: Progress | None = None
    removes: bool = True

    def stage(self, number: str, adapter: Adapter, shared: Shared, rests_on: Callable[[str], str | None]) -> Stage:
        """The world of a scenario."""
        return Stage(
            number,
            adapter,
            self.server,
            rests_on,
            shared=shared,
            timeout_ms=int(self.timeout_s * 1000),
            removes=self.removes,
            seed=self.seed,
            trace=self.trace,
        )


def with_needs(known: Mapping[str, Scenario], chosen: Collection[str]) -> list[Scenario]:
    """The chosen scenarios and those that they rest on, with the plain calls, in their order."""
    wanted, waiting = {*BASICS.values()}, [*chosen]
    while waiting:
        number = waiting.pop()
        wanted.add(number)
        waiting += [need for need in known[number].needs if need not in wanted]
    return [each for number, each in known.items() if number in wanted]


def run(cast: Cast, wanted: Sequence[Scenario], jobs: int, first: Adapter | None = None) -> dict[str, Result]:
    """Run scenarios, each after those that it rests on.

    :param first: an adapter that runs already.
    """
    return _Run(cast, wanted, first).run(jobs)


class _Run:
    """The state of one run; ``_changed`` guards it."""

    def __init__(self, cast: Cast, wanted: Sequence[Scenario], first: Adapter | None) -> None:
        self._cast = cast
        self._waiting = list(wanted)
        self._numbers = [each.number for each in wanted]
        self._results: dict[str, Result] = {}
        self._changed = threading.Condition()
        self._spare = [first] if first is not None else []
        self._all = len(wanted)
        self._stopped = False

    def run(self, jobs: int) -> dict[str, Result]:
        with ThreadPoolExecutor(jobs, thread_name_prefix="scenarios") as threads:
            working = [threads.submit(self._work) for _ in range(jobs)]
            try:
                for each in working:
                    each.result()
            except BaseException:
                with self._changed:
                    self._stopped = True
                    self._changed.notify_all()
                raise
        return {number: self._results[number] for number in self._numbers}

    def _work(self) -> None:
        """One of the threads: an adapter, and one scenario after the other."""
        seat = _Seat(self._cast, self._take_spare())
        try:
            while (scenario := self._next()) is not None:
                result = self._play(scenario, seat)
                with self._changed:
                    self._results[scenario.number] = result
                    if self._cast.progress is not None:
                        self._cast.progress(len(self._results), self._all, result.as_clause())
                    self._changed.notify_all()
        finally:
            seat.stop()

    def _take_spare(self) -> Adapter | None:
        with self._changed:
            return self._spare.pop() if self._spare else None

    def _next(self) -> Scenario | None:
        """The next scenario whose needs are decided; None if there is none any more."""
        with self._changed:
            while self._waiting and not self._stopped:
                for scenario in self._waiting:
                    if self._needs(scenario) <= self._results.keys():
                        self._waiting.remove(scenario)
                        return scenario
                self._changed.wait()
            return None

    def _needs(self, scenario: Scenario) -> set[str]:
        basics = set() if scenario.is_basic else set(BASICS.values())
        return (basics | {*scenario.needs}).intersection(self._numbers)

    def _play(self, scenario: Scenario, seat: "_Seat") -> Result:
        for need in scenario.needs:
            found = self._results.get(need)
            if found is not None and found.outcome in _OPEN:
                return Result(scenario, Outcome.NOT_REACHABLE, _rests(need, found))
        return play(scenario, seat, self._cast, lambda operation: self._why_not(scenario, operation))

    def _why_not(self, scenario: Scenario, operation: str) -> str | None:
        """Why an operation cannot be used; None if it can."""
        number = BASICS[operation]
        found = self._results.get(number)
        if number == scenario.number or found is None or found.outcome not in _OPEN:
            return None
        return _rests(number, found)


def _rests(number: str, found: Result) -> str:
    return f"rests on {number}, which {'fails' if found.outcome is Outcome.FAIL else 'is not reachable'}"


class _Seat:
    """The adapter of a thread. One that is of no use any more is replaced by a new one."""

    def __init__(self, cast: Cast, adapter: Adapter | None) -> None:
        self._cast = cast
        self._adapter = adapter
        if adapter is not None:
            adapter.trace = _labelled(cast, lambda: self.playing)
        self.playing = ""
        self.shared = Shared()

    def take(self) -> Adapter:
        """The adapter, which is started if there is none.

        :raises AdapterFailed: if it cannot be started.
        """
        if self._adapter is None:
            try:
                self._adapter = start(self._cast, lambda: self.playing)
            except OSError as error:
                raise AdapterFailed(f"the adapter cannot be started again: {error}") from None
        return self._adapter

    @property
    def has_adapter(self) -> bool:
        """Whether there is one, which the next scenario will use."""
        return self._adapter is not None

    @property
    def log(self) -> str:
        """What it wrote to stderr."""
        return "" if self._adapter is None else self._adapter.log

    def drop(self) -> str:
        """Kill the adapter; the next scenario gets a new one.

        :return: what it wrote to stderr, also at its end.
        """
        killed, self._adapter = self._adapter, None
        if killed is None:
            return ""
        killed.kill()
        return killed.log

    def stop(self) -> None:
        """End the adapter, and remove the shared project."""
        if self._adapter is not None:
            self._adapter.stop()
            self._adapter = None
        if self.shared.project is not None and self._cast.removes:
            with contextlib.suppress(SandboxError):
                self.shared.project.remove()


def start(cast: Cast, playing: Callable[[], str] = lambda: "hello") -> Adapter:
    """Start an adapter, and hear its hello.

    :raises OSError: if there is no such program.
    :raises AdapterFailed: if it says no hello.
    """
    return Adapter(cast.command, cast.timeout_s, cast.start_timeout_s, _labelled(cast, playing))


def _labelled(cast: Cast, playing: Callable[[], str]) -> Callable[[str], None] | None:
    """The trace of an adapter: each line gets the number of the scenario."""
    trace = cast.trace
    return None if trace is None else lambda line: trace(playing(), line)


def play(scenario: Scenario, seat: "_Seat", cast: Cast, rests_on: Callable[[str], str | None]) -> Result:
    """Run one scenario. No exception of it leaves this function."""
    began = time.monotonic()
    seat.playing = scenario.number
    outcome, reason, wrong, log = Outcome.PASS, "", None, ""
    stage: Stage | None = None
    try:
        adapter = seat.take()
        _see_features(scenario, adapter.hello)
        stage = cast.stage(scenario.number, adapter, seat.shared, rests_on)
        scenario.play(stage)
        stage.close_sessions()
    except Unsupported as unsupported:
        outcome, reason = Outcome.UNSUPPORTED, str(unsupported)
    except NotReachable as unreached:
        outcome, reason = Outcome.NOT_REACHABLE, str(unreached)
    except SandboxError as error:
        outcome, reason = Outcome.NOT_REACHABLE, f"the sandbox does not do its part: {error}"
    except Wrong as found:
        outcome, reason, wrong = Outcome.FAIL, found.reason, found
    except AdapterFailed as failed:
        outcome, reason, wrong = Outcome.FAIL, str(failed), Wrong(str(failed))
        log = seat.drop()
    except Exception as error:  # noqa: BLE001 -- an adapter may return what no scenario has thought of
        place = traceback.extract_tb(error.__traceback__)[-1]
        reason = f"the scenario cannot make sense of it: {type(error).__name__}: {error} ({place.name}:{place.lineno})"
        outcome, wrong = Outcome.FAIL, Wrong(reason)
    if outcome is Outcome.FAIL:
        log = log or seat.log
    if stage is not None:
        _end(stage, seat, is_open=outcome is not Outcome.PASS and seat.has_adapter)
    return Result(scenario, outcome, reason, wrong, log, time.monotonic() - began)


def _see_features(scenario: Scenario, hello: Hello) -> None:
    if scenario.feature and scenario.feature not in hello.features:
        raise Unsupported(f"the client has no {scenario.feature}")


def _end(stage: Stage, seat: "_Seat", *, is_open: bool) -> None:
    """Bring the adapter to a state in which the next scenario can use it, and remove the project.

    :param is_open: whether clients may still be open.
    """
    if is_open:
        try:
            stage.close_sessions()
        except AdapterFailed:
            seat.drop()
    # The sandbox removes the project after its time, if it does not do so now.
    with contextlib.suppress(SandboxError):
        stage.end()
