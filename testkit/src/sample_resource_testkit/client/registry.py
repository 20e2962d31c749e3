"""The scenarios, each registered under a number that never changes."""

import importlib
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from sample_resource_testkit.clauses import LEVELS, Clause, clauses

if TYPE_CHECKING:
    from sample_resource_testkit.client.stage import Stage

THEMES = ("requests", "answers", "errors", "behaviour")
"""In the order of reports."""

_THEME_OF = {"req": "requests", "ans": "answers", "err": "errors", "do": "behaviour"}

_NUMBER = re.compile(r"C-(req|ans|err|do)-([1-9][0-9]*)", re.ASCII)

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

_registered: dict[str, Scenario] = {}


def scenario(
    number: str, text: str, of: str, *, level: str = "must", feature: str = "", needs: str = ""
) -> Callable[[Play], Play]:
    """Register a function as a scenario.

    :param of: numbers of clauses, with blanks between them, and ``needs``, those of scenarios.
    :raises ValueError: for a number that is none or is taken, a clause or a level that does not exist.
    """

    def register(function: Play) -> Play:
        match = _NUMBER.fullmatch(number)
        if match is None or number in _registered:
            raise ValueError(f"{number} is no number of a scenario, or is taken")
        unknown = [clause for clause in of.split() if clause not in clauses()]
        if unknown or not of or level not in LEVELS:
            raise ValueError(f"{number} names clauses or a level that do not exist: {unknown}, {level}")
        _registered[number] = Scenario(number, text, tuple(of.split()), level, feature, tuple(needs.split()), function)
        return function

    return register


@cache
def scenarios() -> dict[str, Scenario]:
    """All scenarios by their numbers, by theme and count.

    :raises ValueError: if one needs another that does not exist, or that comes after it.
    """
    package = importlib.import_module("sample_resource_testkit.client.scenarios")
    for module in sorted(pkgutil.iter_modules(package.__path__, f"{package.__name__}."), key=lambda found: found.name):
        importlib.import_module(module.name)
    ordered = {each.number: each for each in sorted(_registered.values(), key=_place)}
    places = {number: place for place, number in enumerate(ordered)}
    for each in ordered.values():
        for need in each.needs:
            if places.get(need, len(places)) >= places[each.number]:
                raise ValueError(f"{each.number} needs {need}, which is not before it")
    return ordered


def _place(of: Scenario) -> tuple[int, int]:
    return THEMES.index(of.theme), int(of.number.rpartition("-")[2])
