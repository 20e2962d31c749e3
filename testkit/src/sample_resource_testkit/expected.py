"""The file of expected failures: clauses that a server is known to fail, or scenarios of a client."""

from collections.abc import Collection
from pathlib import Path


class BadList(ValueError):
    """The file cannot be used; the message says why, with the line."""


def read_expected(path: Path, known: Collection[str], item: str = "clause") -> dict[str, str]:
    """Read a file with a clause in each line: its number, and after a blank any reason. ``#`` begins a comment.

    :param item: what the numbers are those of, for messages.
    :return: the reasons, by the numbers.
    :raises BadList: if the file cannot be read, names a clause twice, or one that does not exist.
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
        if number not in known:
            raise BadList(f"{path}, line {position}: there is no {item} {number}")
        if number in found:
            raise BadList(f"{path}, line {position}: {number} is listed twice")
        found[number] = reason.strip()
    return found
