"""Versions (9): the writes that raise them, and conflicts. Concurrent requests are in ``races.py``."""

from collections.abc import Callable, Mapping
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import Made, update_body
from sample_resource_testkit.checks.names import INTEGERS, NUMBERS, TEXTS
from sample_resource_testkit.checks.refusals import errors_of, refused
from sample_resource_testkit.checks.steps import (
    CREATING,
    JSON_BODY,
    ON_THE_COLLECTION,
    as_read,
    change,
    keyed,
    made_by,
    write,
)
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

OTHER_VERSIONS = {"one more": 1, "one less": -1, "two less": -2, "far more": 1_000_000, "below 0": -1_000}

WRITES: dict[str, Callable[[World, Made, Any], Answer]] = {
    "POST": lambda world, made, version: write(world, "POST", made, {INTEGERS: [9]}, version=version),
    "PUT": lambda world, made, version: write(world, "PUT", made, {INTEGERS: [9]}, version=version),
    "PATCH": lambda world, made, version: write(world, "PATCH", made, {INTEGERS: [9]}, version=version),
    "POST on the id": lambda world, made, version: world.post(f"/{made.id}", update_body(version, change("9"))),
}
"""Writes that change a resource and expect a version."""

WITH_DELETE: dict[str, Callable[[World, Made, Any], Answer]] = {
    **WRITES,
    "DELETE": lambda world, made, version: world.delete(f"/{made.id}?version={version}"),
}


def third_version(world: World, fields: Mapping[str, Any] | None = None) -> Made:
    """Make a resource and change it twice, so that lower versions than its own exist."""
    return world.update(world.update(world.make(fields)))


@check("9-1", cases=["POST", "POST with a key", "PUT with a key"])
def a_created_resource_has_version_1(world: World, way: str) -> None:
    key = {"key": world.key()} if way.endswith("key") else {}
    answer = world.send(way.split(" ")[0], "", {**key, "objectTypeProperty": {INTEGERS: [1]}})
    version = answer.expect_success().expect_json("version", 1).at("version")
    answer.expect(isinstance(version, int), "version to be an integer", version)


@check("9-2", cases=WRITES)
def a_change_raises_the_version(world: World, change_it: Callable[[World, Made, Any], Answer]) -> None:
    made = world.make()
    answer = change_it(world, made, made.version).expect_success()
    answer.expect(made_by(answer).version > made.version, f"a version above {made.version}", answer.at("version"))


CHANGES: dict[str, dict[str, Any]] = {
    "four fields": {INTEGERS: [1], TEXTS: ["a", "b"], NUMBERS: [0.5], "arrayOfFloatExample": [1.5]},
    "many items": {INTEGERS: list(range(100))},
}


@check(
    "9-3",
    needs=["9-2"],
    cases={f"{name} with {method}": (method, name) for method in ON_THE_COLLECTION for name in CHANGES},
)
def a_change_of_any_size_raises_the_version_by_1(world: World, method: str, name: str) -> None:
    made = third_version(world)
    write(world, method, made, CHANGES[name], version=made.version).expect_success().expect_json(
        "version", made.version + 1
    )


FIELDS: dict[str, Any] = {INTEGERS: [1, 2], TEXTS: ["a"], NUMBERS: [0.5]}

STILL: dict[str, Callable[[World, Made], Answer]] = {
    "POST of the same fields": lambda world, made: write(world, "POST", made, FIELDS),
    "POST of the same key": lambda world, made: write(world, "POST", made, {}, key=made.key),
    "PUT of numbers written otherwise": lambda world, made: write(world, "PUT", made, {**FIELDS, INTEGERS: [1.0, 2.0]}),
    "PATCH of the same fields": lambda world, made: write(world, "PATCH", made, FIELDS),
    "POST on the id without actions": lambda world, made: world.post(
        f"/{made.id}", {"version": made.version, "actions": []}
    ),
}


