"""Filters of searches, and which of them narrow results and facets: the profile ``search``."""

from sample_resource_testkit.checks.finding import (
    Fields,
    among,
    counted,
    expect_counts,
    expect_ids,
    facet,
    make,
    search,
)
from sample_resource_testkit.checks.names import FLOATS, INTEGERS, NUMBERS, OBJECTS, PAIR, TEXTS, UNIQUE
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import Made, World

KINDS = ("filter", "filter.query")
"""The filters that narrow the results."""


# These need no other condition, because no other resource has their words and numbers.


@check("S-14", cases=KINDS)
def a_filter_with_values_holds_for_one_of_them(world: World, name: str) -> None:
    one, other, third = (world.word() for _ in range(3))
    made = [world.make({TEXTS: [word]}) for word in (one, other, third)]
    for listed, wanted in (
        ([one], made[:1]),
        ([other, one], made[:2]),
        ([world.word()], []),
        ([third, "x" * 40], made[2:]),
    ):
        condition = ",".join(f'"{word}"' for word in listed)
        answer = search(world, (name, f"{TEXTS}:{condition}")).expect_status(200)
        expect_ids(answer, wanted, "what has one of the values")


WHOLE = {
    "the text": ("{word} A", True),
    "the beginning": ("{word}", False),
    "a blank more": ("{word} A ", False),
    "a pattern of SQL": ("{word}%", False),
}


@check("S-14", cases=WHOLE)
def a_filter_with_values_looks_at_the_whole_text(world: World, text: str, holds: bool) -> None:
    word = world.word()
    made = make(world, {"someProperty": f"{word} A"})
    condition = f'someProperty:"{world.word()}","{text.replace("{word}", word)}"'
    answer = search(world, ("filter", condition)).expect_status(200)
    expect_ids(answer, [made] if holds else [], "what has exactly this text")


NAMED: dict[str, tuple[Fields, str, str]] = {
    INTEGERS: ({INTEGERS: [3]}, ":3", ":4"),
    UNIQUE: ({UNIQUE: [3]}, ":3", ":4"),
    PAIR: ({PAIR: [3, 5]}, ":5", ":7"),
    FLOATS: ({FLOATS: [0.82]}, ":0.82", ":8.2"),
    NUMBERS: ({NUMBERS: [10]}, ":10", ":1"),
    TEXTS: ({TEXTS: ["dog"]}, ':"dog"', ':"cat"'),
    OBJECTS: ({OBJECTS: [{"integerExample": 7}]}, ".integerExample:7", ".integerExample:8"),
}


@check("S-22", needs=["S-23"], cases={name: (name, *case) for name, case in NAMED.items()})
def fields_of_object_type_have_two_paths(world: World, case: tuple[str, Fields, str, str]) -> None:
    name, fields, fulfilled, unfulfilled = case
    made = world.make(fields)
    for before in ("", "objectTypeProperty."):
        for condition, wanted in ((fulfilled, [made]), (unfulfilled, [])):
            answer = search(world, ("filter", f"{before}{name}{condition}"), among(made)).expect_status(200)
            expect_ids(answer, wanted, f"{before}{name}{condition} {'' if wanted else 'not '}to hold")


@check("S-13", needs=["S-14"], cases=KINDS)
def all_filters_of_a_kind_must_hold(world: World, name: str) -> None:
    one, other = world.word(), world.word()
    both, first, second = (world.make({TEXTS: texts}) for texts in ([one, other], [one], [other]))
    for words, wanted in (((one, other), [both]), ((other, one), [both]), ((one, one), [both, first])):
        answer = search(world, *((name, f'{TEXTS}:"{word}"') for word in words)).expect_status(200)
        expect_ids(answer, wanted, f"all {name} to hold")
    answer = search(world, *((name, f'{TEXTS}:"{word}"') for word in (one, other, world.word()))).expect_status(200)
    expect_ids(answer, [], f"all {name} to hold")
    answer = search(world, (name, f'{TEXTS}:"{other}"')).expect_status(200)
    expect_ids(answer, [both, second], f"the only {name} to hold")


def three(world: World) -> tuple[str, list[Made]]:
    """Make three resources with the numbers 1, 1 and 2, and 3. Return the word that all of them have, and the
    resources."""
    word = world.word()
    return word, [world.make({TEXTS: [word], INTEGERS: numbers}) for numbers in ([1], [1, 2], [3])]


@check("S-23", needs=["S-14"], cases={"a number": ("1", {1, 2}, 2), "another one": ("3", {3}, 1)})
def filter_query_narrows_results_and_facets(world: World, values: str, terms: set[int], results: int) -> None:
    word, _ = three(world)
    query = [("filter.query", f'{TEXTS}:"{word}"'), ("filter.query", f"{INTEGERS}:{values}"), ("facet", INTEGERS)]
    answer = search(world, *query).expect_status(200)
    answer.expect(len(answer.at("results")) == results, f"{results} results")
    if "facets" not in answer.members:
        return  # A server without facets: the clauses on facets say so.
    got = counted(answer, INTEGERS)
    answer.expect(set(got) == terms, f"only {sorted(terms)} to be counted", list(got))


@check("S-24", needs=["S-23", "S-30"], cases={INTEGERS: INTEGERS, "another field": "version"})
def filter_narrows_results_and_no_facets(world: World, path: str) -> None:
    word, made = three(world)
    world.update(made[1])
    condition, wanted = (f"{INTEGERS}:2", [made[1]]) if path == INTEGERS else ("version:1", [made[0], made[2]])
    query = [("filter.query", f'{TEXTS}:"{word}"'), ("filter", condition), ("facet", INTEGERS)]
    answer = search(world, *query).expect_status(200)
    expect_ids(answer, wanted, "what fulfils filter")
    expect_counts(answer, INTEGERS, {1: 2, 2: 1, 3: 1}, "counts that filter does not narrow")


OWN = {
    "terms": INTEGERS,
    "an alias": f"{INTEGERS} as {INTEGERS}",
    "with and without the object": f"objectTypeProperty.{INTEGERS}",
}


@check("S-25", needs=["S-23", "S-30"], cases=OWN)
def a_facet_is_not_narrowed_by_a_filter_on_its_field(world: World, expression: str) -> None:
    word, made = three(world)
    name = expression.partition(" ")[0]
    query = [("filter.query", f'{TEXTS}:"{word}"'), ("filter.facets", f"{INTEGERS}:1"), ("facet", expression)]
    answer = search(world, *query, ("facet", "version")).expect_status(200)
    expect_ids(answer, made, "results that filter.facets does not narrow")
    expect_counts(answer, name, {1: 2, 2: 1, 3: 1}, "counts that the filter on this field does not narrow")
    expect_counts(answer, "version", {1: 2}, "counts of what fulfils filter.facets")


@check("S-27", needs=["S-2", "S-30"], cases={"a word": "{0}", "two words": "{0} dog", "another case": "{1}"})
def a_text_narrows_facets(world: World, form: str) -> None:
    word = world.word()
    for numbers in ([1], [1, 2]):
        world.make({TEXTS: [f"{word} dog"], INTEGERS: numbers})
    world.make({TEXTS: ["dog"], INTEGERS: [1, 3]})
    answer = facet(world, INTEGERS, ("text.en", form.format(word, word.upper())))
    expect_counts(answer, INTEGERS, {1: 2, 2: 1}, "counts of what matches the text")
