"""The list (4.1) with its conditions, parameter by parameter, and the existence check (4.5)."""

import json
from typing import Any

from sample_resource_testkit.callers import Made
from sample_resource_testkit.checks.finding import expect_page
from sample_resource_testkit.checks.names import ALL_FIELDS, FLOATS, INTEGERS, NUMBERS, OBJECTS, TEXTS, UNIQUE
from sample_resource_testkit.checks.refusals import refused
from sample_resource_testkit.checks.steps import expect_found, ids_in, keyed
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

BESIDE = {"id", "version", "key", "createdAt", "lastModifiedAt"}


def some(world: World, count: int) -> tuple[str, list[Made]]:
    """Make some resources whose texts have a new word. Return the word and the resources."""
    word = world.word()
    return word, [world.make({TEXTS: [word]}) for _ in range(count)]


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
    expect_page(world.get(query))


@check("4.1-2", needs=["4.1-6"], cases=[0, 1, 3, 25])
def total_is_the_number_of_all_matches(world: World, count: int) -> None:
    word, _ = some(world, count)
    answer = world.get("", query={"stringParameter": word}).expect_status(200)
    answer.expect_json("total", count).expect_json("count", len(answer.at("results")))


@check("4.1-3", needs=["4.1-6"])
def a_result_has_the_fields_directly(world: World) -> None:
    word = world.word()
    fields = {**ALL_FIELDS, TEXTS: [word]}
    made = world.make(fields)
    answer = expect_found(world.get("", query={"stringParameter": word}), made)
    answer.expect_subset(fields, "results", 0).expect_absent("results", 0, "objectTypeProperty")


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


def expect_finds_one(world: World, query: dict[str, Any], matching: dict[str, Any], other: dict[str, Any]) -> None:
    """Expect that a list finds the first of two resources, and not the second.

    ``stringParameter`` narrows the list to these two, because other resources of the project may have the numbers, too.
    """
    word = world.word()
    made = [world.make({**fields, TEXTS: [word, *fields.get(TEXTS, [])]}) for fields in (matching, other)]
    narrowed = world.get("", query={"stringParameter": word, "arrayOfString": world.word()})
    if narrowed.status != 200 or ids_in(narrowed):
        world.not_reachable("two conditions do not narrow the list to the resources of the check")
    expect_found(world.get("", query={"stringParameter": word, **query}), made[0])


def expect_finds_texts(
    world: World, name: str, wanted: list[str], matching: list[str], other: list[str] | None
) -> None:
    """Expect that a condition on texts finds the first of two resources, and not the second.

    All texts begin with a word that no other resource has, so the list needs no other condition.
    """
    word = world.word()
    made = world.make({TEXTS: [f"{word}{text}" for text in matching]})
    world.make({} if other is None else {TEXTS: [f"{word}{text}" for text in other]})
    expect_found(world.get("", query={name: [f"{word}{text}" for text in wanted]}), made)


TEXT_PAIRS = {
    "a word": ("pet", "dog"),
    "letter case": ("Pet", "pet"),
    "only the beginning": ("pe", "pet"),
    "a blank at the end": ("pet ", "pet"),
    "a wildcard": ("%", "pet"),
    "quotes": ('a"b', "a'b"),
    "a backslash": ("a\\b", "ab"),
    "umlauts": ("käse", "kase"),
    "an emoji": ("🐙", "🐙🐙"),
}


@check("4.1-6", cases=TEXT_PAIRS)
def a_text_is_found_exactly(world: World, pair: tuple[str, str]) -> None:
    # No other resource has the word, so the list needs no other condition.
    word = world.word()
    wanted, other = (f"{word}{text}{word}" if text == "%" else f"{text}{word}{text}" for text in pair)
    made = world.make({TEXTS: ["a", wanted]})
    world.make({TEXTS: [other, "a"]})
    expect_found(world.get("", query={"stringParameter": wanted}), made)


TextCondition = tuple[list[str], list[str], list[str] | None]
"""The texts in the query, those of a resource that is found, and those of a resource that is not found (None: no
array)."""


AT_LEAST_ONE_TEXT: dict[str, TextCondition] = {
    "one": (["a"], ["b", "a"], ["b"]),
    "the first of two": (["a", "b"], ["a"], ["c"]),
    "both": (["a", "b"], ["b", "a"], []),
    "a comma": (["a,b"], ["a,b"], ["a", "b"]),
    "letter case": (["A", "B"], ["B"], ["a", "b"]),
    "no array": (["a"], ["a"], None),
}


@check("4.1-10", cases=AT_LEAST_ONE_TEXT)
def at_least_one_of_array_of_string_is_found(world: World, case: TextCondition) -> None:
    expect_finds_texts(world, "arrayOfString", *case)


