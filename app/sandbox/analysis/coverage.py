"""Which clauses of the specification the requests of a journal have exercised."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

from app.sandbox.clauses import query, resource, search, service
from app.sandbox.clauses.conditions import Condition
from app.sandbox.journal.entries import Entry

_TABLES = (resource, query, search, service)

CONDITIONS: Mapping[str, Condition] = {number: each for table in _TABLES for number, each in table.CONDITIONS.items()}
"""What shows that a clause was exercised, by the number of the clause."""

NOT_OBSERVABLE: Mapping[str, str] = {
    number: reason for table in _TABLES for number, reason in table.NOT_OBSERVABLE.items()
}
"""The clauses that no journal can show, each with the reason."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of the specification."""

    number: str
    level: str
    profile: str
    heading: str
    """Of its theme."""
    text: str


@cache
def clauses() -> tuple[Clause, ...]:
    """All clauses, in the order of the specification."""
    found = json.loads((files("app.openapi") / "specification.json").read_text("utf-8"))
    return tuple(
        Clause(each["clause"], each["level"], each["profile"], each["heading"], each["text"]) for each in found
    )


class State(StrEnum):
    """What the journal shows of a clause."""

    EXERCISED = "exercised"
    NOT_EXERCISED = "notExercised"
    NOT_OBSERVABLE = "notObservable"
    """No journal can show it, so it does not count."""


@dataclass(frozen=True, slots=True)
class Covered:
    """A clause with the numbers of the first requests that have exercised it."""

    clause: Clause
    state: State
    requests: tuple[int, ...]


def covered(entries: Sequence[Entry]) -> list[Covered]:
    """Every clause, with what the entries show of it."""
    found: list[Covered] = []
    for clause in clauses():
        condition = CONDITIONS.get(clause.number)
        numbers = () if condition is None else condition.numbers(entries)
        state = State.NOT_OBSERVABLE if condition is None else State.EXERCISED if numbers else State.NOT_EXERCISED
        found.append(Covered(clause, state, numbers))
    return found
