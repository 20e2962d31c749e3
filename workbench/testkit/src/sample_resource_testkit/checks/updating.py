"""Update by id with a list of actions (4.10, 2.6), and delete (4.11)."""

from collections.abc import Callable
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import update_body
from sample_resource_testkit.checks.names import INTEGERS, TEXTS, UNKNOWN_ID
from sample_resource_testkit.checks.refusals import details_of, refused, refused_with_detail
from sample_resource_testkit.checks.steps import as_read, change, expect_found, keyed
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

MOST_ACTIONS = 500


@check("2.6-1", cases={"a text": "doSomeThing", "an array": ["doSomeThing"], "a number": 1})
def an_action_that_is_no_object_is_refused(world: World, action: Any) -> None:
    made = world.make()
    world.post(f"/{made.id}", {"version": made.version, "actions": [action]}).expect_status(400)


@check("2.6-2", cases=[1, 3])
def to_do_something_raises_the_version(world: World, count: int) -> None:
    made = world.make({TEXTS: ["a"]})
    before = as_read(world, made)
    answer = world.post(f"/{made.id}", update_body(made.version, *["doSomeThing"] * count)).expect_success()
    answer.expect(answer.at("version") > made.version, f"a version above {made.version}", answer.at("version"))
    for name in ("id", "key", "createdAt", "createdBy", "objectTypeProperty"):
        answer.expect(answer.members.get(name) == before.get(name), f"{name} as it was", answer.members.get(name))
    answer.expect_absent("someProperty")


@check(
    "2.6-1",
    cases={"beyond ASCII": "ü 🐙", "10,000 characters": "x" * 10_000},
)
def a_change_to_a_text_is_accepted(world: World, text: str) -> None:
    made = world.make()
    world.post(f"/{made.id}", update_body(made.version, change(text))).expect_success()


@check("E-7", cases=[0, 1, 2, 10])
def a_fault_is_told_with_the_position_of_its_action(world: World, position: int) -> None:
    made = world.make()
    actions: list[dict[str, Any]] = [{"action": "doSomeThing"}] * 12
    actions[position] = {"action": "changeSomeProperty"}
    answer = world.post(f"/{made.id}", update_body(made.version, *actions))
    refused_with_detail(answer, f"actions -> {position} -> someProperty: Missing required value.")


@check("2.6-6", cases=["setKey", "DoSomeThing", "doSomething", "changeSomeproperty", "", " doSomeThing", "publish "])
def an_unknown_action_is_refused_and_the_known_ones_are_told(world: World, name: str) -> None:
    made = world.make()
    answer = world.post(f"/{made.id}", update_body(made.version, {"action": name}))
    refused(answer, 400, "InvalidJsonInput")
    details = details_of(answer)
    known = ("'doSomeThing'", "'changeSomeProperty'")
    answer.expect(any(all(action in text for action in known) for text in details), f"{known} in the message", details)


@check("4.10-1", needs=["2.2-8"], cases=[2, 3, 20])
def the_last_of_several_changes_counts(world: World, count: int) -> None:
    made = world.make()
    actions = [change(f"text {number}") for number in range(count)]
    world.post(f"/{made.id}", update_body(made.version, *actions)).expect_success()
    world.get(f"/{made.id}").expect_status(200).expect_json("someProperty", f"text {count - 1}")


@check("4.8-9", needs=["4.10-1"], cases={"doSomeThing": {"action": "doSomeThing"}, "a change": change("a")})
def an_update_answers_200_with_the_resource(world: World, action: dict[str, Any]) -> None:
    made = keyed(world, {TEXTS: ["a"], INTEGERS: [1]})
    answer = world.post(f"/{made.id}", update_body(made.version, action)).expect_status(200)
    answer.expect_json("id", made.id).expect_json("objectTypeProperty", {TEXTS: ["a"], INTEGERS: [1]})
    world.get(f"/{made.id}").expect_json(answer.json)


REFUSED_ACTIONS: dict[str, dict[str, Any]] = {
    "an unknown action": {"action": "setKey"},
    "a missing text": {"action": "changeSomeProperty"},
    "a text that cannot be kept": change("a\u0000b"),
}


@check(
    "4.10-3",
    needs=["4.10-1"],
    cases={f"{name}, {where}": (name, where) for name in REFUSED_ACTIONS for where in ("last", "within")},
)
def a_refused_action_leaves_nothing_of_the_others(world: World, name: str, where: str) -> None:
    made = world.make()
    before = as_read(world, made)
    after = [change("later")] if where == "within" else []
    answer = world.post(f"/{made.id}", update_body(made.version, change("first"), REFUSED_ACTIONS[name], *after))
    answer.expect(answer.status >= 400, "a refusal", f"status {answer.status}")
    world.get(f"/{made.id}").expect_status(200).expect_json(before)


IDS = {"a UUID": UNKNOWN_ID, "a word": "abc", "the nil UUID": "0" * 8 + "-0000" * 3 + "-" + "0" * 12}


@check("4.10-4", cases=IDS)
def an_update_of_an_unknown_id_is_not_found(world: World, identifier: str) -> None:
    for body in (update_body(1, change("a")), {"version": 1, "actions": []}):
        refused(world.post(f"/{identifier}", body), 404, "ResourceNotFound")


@check("4.10-5", cases={"version": {"actions": []}, "actions": {"version": 1}})
def an_update_needs_both_fields(world: World, body: dict[str, Any]) -> None:
    missing = "actions" if "version" in body else "version"
    answer = world.post(f"/{world.make().id}", body)
    refused_with_detail(answer, f"{missing}: Missing required value.")


