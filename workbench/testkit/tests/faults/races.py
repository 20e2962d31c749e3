"""Faults that show only among concurrent writes.

A race of the kit opens all of its connections before it sends the first request. So a server with more open connections
than checks can have otherwise knows that a race is on, and no fault depends on who comes first, or on a clock.
"""

from dataclasses import replace
from itertools import count
from typing import Any

import psutil
from planted import Answer, Forward, Planted, Request, inside

from app.resource.writing import rules, store

CROWD = 32
"""More connections than the checks of a test have open when none of them is a race, and fewer than a race has."""


class Crowd:
    """Whether a race is on: the service has many more open files than when the fault was planted."""

    def __init__(self) -> None:
        self._before = psutil.Process().num_fds()

    def __bool__(self) -> bool:
        return psutil.Process().num_fds() - self._before > CROWD


def change_requests(planted: Planted, change: Any) -> None:
    """Change each request while a race is on."""
    crowd = Crowd()
    planted.around = lambda request, forward: forward(change(request) if crowd else request)


@inside("9-14")
def concurrent_updates_all_win(planted: Planted) -> None:
    crowd = Crowd()

    def refused(method: Any, given: Any, *rest: Any) -> None:
        method(replace(given, expected=None) if crowd else given, *rest)

    planted.wrap(rules, "raise_if_refused", refused)


@inside("9-15")
def a_concurrent_change_is_lost(planted: Planted) -> None:
    crowd, numbers = Crowd(), count()

    def save(method: Any, connection: Any, caller: Any, before: Any, after: Any) -> Any:
        if before is not None and crowd and next(numbers) % 2:
            return store.Written(after)
        return method(connection, caller, before, after)

    planted.wrap(store, "save", save)


@inside("9-19")
def concurrent_puts_make_several_resources(planted: Planted) -> None:
    change_requests(
        planted,
        lambda request: (
            replace(request, method="POST") if request.method == "PUT" and "key" not in request.members() else request
        ),
    )


@inside("9-24")
def a_read_sees_half_of_a_write(planted: Planted) -> None:
    crowd = Crowd()
    known: dict[str, Any] = {}

    def change(request: Request, forward: Forward) -> Answer:
        answer = forward(request)
        for each in [answer.body, *answer.results] if answer.status in (200, 201) else []:
            if not isinstance(each, dict) or "objectTypeProperty" not in each:
                continue
            fields = each["objectTypeProperty"]
            if request.method != "GET":
                known.setdefault(each["id"], fields)
            elif each["id"] in known and crowd:
                each["objectTypeProperty"] = {**fields, **dict(list(known[each["id"]].items())[:1])}
        return answer

    planted.around = change
