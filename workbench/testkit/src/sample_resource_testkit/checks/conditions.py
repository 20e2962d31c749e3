"""Conditions of the list (4.1), parameter by parameter, and the existence check (4.5)."""

import json
from typing import Any

from sample_resource_testkit.checks.names import FLOATS, INTEGERS, NUMBERS, OBJECTS, TEXTS, UNIQUE
from sample_resource_testkit.checks.steps import expect_found, ids_in
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World


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
