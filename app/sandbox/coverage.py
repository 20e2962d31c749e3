"""Which clauses of the specification the requests of a journal have exercised."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.sandbox.entries import Entry


@dataclass(frozen=True, slots=True)
class Clause:
    number: str
    level: str
    profile: str
    text: str


class State(StrEnum):
    """What the journal shows of a clause."""

    EXERCISED = "exercised"
    NOT_EXERCISED = "notExercised"
    NOT_OBSERVABLE = "notObservable"
    """No journal can show it, so it does not count."""


@dataclass(frozen=True, slots=True)
class Covered:
    """A clause with the numbers of the requests that have exercised it."""

    clause: Clause
    state: State
    requests: tuple[int, ...]


def covered(entries: Sequence[Entry]) -> list[Covered]:
    return []
