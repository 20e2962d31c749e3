"""Cases of parametrized tests."""

from collections.abc import Sequence
from typing import Any


def paired(*columns: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Rows in which each value of each column stands: as many as the longest column has, and not their product."""
    rows = range(max(map(len, columns)))
    return [tuple(column[row % len(column)] for column in columns) for row in rows]
