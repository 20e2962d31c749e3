"""Faults of writes: versions, keys, projections, actions."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from planted import Answer, Forward, Planted, Request, around, inside, of_answers, of_requests, refusal

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


@around("9-5")
def only_an_older_version_conflicts(request: Request, forward: Forward) -> Answer:
    return insist(request, forward, lambda sent, actual: sent > actual)


@around("9-5")
def a_second_writer_wins_too(request: Request, forward: Forward) -> Answer:
    return insist(request, forward, lambda sent, actual: sent == actual - 1)


@of_answers("9-6", status=409)
def a_conflict_without_the_current_version(request: Request, answer: Answer) -> None:
    answer.errors[0].pop("currentVersion")


@of_answers("9-6", status=409)
def a_conflict_with_the_version_that_was_sent(request: Request, answer: Answer) -> None:
    sent = request.members().get("version", 0)
    answer.errors[0]["currentVersion"] = sent


@of_answers("9-5", status=409)
def a_conflict_is_answered_with_400(request: Request, answer: Answer) -> None:
    answer.status = answer.body["statusCode"] = 400


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


@inside("9-3")
def the_version_rises_by_two(planted: Planted) -> None:
    change_decisions(
        planted,
        lambda stored, after, write: (
            replace(after, version=stored.version + 2) if after.version > stored.version else after
        ),
    )


@inside("9-4")
def the_version_rises_without_a_change(planted: Planted) -> None:
    change_decisions(planted, lambda stored, after, write: replace(after, version=stored.version + 1))


# Six others send a write with the version of the answer, which is then another than the resource has.
@of_answers("9-1", status=201, others=6)
def the_first_version_is_zero(request: Request, answer: Answer) -> None:
    for each in wholes(answer):
        each["version"] = 0


@inside("9-3")
def the_version_stays_at_nine(planted: Planted) -> None:
    change_decisions(planted, lambda stored, after, write: replace(after, version=min(after.version, 9)))


@of_answers("2.2-6")
def the_time_of_the_last_change_stays(request: Request, answer: Answer) -> None:
    for each in wholes(answer):
        each["lastModifiedAt"] = each["createdAt"]


@of_answers("2.2-6")
def a_change_sets_the_time_of_creation(request: Request, answer: Answer) -> None:
    for each in wholes(answer):
        if each["version"] > 1:
            each["createdAt"] = "2001-01-01T00:00:00.000Z"


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


@around("4.7-1")
def a_patch_keeps_fields(request: Request, forward: Forward) -> Answer:
    # A PATCH that finds nothing creates nothing.
    is_there = request.method == "PATCH" and forward(request.header("if-match", '"0"')).status == 412
    return forward(turned(request, "PATCH", "POST") if is_there else request)


@of_requests("4.7-5")
def a_patch_creates_a_resource(request: Request) -> Request:
    return turned(request, "PATCH", "PUT") if "id" not in request.members() else request


@around("4.6-7")
def an_unknown_id_creates_a_resource(request: Request, forward: Forward) -> Answer:
    answer = forward(request)
    if answer.status == 404 and is_named(request):
        rest = {name: value for name, value in request.members().items() if name != "id"}
        return forward(replace(request, method="POST").with_json(rest))
    return answer


@around("4.8-1")
def a_put_always_creates(request: Request, forward: Forward) -> Answer:
    body = request.members()
    if request.method != "PUT" or not request.writes_a_body or "id" in body:
        return forward(request)
    if "key" not in body:
        return forward(replace(request, method="POST"))
    if not isinstance(body["key"], str) or forward(request.to(f"key={quote(body['key'], safe='')}")).status != 200:
        return forward(request)
    return forward(request.with_json({**body, "key": f"{body['key'][:200]}-{uuid4()}"}))


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


@inside("4.8-11")
def a_resource_with_a_key_stays_the_unnamed_one(planted: Planted) -> None:
    unnamed: dict[str, str] = {}

    def remember(request: Request, forward: Forward) -> Answer:
        if without_a_name(request) and request.project in unnamed:
            request = request.with_json({**request.members(), "id": unnamed[request.project]})
        answer = forward(request)
        if without_a_name(request) and answer.status < 300:
            unnamed[request.project] = answer.body["id"]
        return answer

    planted.around = remember


@inside("4.8-5")
def a_put_forgets_what_it_has_chosen(planted: Planted) -> None:
    change_decisions(planted, lambda stored, after, write: replace(after, unnamed=stored.unnamed))


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


@inside("3-1")
def writes_change_the_current_projection_only(planted: Planted) -> None:
    def change(stored: Any, after: Any, write: Any) -> Any:
        is_same = after.current.object_type == stored.current.object_type
        return after if is_same else replace(after, staged=stored.staged)

    change_decisions(planted, change)


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


@of_requests("3-7")
def the_revert_publishes(request: Request) -> Request:
    return change_actions(
        request,
        lambda actions: [
            {"action": "publish"} if each.get("action") == "revertStagedChanges" else each for each in actions
        ],
    )


@of_requests("3-8")
def an_action_ignores_staged(request: Request) -> Request:
    return change_actions(
        request,
        lambda actions: [{name: each[name] for name in each if name != "staged"} for each in actions],
    )


@of_requests("4.10-1")
def actions_apply_in_reverse(request: Request) -> Request:
    return change_actions(request, lambda actions: actions[::-1])


@of_requests("4.10-1")
def only_the_first_action_applies(request: Request) -> Request:
    return change_actions(request, lambda actions: actions[:1])


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


@of_requests("4.10-10")
def five_hundred_and_one_actions_are_accepted(request: Request) -> Request:
    return change_actions(request, lambda actions: actions[:500])


@around("4.10-7")
def an_empty_list_of_actions_is_refused(request: Request, forward: Forward) -> Answer:
    if request.members().get("actions") == []:
        return refusal(400, message="No actions.")
    return forward(request)


@of_requests("4.11-1")
def a_deleted_resource_stays(request: Request) -> Request:
    return replace(request, method="GET", query="") if request.method == "DELETE" and request.is_item else request


@of_answers("4.11-2", status=200)
def a_delete_answers_without_a_body(request: Request, answer: Answer) -> None:
    if request.method == "DELETE" and request.is_item:
        answer.status, answer.body = 204, None


@of_requests("4.11-5")
def a_delete_ignores_its_version(request: Request) -> Request:
    return request.without("version") if request.method == "DELETE" else request


@of_answers("4.11-3", status=404)
def a_delete_of_nothing_is_a_success(request: Request, answer: Answer) -> None:
    if request.method == "DELETE":
        answer.status = 200


@inside("4.11-7")
def the_key_of_a_deleted_resource_stays_taken(planted: Planted) -> None:
    gone: set[str] = set()

    def remember(request: Request, forward: Forward) -> Answer:
        if is_named(request) and request.members().get("key") in gone:
            return refusal(400, message="The key is taken.")
        answer = forward(request)
        if request.method == "DELETE" and answer.status == 200 and "key" in answer.body:
            gone.add(answer.body["key"])
        return answer

    planted.around = remember


@of_requests("9-12")
def a_version_in_a_body_is_ignored(request: Request) -> Request:
    body = request.members()
    if not request.writes_a_body or "version" not in body:
        return request
    request = request.with_json({name: body[name] for name in body if name != "version"})
    return request.header("if-match", "*") if request.method == "PATCH" else request
