"""How a fault is planted in the small server, and the list of all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from small_server.application import Answer, Application, Request
from small_server.serving import SmallServer

FEW = 3
"""How many other clauses of the same themes a fault may fail, because their checks meet it on their way."""

Plant = Callable[[SmallServer], None]


@dataclass(frozen=True)
class Fault:
    """A way in which a server may be wrong.

    :param clauses: those that speak of it, and so have to fail.
    :param others: how many more may fail at most, because their checks meet the fault on their way.
    """

    name: str
    plant: Plant
    clauses: tuple[str, ...]
    others: int


FAULTS: dict[str, Fault] = {}


def fault(*clauses: str, others: int = FEW) -> Callable[[Plant], Plant]:
    """Add a function to the list. Its name says what is wrong; it gets a server before its first request."""

    def add(plant: Plant) -> Plant:
        name = plant.__name__
        assert name not in FAULTS, name
        FAULTS[name] = Fault(name, plant, clauses, others)
        return plant

    return add


def wrap(part: object, name: str, wrapper: Callable[..., Any]) -> None:
    """Put a function in the place of a method; its first argument is the method."""
    method = getattr(part, name)
    setattr(part, name, lambda *arguments, **named: wrapper(method, *arguments, **named))


def alter(server: SmallServer, change: Callable[[Request, Answer], None]) -> None:
    """Change answers before they are sent."""

    def answer(method: Callable[[Request], Answer], request: Request) -> Answer:
        made = method(request)
        change(request, made)
        return made

    wrap(server.application, "answer", answer)


def alter_errors(server: SmallServer, status: int, change: Callable[[Answer], None]) -> None:
    """Change the answers with a status."""
    alter(server, lambda _, made: change(made) if made.status == status else None)


def app(server: SmallServer) -> Application:
    """The application of a server."""
    return server.application
