"""Suggests a similar known name for an unknown name."""

import difflib
from collections.abc import Iterable

_COMPARED = 32
"""The number of characters at the end of two names that are compared. There is a limit because the time grows with the
square of the length, and a request may have fifty unknown names. In long paths of fields the ends differ."""


def similar(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most similar to a name; None if no known name is similar."""
    listed = list(known)
    # If all names begin with the same parent, such as createdBy, it is not compared: else the parent alone could make
    # them similar.
    parent = name.rpartition(".")[0]
    begin = len(parent) if all(each.startswith(parent) for each in listed) else 0
    names = {each[begin:][-_COMPARED:].lower(): each for each in listed}
    nearest = difflib.get_close_matches(name[begin:][-_COMPARED:].lower(), names, n=1, cutoff=0.6)
    return names[nearest[0]] if nearest else None


def suggestion(name: str | None) -> str:
    """``" Did you mean '...'?"``, to be appended to a message; an empty text for None."""
    return "" if name is None else f" Did you mean '{name}'?"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The suggestion of the known name that is most similar to a name; an empty text if no known name is similar."""
    return suggestion(similar(name, known))
