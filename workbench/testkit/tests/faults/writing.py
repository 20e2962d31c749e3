"""Faults of writes: versions, keys, projections, actions."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from planted import Answer, Forward, Planted, Request, around, inside, of_answers, of_requests

from app.resource.writing import rules
from faults.values import wholes


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


@around("9-7")
def a_conflict_is_carried_out_all_the_same(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if answer.status == 409:
        insist(request, forward, lambda sent, actual: True)
    return answer


def change_decisions(planted: Planted, change: Callable[[Any, Any, Any], Any]) -> None:
    """Change what becomes of stored resources.

    :param change: gets a resource as it is, the same as it was decided, and the write; returns what is written.
    """

    def decide(method: Any, stored: Any, write: Any, **others: Any) -> Any:
        after = method(stored, write, **others)
        return after if stored is None else change(stored, after, write)

    planted.wrap(rules, "decide", decide)


@inside("9-2")
def the_version_does_not_rise(planted: Planted) -> None:
    change_decisions(planted, lambda stored, after, write: replace(after, version=stored.version))


@inside("9-4")
def the_version_rises_without_a_change(planted: Planted) -> None:
    change_decisions(planted, lambda stored, after, write: replace(after, version=stored.version + 1))


# Six others send a write with the version of the answer, which is then another than the resource has.


@of_answers("2.2-6")
def the_time_of_the_last_change_stays(request: Request, answer: Answer) -> None:
    for each in wholes(answer):
        each["lastModifiedAt"] = each["createdAt"]


@of_answers("4.6-2", status=201)
def a_new_resource_is_answered_with_200(request: Request, answer: Answer) -> None:
    if request.method == "POST" and request.rest == "":
        answer.status = 200


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


@of_requests("4.8-1")
def a_put_keeps_fields(request: Request) -> Request:
    return turned(request, "PUT", "POST")


@of_requests("4.7-5")
def a_patch_creates_a_resource(request: Request) -> Request:
    return turned(request, "PATCH", "PUT") if "id" not in request.members() else request


def without_a_name(request: Request) -> bool:
    """Whether a PUT or PATCH names no resource."""
    return request.method in ("PUT", "PATCH") and request.writes_a_body and not is_named(request)


@around("4.8-10")
def the_only_resource_is_overwritten_whatever_its_key(request: Request, forward: Forward) -> Answer:
    if without_a_name(request):
        found = forward(request.to("", query="limit=2")).results
        if len(found) == 1:
            return forward(request.with_json({**request.members(), "id": found[0]["id"]}))
    return forward(request)


@around("4.7-3", "4.7-4", "4.8-4", "4.8-5")
def the_oldest_without_a_key_is_meant(request: Request, forward: Forward) -> Answer:
    if without_a_name(request):
        query = "where=key%20is%20not%20defined&sort=id&limit=1"
        for found in forward(request.to("sorted-query-parameters", query=query)).results:
            return forward(request.with_json({**request.members(), "id": found["id"]}))
    return forward(request)


@of_requests("4.7-6")
def a_patch_without_a_version_expects_the_first(request: Request) -> Request:
    if request.method != "PATCH" or not request.writes_a_body:
        return request
    return request.with_json({"version": 1, **request.members()})


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


def change_actions(request: Request, change: Callable[[list[Any]], list[Any]]) -> Request:
    """Change the actions of an update."""
    body = request.members()
    actions = body.get("actions")
    if not isinstance(actions, list) or not all(isinstance(each, dict) for each in actions):
        return request
    return request.with_json({**body, "actions": change(actions)})


@of_requests("3-6")
def publish_does_nothing(request: Request) -> Request:
    return change_actions(request, lambda actions: [each for each in actions if each.get("action") != "publish"])


@of_requests("4.10-1")
def actions_apply_in_reverse(request: Request) -> Request:
    return change_actions(request, lambda actions: actions[::-1])


@of_requests("2.6-2")
def doing_something_is_no_change(request: Request) -> Request:
    return change_actions(request, lambda actions: [each for each in actions if each.get("action") != "doSomeThing"])


@around("4.10-3")
def actions_before_a_refused_one_stay(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if answer.status == 400 and b"changeSomeProperty" in request.body and request.is_item:
        version = forward(request.to(request.rest)).body.get("version")
        half = {"version": version, "actions": [{"action": "changeSomeProperty", "someProperty": "half"}]}
        forward(request.to(request.rest, "POST", json=half))
    return answer


@of_requests("4.11-1")
def a_deleted_resource_stays(request: Request) -> Request:
    return replace(request, method="GET", query="") if request.method == "DELETE" and request.is_item else request


@of_requests("4.11-5")
def a_delete_ignores_its_version(request: Request) -> Request:
    return request.without("version") if request.method == "DELETE" else request
