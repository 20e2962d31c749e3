"""The results of a run, counted and compared with the expected failures. All reports are made from them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sample_resource_testkit.clauses import LEVELS, PROFILES
from sample_resource_testkit.outcomes import CaseResult, ClauseResult, Outcome


@dataclass(frozen=True, slots=True)
class Terms:
    """The words of a report on servers, or of one on clients.

    :param command: the command that made the report.
    :param item: the word for what has an outcome; ``items`` is its plural.
    :param group: the word for what items are counted by; ``groups`` are all groups in the order of reports.
    :param outcomes: the possible outcomes of an item, in the order of reports.
    :param has_cases: whether an item has cases, each with its own outcome.
    """

    command: str
    item: str
    items: str
    group: str
    groups: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    has_cases: bool = True


OF_SERVERS = Terms(
    command="sample-resource-conformance",
    item="clause",
    items="clauses",
    group="profile",
    groups=PROFILES,
    outcomes=(Outcome.PASS, Outcome.FAIL, Outcome.SKIPPED, Outcome.NOT_REACHABLE, Outcome.ERROR),
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed case as texts for reports, without secrets.

    :param message: what is wrong, in one line.
    :param facts: names and short texts, for all reports.
    :param texts: long texts, each with a name for the terminal and a title.
    :param members: facts and texts for the JSON report.
    """

    name: str
    message: str
    facts: tuple[tuple[str, str], ...] = ()
    texts: tuple[tuple[str, str, str], ...] = ()
    members: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Verdict:
    """The results of a run.

    :param url: the URL of the server; for a client its name and version.
    :param results: the results of the chosen clauses, in the order of the specification.
    :param failures: the failures of each clause that fails.
    :param expected: the reasons of clauses that may fail.
    :param stale: lines of the list of expected failures that match only clauses that do not fail.
    :param causes: the causes of failing clauses and of those that need them. Clauses that one repair makes pass have
        the same cause.
    :param shell: lines for a shell that set the variables of the curl lines.
    :param began: when the run began, as a text of RFC 3339.
    """

    url: str
    results: Mapping[str, ClauseResult]
    failures: Mapping[str, tuple[Failure, ...]]
    expected: Mapping[str, str] = field(default_factory=dict[str, str])
    stale: tuple[str, ...] = ()
    causes: Mapping[str, str] = field(default_factory=dict[str, str])
    shell: tuple[str, ...] = ()
    began: str = ""
    elapsed_s: float = 0.0
    version: str = ""
    terms: Terms = OF_SERVERS

    @property
    def unexpected_failures(self) -> tuple[str, ...]:
        """Clauses that fail and are not listed."""
        return tuple(number for number in self.failing if number not in self.expected)

    @property
    def failing(self) -> tuple[str, ...]:
        """Clauses that fail."""
        return tuple(number for number, result in self.results.items() if result.outcome is Outcome.FAIL)

    @property
    def errors(self) -> tuple[str, ...]:
        """Clauses that a mistake of the kit left open."""
        return tuple(number for number, result in self.results.items() if result.outcome is Outcome.ERROR)

    @property
    def unexpected_passes(self) -> tuple[str, ...]:
        """Clauses that are listed and pass."""
        passing = (number for number, result in self.results.items() if result.outcome is Outcome.PASS)
        return tuple(number for number in passing if number in self.expected)

    @property
    def groups(self) -> list[tuple[str, list[str]]]:
        """The unexpected failures by their causes, each with the clauses that need them; the largest group first."""
        by_cause = {self.causes.get(number, number): list[str]() for number in self.unexpected_failures}
        for number in self.results:
            cause = self.causes.get(number, number)
            if cause in by_cause and number not in self.expected:
                by_cause[cause].append(number)
        return sorted(by_cause.items(), key=lambda group: -len(group[1]))

    @property
    def is_as_expected(self) -> bool:
        """Whether exactly the expected failures fail, and the kit made no mistake."""
        return not self.unexpected_failures and not self.stale and not self.errors

    @property
    def checks(self) -> int:
        """The number of expectations that were compared."""
        return sum(result.checks for result in self.results.values())

    @property
    def cases(self) -> int:
        """The number of cases, including those that could not be run."""
        return sum(len(result.cases) for result in self.results.values())

    def count(self, outcome: Outcome, level: str, profile: str | None = None) -> int:
        """The number of clauses of a level with an outcome, in one profile or in all."""
        return sum(
            result.outcome is outcome and result.clause.level == level and profile in (None, result.clause.profile)
            for result in self.results.values()
        )

    def rows(self) -> Iterator[tuple[str, str, tuple[int, ...]]]:
        """Profile, level, and the count of each outcome, for each profile and level that has clauses."""
        for profile in self.terms.groups:
            for level in LEVELS:
                counts = tuple(self.count(outcome, level, profile) for outcome in self.terms.outcomes)
                if any(counts):
                    yield profile, level, counts

    def totals(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Each level with the count of each outcome over all profiles."""
        for level in LEVELS:
            yield level, tuple(self.count(outcome, level) for outcome in self.terms.outcomes)


def case_failures(cases: list[CaseResult], hide: Callable[[str], str]) -> tuple[Failure, ...]:
    """The failures among the cases of a clause, as texts for reports."""
    found: list[Failure] = []
    for case in cases:
        if case.outcome is not Outcome.FAIL:
            continue
        shown = case.exchanges[case.shown] if case.exchanges else None
        expected, got = hide(case.expected), hide(case.got)
        curl = "" if shown is None else shown.curl(hide)
        answer = "" if shown is None else hide(shown.told())
        before = [exchange.curl(hide) for exchange in case.exchanges[: max(0, case.shown)]]
        texts = (
            ("before", "Requests of the case before it", "\n".join(before)),
            ("request", "Request", curl),
            ("answer", "Answer", answer),
        )
        found.append(
            Failure(
                name=case.name,
                message=f"expected {expected}, got {got}",
                facts=(("case", case.name), ("expected", expected), ("got", got)),
                texts=tuple(text for text in texts if text[2]),
                members={"expected": expected, "got": got, "curl": curl, "answer": answer, "before": before},
            )
        )
    return tuple(found)
