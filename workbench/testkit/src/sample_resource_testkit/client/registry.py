"""The scenarios, each registered under a number that never changes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from sample_resource_testkit.clauses import LEVELS, Clause, clauses
from sample_resource_testkit.registry import Case, Check, load_package

if TYPE_CHECKING:
    from sample_resource_testkit.client.stage import Stage

THEMES = ("requests", "answers", "errors", "behaviour")
"""In the order of reports."""

_THEME_OF = {"req": "requests", "ans": "answers", "err": "errors", "do": "behaviour"}

Play = Callable[["Stage"], None]


@dataclass(frozen=True, slots=True)
class Scenario:
    """What a client is put through.

    :param number: such as ``C-req-12``.
    :param text: a sentence that is true of a right client.
    :param clauses: of the specification, that it rests on.
    :param level: ``must``: a client that differs is wrong; ``should``: another may do otherwise and say so.
    :param feature: what the adapter has to name in ``features``; empty: nothing.
    :param needs: scenarios without which it says nothing.
    """

    number: str
    text: str
    clauses: tuple[str, ...]
    level: str
    feature: str
    needs: tuple[str, ...]
    play: Play

    @property
    def theme(self) -> str:
        """One of :data:`THEMES`."""
        return _THEME_OF[self.number.split("-")[1]]

    def as_clause(self) -> Clause:
        """The scenario in the form of what reports count."""
        return Clause(self.number, self.level, self.theme, ", ".join(self.clauses), self.theme, self.text)

    def as_check(self) -> Check:
        """The scenario in the form of what is run."""
        return Check(self.number, self.number, self.needs, False, (Case("", self.play),))


BASICS = {
    "createOrUpdateResource": "C-req-1",
    "listResources": "C-req-2",
    "checkResources": "C-req-3",
    "createOrOverwriteResource": "C-req-4",
    "overwriteResource": "C-req-5",
    "getResourceByKey": "C-req-6",
    "listResourcesSorted": "C-req-7",
    "updateResourceById": "C-req-8",
    "getResourceById": "C-req-9",
    "deleteResourceById": "C-req-10",
    "searchResources": "C-req-11",
    "searchProductProjections": "C-req-12",
    "postWithAllOptions": "C-req-13",
    "postDescriptionWithLinks": "C-req-14",
}
"""The scenario of each operation's plain call."""

AUTHORIZED = "C-req-15"
"""Each request has its token."""

_registered: dict[str, Play] = {}


def scenario(of: str | Mapping[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as what a scenario of ``scenarios.txt`` does, or several.

    :param of: its number; or the numbers, each with the value that the function gets beside the stage, a tuple as
        several values.
    :raises ValueError: for a number that is taken.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        for number, values in {of: ()}.items() if isinstance(of, str) else of.items():
            if number in _registered:
                raise ValueError(f"{number} is taken")
            _registered[number] = _bound(function, values if isinstance(values, tuple) else (values,))
        return function

    return register


def _bound(function: Callable[..., None], values: tuple[Any, ...]) -> Play:
    return lambda stage: function(stage, *values)


@cache
def scenarios() -> dict[str, Scenario]:
    """All scenarios by their numbers, as ``scenarios.txt`` lists them.

    :raises ValueError: for a row that names what does not exist, or comes later, and for a function without a row.
    """
    load_package("sample_resource_testkit.client.scenarios")
    table = (files(__package__ or "") / "scenarios.txt").read_text(encoding="utf-8")
    made: dict[str, Scenario] = {}
    for row in table.splitlines():
        if not row.startswith("#"):
            number, level, of, feature, needs, text = (cell.strip() for cell in row.split(" | "))
            if number not in _registered:
                raise ValueError(f"{number} is in client/scenarios.txt, and no @scenario in client/scenarios/ has it")
            each = Scenario(number, text, tuple(of.split()), level, feature, tuple(needs.split()), _registered[number])
            unknown = [*({*each.clauses} - clauses().keys()), *({*each.needs} - made.keys())]
            if unknown or not of or level not in LEVELS or number in made:
                raise ValueError(f"{number} is listed twice, or names what is not before it: {level}, {unknown}")
            made[number] = each
    if _registered.keys() != made.keys():
        raise ValueError(f"client/scenarios.txt lacks a line for {', '.join(sorted(_registered.keys() - made.keys()))}")
    return made
