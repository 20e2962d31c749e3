"""The measured operations, and the goals."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Operation(Enum):
    """A kind of request; the value is its name on the command line."""

    GET_BY_ID = "get-by-id"
    GET_BY_KEY = "get-by-key"
    CREATE = "create"
    CREATE_NEW_WORD = "create-new-word"
    UPDATE = "update"
    UPDATE_NEW_WORD = "update-new-word"
    PAGE_20 = "page-20"
    PAGE_TOTAL = "page-total"
    PAGE_500 = "page-500"
    FILTER = "filter"
    FACET = "facet"

    @property
    def title(self) -> str:
        """The name in tables and plots."""
        return _TITLES[self]


_TITLES = {
    Operation.GET_BY_ID: "get by id",
    Operation.GET_BY_KEY: "get by key",
    Operation.CREATE: "create",
    Operation.CREATE_NEW_WORD: "create with a new word",
    Operation.UPDATE: "update with version",
    Operation.UPDATE_NEW_WORD: "update with version and a new word",
    Operation.PAGE_20: "page of 20",
    Operation.PAGE_TOTAL: "page of 20 with its total",
    Operation.PAGE_500: "page of 500",
    Operation.FILTER: "containment filter, 20 of 100,000",
    Operation.FACET: "facet over an array",
}


@dataclass(frozen=True, slots=True)
class Goal:
    """The least ratio of requests per second to the documented use of the same frameworks; None if it has no such cell.

    :param against_own: the least ratio to another operation of the service itself.
    """

    against_documented: float | None = 1.2
    against_own: tuple[Operation, float] | None = None


GOALS: Mapping[Operation, Goal] = {
    **dict.fromkeys(Operation, Goal()),
    Operation.UPDATE: Goal(1.0),
    Operation.UPDATE_NEW_WORD: Goal(1.0),
    Operation.PAGE_TOTAL: Goal(against_own=(Operation.PAGE_20, 0.8)),
    Operation.FACET: Goal(None),
}

EXAMPLE: Mapping[str, object] = {
    "arrayOfIntExample": [1, 2, 1, 3, 2, 3, 1],
    "arrayOfUniqueIntExample": [1, 3, 5, 7],
    "arrayOfTwonumbersExample": [3, 5],
    "arrayOfFloatExample": [0.82],
    "arrayOfNumberNoDefaultsExample": [10, 9, 8, 7, 6],
    "arrayOfStringExample": ["dog", "cat", "bird"],
    "arrayOfObjectType": [
        {"integerExample": 777, "integerExampleInt32": 1},
        {"integerExample": 30000, "integerExampleInt32": 22},
    ],
}
"""The example of an ObjectType in the interface, which create sends."""
