"""The list (4.1): its page, its results, and combinations of conditions and other parameters."""

from collections.abc import Mapping
from typing import Any

from sample_resource_testkit.callers import Made
from sample_resource_testkit.checks.names import FLOATS, INTEGERS, NUMBERS, OBJECTS, PAIR, TEXTS, UNIQUE
from sample_resource_testkit.checks.refusals import refused
from sample_resource_testkit.checks.steps import expect_found, ids_in, keyed
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

ALL: dict[str, Any] = {
    INTEGERS: [3, 1, 3],
    UNIQUE: [2, 1],
    PAIR: [0.5, 7],
    FLOATS: [0.25],
    NUMBERS: [1, 2.5],
    OBJECTS: [{"integerExample": 1, "integerExampleInt32": 2}, {}],
}

BESIDE = {"id", "version", "key", "createdAt", "lastModifiedAt"}


def some(world: World, count: int, fields: Mapping[str, Any] | None = None) -> tuple[str, list[Made]]:
    """Make some resources whose texts have a new word. Return the word and the resources."""
    word = world.word()
    return word, [world.make({TEXTS: [word], **(fields or {})}) for _ in range(count)]


@check("4.1-1", cases={"none": "", "a limit": "?limit=1", "a condition": "?stringParameter=a"})
def a_list_is_answered_200_with_results(world: World, query: str) -> None:
    world.make()
    answer = world.get(query).expect_status(200)
    answer.expect(isinstance(answer.at("results"), list), "results to be an array", answer.at("results"))


@check("4.1-1", needs=["4.1-6"])
def a_list_has_the_resources_of_the_project(world: World) -> None:
    word, made = some(world, 3)
    expect_found(world.get("", query={"stringParameter": word}), *made)


@check("4.1-2", cases={"none": "", "a limit": "?limit=1", "no result": "?limit=0", "a later page": "?limit=1&offset=1"})
def a_page_has_its_members(world: World, query: str) -> None:
    world.make()
    answer = world.get(query).expect_status(200)
    for name in ("limit", "offset", "count", "total"):
        found = answer.at(name)
        answer.expect(isinstance(found, int) and not isinstance(found, bool), f"{name} to be an integer", found)
    answer.expect_json("count", len(answer.at("results")))


@check("4.1-2", needs=["4.1-6"], cases=[0, 1, 3, 25])
def total_is_the_number_of_all_matches(world: World, count: int) -> None:
    word, _ = some(world, count)
    answer = world.get("", query={"stringParameter": word}).expect_status(200)
    answer.expect_json("total", count).expect_json("count", len(answer.at("results")))


@check("4.1-3", needs=["4.1-6"], cases={**{name: {name: values} for name, values in ALL.items()}, "all of them": ALL})
def a_result_has_the_fields_directly(world: World, fields: dict[str, Any]) -> None:
    word, made = some(world, 1, fields)
    answer = expect_found(world.get("", query={"stringParameter": word}), *made)
    answer.expect_subset({TEXTS: [word], **fields}, "results", 0).expect_absent("results", 0, "objectTypeProperty")


@check("4.1-4", needs=["4.1-6"])
def a_result_says_which_resource_it_is(world: World) -> None:
    word = world.word()
    made = keyed(world, {TEXTS: [word]})
    read = world.get(f"/{made.id}").expect_status(200).json
    answer = expect_found(world.get("", query={"stringParameter": word}), made)
    answer.expect_subset({name: read[name] for name in sorted(BESIDE)}, "results", 0)


CONDITIONS: dict[str, tuple[str, str, Any]] = {
    "integerParameter": (INTEGERS, "integerParameter", 0),
    "floatParameter": (FLOATS, "floatParameter", 0.5),
    "withMarkdownDescription": (NUMBERS, "withMarkdownDescription", 0),
}


@check("4.1-15", needs=["4.1-6"], cases=CONDITIONS)
def a_text_and_a_number_have_to_hold(world: World, field: str, name: str, fraction: float) -> None:
    word, number = world.word(), world.number() % 1_000_000_007 + fraction
    made = world.make({TEXTS: [word], field: [number]})
    if ids_in(world.get("", query={name: number})) != [made.id]:
        world.not_reachable(f"{name} alone does not find the resource")
    world.make({TEXTS: [word], field: [number + 1]})
    world.make({TEXTS: [world.word()], field: [number]})
    expect_found(world.get("", query={"stringParameter": word, name: number}), made)


@check("4.1-17", cases=["expand=createdBy", "limit=501", "offset=10001", "sort=foo", "where=foo%20%3D%201", "limit=-1"])
def the_list_refuses_what_it_does_not_take(world: World, query: str) -> None:
    refused(world.get(f"?{query}"), 400, "InvalidInput")


@check("4.12-17", needs=["4.1-6"], cases=[2, 5, 20])
def results_are_in_the_order_of_their_ids(world: World, count: int) -> None:
    word, made = some(world, count)
    # The ids of this service rise with time. A later write to a resource must not change the order.
    world.update(made[0])
    answer = world.get("", query={"stringParameter": word}).expect_status(200)
    ids = ids_in(answer)
    answer.expect(len(ids) == count and ids == sorted(ids), "results in ascending order of their ids", ids)
