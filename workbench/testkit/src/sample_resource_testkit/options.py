"""The options and exit codes that the two commands share."""

import argparse
import os
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import NoReturn, TypeVar

from sample_resource_testkit.clauses import Clause
from sample_resource_testkit.expected import BadList, Expected, read_expected
from sample_resource_testkit.reports.junit import as_junit
from sample_resource_testkit.reports.terminal import as_text
from sample_resource_testkit.verdict import Terms, Verdict

AS_EXPECTED, NOT_AS_EXPECTED, NOT_CHECKED = 0, 1, 2
"""Exit codes. ``NOT_CHECKED`` is also the exit code for wrong options, because then nothing is checked."""

T = TypeVar("T")


class Parser(argparse.ArgumentParser):
    """A parser that shows an error message without the usage of all options."""

    def error(self, message: str) -> NoReturn:
        self.exit(NOT_CHECKED, f"{self.prog}: error: {message}\nTry '{self.prog} --help'.\n")


def valid(parse: Callable[[str], T]) -> Callable[[str], T]:
    """The given reader of an option, with its ValueError turned into a message for the user."""

    def read(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def names(text: str) -> list[str]:
    """The names in a list that is separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def integer(low: int, high: int) -> Callable[[str], int]:
    """A reader of integers between two limits."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"a whole number from {low} to {high} is expected, and not {text!r}")
        return int(text)

    return read


def target_file(text: str) -> Path:
    """A path that can be written. This is checked before the run, so that no report is lost after it."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text} cannot be written")
    return path


def add_shared(parser: argparse.ArgumentParser, what: str, *, draw: str, timeout: str) -> None:
    """Add the options that both commands have.

    :param what: the word for what is checked and listed in ``--expected-failures``, in the plural.
    :param draw: the word for what draws values from ``--seed``, in the plural.
    :param timeout: what ``--timeout`` limits.
    """
    add = parser.add_argument
    add(
        "--expected-failures",
        type=Path,
        metavar="FILE",
        help=f"{what} that may fail, one a line: number or pattern, any reason",
    )
    add("--junit", type=target_file, metavar="FILE", help="write the report as JUnit XML")
    add("--json", type=target_file, metavar="FILE", help="write the report as JSON")
    add("--timeout", type=integer(1, 600), default=10, metavar="S", help=f"seconds for {timeout} (default: 10)")
    add("--seed", type=integer(0, 2**32), default=0, metavar="N", help=f"of the values that {draw} draw (default: 0)")


def chosen_of(
    parser: argparse.ArgumentParser, options: argparse.Namespace, known: Mapping[str, Clause], terms: Terms
) -> list[str]:
    """The clauses or scenarios that the options choose, in their own order. Wrong names end the command."""
    groups, numbers = options.profile, getattr(options, terms.item)
    for name in groups or ():
        if name not in terms.groups:
            told = f"there is no {terms.group} {name!r}: choose from {', '.join(terms.groups)}"
            parser.error(f"argument --profile: {told}")
    for number in numbers or ():
        if number not in known:
            parser.error(f"argument --{terms.item}: there is no {terms.item} {number!r}")
    found = [
        number
        for number, clause in known.items()
        if (groups is None or clause.profile in groups) and (numbers is None or number in numbers)
    ]
    if not found:
        parser.error(f"--profile and --{terms.item} leave no {terms.item}")
    return found


def expected_failures(
    parser: argparse.ArgumentParser, options: argparse.Namespace, known: Collection[str], what: str
) -> Expected:
    """The expected failures that ``--expected-failures`` lists. A file with errors ends the command."""
    if options.expected_failures is None:
        return Expected()
    try:
        return read_expected(options.expected_failures, known, what)
    except BadList as error:
        parser.error(f"argument --expected-failures: {error}")


def report(options: argparse.Namespace, verdict: Verdict, as_json: Callable[[Verdict], str]) -> int:
    """Write the report files that the options ask for, and print a report.

    :return: the exit code.
    """
    for path, form in ((options.junit, as_junit), (options.json, as_json)):
        if path is not None:
            path.write_text(form(verdict), encoding="utf-8", errors="backslashreplace")
    coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    details = "" if options.json is None else str(options.json)
    sys.stdout.write(as_text(verdict, coloured=coloured, details=details).encode(errors="backslashreplace").decode())
    if verdict.errors:
        return NOT_CHECKED
    return AS_EXPECTED if verdict.is_as_expected else NOT_AS_EXPECTED


def exit_with(run: Callable[[], int]) -> NoReturn:
    """Run a command, and exit with its code, or with 130 if the user stops it."""
    try:
        code = run()
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped\n")
        code = 130
    except BrokenPipeError:
        sys.stdout = None
        code = NOT_AS_EXPECTED
    sys.exit(code)
