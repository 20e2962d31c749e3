"""What a check comes to, and the exceptions that end one early."""

from dataclasses import dataclass, field
from enum import StrEnum

from sample_resource_testkit.clauses import Clause
from sample_resource_testkit.exchanges import Exchange


class Outcome(StrEnum):
    """What holds of a case, or of a clause by all of its cases."""

    PASS = "pass"  # noqa: S105 -- no password
    FAIL = "fail"
    SKIPPED = "skipped"
    UNSUPPORTED = "unsupported"
    NOT_REACHABLE = "not reachable"
    ERROR = "error"
    """A mistake of the kit, with its traceback: it says nothing about what is judged."""


OPEN = {Outcome.FAIL: "fails", Outcome.NOT_REACHABLE: "is not reachable", Outcome.ERROR: "is an error of the kit"}
"""Outcomes with which nothing that rests on it can be judged, in words."""


class Failed(Exception):
    """The server differs from the clause.

    :param expected: what the clause asks for.
    :param got: what there was instead.
    :param exchange: the request that shows it; None: the last one of the case.
    """

    def __init__(self, expected: str, got: str, exchange: Exchange | None = None) -> None:
        super().__init__(f"expected {expected}, got {got}")
        self.expected = expected
        self.got = got
        self.exchange = exchange


class Skipped(Exception):
    """The check cannot be made with what the command was given; the message says what is missing."""


class NotReachable(Exception):
    """The check rests on something that the server does not do; the message says on what."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What became of one case of a check.

    :param name: of the check and, in brackets, of its case.
    :param checks: how many expectations were compared.
    :param reason: why it was skipped or is not reachable; of an error its traceback.
    :param expected: for a failure, as in :class:`Failed`.
    :param exchanges: all requests of a case that failed, in order; none of others.
    :param shown: the position in ``exchanges`` of the one that shows the failure; -1 if there is none.
    """

    name: str
    outcome: Outcome
    checks: int = 0
    reason: str = ""
    expected: str = ""
    got: str = ""
    exchanges: tuple[Exchange, ...] = ()
    shown: int = -1
    elapsed_s: float = 0.0


@dataclass(slots=True)
class ClauseResult:
    """What became of a clause."""

    clause: Clause
    cases: list[CaseResult] = field(default_factory=list[CaseResult])

    @property
    def outcome(self) -> Outcome:
        """One case that fails fails the clause; a mistake of the kit, or one that is not reachable, leaves it open."""
        found = {case.outcome for case in self.cases}
        for outcome in (Outcome.FAIL, Outcome.ERROR, Outcome.NOT_REACHABLE, Outcome.UNSUPPORTED, Outcome.PASS):
            if outcome in found:
                return outcome
        return Outcome.SKIPPED

    @property
    def reason(self) -> str:
        """Why the clause was not decided: the reasons of its cases, each once."""
        if not self.cases:
            return "the kit has no check for it"
        deciding = [case.reason for case in self.cases if case.outcome is self.outcome]
        return "; ".join(filter(None, dict.fromkeys(deciding)))

    @property
    def checks(self) -> int:
        """How many expectations were compared."""
        return sum(case.checks for case in self.cases)

    @property
    def elapsed_s(self) -> float:
        """The time of all cases; several may have run at once."""
        return sum(case.elapsed_s for case in self.cases)
