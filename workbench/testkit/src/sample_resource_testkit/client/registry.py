"""Registers scenarios, each under a number that never changes."""

import re
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
"""The themes of scenarios in the order of reports."""

_THEME_OF = {"req": "requests", "ans": "answers", "err": "errors", "do": "behaviour"}

Play = Callable[["Stage"], None]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A test of clients.

    :param number: such as ``C-req-12``.
    :param text: a sentence that is true for a correct client.
    :param clauses: the clauses of the specification that it is based on, and sections of RFCs.
    :param level: ``must`` if a client that differs is wrong; ``should`` if a client may differ and say so.
    :param feature: the feature that the adapter has to list in ``features``; empty for none.
    :param needs: scenarios that have to pass before this one can be judged.
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
        """The theme of the scenario, one of :data:`THEMES`."""
        return _THEME_OF[self.number.split("-")[1]]

    def as_clause(self) -> Clause:
        """The scenario as a clause, which reports count."""
        return Clause(self.number, self.level, self.theme, ", ".join(self.clauses), self.theme, self.text)

    def as_check(self) -> Check:
        """The scenario as a check, which the runner runs."""
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
"""The scenario of each operation's call without optional parameters, by the operationId."""

AUTHORIZED = "C-req-15"
"""The scenario that says that each request has its token."""

_ELSEWHERE = re.compile(r"RFC[0-9]+-[0-9.]+|protocol")
"""What a scenario may rest on besides clauses: a section of an RFC, or the protocol of adapters."""

_registered: dict[str, Play] = {}


def scenario(of: str | Mapping[str, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function for one or more scenarios of ``scenarios.txt``.

    :param of: the number of the scenario; or a mapping from numbers to the value that the function gets after the
        stage. A tuple becomes several arguments.
    :raises ValueError: if a number has a function already.
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

    :raises ValueError: if a row needs a scenario that does not exist or comes later, or a function has no row.
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
            said = [one for one in each.clauses if not _ELSEWHERE.fullmatch(one)]
            unknown = [*({*said} - clauses().keys()), *({*each.needs} - made.keys())]
            if unknown or not of or level not in LEVELS or number in made:
                raise ValueError(f"{number} is listed twice, or names what is not before it: {level}, {unknown}")
            made[number] = each
    if _registered.keys() != made.keys():
        raise ValueError(f"client/scenarios.txt lacks a line for {', '.join(sorted(_registered.keys() - made.keys()))}")
    return made
