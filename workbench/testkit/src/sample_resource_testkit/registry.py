"""Registers checks, each under the clause that it tests."""

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
    """One run of a check, with its own values and outcome."""

    name: str
    run: Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Check:
    """A function that tests whether a server obeys one clause.

    :param needs: clauses that have to pass first; if one of them fails, the cases are not reachable.
    :param alone: whether no other check may run at the same time.
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

    The function gets the :class:`~.world.World`. If there are ``cases``, it runs once for each, with the value of the
    case as a further argument; a tuple becomes several arguments. Each case has its own outcome. Its name is the
    key in a mapping, or the value as text.

    :param needs: numbers of clauses that have to pass first. If one fails, the check is not reachable.
    :param alone: whether it runs while no other check runs, because others would disturb it.
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
    """A name for a case, which any report can print."""
    text = str(value)
    return text if text.isprintable() and text else ascii(value)


def _bound(function: Callable[..., None], value: object) -> Callable[["World"], None]:
    # A function with several parameters gets the parts of a tuple, a function with one parameter the tuple.
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
    """Import all modules of a package in the order of their names, so that they register their functions."""
    package = importlib.import_module(name)
    for module in sorted(pkgutil.walk_packages(package.__path__, f"{name}."), key=lambda found: found.name):
        importlib.import_module(module.name)
