"""Runs scenarios with an adapter, in several processes of the adapter, each with one scenario at a time."""

import contextlib
import threading
import time
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sample_resource_testkit.client.adapter import Adapter, AdapterFailed, Hello
from sample_resource_testkit.client.messages import Unsupported, Wrong
from sample_resource_testkit.client.registry import AUTHORIZED, Scenario
from sample_resource_testkit.client.stage import Shared, Stage
from sample_resource_testkit.outcomes import OPEN, CaseResult, ClauseResult, NotReachable, Outcome
from sample_resource_testkit.runner import Progress, plan, run_with, unseen
from sample_resource_testkit.sandbox import SandboxError, SandboxServer

Trace = Callable[[str, str], None]
"""Gets each line that is sent or read, with the number of its scenario."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a scenario.

    :param wrong: the fault, if the scenario failed.
    :param rests_on_cause: the cause of another scenario's failure, which keeps this one from being judged.
    :param log: the output of the adapter to stderr during the scenario.
    """

    scenario: Scenario
    outcome: Outcome
    reason: str = ""
    wrong: Wrong | None = None
    log: str = ""
    elapsed_s: float = 0.0
    rests_on_cause: str = ""

    @property
    def cause(self) -> str:
        """The cause of a failing scenario, or of one that a failure keeps from being judged.

        All scenarios that one repair makes pass have the same cause.
        """
        if self.wrong is None:
            return self.rests_on_cause
        return self.wrong.cause or f"{self.scenario.number}: {self.scenario.text}"

    def resting(self, reason: str, cause: str) -> "Result":
        """This result, changed to not reachable because of another scenario's failure."""
        return replace(self, outcome=Outcome.NOT_REACHABLE, reason=reason, wrong=None, log="", rests_on_cause=cause)

    def as_case(self) -> CaseResult:
        """This result in the form of a case's result, which reports show."""
        return CaseResult(self.scenario.number, self.outcome, 1, self.reason, elapsed_s=self.elapsed_s)

    def as_clause(self) -> ClauseResult:
        """This result in the form of a clause's result, which reports count."""
        return ClauseResult(self.scenario.as_clause(), [self.as_case()])


@dataclass
class Cast:
    """The options of a run.

    :param command: the program of the adapter and its arguments.
    :param timeout_s: the time limit of an answer of the adapter.
    :param start_timeout_s: the time limit of its first answer, because a program may have to be compiled.
    :param seed: the seed of the values that scenarios draw.
    :param removes: whether projects are removed after their scenarios.
    """

    command: Sequence[str]
    server: SandboxServer
    timeout_s: float
    start_timeout_s: float
    seed: int = 0
    trace: Trace | None = None
    progress: Progress = unseen
    removes: bool = True

    def stage(self, number: str, adapter: Adapter, shared: Shared) -> Stage:
        """A stage for a scenario with a number."""
        return Stage(
            number,
            adapter,
            self.server,
            shared=shared,
            timeout_ms=int(self.timeout_s * 1000),
            removes=self.removes,
            seed=self.seed,
            trace=self.trace,
        )


def run(
    cast: Cast, known: Mapping[str, Scenario], chosen: Collection[str], jobs: int, first: Adapter | None = None
) -> dict[str, Result]:
    """Run scenarios and those that they need, and return the results with their causes.

    :param first: an adapter that is already running.
    """
    seats = _Seats(cast, first)
    played: dict[str, Result] = {}

    def one(number: str) -> CaseResult:
        played[number] = result = play(known[number], seats.own(), cast)
        return result.as_case()

    planned = plan(
        {number: each.as_clause() for number, each in known.items()},
        [each.as_check() for each in known.values()],
        chosen,
    )
    try:
        found = run_with(lambda check, _: one(check.clause), planned, jobs, cast.progress)
    finally:
        seats.stop()
    return settled(
        played.get(number) or Result(known[number], Outcome.NOT_REACHABLE, each.reason)
        for number, each in found.items()
    )


def settled(results: Iterable[Result]) -> dict[str, Result]:
    """The results, changed so that only one scenario fails for each cause.

    A scenario is not reachable if one that it needs did not pass, or if its requests have only faults that earlier
    scenarios have shown.

    :param results: the results in the order of the scenarios.
    """
    listed = list(results)
    made: dict[str, Result] = {}
    first: dict[str, str] = {}
    # The scenario about tokens first: a request without its token fails before anything else in it is compared.
    for result in sorted(listed, key=lambda each: each.scenario.number != AUTHORIZED):
        made[result.scenario.number] = decided = _settled(result, made, first)
        if decided.wrong is not None:
            for wrong in (decided.wrong, *decided.wrong.also):
                if wrong.is_request:
                    first.setdefault(wrong.cause, decided.scenario.number)
    return {each.scenario.number: made[each.scenario.number] for each in listed}


