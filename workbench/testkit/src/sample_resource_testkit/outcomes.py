"""The outcomes of checks, and the exceptions that end a check early."""

from dataclasses import dataclass, field
from enum import StrEnum

from sample_resource_testkit.clauses import Clause
from sample_resource_testkit.exchanges import Exchange


class Outcome(StrEnum):
    """The outcome of a case, or of a clause with all its cases."""

    PASS = "pass"  # noqa: S105 -- no password
    FAIL = "fail"
    SKIPPED = "skipped"
    UNSUPPORTED = "unsupported"
    NOT_REACHABLE = "not reachable"
    ERROR = "error"
    """A mistake of the kit. It says nothing about the server or client that is judged."""


OPEN = {Outcome.FAIL: "fails", Outcome.NOT_REACHABLE: "is not reachable", Outcome.ERROR: "is an error of the kit"}
"""The outcomes of a clause after which the clauses that need it stay undecided, each with its words for reports."""


class Failed(Exception):
    """The server differs from the clause.

    :param expected: what the clause requires.
    :param got: what the server did instead.
    :param exchange: the exchange that shows the difference; None for the last one of the case.
    """

    def __init__(self, expected: str, got: str, exchange: Exchange | None = None) -> None:
        super().__init__(f"expected {expected}, got {got}")
        self.expected = expected
        self.got = got
        self.exchange = exchange


class Skipped(Exception):
    """The check needs something that the command was not given. The message says what is missing."""


class NotReachable(Exception):
    """The check needs something that the server does not do. The message says what."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of one case of a check.

    :param name: the name of the check and, in brackets, that of the case.
    :param checks: the number of expectations that were compared.
    :param reason: why the case was skipped or is not reachable; for an error the traceback.
    :param expected: for a failure, as in :class:`Failed`.
    :param exchanges: for a failure, all exchanges of the case in order.
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
    """The result of a clause, by its cases."""

    clause: Clause
    cases: list[CaseResult] = field(default_factory=list[CaseResult])

    @property
    def outcome(self) -> Outcome:
        """The outcome of the clause.

        One failing case fails the clause. A mistake of the kit, or a case that is not reachable, leaves it undecided.
        """
        found = {case.outcome for case in self.cases}
        for outcome in (Outcome.FAIL, Outcome.ERROR, Outcome.NOT_REACHABLE, Outcome.UNSUPPORTED, Outcome.PASS):
            if outcome in found:
                return outcome
        return Outcome.SKIPPED

    @property
    def reason(self) -> str:
        """Why the clause was not decided: the different reasons of its cases."""
        if not self.cases:
            return "the kit has no check for it"
        deciding = [case.reason for case in self.cases if case.outcome is self.outcome]
        return "; ".join(filter(None, dict.fromkeys(deciding)))

    @property
    def checks(self) -> int:
        """The number of expectations that were compared."""
        return sum(case.checks for case in self.cases)

    @property
    def elapsed_s(self) -> float:
        """The sum of the times of all cases. Some may have run at the same time."""
        return sum(case.elapsed_s for case in self.cases)
