"""The current and the staged projection (3).

Only searches show the staged projection, so most checks here publish it to see it.
"""

from collections.abc import Callable
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import Made, update_body
from sample_resource_testkit.checks.names import FLOATS, INTEGERS, NUMBERS, TEXTS
from sample_resource_testkit.checks.steps import (
    CREATING,
    ON_THE_COLLECTION,
    as_read,
    change,
    expect_found,
    keyed,
    made_by,
    write,
)
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

BEFORE: dict[str, Any] = {INTEGERS: [1], TEXTS: ["before"]}

AFTER: dict[str, Any] = {INTEGERS: [2], TEXTS: ["after"]}


def now(world: World, made: Made) -> Made:
    """Read the present state of a resource."""
    return Made(as_read(world, made), made.key)


def published(world: World, made: Made) -> dict[str, Any]:
    """Publish the staged projection of a resource, and return it."""
    return world.update(now(world, made), "publish").body


def reverted(world: World, made: Made) -> dict[str, Any]:
    """Revert the staged changes of a resource, and return the resource."""
    return world.update(now(world, made), "revertStagedChanges").body


def staged_change(world: World, fields: dict[str, Any] | None = None) -> Made:
    """Make a resource whose staged fields differ from the current ones."""
    made = keyed(world, BEFORE)
    answer = write(world, "PUT", made, AFTER if fields is None else fields, staged=True)
    if answer.status != 200:
        world.not_reachable(f"a staged PUT is answered with {answer.status}")
    return made


UNSTAGED: dict[str, Any] = {"without it": None, "staged=false": False}


@check(
    "3-2",
    needs=["3-6"],
    cases={f"{method}, {name}": (method, name) for method in ON_THE_COLLECTION for name in UNSTAGED},
)
def a_write_changes_both_projections(world: World, method: str, name: str) -> None:
    made = world.make(BEFORE)
    answer = write(world, method, made, AFTER, staged=UNSTAGED[name]).expect_success()
    answer.expect_json("objectTypeProperty", AFTER)
    body = published(world, made)
    world.expect(body.get("objectTypeProperty") == AFTER, "the same in the staged projection", body)


READS: dict[str, Callable[[World, Made, str], Answer]] = {
    "by id": lambda world, made, _word: world.get(f"/{made.id}"),
    "by key": lambda world, made, _word: world.get(f"/key={made.key}"),
    "an update": lambda world, made, _word: world.post(f"/{made.id}", update_body(made.version + 1, change("a"))),
}


@check("3-2", cases=READS)
def a_staged_write_is_not_seen(world: World, read: Callable[[World, Made, str], Answer]) -> None:
    made = staged_change(world)
    read(world, made, "").expect_status(200).expect_json("objectTypeProperty", BEFORE)


@check("3-3", cases=CREATING)
def a_staged_creation_has_an_empty_current_projection(world: World, method: str) -> None:
    answer = world.send(method, "", {"key": world.key(), "objectTypeProperty": AFTER}, query={"staged": True})
    answer.expect_status(201).expect_json("objectTypeProperty", {})
    world.get(f"/{made_by(answer).id}").expect_status(200).expect_json("objectTypeProperty", {})


def search(world: World, word: str, query: dict[str, Any]) -> Answer:
    """Send a search for a word."""
    return world.get("/searchApiPattern", query={"text.en": word, **query})


STAGED: dict[str, dict[str, Any]] = {
    "without it": {},
    "staged=false": {"staged": False},
    "staged=true": {"staged": True},
}


@check("3-4", cases=STAGED)
def a_search_matches_and_shows_the_projection_that_it_asks_for(world: World, query: dict[str, Any]) -> None:
    current, staged = world.word(), world.word()
    made = world.make({TEXTS: [current]})
    write(world, "PUT", made, {TEXTS: [staged]}, staged=True).expect_success()
    wanted, other = (staged, current) if query.get("staged") else (current, staged)
    expect_found(search(world, wanted, query), made).expect_json("results", 0, TEXTS, [wanted])
    expect_found(search(world, other, query))


DIFFERENCES: dict[str, tuple[Callable[[World, Made], object], bool]] = {
    "nothing staged": (lambda _world, _made: None, False),
    "a staged write": (lambda world, made: write(world, "POST", made, {NUMBERS: [7]}, staged=True), True),
    "a staged someProperty": (lambda world, made: world.update(made, change("a", staged=True)), True),
    "published": (
        lambda world, made: world.update(now(world, world.update(made, change("a", staged=True))), "publish"),
        False,
    ),
    "a write of both": (lambda world, made: write(world, "POST", made, {NUMBERS: [7]}), False),
}


@check("3-5", needs=["3-4"], cases=DIFFERENCES)
def a_result_says_whether_the_projections_differ(
    world: World, prepare: Callable[[World, Made], object], differ: bool
) -> None:
    word = world.word()
    made = world.make({TEXTS: [word]})
    prepare(world, made)
    for query in ({}, {"staged": True}):
        expect_found(search(world, word, query), made).expect_json("results", 0, "hasStagedChanges", differ)


@check("3-6", cases={"other values": AFTER, "one more field": {**BEFORE, FLOATS: [0.5]}})
def publish_makes_the_staged_projection_current(world: World, fields: dict[str, Any]) -> None:
    made = staged_change(world, fields)
    answer = world.post(f"/{made.id}", update_body(now(world, made).version, "publish")).expect_success()
    answer.expect_json("objectTypeProperty", fields)
    world.get(f"/{made.id}").expect_status(200).expect_json("objectTypeProperty", fields)


@check("3-6", cases={"other values": AFTER, "one more field": {**BEFORE, FLOATS: [0.5]}})
def revert_makes_the_current_projection_staged(world: World, fields: dict[str, Any]) -> None:
    made = staged_change(world, fields)
    body = reverted(world, made)
    world.expect(body.get("objectTypeProperty") == BEFORE, "the current projection as it was", body)
    after = published(world, made)
    world.expect(after.get("objectTypeProperty") == BEFORE, "no staged changes", after)


@check(
    "3-8", needs=["3-6"], cases={"staged: true": {"staged": True}, "staged: false": {"staged": False}, "without": {}}
)
def some_property_is_set_in_the_staged_projection(world: World, more: dict[str, Any]) -> None:
    made = world.update(world.make(), change("first"))
    made = world.update(made, change("second", **more))
    after = published(world, made)
    world.expect(after.get("someProperty") == "second", "someProperty in the staged projection", after)


CURRENT_QUERIES: dict[str, Callable[[str, int], dict[str, Any]]] = {
    "stringParameter": lambda word, _number: {"stringParameter": word},
    "integerParameter": lambda _word, number: {"integerParameter": number},
    "where": lambda word, _number: {"where": f'{TEXTS} contains any ("{word}")'},
}


@check("3-2", cases=CURRENT_QUERIES)
def conditions_look_at_the_current_projection(world: World, query: Callable[[str, int], dict[str, Any]]) -> None:
    current, staged = (world.word(), world.number()), (world.word(), world.number())
    made = world.make({TEXTS: [current[0]], INTEGERS: [current[1]]})
    write(world, "PUT", made, {TEXTS: [staged[0]], INTEGERS: [staged[1]]}, staged=True).expect_success()
    expect_found(world.get("", query=query(*current)), made)
    expect_found(world.get("", query=query(*staged)))
