"""What an observer of a journal remembers of the requests so far."""

from collections import deque
from dataclasses import dataclass, field

from app.sandbox.journal.entries import TOKEN_OPERATION, Entry, Past

GRANTS_REMEMBERED = 3
"""Tokens in a row, each used once at most, from which on they are a finding."""


@dataclass(slots=True)
class History:
    """What an observer remembers of the entries so far, of one client each."""

    calls: dict[bytes, Past] = field(default_factory=dict[bytes, Past])
    """The last entry of each :attr:`Entry.call`."""
    places: dict[bytes, Past] = field(default_factory=dict[bytes, Past])
    """The last entry of each :attr:`Entry.place`."""
    last: Past | None = None
    """The entry before, whatever it was."""
    new_connections: int = 0
    """New connections in a row."""
    grants: deque["Grant"] = field(default_factory=lambda: deque["Grant"](maxlen=GRANTS_REMEMBERED))
    """The last tokens that were issued."""
    page: "Page | None" = None
    """The last page of the largest size, while the requests after it use single ids of it."""


@dataclass(slots=True)
class Grant:
    """A token that was issued.

    :param asked: the scope that was asked for.
    """

    at: float
    lifetime_s: float
    asked: str
    uses: int = 0
    was_refused: bool = False
    """Whether a request was 401 since."""


@dataclass(slots=True)
class Page:
    """A page of the largest size."""

    number: int
    ids: frozenset[str]
    used: list[str] = field(default_factory=list[str])


def is_grant(entry: Entry) -> bool:
    """Whether a token was issued."""
    return entry.operation == TOKEN_OPERATION and entry.status == 200


def scope_asked(entry: Entry) -> str:
    """The scope that a token was asked for, the same whatever the order of its words."""
    return " ".join(sorted(" ".join(entry.values("scope")).split()))