def _settled(result: Result, made: Mapping[str, Result], first: Mapping[str, str]) -> Result:
    if result.wrong is None and result.outcome is not Outcome.NOT_REACHABLE:
        return result
    for need in result.scenario.needs:
        found = made.get(need)
        if found is not None and found.outcome in OPEN:
            return result.resting(f"rests on {need}, which {OPEN[found.outcome]}", found.cause)
    if result.wrong is None:
        return result
    wrongs = (result.wrong, *result.wrong.also)
    own = [wrong for wrong in wrongs if not wrong.is_request or wrong.cause not in first]
    if not own:
        cause = result.wrong.cause
        return result.resting(f"rests on {first[cause]}, which fails: {cause}", cause)
    own[0].also = tuple(own[1:])
    more = f" (and {len(own) - 1} more of its calls are wrong)" if len(own) > 1 else ""
    return replace(result, wrong=own[0], reason=own[0].reason + more)


@dataclass(slots=True)
class _Seats:
    """The seats of all threads, one for each thread."""

    cast: Cast
    first: Adapter | None
    taken: dict[int, "_Seat"] = field(default_factory=dict[int, "_Seat"])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def own(self) -> "_Seat":
        """The seat of the current thread."""
        with self.lock:
            if threading.get_ident() not in self.taken:
                self.taken[threading.get_ident()] = _Seat(self.cast, self.first)
                self.first = None
            return self.taken[threading.get_ident()]

    def stop(self) -> None:
        """End all adapters."""
        for seat in self.taken.values():
            seat.stop()


class _Seat:
    """The adapter of a thread. An adapter that failed is replaced by a new process."""

    def __init__(self, cast: Cast, adapter: Adapter | None) -> None:
        self._cast = cast
        self._adapter = adapter
        if adapter is not None:
            adapter.trace = _labelled(cast, lambda: self.playing)
        self.playing = ""
        self.shared = Shared()

    def take(self) -> Adapter:
        """The adapter, which is started if none is running.

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
        """Whether an adapter is running, which the next scenario will use."""
        return self._adapter is not None

    @property
    def log(self) -> str:
        """The output of the adapter to stderr."""
        return "" if self._adapter is None else self._adapter.log

    def drop(self) -> str:
        """Kill the adapter, so that the next scenario gets a new one.

        :return: the output of the adapter to stderr, up to its end.
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
    """Start an adapter, and read its answer to ``hello``.

    :raises OSError: if the program cannot be started.
    :raises AdapterFailed: if the adapter does not answer.
    """
    return Adapter(cast.command, cast.timeout_s, cast.start_timeout_s, _labelled(cast, playing))


def _labelled(cast: Cast, playing: Callable[[], str]) -> Callable[[str], None] | None:
    """A trace for an adapter, which adds the number of the scenario to each line."""
    trace = cast.trace
    return None if trace is None else lambda line: trace(playing(), line)


def play(scenario: Scenario, seat: "_Seat", cast: Cast) -> Result:
    """Run one scenario, and return its result. Every exception of the scenario becomes a result."""
    began = time.monotonic()
    seat.playing = scenario.number
    outcome, reason, wrong, log = Outcome.PASS, "", None, ""
    stage: Stage | None = None
    try:
        adapter = seat.take()
        adapter.forget_log()
        _see_features(scenario, adapter.hello)
        stage = cast.stage(scenario.number, adapter, seat.shared)
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
    except Exception:  # noqa: BLE001 -- a mistake of the kit ends no run
        outcome, reason = Outcome.ERROR, traceback.format_exc()
    if outcome is Outcome.FAIL:
        log = log or seat.log
    if stage is not None:
        _end(stage, seat, is_open=outcome is not Outcome.PASS and seat.has_adapter)
    return Result(scenario, outcome, reason, wrong, log, time.monotonic() - began)


def _see_features(scenario: Scenario, hello: Hello) -> None:
    if scenario.feature and scenario.feature not in hello.features:
        raise Unsupported(f"the client has no {scenario.feature}")


def _end(stage: Stage, seat: "_Seat", *, is_open: bool) -> None:
    """Close what a scenario has opened, so that the next one can use the adapter, and remove its project.

    :param is_open: whether clients may still be open.
    """
    if is_open:
        try:
            stage.close_sessions()
        except AdapterFailed:
            seat.drop()
    # If this fails, the sandbox removes the project when its lifetime has passed.
    with contextlib.suppress(SandboxError):
        stage.end()
