"""The checks, each registered under the clause that it holds a server against."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol, overload

if TYPE_CHECKING:
    from sample_resource_testkit.world import World

_WORLD_AND_VALUE = 2
_Plain = Callable[["World"], None]


@dataclass(frozen=True, slots=True)
class Case:
    """One way through a check, with an outcome of its own."""

    name: str
    run: Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Check:
    """A function that holds a server against one clause.

    :param needs: clauses that have to hold first; if one of them fails, the cases are not reachable.
    :param alone: whether nothing else may run meanwhile.
    """

    clause: str
    name: str
    needs: tuple[str, ...]
    alone: bool
    cases: tuple[Case, ...]


_registered: list[Check] = []


class _Register(Protocol):
    def __call__(self, function: _Plain, /) -> _Plain: ...


class _RegisterCases(Protocol):
    def __call__(self, function: Callable[..., None], /) -> Callable[..., None]: ...


@overload
def check(clause: str, *, needs: Iterable[str] = (), alone: bool = False) -> _Register: ...


@overload
def check(
    clause: str, *, needs: Iterable[str] = (), alone: bool = False, cases: Mapping[str, object] | Iterable[object]
) -> _RegisterCases: ...


def check(clause: str, *, needs: Iterable[str] = (), alone: bool = False, cases: Any = None) -> Any:
    """Register a function as a check of a clause.

    The function takes the :class:`~.world.World` and, if there are ``cases``, one value, or each part of a value that
    is a tuple: it runs once for each, and each has an outcome of its own. Values of an iterable give the names of their
    cases; the keys of a mapping are names.

    :param needs: numbers of clauses that the check rests on. If one fails, the check is not reachable.
    :param alone: run it while nothing else runs, for what others would disturb.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        if cases is None:
            made = (Case("", function),)
        else:
            named = cases.items() if isinstance(cases, Mapping) else ((value, value) for value in cases)
            made = tuple(Case(_name(name), _bound(function, value)) for name, value in named)
        names = [case.name for case in made]
        if not made or len(set(names)) < len(names):
            raise ValueError(f"{function.__name__}: cases need names, each of its own: {names}")
        if (clause, function.__name__) in {(known.clause, known.name) for known in _registered}:
            raise ValueError(f"{clause} has two checks called {function.__name__}")
        _registered.append(Check(clause, function.__name__, tuple(needs), alone, made))
        return function

    return register


def _name(value: object) -> str:
    """A name that any report can print."""
    text = str(value)
    return text if text.isprintable() and text else ascii(value)


def _bound(function: Callable[..., None], value: object) -> Callable[["World"], None]:
    # A function of several values gets each part of a tuple, one of one value the tuple.
    values = value if isinstance(value, tuple) and len(signature(function).parameters) > _WORLD_AND_VALUE else (value,)

    def run(world: "World") -> None:
        function(world, *values)

    return run


@cache
def load_checks() -> tuple[Check, ...]:
    """All checks of the package :mod:`.checks`, in the order of its modules and of their lines."""
    load_package("sample_resource_testkit.checks")
    return tuple(_registered)


def load_package(name: str) -> None:
    """Import all modules of a package, in the order of their names, so that they register what they have."""
    package = importlib.import_module(name)
    for module in sorted(pkgutil.walk_packages(package.__path__, f"{name}."), key=lambda found: found.name):
        importlib.import_module(module.name)