@check("4.1-11", cases=AT_LEAST_ONE_TEXT)
def at_least_one_of_array_of_string_with_description_is_found(world: World, case: TextCondition) -> None:
    expect_finds_texts(world, "arrayOfStringWithDescription", *case)


def contains(value: Any) -> dict[str, Any]:
    """The query ``objectParameter`` with a JSON value."""
    return {"objectParameter": json.dumps(value, ensure_ascii=False)}


@check(
    "4.1-12",
    needs=["4.1-6"],
    cases={
        "a field that no ObjectType has": {"fooBar": [1]},
        "a field that no item has": {OBJECTS: [{"fooBar": 1}]},
        "a text among integers": {INTEGERS: ["1"]},
        "true among numbers": {NUMBERS: [True]},
        "a number in place of an array": {INTEGERS: 1},
        "the wrapper and a field": {"objectTypeProperty": {}, INTEGERS: [1]},
    },
)
def what_no_object_type_contains_finds_nothing(world: World, value: dict[str, Any]) -> None:
    word = world.word()
    made = world.make({TEXTS: [word], INTEGERS: [1], NUMBERS: [1], OBJECTS: [{"integerExample": 1}]})
    expect_found(world.get("", query={"stringParameter": word, "objectParameter": "{}"}), made)
    expect_found(world.get("", query={"stringParameter": word, **contains(value)}))


QUERIES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "floatParameter": ({"floatParameter": 0.5}, {FLOATS: [0.5]}),
    "integerParameter": ({"integerParameter": 5}, {INTEGERS: [5]}),
    "integerParameter of unique integers": ({"integerParameter": 5}, {UNIQUE: [5]}),
    "withMarkdownDescription": ({"withMarkdownDescription": 7}, {NUMBERS: [7]}),
    "objectParameter": (contains({INTEGERS: [5]}), {INTEGERS: [5]}),
    "arrayOfString": ({"arrayOfString": ["a", "z"]}, {TEXTS: ["a"]}),
    "arrayOfStringWithDescription": ({"arrayOfStringWithDescription": ["a", "z"]}, {TEXTS: ["a"]}),
}


@check("4.5-1", cases=["stringParameter", "arrayOfString", "arrayOfStringWithDescription"])
def it_says_whether_something_is_there(world: World, name: str) -> None:
    word = world.word()
    world.make({TEXTS: [word]})
    world.head("", query={name: word}).expect_status(200).expect_empty()
    world.head("", query={name: world.word()}).expect_status(404).expect_empty()


@check("4.5-3", needs=["4.1-6"], cases=QUERIES)
def it_says_whether_the_list_finds_something(world: World, condition: dict[str, Any], fields: dict[str, Any]) -> None:
    matching, other = world.word(), world.word()
    world.make({**fields, TEXTS: [matching, *fields.get(TEXTS, [])]})
    world.make({TEXTS: [other]})
    for word in (matching, other):
        query = {"stringParameter": word, **condition}
        listed = world.get("", query=query)
        if listed.status != 200:
            world.not_reachable(f"the list answers {listed.status}")
        world.head("", query=query).expect_status(200 if listed.at("total") else 404)


IGNORED = ["limit=0", "limit=500", "offset=10000", "offset=1", "sort=id%20desc", "sort=key", "withTotal=false"]


@check("4.5-4", needs=["4.5-1"], cases=IGNORED)
def paging_makes_no_difference(world: World, query: str) -> None:
    word = world.word()
    world.make({TEXTS: [word]})
    world.head(f"?stringParameter={word}&{query}").expect_status(200)
    world.head(f"?stringParameter={word}a&{query}").expect_status(404)


REFUSALS = (400, 401, 403)


@check(
    "4.5-5",
    cases=["integerParameter=a", "integerParameter=1.5", "floatParameter=", "objectParameter=%7B", "fooBar=1", "a=%FF"],
)
def a_refusal_has_the_status_of_the_list_and_no_body(world: World, query: str) -> None:
    listed = world.get(f"?{query}")
    if listed.status not in REFUSALS:
        world.not_reachable(f"the list answers {listed.status}")
    world.head(f"?{query}").expect_status(listed.status).expect_empty()


@check("4.5-5", cases={"no token": None, "a wrong token": "Bearer x", "another scheme": "Basic x"})
def a_refusal_of_the_token_has_no_body(world: World, authorization: str | None) -> None:
    listed = world.get("", authorization=authorization)
    if listed.status not in REFUSALS:
        world.not_reachable(f"the list answers {listed.status}")
    world.head("", authorization=authorization).expect_status(listed.status).expect_empty()
