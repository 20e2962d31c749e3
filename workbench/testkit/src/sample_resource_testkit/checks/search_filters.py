"""Filters of searches: the profile ``search``."""

from sample_resource_testkit.checks.finding import Fields, among, expect_ids, make, search
from sample_resource_testkit.checks.names import FLOATS, INTEGERS, NUMBERS, OBJECTS, PAIR, TEXTS, UNIQUE
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

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