@check("9-4", needs=["4.6-5", "4.2-1"], cases=STILL)
def a_write_that_changes_nothing_leaves_the_version(world: World, repeat: Callable[[World, Made], Answer]) -> None:
    made = world.update(keyed(world, FIELDS))
    before = as_read(world, made)
    repeat(world, made).expect_status(200).expect_json(before)
    world.get(f"/{made.id}").expect_status(200).expect_json(before)


@check("9-5", cases=OTHER_VERSIONS)
def another_version_is_a_conflict_and_changes_nothing(world: World, difference: int) -> None:
    made = third_version(world, {TEXTS: ["a"]})
    before = as_read(world, made)
    for body in (update_body(made.version + difference), {"version": made.version + difference, "actions": []}):
        world.post(f"/{made.id}", body).expect_status(409)
    world.get(f"/{made.id}").expect_status(200).expect_json(before)


@check("9-6", needs=["9-5"], cases=OTHER_VERSIONS)
def a_conflict_tells_both_versions(world: World, difference: int) -> None:
    made = third_version(world)
    version = made.version + difference
    message = f"Object {made.id} has a different version than expected. Expected: {version} - Actual: {made.version}."
    answer = world.post(f"/{made.id}", update_body(version))
    refused(answer, 409, "ConcurrentModification", currentVersion=made.version, message=message)


@check("9-6", needs=["9-5"], cases=WITH_DELETE)
def the_same_write_with_the_current_version_succeeds(world: World, do: Callable[[World, Made, Any], Answer]) -> None:
    made = third_version(world)
    answer = do(world, made, made.version - 1)
    if answer.status != 409:
        world.skip(f"needs a conflict, and this server answers {answer.status}")
    current = [entry["currentVersion"] for entry in errors_of(answer) if "currentVersion" in entry]
    if not current:
        world.not_reachable("the answer has no currentVersion")
    do(world, made, current[0]).expect_success()


@check("9-9", cases=["1.0", "1e0", "10e-1", "1.000", "0.1e1"])
def a_version_may_be_written_as_any_number(world: World, text: str) -> None:
    made = world.make()
    if made.version != 1:
        world.not_reachable(f"a created resource has version {made.version}")
    body = f'{{"version": {text}, "actions": [{{"action": "doSomeThing"}}]}}'
    world.post(f"/{made.id}", body=body, headers=JSON_BODY).expect_success()


@check("9-10", cases=[0.5, 1.5, 2.5, 3.5, 2.999999999, 3.0000000000000004, -0.5])
def a_version_with_a_fraction_is_a_conflict(world: World, version: float) -> None:
    made = third_version(world)
    world.post(f"/{made.id}", update_body(version)).expect_status(409)
    world.delete(f"/{made.id}?version={version}").expect_status(409)


NO_NUMBERS: dict[str, Any] = {"a text": "1", "true": True, "an array": [1], "a word": "latest"}


@check("9-11", cases=NO_NUMBERS)
def a_version_that_is_no_number_is_refused(world: World, version: Any) -> None:
    refused(world.post(f"/{world.make().id}", update_body(version)), 400, "InvalidJsonInput")


@check(
    "9-12",
    needs=["4.6-5"],
    cases={f"{method}, {name}": (method, name) for method in ON_THE_COLLECTION for name in ("one more", "one less")},
)
def a_version_is_compared_on_the_collection(world: World, method: str, which: str) -> None:
    made = third_version(world)
    answer = write(world, method, made, {INTEGERS: [1]}, version=made.version + OTHER_VERSIONS[which])
    refused(answer, 409, "ConcurrentModification")


@check(
    "9-13", cases={f"{method} of {version}": (method, version) for method in CREATING for version in (7, 0, -1, 1.5)}
)
def a_version_is_not_compared_in_a_creation(world: World, method: str, version: float) -> None:
    body = {"key": world.key(), "version": version, "objectTypeProperty": {}}
    world.send(method, "", body).expect_success().expect_json("version", 1)
