"""Writes on the collection: create or update (4.6), overwrite (4.7), create or overwrite (4.8)."""

import re
from typing import Any
from urllib.parse import urlsplit

from sample_resource_testkit.callers import Caller
from sample_resource_testkit.checks.names import INTEGERS, NUMBERS, OBJECTS, TEXTS, UNKNOWN_ID
from sample_resource_testkit.checks.refusals import refused, refused_with_detail
from sample_resource_testkit.checks.steps import (
    CREATING,
    ON_THE_COLLECTION,
    change,
    expect_found,
    keyed,
    made_by,
    write,
)
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

BEFORE: dict[str, Any] = {INTEGERS: [1, 2], TEXTS: ["before"], NUMBERS: [0.5], OBJECTS: [{"integerExample": 1}]}

OVERWRITING = ("PUT", "PATCH")

OTHER_FIELDS: dict[str, dict[str, Any]] = {
    "one field": {INTEGERS: [3]},
    "no field": {},
    "all of them": {INTEGERS: [], TEXTS: ["after"], NUMBERS: [1], OBJECTS: [{}]},
}

ADDED = ("createdAt", "lastModifiedAt", "createdBy", "lastModifiedBy")


def only_one(world: World) -> tuple[Caller, dict[str, Any]]:
    """Make an empty project with one resource without a key. Return the caller for the project, and the resource."""
    own = world.empty_project()
    return own, as_read_there(own, made_by(own.post("", {"objectTypeProperty": BEFORE})).id)


def with_keys(own: Caller, count: int, prefix: str = "kit") -> list[dict[str, Any]]:
    """Make resources with keys, and return them as a read answers them."""
    bodies = [{"key": f"{prefix}-{number}", "objectTypeProperty": {INTEGERS: [number]}} for number in range(count)]
    return [as_read_there(own, made_by(own.post("", body)).id) for body in bodies]


def without_keys(own: Caller, count: int) -> list[dict[str, Any]]:
    """Make resources without keys, and return them as a read answers them."""
    bodies = [{"objectTypeProperty": {INTEGERS: [number]}} for number in range(count)]
    return [as_read_there(own, made_by(own.post("", body)).id) for body in bodies]


def as_read_there(caller: Caller, identifier: str) -> dict[str, Any]:
    """Read a resource of another project."""
    return caller.get(f"/{identifier}").expect_status(200).json


@check("4.6-1", cases={"nothing": {}, "some fields": BEFORE, "texts beyond ASCII": {TEXTS: ["ü", "🐙"]}})
def a_post_answers_with_the_fields_that_were_sent(world: World, fields: dict[str, Any]) -> None:
    world.post("", {"objectTypeProperty": fields}).expect_success().expect_json("objectTypeProperty", fields)


@check("4.6-2", cases={"without a key": False, "with a key": True})
def a_creation_is_answered_201(world: World, with_key: bool) -> None:
    key = {"key": world.key()} if with_key else {}
    world.post("", {**key, "objectTypeProperty": {INTEGERS: [1]}}).expect_status(201)


@check("4.6-3", cases={"nothing": {}, "some fields": BEFORE})
def the_same_post_twice_makes_two(world: World, fields: dict[str, Any]) -> None:
    made = [made_by(world.post("", {"objectTypeProperty": fields})) for _ in range(3)]
    world.expect(len({one.id for one in made}) == 3, "three ids", [one.id for one in made])


@check("4.6-5", cases=["{}", "KEY_{}", "{}-9"])
def a_post_with_a_new_key_makes_a_resource_with_it(world: World, pattern: str) -> None:
    key = pattern.format(world.key())
    first = made_by(world.post("", {"key": key, "objectTypeProperty": {INTEGERS: [1]}}).expect_json("key", key))
    second = made_by(world.post("", {"key": f"{key}0", "objectTypeProperty": {}}).expect_json("key", f"{key}0"))
    world.expect(first.id != second.id, "two resources", first.id)


@check("4.6-5", cases=["id", "key", "id and key"])
def a_post_that_names_a_resource_updates_it(world: World, named: str) -> None:
    made = keyed(world, {INTEGERS: [1]})
    names = {name: {"id": made.id, "key": made.key}[name] for name in named.split(" and ")}
    answer = world.post("", {**names, "objectTypeProperty": {INTEGERS: [2]}}).expect_status(200)
    answer.expect_json("id", made.id).expect_json("objectTypeProperty", INTEGERS, [2])


@check("4.6-6", needs=["4.6-5"], cases=OTHER_FIELDS)
def the_sent_fields_replace_and_the_others_stay(world: World, fields: dict[str, Any]) -> None:
    made = world.make(BEFORE)
    answer = write(world, "POST", made, fields).expect_success()
    answer.expect_json("objectTypeProperty", {**BEFORE, **fields})


