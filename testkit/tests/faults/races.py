"""Faults that show only among concurrent writes.

A race of the kit opens all of its connections before it sends the first request. So a server with more open connections
than checks can have otherwise knows that a race is on, and no fault depends on who comes first, or on a clock.
"""

import copy
from dataclasses import replace
from itertools import count
from typing import Any

from planted import app, fault, wrap
from small_server.resources import Resource
from small_server.serving import SmallServer

CROWD = 32
"""More connections than the checks of a test have open when none of them is a race, and fewer than a race has."""


def crowded(server: SmallServer) -> bool:
    """Whether a race is on."""
    return server.connections() > CROWD


@fault("9-14")
def concurrent_updates_all_win(server: SmallServer) -> None:
    wrap(
        app(server).writes,
        "compare",
        lambda method, found, version: None if crowded(server) else method(found, version),
    )


@fault("9-15")
def a_concurrent_change_is_lost(server: SmallServer) -> None:
    store, numbers = app(server).store, count()

    def keep(method: Any, project: str, resource: Resource) -> None:
        if resource.version == 1 or not crowded(server) or next(numbers) % 2 == 0:
            method(project, resource)

    wrap(store, "keep", keep)


@fault("9-18")
def concurrent_posts_with_one_key_all_create(server: SmallServer) -> None:
    wrap(
        app(server).writes,
        "target",
        lambda method, verb, project, body: (
            None if "id" not in body and "key" in body and crowded(server) else method(verb, project, body)
        ),
    )


@fault("9-19")
def concurrent_puts_make_several_resources(server: SmallServer) -> None:
    wrap(app(server).writes, "only", lambda method, *given: None if crowded(server) else method(*given))


@fault("9-20")
def concurrent_puts_all_find_nothing(server: SmallServer) -> None:
    def hold(method: Any, conditions: Any, found: Any) -> None:
        method(replace(conditions, none_match=None) if crowded(server) else conditions, found)

    wrap(app(server).writes, "hold", hold)


@fault("9-21")
def concurrent_deletes_all_succeed(server: SmallServer) -> None:
    wrap(app(server).store, "remove", lambda method, *given: None if crowded(server) else method(*given))


@fault("9-25", others=5)
def concurrent_writes_refuse_each_other(server: SmallServer) -> None:
    def change(method: Any, project: str, client: str, found: Resource, *given: Any, **named: Any) -> Resource:
        if crowded(server):
            raise app(server).writes.conflict(found, found.version)
        return method(project, client, found, *given, **named)

    wrap(app(server).writes, "change", change)


@fault("9-16")
def concurrent_writes_answer_with_one_version(server: SmallServer) -> None:
    def change(method: Any, project: str, client: str, found: Resource, *given: Any, **named: Any) -> Resource:
        made = method(project, client, found, *given, **named)
        return replace(made, version=2) if crowded(server) and made.version > 2 else made

    wrap(app(server).writes, "change", change)


@fault("9-24")
def a_read_sees_half_of_a_write(server: SmallServer) -> None:
    application = app(server)
    before: dict[str, Any] = {}

    def keep(method: Any, project: str, resource: Resource) -> None:
        known = application.store.by_id(project, resource.id)
        if known is not None:
            before[resource.id] = copy.deepcopy(known.current.fields)
        method(project, resource)

    def whole(method: Any, resource: Resource) -> Any:
        made = method(resource)
        if resource.id in before and crowded(server):
            half = dict(list(before[resource.id].items())[:1])
            made["objectTypeProperty"] = {**made["objectTypeProperty"], **half}
        return made

    wrap(application.store, "keep", keep)
    wrap(application.shapes, "whole", whole)
