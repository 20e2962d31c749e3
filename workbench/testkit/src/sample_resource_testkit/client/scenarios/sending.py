"""Helpers for scenarios of requests: calls, each of which has to become the request that it means."""

from collections.abc import Callable, Iterable
from typing import Any

from sample_resource_testkit.client.operations import Call
from sample_resource_testkit.client.registry import scenario
from sample_resource_testkit.client.stage import Stage

ID = "01a2032c-47e7-7238-9557-4a15aa7b8370"
"""An id that no resource has, since these scenarios only look at requests."""

KEY = "my-key"


def drawn_text(stage: Stage, length: int = 24) -> str:
    """A text of random characters from ASCII with its controls and from all planes.

    It has no U+0000 and no lone surrogates.
    """
    kinds = (lambda: stage.random.randint(0x20, 0x7E),) * 3 + (
        lambda: stage.random.randint(1, 0x1F),
        lambda: stage.random.randint(0x80, 0xD7FF),
        lambda: stage.random.randint(0x10000, 0x1FAFF),
    )
    return "".join(chr(stage.random.choice(kinds)()) for _ in range(length))


def drawn_number(stage: Stage) -> float:
    """A random double of any magnitude."""
    return stage.random.uniform(-1, 1) * 10.0 ** stage.random.randint(-30, 30)


def drawn(number: str, calls: Callable[[Stage], list[Call]]) -> None:
    """Register a scenario of calls with random values, which depend on the seed of the run."""

    @scenario(number)
    def play(stage: Stage) -> None:
        _send(stage, calls(stage))


def sends(number: str, *calls: Call) -> None:
    """Register a scenario: each of the calls becomes one request that means the same, and nothing else.

    All calls are made, and all faults are reported together.
    """

    @scenario(number)
    def play(stage: Stage) -> None:
        _send(stage, calls)


def _send(stage: Stage, calls: Iterable[Call]) -> None:
    stage.share()
    stage.each(calls, lambda done: done.expect_request().expect_requests(1))


def listing(**arguments: Any) -> Call:
    """A call of the list."""
    return Call("listResources", arguments)


def sorted_listing(**arguments: Any) -> Call:
    """A call of the sorted list."""
    return Call("listResourcesSorted", arguments)


def searching(**arguments: Any) -> Call:
    """A call of the search."""
    return Call("searchResources", arguments)


def by_form(**fields: Any) -> Call:
    """A call of the search by a form."""
    return Call("searchProductProjections", {}, fields)


def creating(object_type: Any, **members: Any) -> Call:
    """A call of create or update."""
    return Call("createOrUpdateResource", {}, {**members, "objectTypeProperty": object_type})


def updating(*actions: Any, version: Any = 1) -> Call:
    """A call of update by id."""
    return Call("updateResourceById", {"id": ID}, {"version": version, "actions": list(actions)})


def recording(record: Any, one: str = "one", two: str = "two", **arguments: Any) -> Call:
    """A call of the POST with all options."""
    return Call("postWithAllOptions", {"uriParameterOne": one, "uriParameterTwo": two, **arguments}, record)
