"""The table of attacks: what is tried, how often, and what did not hold."""

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.faults.service import Service

_SHOWN_AT_MOST = 5

METRICS_TOKEN = "attack-metrics-token"
"""The service that is attacked shows its metrics to who has it."""


@dataclass
class Tally:
    """How often something was tried in a case, and what did not hold."""

    tried: int = 0
    failures: list[str] = field(default_factory=list[str])

    def expect(self, holds: bool, otherwise: object) -> None:
        """Count an attempt.

        :param holds: whether the service held.
        :param otherwise: what to show if it did not.
        """
        self.tried += 1
        if not holds:
            self.failures.append(str(otherwise)[:500])


@dataclass(frozen=True)
class Case:
    """An attack, as a line of the table."""

    group: str
    title: str
    """What is tried and what has to come of it, in one line."""
    run: Callable[[Service, Tally], None]
    within_s: float


CASES: list[Case] = []
"""All cases, those of a module in the order in which they are run."""


def case(
    group: str, title: str, *, within_s: float = 60.0
) -> Callable[[Callable[[Service, Tally], None]], Callable[[Service, Tally], None]]:
    """Add a function to the table. It sends to the service that it is given, and tallies each attempt.

    :param within_s: seconds after which the case has failed, and the next one begins.
    """

    def add(run: Callable[[Service, Tally], None]) -> Callable[[Service, Tally], None]:
        CASES.append(Case(group, title, run, within_s))
        return run

    return add


@dataclass(frozen=True)
class Outcome:
    """What came of a case."""

    case: Case
    tried: int
    seconds: float
    failures: tuple[str, ...]


def carried_out(one: Case, service: Service) -> Outcome:
    """Run a case within its time. A case that tries nothing has failed, too."""
    tally = Tally()

    def run() -> None:
        try:
            one.run(service, tally)
        except Exception:  # noqa: BLE001 -- whatever it is, the case has failed
            tally.failures.append(traceback.format_exc(limit=-3))

    thread = threading.Thread(target=run, daemon=True)
    began = time.monotonic()
    thread.start()
    thread.join(one.within_s)
    failures = list(tally.failures)
    if thread.is_alive():
        failures.append(f"It was not done within {one.within_s:.0f} s.")
    elif not tally.tried:
        failures.append("Nothing was tried.")
    return Outcome(one, tally.tried, time.monotonic() - began, tuple(failures))


def as_text(outcomes: list[Outcome]) -> str:
    """The table, as Markdown; what did not hold follows it."""
    lines = ["| | what is tried | times | held |", "|---|---|---:|---|"]
    group = ""
    for outcome in outcomes:
        shown = "" if outcome.case.group == group else outcome.case.group
        group = outcome.case.group
        held = "yes" if not outcome.failures else f"**no** ({len(outcome.failures)})"
        lines.append(f"| {shown} | {outcome.case.title} | {outcome.tried} | {held} |")
    for outcome in outcomes:
        if outcome.failures:
            lines += ["", f"{outcome.case.group}: {outcome.case.title}"]
            lines += [f"  - {failure}" for failure in outcome.failures[:_SHOWN_AT_MOST]]
            if len(outcome.failures) > _SHOWN_AT_MOST:
                lines.append(f"  - and {len(outcome.failures) - _SHOWN_AT_MOST} more")
    return "\n".join(lines)
