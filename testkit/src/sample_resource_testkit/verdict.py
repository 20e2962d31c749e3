"""The results of a run, counted and compared with what was expected. All reports are made of this."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from sample_resource_testkit.clauses import LEVELS, PROFILES
from sample_resource_testkit.outcomes import CaseResult, ClauseResult, Outcome

OUTCOMES = tuple(Outcome)


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that failed, told for a reader, without secrets.

    :param curl: the request that shows the failure; empty if the case sent none.
    :param answer: to that request.
    :param before: the requests of the case before that one, as curl lines.
    """

    name: str
    expected: str
    got: str
    curl: str = ""
    answer: str = ""
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run has shown.

    :param url: of the server.
    :param results: of the clauses that were asked for, in the order of the specification.
    :param failures: of each clause that fails.
    :param expected: clauses that may fail, with reasons.
    :param shell: variables that the curl lines use, as lines of a shell.
    :param began: when the run began, as RFC 3339 has it.
    """

    url: str
    results: Mapping[str, ClauseResult]
    failures: Mapping[str, tuple[Failure, ...]]
    expected: Mapping[str, str] = field(default_factory=dict[str, str])
    shell: tuple[str, ...] = ()
    began: str = ""
    elapsed_s: float = 0.0
    version: str = ""

    @property
    def unexpected_failures(self) -> tuple[str, ...]:
        """Clauses that fail and are not listed."""
        return tuple(number for number in self.failing if number not in self.expected)

    @property
    def failing(self) -> tuple[str, ...]:
        """Clauses that fail."""
        return tuple(number for number, result in self.results.items() if result.outcome is Outcome.FAIL)

    @property
    def unexpected_passes(self) -> tuple[str, ...]:
        """Clauses that are listed and pass."""
        passing = (number for number, result in self.results.items() if result.outcome is Outcome.PASS)
        return tuple(number for number in passing if number in self.expected)

    @property
    def is_as_expected(self) -> bool:
        """Whether just what is listed fails."""
        return not self.unexpected_failures and not self.unexpected_passes

    @property
    def checks(self) -> int:
        """How many expectations were compared."""
        return sum(result.checks for result in self.results.values())

    @property
    def cases(self) -> int:
        """How many cases were run, or could not be."""
        return sum(len(result.cases) for result in self.results.values())

    def count(self, outcome: Outcome, level: str, profile: str | None = None) -> int:
        """How many clauses of a level, and of a profile or of all, have an outcome."""
        return sum(
            result.outcome is outcome and result.clause.level == level and profile in (None, result.clause.profile)
            for result in self.results.values()
        )

    def rows(self) -> Iterator[tuple[str, str, tuple[int, ...]]]:
        """Profile, level, and the counts of each outcome in the order of ``OUTCOMES``, where there are clauses."""
        for profile in PROFILES:
            for level in LEVELS:
                counts = tuple(self.count(outcome, level, profile) for outcome in OUTCOMES)
                if any(counts):
                    yield profile, level, counts

    def totals(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Level, and the counts of each outcome over all profiles."""
        for level in LEVELS:
            yield level, tuple(self.count(outcome, level) for outcome in OUTCOMES)


def case_failures(cases: list[CaseResult], hide: Callable[[str], str]) -> tuple[Failure, ...]:
    """The failures of a clause, as reports show them."""
    found: list[Failure] = []
    for case in cases:
        if case.outcome is not Outcome.FAIL:
            continue
        shown = case.exchanges[case.shown] if case.exchanges else None
        found.append(
            Failure(
                name=case.name,
                expected=hide(case.expected),
                got=hide(case.got),
                curl="" if shown is None else shown.curl(hide),
                answer="" if shown is None else hide(shown.told()),
                before=tuple(exchange.curl(hide) for exchange in case.exchanges[: max(0, case.shown)]),
            )
        )
    return tuple(found)
