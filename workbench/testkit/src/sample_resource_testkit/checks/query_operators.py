"""``where`` and its operators: the profile ``query``."""

import random

from sample_resource_testkit.checks.finding import (
    expect_found,
    expect_ids,
    where,
)
from sample_resource_testkit.checks.names import FLOATS, INTEGERS, NUMBERS, OBJECTS, PAIR, TEXTS, UNIQUE
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

ARRAYS = (INTEGERS, UNIQUE, PAIR, FLOATS, NUMBERS, TEXTS, OBJECTS)

ITEMS = {PAIR: [1, 2], TEXTS: ["a"], OBJECTS: [{"integerExample": 1}]}
"""Items for the arrays that do not accept ``[1]``."""

NOTHING = 'id = "none"'

SEVERAL = {
    "two that hold": ([True, True], True),
    "the first does not hold": ([False, True], False),
    "the last does not hold": ([True, False], False),
    "neither holds": ([False, False], False),
    "three that hold": ([True, True, True], True),
    "the second of three does not hold": ([True, False, True], False),
}


@check("Q-1")
def where_finds_what_its_predicate_holds_for_and_nothing_else(world: World) -> None:
    first, second = world.make(), world.make()
    for one in (first, second):
        expect_ids(where(world, f'id = "{one.id}"').expect_status(200), [one], "where to find one resource")
    expect_ids(where(world, NOTHING).expect_status(200), [], "where to find nothing")


@check("Q-1", cases=SEVERAL)
def several_where_are_joined_by_and(world: World, several: tuple[list[bool], bool]) -> None:
    made = world.make()
    listed, holds = several
    answer = where(world, *(f'id = "{made.id}"' if each else NOTHING for each in listed)).expect_status(200)
    expect_ids(answer, [made] if holds else [], "what all predicates hold for")


@check("Q-5", needs=["Q-2"])
def a_key_in_other_letters_is_another_key(world: World) -> None:
    made = world.make(key=f"Kit-{world.word()}")
    expect_found(world, f'key = "{made.key}"', made, True)
    expect_found(world, f'key = "{made.key.lower()}"', made, False)
    expect_found(world, f'key = "{made.key.upper()}"', made, False)


@check("Q-7", needs=["Q-1"], cases=range(6))
def contains_asks_for_any_or_all_of_values_of_chance(world: World, _: int) -> None:
    values = [world.random.randrange(8) for _ in range(world.random.randint(1, 5))]
    asked = [world.random.randrange(8) for _ in range(world.random.randint(1, 3))]
    made = world.make({INTEGERS: values})
    listed = ", ".join(map(str, asked))
    expect_found(world, f"{INTEGERS} contains any ({listed})", made, bool(set(asked) & set(values)))
    expect_found(world, f"{INTEGERS} contains all ({listed})", made, set(asked) <= set(values))


@check("Q-8", needs=["Q-1"], cases=ARRAYS)
def not_empty_is_an_array_with_elements(world: World, name: str) -> None:
    made = world.make({name: ITEMS.get(name, [1])})
    expect_found(world, f"{name} is not empty", made, True)
    expect_found(world, f"{name} is empty", made, False)


@check("Q-15", needs=["Q-8"], cases=ARRAYS)
def an_absent_array_is_empty(world: World, name: str) -> None:
    made = world.make()
    expect_found(world, f"{name} is empty", made, True)
    expect_found(world, f"{name} is not empty", made, False)


def numbers(chance: random.Random) -> tuple[list[float], float]:
    """Draw an array of numbers, and a number in it or near it."""
    values = [
        chance.choice([chance.randint(-20, 20), chance.randint(-80, 80) / 4]) for _ in range(chance.randint(1, 4))
    ]
    return values, chance.choice([*values, chance.randint(-20, 20)])