@check("4.10-7", cases={"a new resource": 0, "a changed resource": 2})
def an_empty_list_of_actions_changes_nothing(world: World, updates: int) -> None:
    made = world.make({INTEGERS: [1]})
    for _ in range(updates):
        made = world.update(made)
    before = as_read(world, made)
    world.post(f"/{made.id}", {"version": made.version, "actions": []}).expect_status(200).expect_json(before)
    world.get(f"/{made.id}").expect_status(200).expect_json(before)


@check("4.10-7", needs=["2.6-1"], cases={"a word": "a", "the empty text": "", "beyond ASCII": "ü🐙", "blanks": "  "})
def a_change_to_the_same_text_changes_nothing(world: World, text: str) -> None:
    made = world.update(world.make(), change(text))
    before = as_read(world, made)
    world.post(f"/{made.id}", update_body(made.version, change(text))).expect_status(200).expect_json(before)


@check("9-4", needs=["4.10-1"], cases=[2, 3, 10])
def actions_that_end_where_they_began_change_nothing(world: World, count: int) -> None:
    made = world.update(world.make(), change("begin"))
    before = as_read(world, made)
    actions = [*(change(f"text {number}") for number in range(count - 1)), change("begin")]
    world.post(f"/{made.id}", update_body(made.version, *actions)).expect_status(200).expect_json(before)


@check("4.10-10", cases=[MOST_ACTIONS - 1, MOST_ACTIONS])
def as_many_actions_are_accepted(world: World, count: int) -> None:
    made = world.make()
    actions = [change(f"text {number}") for number in range(count)]
    world.post(f"/{made.id}", update_body(made.version, *actions)).expect_success()


@check("4.10-10", cases=[MOST_ACTIONS + 1, MOST_ACTIONS + 2, 2 * MOST_ACTIONS])
def more_actions_are_refused(world: World, count: int) -> None:
    made = world.make()
    before = as_read(world, made)
    world.post(f"/{made.id}", update_body(made.version, *["doSomeThing"] * count)).expect_status(400)
    world.get(f"/{made.id}").expect_status(200).expect_json(before)


LISTS: dict[str, Callable[[World, str], Answer]] = {
    "list": lambda world, word: world.get("", query={"stringParameter": word}),
    "sorted list": lambda world, word: world.get(
        "/sorted-query-parameters", query={"where": f'{TEXTS} contains any ("{word}")'}
    ),
    "search": lambda world, word: world.get("/searchApiPattern", query={"text.en": word}),
}


@check("4.11-1", cases=LISTS)
def no_list_shows_a_deleted_resource(world: World, ask: Callable[[World, str], Answer]) -> None:
    word = world.word()
    stays, made = world.make({TEXTS: [word]}), world.make({TEXTS: [word]})
    world.delete(f"/{made.id}").expect_success()
    answer = ask(world, word)
    if answer.status != 200:
        world.skip(f"needs an endpoint that this server answers with {answer.status}")
    expect_found(answer, stays)


@check("4.11-1", cases={"a new resource": 0, "a changed resource": 2})
def a_delete_answers_200_with_the_resource(world: World, updates: int) -> None:
    made = keyed(world, {TEXTS: ["a", "ü"], INTEGERS: [1]})
    for number in range(updates):
        made = world.update(made, change(f"text {number}"))
    before = as_read(world, made)
    world.delete(f"/{made.id}").expect_status(200).expect_json(before)


@check("4.11-3", cases=IDS)
def a_delete_of_an_unknown_id_is_not_found(world: World, identifier: str) -> None:
    refused(world.delete(f"/{identifier}"), 404, "ResourceNotFound")
    refused(world.delete(f"/{identifier}?version=1"), 404, "ResourceNotFound")


@check("4.11-3", needs=["4.11-1"], cases=["without a version", "with the version", "with another version"])
def a_second_delete_is_not_found(world: World, how: str) -> None:
    made = world.make()
    world.delete(f"/{made.id}").expect_success()
    version = {"without a version": None, "with the version": made.version}.get(how, made.version + 1)
    query = {} if version is None else {"version": version}
    refused(world.delete(f"/{made.id}", query=query), 404, "ResourceNotFound")


@check("4.11-5", cases={"one more": 1, "one less": -1, "far more": 1_000_000, "0": -2, "below 0": -5})
def a_delete_of_another_version_is_a_conflict(world: World, difference: int) -> None:
    made = world.update(world.make())
    answer = world.delete(f"/{made.id}", query={"version": made.version + difference})
    refused(answer, 409, "ConcurrentModification")
    world.get(f"/{made.id}").expect_status(200)


@check("4.11-8", cases=['{"version": 1}', '{"version": 99}', "[]", "x", "null"])
def a_delete_with_a_body_is_refused(world: World, body: str) -> None:
    made = world.make()
    for headers in ({}, {"Content-Type": "application/json"}):
        answer = refused(world.delete(f"/{made.id}", body=body, headers=headers), 400, "InvalidInput")
        answer.expect("version" in answer.text, "the query parameter version in the message")
    world.get(f"/{made.id}").expect_status(200)


@check("4.11-8", cases=["", "{}", " { }\r\n"])
def an_empty_body_of_a_delete_is_none(world: World, body: str) -> None:
    world.delete(f"/{world.make().id}", body=body).expect_status(200)


@check("2.2-11", needs=["4.11-1"], cases=["POST", "PUT"])
def the_key_of_a_deleted_resource_is_free(world: World, method: str) -> None:
    made = keyed(world)
    world.delete(f"/{made.id}").expect_success()
    answer = world.send(method, "", {"key": made.key, "objectTypeProperty": {}}).expect_success()
    answer.expect(answer.at("id") != made.id, "another id", answer.at("id"))