NO_IDS = {"a UUID": UNKNOWN_ID, "a word": "abc", "empty": ""}


@check("4.6-7", cases={f"{method} of {name}": (method, name) for method in ON_THE_COLLECTION for name in NO_IDS})
def an_id_that_does_not_exist_is_not_found(world: World, method: str, name: str) -> None:
    body = {"id": NO_IDS[name], "key": world.key(), "version": 1, "objectTypeProperty": {}}
    refused(world.send(method, "", body), 404, "ResourceNotFound")
    world.get(f"/key={body['key']}").expect_status(404)


@check("4.6-8", needs=["4.6-5"], cases=ON_THE_COLLECTION)
def with_id_and_key_the_key_is_set(world: World, method: str) -> None:
    made = keyed(world)
    key = world.key()
    write(world, method, made, {}, key=key).expect_success().expect_json("id", made.id).expect_json("key", key)


@check("4.6-9", cases=ON_THE_COLLECTION)
def a_body_without_object_type_property_is_refused(world: World, method: str) -> None:
    body = {"version": 1, "key": world.key()}
    refused_with_detail(world.send(method, "", body), "objectTypeProperty: Missing required value.")


@check("4.6-10", cases={f"{name} with {method}": (method, name) for method in ON_THE_COLLECTION for name in ADDED})
def what_the_server_sets_is_ignored(world: World, method: str, name: str) -> None:
    made = world.update(world.make(), change("a"))
    value = world.random.choice(["2001-02-03T04:05:06.789Z", "other", {"typeId": "api-client", "id": "x"}, 5, [1]])
    answer = write(world, method, made, {INTEGERS: [1]}, **{name: value}).expect_success()
    answer.expect(answer.at(name) != value, f"{name} of the server", answer.at(name))


@check("4.6-11", cases=CREATING)
def a_creation_tells_its_location(world: World, method: str) -> None:
    answer = world.send(method, "", {"key": world.key(), "objectTypeProperty": {INTEGERS: [7]}})
    if answer.status != 201:
        world.not_reachable(f"a creation is answered with {answer.status}")
    location = str(answer.expect_header("Location", re.compile(r"\S+")).header("Location"))
    # It may be a URL, or a path with or without the prefix of the server.
    path = urlsplit(location).path.removeprefix(world.server.transport.origin.prefix)
    world.get(target=path).expect_status(200).expect_json("objectTypeProperty", {INTEGERS: [7]})


@check("4.6-13", cases=ON_THE_COLLECTION)
def some_property_of_a_body_is_written(world: World, method: str) -> None:
    made = world.update(world.make(BEFORE), change("before"))
    answer = write(world, method, made, BEFORE, someProperty="after").expect_success()
    answer.expect_json("someProperty", "after")
    made = made_by(answer)
    for sent in ({}, {"someProperty": None}):
        write(world, method, made, BEFORE, **sent).expect_success().expect_json("someProperty", "after")
    write(world, method, made, BEFORE, someProperty="staged", staged=True).expect_json("someProperty", "after")
    made = world.update(made_by(world.get(f"/{made.id}")), "publish")
    world.get(f"/{made.id}").expect_json("someProperty", "staged")


@check("4.6-14", cases=ON_THE_COLLECTION)
def content_location_tells_which_resource_was_meant(world: World, method: str) -> None:
    made = keyed(world)
    answers = [world.send(method, "", {"key": made.key, "objectTypeProperty": {INTEGERS: [1]}})]
    if method in CREATING:
        answers.append(world.send(method, "", {"key": world.key(), "objectTypeProperty": {}}))
    for answer in answers:
        address = f"/{world.project}/resource/{re.escape(str(answer.expect_success().at('id')))}"
        answer.expect_header("Content-Location", re.compile(rf"(https?://[^/]+)?(/.*)?{address}"))
        if answer.status == 201:
            answer.expect_header("Location", re.compile(address))


@check("4.7-1", cases=OTHER_FIELDS)
def a_patch_replaces_the_whole_object_type(world: World, fields: dict[str, Any]) -> None:
    made = world.make(BEFORE)
    write(world, "PATCH", made, fields).expect_success()
    world.get(f"/{made.id}").expect_status(200).expect_json("objectTypeProperty", fields)


@check("4.7-1")
def a_patch_of_what_the_interface_shows_replaces_it(world: World) -> None:
    own, before = only_one(world)
    own.patch("", {"version": before["version"], "objectTypeProperty": {INTEGERS: [3]}}).expect_success()
    own.get(f"/{before['id']}").expect_status(200).expect_json("objectTypeProperty", {INTEGERS: [3]})


