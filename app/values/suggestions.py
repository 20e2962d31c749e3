"""The nearest known name for a name that is unknown."""

import difflib
from collections.abc import Iterable

_LONGEST_NAME = 100
"""Characters of a name that are compared: the time for it grows with the square of its length."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``" Did you mean '...'?"``, to be appended to a message; an empty text if no known name is similar."""
    nearest = difflib.get_close_matches(name[:_LONGEST_NAME], list(known), n=1, cutoff=0.6)
    return f" Did you mean '{nearest[0]}'?" if nearest else ""
