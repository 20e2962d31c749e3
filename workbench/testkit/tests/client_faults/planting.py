"""How faults are planted in the reference adapter."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FAULTS: "dict[str, Fault]" = {}

Plant = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault.

    :param scenarios: that speak of it: with it they fail, and no others.
    :param plant: changes the module of the adapter.
    """

    name: str
    scenarios: tuple[str, ...]
    plant: Plant


def fault(name: str, scenarios: str) -> Callable[[Plant], Plant]:
    """Register a fault under its name.

    :param scenarios: their numbers, with blanks between them; ``C-req-3..5`` is three of them.
    """

    def register(plant: Plant) -> Plant:
        assert name not in FAULTS
        FAULTS[name] = Fault(name, tuple(_numbers(scenarios)), plant)
        return plant

    return register


def planted(*rows: tuple[str, str, Plant]) -> None:
    """Register faults: the scenarios that speak of each, its name, and what plants it."""
    for scenarios, name, plant in rows:
        fault(name, scenarios)(plant)


def _numbers(text: str) -> list[str]:
    found: list[str] = []
    for word in text.split():
        first, dots, last = word.partition("..")
        theme, _, start = first.rpartition("-")
        found += [f"{theme}-{count}" for count in range(int(start), int(last if dots else start) + 1)]
    return found


def around(of: Any, name: str, change: Callable[..., Any]) -> None:
    """Put a function in place of another; it gets the former one first."""
    former = getattr(of, name)
    setattr(of, name, lambda *args, **more: change(former, *args, **more))


def arguments_changed(adapter: Any, change: Callable[[str, Any], Any]) -> None:
    """Change the values of a query and of a form, before they are written."""

    def changed(former: Any, arguments: Any) -> Any:
        return former(
            {name: value if name in ("var", "text") else change(name, value) for name, value in arguments.items()}
        )

    around(adapter, "pairs", changed)


def pairs_changed(adapter: Any, change: Callable[[list[tuple[str, str]]], Any]) -> None:
    """Change the names and values of a query and of a form, as they are written."""
    around(adapter, "encoded", lambda former, found: former(iter(change(list(found)))))


def bodies_changed(adapter: Any, change: Callable[[Any], Any]) -> None:
    """Change bodies of JSON before they are written."""

    def changed(former: Any, operation: str, body: Any) -> Any:
        return former(operation, body if operation == "searchProductProjections" else change(body))

    around(adapter, "content", changed)


def results_changed(adapter: Any, change: Callable[[Any], Any]) -> None:
    """Change what the client returns."""
    around(adapter, "result_of", lambda former, method, response: change(former(method, response)))


def deep(change: Callable[[Any], Any], value: Any) -> Any:
    """Change each scalar of a JSON value."""
    if isinstance(value, dict):
        return {name: deep(change, item) for name, item in value.items()}
    if isinstance(value, list):
        return [deep(change, item) for item in value]
    return change(value)


def deep_objects(change: Callable[[dict[str, Any]], Any], value: Any) -> Any:
    """Change each object of a JSON value."""
    if isinstance(value, dict):
        return change({name: deep_objects(change, item) for name, item in value.items()})
    if isinstance(value, list):
        return [deep_objects(change, item) for item in value]
    return value


def texts(change: Callable[[str], Any]) -> Callable[[Any], Any]:
    """A change of texts alone."""
    return lambda value: change(value) if isinstance(value, str) else value


def numbers(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A change of numbers alone."""
    return lambda value: change(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def of_client(name: str, change: Any) -> Any:
    """Replace a method of the client; the new one gets the module and the former one first."""

    def plant(adapter: Any) -> None:
        former = getattr(adapter.Client, name)
        setattr(adapter.Client, name, lambda self, *args, **more: change(adapter, former, self, *args, **more))

    return plant


def answering(change: Any) -> Any:
    """Put a coroutine around the exchange of a call; it gets a function that sends it."""

    def plant(adapter: Any) -> None:
        former = adapter.Client.answer

        async def answer(self: Any, method: str, path: str, headers: Any, operation: str, body: Any) -> Any:
            async def send(**changes: Any) -> Any:
                sent = {
                    "method": method,
                    "path": path,
                    "headers": headers,
                    "operation": operation,
                    "body": body,
                    **changes,
                }
                return await former(self, *sent.values())

            return await change(self, send, operation, method, body)

        adapter.Client.answer = answer

    return plant