@check("4.8-9", needs=["4.7-1"], cases=OTHER_FIELDS)
def a_patch_answers_200_with_the_resource(world: World, fields: dict[str, Any]) -> None:
    made = world.make(BEFORE)
    answer = write(world, "PATCH", made, fields).expect_status(200)
    answer.expect_json("id", made.id).expect_json("objectTypeProperty", fields)
    world.get(f"/{made.id}").expect_json(answer.json)


@check("4.7-3", needs=["4.7-1"], cases=["id", "key", "id and key"])
def a_patch_finds_a_resource_by_its_name(world: World, named: str) -> None:
    made, other = keyed(world), keyed(world)
    names = {name: {"id": made.id, "key": made.key}[name] for name in named.split(" and ")}
    answer = world.patch("", {**names, "version": made.version, "objectTypeProperty": {INTEGERS: [1]}})
    answer.expect_success().expect_json("id", made.id)
    world.get(f"/{other.id}").expect_status(200).expect_json("objectTypeProperty", {})


@check("4.7-3", needs=["4.11-1"])
def a_patch_without_a_name_means_the_youngest_that_is_left(world: World) -> None:
    own = world.empty_project()
    oldest, middle, youngest = without_keys(own, 3)
    own.delete(f"/{youngest['id']}").expect_success()
    answer = own.patch("", {"version": middle["version"], "objectTypeProperty": {INTEGERS: [7]}})
    answer.expect_success().expect_json("id", middle["id"])
    own.get(f"/{oldest['id']}").expect_status(200).expect_json(oldest)


@check("4.7-3", cases=["{}", "KEY-{}", "{}" + "k" * 200])
def a_patch_of_an_unknown_key_is_not_found(world: World, pattern: str) -> None:
    key = pattern.format(world.word())
    refused(world.patch("", {"key": key, "version": 1, "objectTypeProperty": {}}), 404, "ResourceNotFound")
    world.get(f"/key={key}").expect_status(404)


NAMED = [(method, name) for method in OVERWRITING for name in ("id", "key")]


@check("9-12", cases=[*NAMED, ("DELETE", "")])
def a_write_without_a_version_happens_whatever_the_version_is(world: World, method: str, name: str) -> None:
    made = keyed(world)
    world.update(world.update(made))
    if method == "DELETE":
        world.delete(f"/{made.id}").expect_success()
        return
    body = {name: {"id": made.id, "key": made.key}[name], "objectTypeProperty": {INTEGERS: [1]}}
    world.send(method, "", body).expect_status(200).expect_json("objectTypeProperty", {INTEGERS: [1]})


@check("4.7-7", needs=["4.7-1", "4.8-1"], cases=NAMED)
def an_overwriting_write_leaves_the_key(world: World, method: str, name: str) -> None:
    made = keyed(world)
    named = {name: {"id": made.id, "key": made.key}[name]}
    answer = world.send(method, "", {**named, "version": made.version, "objectTypeProperty": {INTEGERS: [1]}})
    answer.expect_success().expect_json("key", made.key)


@check("4.8-1", cases=OTHER_FIELDS)
def a_put_replaces_the_whole_object_type(world: World, fields: dict[str, Any]) -> None:
    made = world.make(BEFORE)
    write(world, "PUT", made, fields, version=made.version).expect_success()
    world.get(f"/{made.id}").expect_status(200).expect_json("objectTypeProperty", fields)


@check("4.8-1")
def a_put_of_what_the_interface_shows_replaces_it(world: World) -> None:
    own, before = only_one(world)
    own.put("", {"version": before["version"], "objectTypeProperty": {INTEGERS: [3]}}).expect_success()
    own.get(f"/{before['id']}").expect_status(200).expect_json("objectTypeProperty", {INTEGERS: [3]})


@check("4.8-2", needs=["4.3-1"], cases={"nothing": {}, "some fields": BEFORE})
def a_put_creates_what_is_not_there(world: World, fields: dict[str, Any]) -> None:
    key = world.key()
    world.put("", {"key": key, "version": 1, "objectTypeProperty": fields}).expect_success()
    world.get(f"/key={key}").expect_status(200).expect_json("objectTypeProperty", fields)


@check("4.8-9", cases={"nothing": {}, "some fields": BEFORE})
def a_put_that_creates_is_201_and_then_200(world: World, fields: dict[str, Any]) -> None:
    body = {"key": world.key(), "version": 1, "objectTypeProperty": fields}
    created = world.put("", body).expect_status(201).expect_json("objectTypeProperty", fields)
    again = world.put("", body).expect_status(200).expect_json("objectTypeProperty", fields)
    again.expect_json("id", created.at("id"))


@check("4.8-3", needs=["4.8-1"], cases=["id", "key", "id and key"])
def a_put_finds_a_resource_by_its_name(world: World, named: str) -> None:
    made, other = keyed(world), keyed(world)
    names = {name: {"id": made.id, "key": made.key}[name] for name in named.split(" and ")}
    answer = world.put("", {**names, "objectTypeProperty": {INTEGERS: [1]}})
    answer.expect_success().expect_json("id", made.id)
    world.get(f"/{other.id}").expect_status(200).expect_json("objectTypeProperty", {})


