"""What the options of the commands have in common."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeVar

AS_EXPECTED, NOT_AS_EXPECTED, NOT_CHECKED = 0, 1, 2
"""Exit codes. The last one is also that of wrong options: nothing was checked then either."""

T = TypeVar("T")


class Parser(argparse.ArgumentParser):
    """A parser whose messages are not lost behind the usage of all options."""

    def error(self, message: str) -> NoReturn:
        self.exit(NOT_CHECKED, f"{self.prog}: error: {message}\nTry '{self.prog} --help'.\n")


def valid(parse: Callable[[str], T]) -> Callable[[str], T]:
    """A reader of an option whose ValueError is the message for the user."""

    def read(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def names(text: str) -> list[str]:
    """The names in a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def integer(low: int, high: int) -> Callable[[str], int]:
    """A reader of a whole number within bounds."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"a whole number from {low} to {high} is expected, and not {text!r}")
        return int(text)

    return read


def target_file(text: str) -> Path:
    """A file that can be written; better told before the run than after it."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text} cannot be written")
    return path
