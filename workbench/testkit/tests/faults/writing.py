"""Faults of writes: versions, keys, projections, actions."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from planted import Answer, Forward, Planted, Request, around, inside, of_answers, of_requests

from app.resource.writing import rules


def insist(request: Request, forward: Forward, when: Callable[[float, int], bool]) -> Answer:
    """Carry out what has met another version, if it expects a certain one.

    :param when: gets the version that was sent, and the actual one.
    """
    answer = forward(request)
    if answer.status != 409 or "actions" not in request.members():
        return answer
    actual = answer.errors[0]["currentVersion"]
    sent = request.members()["version"]
    return forward(request.with_json({**request.members(), "version": actual})) if when(sent, actual) else answer


@around("9-5")
def an_update_ignores_its_version(request: Request, forward: Forward) -> Answer:
    return insist(request, forward, lambda sent, actual: True)


@of_answers("9-6", status=409)
def a_conflict_without_the_current_version(request: Request, answer: Answer) -> None:
    answer.errors[0].pop("currentVersion")


def change_decisions(planted: Planted, change: Callable[[Any, Any, Any], Any]) -> None:
    """Change what becomes of stored resources.

    :param change: gets a resource as it is, the same as it was decided, and the write; returns what is written.
    """

    def decide(method: Any, stored: Any, write: Any, **others: Any) -> Any:
        after = method(stored, write, **others)
        return after if stored is None else change(stored, after, write)

    planted.wrap(rules, "decide", decide)


@inside("9-4")
def the_version_rises_without_a_change(planted: Planted) -> None:
    change_decisions(planted, lambda stored, after, write: replace(after, version=stored.version + 1))


@of_answers("4.6-11")
def a_location_that_leads_nowhere(request: Request, answer: Answer) -> None:
    if "Location" in answer.headers:
        answer.headers["Location"] += "x"


def is_named(request: Request) -> bool:
    """Whether a write on the collection names the resource that it means."""
    return request.writes_a_body and not request.members().keys().isdisjoint(("id", "key"))


def turned(request: Request, method: str, into: str) -> Request:
    """A write that names its resource, with another method."""
    return replace(request, method=into) if request.method == method and is_named(request) else request


@of_requests("4.6-6")
def a_post_replaces_all_fields(request: Request) -> Request:
    return turned(request, "POST", "PUT")


def without_a_name(request: Request) -> bool:
    """Whether a PUT or PATCH names no resource."""
    return request.method in ("PUT", "PATCH") and request.writes_a_body and not is_named(request)


@around("4.8-12")
def a_write_without_a_name_means_the_youngest_of_any_client(request: Request, forward: Forward) -> Answer:
    if without_a_name(request):
        query = "where=key%20is%20not%20defined&sort=id%20desc&limit=1"
        for found in forward(request.to("sorted-query-parameters", query=query)).results:
            return forward(request.with_json({**request.members(), "id": found["id"]}))
    return forward(request)


@of_requests("4.11-8")
def a_body_of_a_delete_is_dropped(request: Request) -> Request:
    return replace(request, body=b"") if request.method == "DELETE" else request


@of_requests("4.6-13")
def some_property_of_a_body_is_dropped(request: Request) -> Request:
    body = request.members()
    return (
        request.with_json({**body, "someProperty": None})
        if request.writes_a_body and "someProperty" in body
        else request
    )


@around("2.2-11")
def a_key_may_be_given_twice(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if answer.status == 400 and "DuplicateField" in answer.says:
        body = request.members()
        answer = forward(request.with_json({name: body[name] for name in body if name != "key"}))
        answer.body["key"] = body["key"]
    return answer


@of_requests("3-2", "3-3")
def a_staged_write_shows_in_the_current_projection(request: Request) -> Request:
    return request.without("staged") if request.writes_a_body else request


@around("4.10-3")
def actions_before_a_refused_one_stay(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if answer.status == 400 and b"changeSomeProperty" in request.body and request.is_item:
        version = forward(request.to(request.rest)).body.get("version")
        half = {"version": version, "actions": [{"action": "changeSomeProperty", "someProperty": "half"}]}
        forward(request.to(request.rest, "POST", json=half))
    return answer


@of_requests("4.11-5")
def a_delete_ignores_its_version(request: Request) -> Request:
    return request.without("version") if request.method == "DELETE" else request