@check("4.8-4")
def a_put_without_a_name_creates_the_only_resource(world: World) -> None:
    own = world.empty_project()
    created = own.put("", {"version": 1, "objectTypeProperty": {INTEGERS: [1]}}).expect_success()
    again = own.put("", {"objectTypeProperty": {INTEGERS: [2]}}).expect_success().expect_json("id", created.at("id"))
    expect_found(own.get(), made_by(again))


@check("4.8-4", needs=["4.11-1"])
def a_put_without_a_name_means_the_youngest_that_is_left(world: World) -> None:
    own = world.empty_project()
    oldest, middle, youngest = without_keys(own, 3)
    own.delete(f"/{youngest['id']}").expect_success()
    own.put("", {"objectTypeProperty": {INTEGERS: [7]}}).expect_success().expect_json("id", middle["id"])
    own.get(f"/{oldest['id']}").expect_status(200).expect_json(oldest)


@check("4.8-5", needs=["4.6-3"], cases=OVERWRITING)
def a_write_after_a_post_writes_what_that_has_made(world: World, method: str) -> None:
    own = world.empty_project()
    before = with_keys(own, 1) + without_keys(own, 2)
    # A write of this kind before the POST does not change the result.
    written = own.put("", {"version": 1, "objectTypeProperty": {INTEGERS: [7]}}).expect_success()
    before = [as_read_there(own, one["id"]) for one in before]
    written.expect(written.json in before, "one of those that are there", written.at("id"))
    made = own.post("", {"objectTypeProperty": {INTEGERS: [8]}}).expect_success()
    before += with_keys(own, 1, "later")
    answer = own.send(method, "", {"version": made.at("version"), "objectTypeProperty": {INTEGERS: [9]}})
    answer.expect_success().expect_json("id", made.at("id")).expect_json("objectTypeProperty", {INTEGERS: [9]})
    for one in before:
        own.get(f"/{one['id']}").expect_status(200).expect_json(one)


@check("4.8-10", needs=["4.6-5"], cases=OVERWRITING)
def a_write_without_a_name_leaves_the_only_resource_if_that_has_a_key(world: World, method: str) -> None:
    own = world.empty_project()
    (before,) = with_keys(own, 1)
    own.send(method, "", {"version": before["version"], "objectTypeProperty": {}})
    own.get(f"/{before['id']}").expect_status(200).expect_json(before)


@check("4.8-10", needs=["4.8-4", "4.6-8"], cases=ON_THE_COLLECTION)
def what_gets_a_key_is_meant_no_more_without_a_name(world: World, method: str) -> None:
    own = world.empty_project()
    first = own.put("", {"objectTypeProperty": {INTEGERS: [1]}}).expect_success()
    names = {"id": first.at("id"), "key": "kit-key", "version": first.at("version")}
    own.send(method, "", {**names, "objectTypeProperty": {INTEGERS: [2]}}).expect_success()
    before = as_read_there(own, first.at("id"))
    unfound = own.patch("", {"version": before["version"], "objectTypeProperty": {}})
    refused(unfound, 404, "ResourceNotFound")
    second = own.put("", {"objectTypeProperty": {INTEGERS: [3]}}).expect_success()
    second.expect(second.at("id") != first.at("id"), "another resource", second.at("id"))
    own.get(f"/{first.at('id')}").expect_status(200).expect_json(before)


@check("4.8-12", needs=["4.6-3"], cases=OVERWRITING)
def a_write_without_a_name_leaves_what_another_client_has_made(world: World, method: str) -> None:
    own, other = world.two_clients()
    mine, theirs = without_keys(own, 1) + without_keys(other, 1)
    answer = own.send(method, "", {"version": theirs["version"], "objectTypeProperty": {INTEGERS: [9]}})
    answer.expect_success().expect_json("id", mine["id"])
    own.delete(f"/{mine['id']}").expect_success()
    own.send(method, "", {"version": theirs["version"], "objectTypeProperty": {INTEGERS: [9]}})
    own.get(f"/{theirs['id']}").expect_status(200).expect_json(theirs)


@check("4.8-8", needs=["4.8-1"], cases={"nothing": {}, "some fields": BEFORE})
def the_same_put_again_changes_nothing(world: World, fields: dict[str, Any]) -> None:
    body = {"key": world.key(), "objectTypeProperty": fields}
    first = world.put("", body).expect_success()
    before = world.get(f"/{made_by(first).id}").expect_status(200).json
    for _ in range(2):
        world.put("", body).expect_success()
    world.get(f"/{made_by(first).id}").expect_status(200).expect_json(before)
