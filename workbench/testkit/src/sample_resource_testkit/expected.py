"""The file of expected failures: it lists clauses that a server is known to fail, or scenarios of a client."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from sample_resource_testkit.outcomes import ClauseResult, Outcome


class BadList(ValueError):
    """The file cannot be used. The message has the reason and the line."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected failures that a file lists.

    :param lines: the reasons by the numbers and patterns of the file.
    """

    lines: Mapping[str, str] = field(default_factory=dict[str, str])

    def applied(self, results: Mapping[str, ClauseResult]) -> tuple[dict[str, str], tuple[str, ...]]:
        """The expected failures among results, and the lines of the file that no failure matches.

        :return: first the reasons by clause number, for clauses that the file names, and failing clauses that match a
            pattern. Then the lines that concern clauses among the results, of which none fails.
        """
        failing = [number for number, result in results.items() if result.outcome is Outcome.FAIL]
        patterns = [line for line in self.lines if line not in results]
        listed = {number: self.lines[line] for line in patterns for number in _matches(failing, line)}
        listed |= {number: self.lines[number] for number in results if number in self.lines}
        stale = (line for line in self.lines if any(_matches(results, line)) and not any(_matches(failing, line)))
        return listed, tuple(stale)


def _matches(numbers: Iterable[str], line: str) -> Iterator[str]:
    return (number for number in numbers if fnmatchcase(number, line))


def read_expected(path: Path, known: Collection[str], item: str = "clause") -> Expected:
    """Read a file with a clause in each line: its number, then a space and a reason. ``#`` begins a comment.

    A line may have a pattern instead of a number: ``*`` stands for any characters, as in ``C-req-*``.

    :param item: the word for what is listed, for messages.
    :raises BadList: if the file cannot be read, names a clause twice, or names one that does not exist.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadList(f"{path}: {error.strerror if isinstance(error, OSError) else 'no UTF-8'}") from None
    found: dict[str, str] = {}
    for position, line in enumerate(text.splitlines(), start=1):
        number, _, reason = line.partition("#")[0].strip().partition(" ")
        if not number:
            continue
        if not any(_matches(known, number)):
            raise BadList(f"{path}, line {position}: there is no {item} {number}")
        if number in found:
            raise BadList(f"{path}, line {position}: {number} is listed twice")
        found[number] = reason.strip()
    return Expected(found)
