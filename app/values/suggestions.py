"""Suggests a similar known name for an unknown name."""

import difflib
from collections.abc import Iterable

_LONGEST_NAME = 100
"""The most characters of a name that are compared, because the time grows with the square of the length."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``" Did you mean '...'?"``, to be appended to a message; an empty text if no known name is similar."""
    names = {each.lower(): each for each in known}
    nearest = difflib.get_close_matches(name[:_LONGEST_NAME].lower(), names, n=1, cutoff=0.6)
    return f" Did you mean '{names[nearest[0]]}'?" if nearest else ""
