"""The search by query, 4.4: the profile ``search``."""

from typing import Any

from sample_resource_testkit.checks.finding import (
    Fields,
    Searched,
    expect_ids,
    expect_page,
    make,
    stage,
)
from sample_resource_testkit.checks.names import FLOATS, INTEGERS, NUMBERS, OBJECTS, PAIR, SEARCH, TEXTS, UNIQUE
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World


def expect_text_parameter(world: World, name: str) -> None:
    """Expect that a parameter is a text to search for: it finds the resource with its word, and no other."""
    word = world.word()
    made = world.make({TEXTS: [word]})
    for text, wanted in ((word, [made]), (world.word(), [])):
        answer = world.get(SEARCH, query=[(name, text)]).expect_status(200)
        expect_ids(answer, wanted, f"{name} to look for its word")


@check(
    "4.4-2",
    needs=["4.4-4"],
    cases=[
        f"text.{language}" for language in ("en", "de", "fr", "xx", "zz", "de-AT", "pt-BR", "en-GB", "xx-XX", "aa-ZZ")
    ],
)
def a_name_with_a_language_is_a_text(world: World, name: str) -> None:
    expect_text_parameter(world, name)


@check(
    "4.4-3",
    needs=["4.4-2"],
    cases=("text_en", "text en", "text1xx", "text\U0001f600en"),
)
def the_dot_of_the_name_is_any_character(world: World, name: str) -> None:
    expect_text_parameter(world, name)


@check(
    "4.4-4",
    cases={"without parameters": (), "with a text that nothing has": (("text.en", "nothinghasthisword"),)},
)
def a_search_answers_a_page(world: World, parameters: Searched) -> None:
    expect_page(world.get(SEARCH, query=parameters))


ALL_FIELDS: Fields = {
    INTEGERS: [1, 1, -5],
    UNIQUE: [3, 5],
    PAIR: [3, 5.5],
    FLOATS: [0.82],
    NUMBERS: [10, 0.1],
    OBJECTS: [{"integerExample": 777, "integerExampleInt32": 1}, {}],
}

PROJECTIONS: dict[str, tuple[Fields, bool]] = {
    "no fields": ({}, False),
    "all fields": (ALL_FIELDS, False),
    "someProperty": ({"someProperty": "a text", INTEGERS: []}, False),
    "the staged one": ({**ALL_FIELDS, "someProperty": "a text"}, True),
}


@check("4.4-5", needs=["4.4-4"], cases=PROJECTIONS)
def a_result_is_flat(world: World, fields: Fields, staged: bool) -> None:
    word = world.word()
    made = make(world, {**fields, TEXTS: [word]})
    wanted: dict[str, Any] = {**fields, TEXTS: [word]}
    if staged:
        text = world.word()
        made = stage(world, made, {TEXTS: [text], INTEGERS: [7]})
        wanted = {TEXTS: [text], INTEGERS: [7], "someProperty": "a text"}
        word = text
    answer = world.get(SEARCH, query=[("text.en", word), ("staged", staged)]).expect_status(200)
    expect_ids(answer, [made], "a text to find what has its word")
    result = answer.at("results", 0)
    known = {"id", "version", "key", "createdAt", "lastModifiedAt", "hasStagedChanges", *wanted}
    names = known if made.key else known - {"key"}
    answer.expect(result.keys() == names, f"a result with just {', '.join(sorted(names))}", sorted(result))
    for name, value in wanted.items():
        answer.expect_json("results", 0, name, value)
    for name in ("id", "version", "createdAt", "lastModifiedAt"):
        answer.expect_json("results", 0, name, made.body.get(name))


@check(
    "4.4-6",
    needs=["4.4-1"],
    cases={"3 for a long word": (3, "kennels"), "10 for a long word": (10, "kennels"), "3 for a short word": (3, "ox")},
)
def a_level_above_the_default_is_refused(world: World, level: int, text: str) -> None:
    for fuzzy in (True, False):
        world.get(SEARCH, query=[("fuzzy", fuzzy), ("fuzzyLevel", level), ("text.en", text)]).expect_status(400)
