"""``where`` and its operators: the profile ``query``."""

import random

from sample_resource_testkit.checks.finding import (
    Fields,
    Row,
    expect_found,
    expect_ids,
    expect_row,
    ids_of,
    make,
    rows,
    where,
)
from sample_resource_testkit.checks.names import FLOATS, INTEGERS, NUMBERS, OBJECTS, PAIR, TEXTS, UNIQUE
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

ARRAYS = (INTEGERS, UNIQUE, PAIR, FLOATS, NUMBERS, TEXTS, OBJECTS)

ITEMS = {PAIR: [1, 2], TEXTS: ["a"], OBJECTS: [{"integerExample": 1}]}
"""Of arrays that do not take ``[1]``."""

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


@check("Q-1", cases={"first": 0, "second": 1})
def each_where_is_a_condition_of_its_own(world: World, position: int) -> None:
    """A server that only writes ``and`` between the texts lets it bind tighter than the ``or`` within them."""
    one, other = world.make(), world.make()
    either = f'id = "{one.id}" or id = "{other.id}"'
    alone = where(world, either)
    if alone.status != 200 or set(ids_of(alone)) != {one.id, other.id}:
        return  # The clause on `or` says that there is none, and this one is not about that.
    predicates = [either, f'id = "{one.id}"']
    if position:
        predicates.reverse()
    expect_ids(where(world, *predicates).expect_status(200), [one], "what both predicates hold for")


@check(
    "Q-2",
    needs=["Q-1"],
    cases={
        **rows(
            {},
            holds=("version = 1", "version != 2", "version <> 2", 'key = "{key}"', 'key != "kit"', 'key <> "kit"'),
            fails=("version = 2", "version != 1", "version <> 1", 'key = "kit"', 'key != "{key}"', 'key <> "{key}"'),
        ),
        **rows(
            {},
            holds=('createdAt = "{createdAt}"', 'createdAt != "2020-01-01T00:00:00.000Z"', 'id != "none"'),
            fails=('createdAt != "{createdAt}"', 'createdAt = "2020-01-01T00:00:00.000Z"', 'id <> "{id}"'),
        ),
        **rows(
            {"someProperty": "a text"},
            holds=('someProperty = "a text"', 'someProperty != "a"', 'someProperty <> "b text"'),
            fails=('someProperty = "b text"', 'someProperty != "a text"', 'someProperty <> "a text"'),
        ),
    },
)
def equality_compares_the_value(world: World, row: Row) -> None:
    expect_row(world, row)


@check(
    "Q-3",
    needs=["Q-1"],
    cases={
        **rows(
            {},
            holds=(
                *("version < 2", "version <= 1", "version > 0", "version >= 1", "version > 0.5", "version > -10"),
                *('createdAt < "9999-12-31T00:00:00.000Z"', 'createdAt > "2020-01-01T00:00:00.000Z"'),
                *('createdAt <= "{createdAt}"', 'createdAt >= "{createdAt}"', 'lastModifiedAt >= "{createdAt}"'),
            ),
            fails=(
                *("version < 1", "version <= 0", "version > 1", "version >= 2", "version < 0.5", "version < -10"),
                *('createdAt > "9999-12-31T00:00:00.000Z"', 'createdAt < "2020-01-01T00:00:00.000Z"'),
                *('createdAt < "{createdAt}"', 'createdAt > "{createdAt}"', 'lastModifiedAt < "{createdAt}"'),
            ),
        ),
        # As texts, 10 would be less than 2.
        **rows({"someProperty": "x"}, holds=("version < 10", "version <= 10"), fails=("version > 10", "version >= 10")),
    },
)
def order_is_that_of_numbers_and_of_moments(world: World, row: Row) -> None:
    expect_row(world, row)


@check(
    "Q-4",
    needs=["Q-3"],
    cases={
        **rows(
            {"someProperty": "Z"},
            holds=('someProperty < "a"', 'someProperty <= "Z"', 'someProperty > "Y"', 'someProperty > "9"'),
            fails=('someProperty > "a"', 'someProperty < "Z"', 'someProperty < "Y"', 'someProperty >= "ZZ"'),
        ),
        **rows({"someProperty": "é"}, holds=('someProperty > "z"',), fails=('someProperty < "f"',)),
        **rows({"someProperty": "a b"}, holds=('someProperty < "aa"',), fails=('someProperty > "a-b"',)),
        # UTF-16 has it the other way round.
        **rows({"someProperty": "\U0001f600"}, holds=('someProperty > "\uffee"',), fails=('someProperty < "\uffee"',)),
        **rows({}, holds=('key > "K"', 'key < "{key}-"'), fails=('key < "Z"', 'key > "{key}-"')),
    },
)
def texts_are_ordered_by_code_point(world: World, row: Row) -> None:
    expect_row(world, row)


@check("Q-4", needs=["Q-3"], cases=range(4))
def texts_of_chance_are_ordered_by_code_point(world: World, _: int) -> None:
    letters = "aAbBzZ09 _-.~äÄßéñ你\uffee\U0001f600"
    one, other = ("".join(world.random.choices(letters, k=world.random.randint(1, 4))) for _ in range(2))
    made = make(world, {"someProperty": one})
    expect_found(world, f'someProperty < "{other}"', made, one < other)
    expect_found(world, f'someProperty >= "{other}"', made, one >= other)


@check(
    "Q-5",
    needs=["Q-2"],
    cases={
        **rows(
            {"someProperty": "Dogs & more_"},
            holds=('someProperty = "Dogs & more_"',),
            fails=(
                *('someProperty = "dogs & more_"', 'someProperty = "DOGS & MORE_"', 'someProperty = "Dogs"'),
                *('someProperty = "more_"', 'someProperty = "Dogs & more_ "', 'someProperty = " Dogs & more_"'),
                *('someProperty = "Dogs  & more_"', 'someProperty = "Dogs%"', 'someProperty = "Dogs_&_more_"'),
                *('someProperty = "Dogs*"', 'someProperty = ".*"', 'someProperty = ""'),
            ),
        ),
        **rows(
            {"someProperty": "Ä"}, holds=('someProperty = "Ä"',), fails=('someProperty = "ä"', 'someProperty = "A"')
        ),
        **rows({}, fails=('key = "{key}-"', 'key = "kit-"')),
    },
)
def equality_of_texts_is_exact(world: World, row: Row) -> None:
    expect_row(world, row)


@check("Q-5", needs=["Q-2"])
def a_key_in_other_letters_is_another_key(world: World) -> None:
    made = world.make(key=f"Kit-{world.word()}")
    expect_found(world, f'key = "{made.key}"', made, True)
    expect_found(world, f'key = "{made.key.lower()}"', made, False)
    expect_found(world, f'key = "{made.key.upper()}"', made, False)


HUNDRED = ", ".join(str(number) for number in range(100, 200))


@check(
    "Q-6",
    needs=["Q-1"],
    cases=rows(
        {"someProperty": "b"},
        holds=(
            *('key in ("{key}")', 'key in ("a", "{key}")', 'key in ("{key}", "{key}", "b")', "version in (3, 2)"),
            *('someProperty in ("a", "b", "c")', 'id in ("none", "{id}")', 'createdAt in ("{createdAt}")'),
            *(f"version in ({HUNDRED}, 2)", f"version not in ({HUNDRED})", 'someProperty not in ("a", "c")'),
            *('key not in ("a")', 'id not in ("none", "nor this")', "version not in (1, 3)"),
        ),
        fails=(
            *('key in ("a")', 'key in ("a", "kit-")', "version in (1, 3, 4)", f"version in ({HUNDRED})"),
            *('someProperty in ("a", "B", "bb")', 'key not in ("{key}")', 'key not in ("a", "{key}", "b")'),
            *(f"version not in ({HUNDRED}, 2)", 'someProperty not in ("b", "b")', 'id not in ("{id}")'),
        ),
    ),
)
def in_holds_for_one_of_the_values(world: World, row: Row) -> None:
    expect_row(world, row)


@check(
    "Q-7",
    needs=["Q-1"],
    cases={
        **rows(
            {INTEGERS: [1, 2, 3], TEXTS: ["dog", "cat"], FLOATS: [0.5, -1.25], UNIQUE: [7], NUMBERS: [8, 0.1]},
            holds=(
                *(f"{INTEGERS} contains any (3, 9)", f"{INTEGERS} contains any (1)", f"{UNIQUE} contains any (7)"),
                *(f"{INTEGERS} contains all (3, 1)", f"{INTEGERS} contains all (1, 2, 3)"),
                *(f"{INTEGERS} contains all (2, 2)", f"{FLOATS} contains any (-1.25, 4)", f"{UNIQUE} contains all (7)"),
                *(f"{FLOATS} contains all (-1.25, 0.5)", f"{NUMBERS} contains all (0.1, 8)"),
                *(f'{TEXTS} contains any ("cat", "bird")', f'{TEXTS} contains all ("cat", "dog")'),
            ),
            fails=(
                *(
                    f"{INTEGERS} contains any (4, 5)",
                    f"{INTEGERS} contains all (3, 4)",
                    f"{UNIQUE} contains all (7, 8)",
                ),
                *(f"{INTEGERS} contains all (1, 2, 3, 4)", f"{INTEGERS} contains any (12, 23)"),
                *(f"{FLOATS} contains any (0.25)", f"{FLOATS} contains all (0.5, 1.25)"),
                *(f'{TEXTS} contains any ("ca", "Dog")', f'{TEXTS} contains all ("dog", "bird")'),
            ),
        ),
        **rows({PAIR: [6, 10]}, holds=(f"{PAIR} contains all (10, 6)",), fails=(f"{PAIR} contains all (6, 7)",)),
    },
)
def contains_asks_for_any_or_all_of_the_values(world: World, row: Row) -> None:
    expect_row(world, row)


@check("Q-7", needs=["Q-1"], cases=range(6))
def contains_asks_for_any_or_all_of_values_of_chance(world: World, _: int) -> None:
    values = [world.random.randrange(8) for _ in range(world.random.randint(1, 5))]
    asked = [world.random.randrange(8) for _ in range(world.random.randint(1, 3))]
    made = world.make({INTEGERS: values})
    listed = ", ".join(map(str, asked))
    expect_found(world, f"{INTEGERS} contains any ({listed})", made, bool(set(asked) & set(values)))
    expect_found(world, f"{INTEGERS} contains all ({listed})", made, set(asked) <= set(values))


@check(
    "Q-8",
    needs=["Q-1"],
    cases={
        **rows(
            {},
            holds=(
                *("id is defined", "version is defined", "createdAt is defined", "someProperty is not defined"),
                *(f"{name} is not defined" for name in ARRAYS),
            ),
            fails=(
                *("id is not defined", "version is not defined", "createdAt is not defined", "someProperty is defined"),
                *(f"{name} is defined" for name in ARRAYS),
            ),
        ),
        **rows({"someProperty": "x"}, holds=("someProperty is defined",), fails=("someProperty is not defined",)),
    },
)
def defined_is_what_is_there(world: World, row: Row) -> None:
    expect_row(world, row)


@check("Q-8", needs=["Q-1"], cases=[name for name in ARRAYS if name != PAIR])
def an_empty_array_is_defined(world: World, name: str) -> None:
    made = world.make({name: []})
    expect_found(world, f"{name} is defined", made, True)
    expect_found(world, f"{name} is not defined", made, False)


@check("Q-9", needs=["Q-1"], cases=[name for name in ARRAYS if name != PAIR])
def empty_is_an_array_without_elements(world: World, name: str) -> None:
    made = world.make({name: []})
    expect_found(world, f"{name} is empty", made, True)
    expect_found(world, f"{name} is not empty", made, False)


@check("Q-9", needs=["Q-1"], cases=ARRAYS)
def not_empty_is_an_array_with_elements(world: World, name: str) -> None:
    made = world.make({name: ITEMS.get(name, [1])})
    expect_found(world, f"{name} is not empty", made, True)
    expect_found(world, f"{name} is empty", made, False)


EMPTY_ELEMENTS: dict[str, Fields] = {
    "zero": {INTEGERS: [0]},
    "an empty text": {TEXTS: [""]},
    "an empty object": {OBJECTS: [{}]},
}


@check("Q-9", needs=["Q-1"], cases=EMPTY_ELEMENTS)
def an_array_with_an_empty_element_is_not_empty(world: World, fields: Fields) -> None:
    made = world.make(fields)
    expect_found(world, f"{next(iter(fields))} is not empty", made, True)


@check("Q-10", needs=["Q-9"], cases=ARRAYS)
def an_absent_array_is_empty(world: World, name: str) -> None:
    made = world.make()
    expect_found(world, f"{name} is empty", made, True)
    expect_found(world, f"{name} is not empty", made, False)


@check(
    "Q-11",
    needs=["Q-1"],
    cases={
        **rows(
            {"someProperty": "Dogs_& More"},
            holds=tuple(
                f'someProperty matches ignore case "{text}"' for text in ("Dogs_& More", "dogs_& more", "DOGS_& MORE")
            ),
            fails=tuple(
                f'someProperty matches ignore case "{text}"'
                for text in ("Dogs", "more", "dogsx& more", "dogs%", "Dogs_&  More", "", ".*")
            ),
        ),
        **rows(
            {"someProperty": "Vögel"},
            holds=('someProperty matches ignore case "VÖGEL"',),
            fails=('someProperty matches ignore case "vogel"',),
        ),
        **rows({}, holds=('key matches ignore case "{key}"',), fails=('key matches ignore case "kit-"',)),
    },
)
def matches_ignore_case_looks_at_all_but_the_case(world: World, row: Row) -> None:
    expect_row(world, row)


@check(
    "Q-15",
    needs=["Q-2", "Q-6"],
    cases={
        **rows(
            {},
            holds=('someProperty != "a"', 'someProperty <> "a"', 'someProperty not in ("a", "b")'),
            fails=(
                *('someProperty = "a"', 'someProperty < "a"', 'someProperty <= "a"', 'someProperty > ""'),
                *('someProperty >= ""', 'someProperty in ("a", "")', 'someProperty matches ignore case ""'),
            ),
        ),
        **rows(
            {},
            holds=(f"{INTEGERS} != 1", f"{INTEGERS} <> 1", f"{INTEGERS} not in (0, 1)", f'{TEXTS} != "a"'),
            fails=(
                *(f"{INTEGERS} = 0", f"{INTEGERS} < 1", f"{INTEGERS} <= 0", f"{INTEGERS} > -1", f"{INTEGERS} >= 0"),
                *(f"{INTEGERS} in (0, 1)", f"{INTEGERS} contains any (0)", f"{INTEGERS} contains all (0)"),
                *(f'{TEXTS} = ""', f'{TEXTS} contains any ("")', f'{TEXTS} matches ignore case ""'),
            ),
        ),
        **rows(
            {OBJECTS: [{"integerExample": 1}]},
            holds=(f"{OBJECTS}(integerExampleInt32 != 1)", f"{OBJECTS}(integerExampleInt32 not in (0))"),
            fails=(f"{OBJECTS}(integerExampleInt32 = 1)", f"{OBJECTS}(integerExampleInt32 < 1)"),
        ),
    },
)
def for_an_absent_field_only_negations_hold(world: World, row: Row) -> None:
    expect_row(world, row)


MIXED = {INTEGERS: [3, 40], TEXTS: ["bird", "Dog"], FLOATS: [-2.5, 0.82], UNIQUE: [9, 4], PAIR: [6, 10]}


@check(
    "Q-16",
    needs=["Q-2", "Q-6"],
    cases=rows(
        MIXED,
        holds=(
            *(f"{INTEGERS} = 3", f"{INTEGERS} = 40", f"{FLOATS} = -2.5", f"{UNIQUE} = 4", f"{PAIR} = 10"),
            *(f'{TEXTS} = "bird"', f'{TEXTS} = "Dog"', f'{TEXTS} in ("cat", "Dog")', f"{INTEGERS} in (1, 40)"),
            *(f"{PAIR} in (6, 7)", f"{FLOATS} in (0.82)"),
        ),
        fails=(
            *(f"{INTEGERS} = 4", f"{INTEGERS} = 340", f"{FLOATS} = 2.5", f"{UNIQUE} = 49", f"{PAIR} = 7"),
            *(f'{TEXTS} = "dog"', f'{TEXTS} = "bir"', f'{TEXTS} in ("cat", "birdDog")', f"{INTEGERS} in (1, 2, 4)"),
        ),
    ),
)
def equality_holds_for_any_element(world: World, row: Row) -> None:
    expect_row(world, row)


@check(
    "Q-17",
    needs=["Q-3", "Q-11", "Q-16"],
    cases=rows(
        MIXED,
        holds=(
            *(f"{INTEGERS} < 4", f"{INTEGERS} <= 3", f"{INTEGERS} > 39", f"{INTEGERS} >= 40", f"{FLOATS} < -2"),
            *(f"{PAIR} >= 10", f"{UNIQUE} <= 4", f'{TEXTS} < "a"', f'{TEXTS} >= "bird"'),
            *(f'{TEXTS} matches ignore case "DOG"', f'{TEXTS} matches ignore case "BIRD"'),
            *(f"{INTEGERS} != 4", f'{TEXTS} != "cat"', f"{INTEGERS} not in (4, 5)", f"{FLOATS} != 0.8"),
        ),
        fails=(
            *(f"{INTEGERS} < 3", f"{INTEGERS} <= 2", f"{INTEGERS} > 40", f"{INTEGERS} >= 41", f"{FLOATS} < -2.5"),
            *(f"{PAIR} > 10", f"{UNIQUE} < 4", f'{TEXTS} < "Dog"', f'{TEXTS} > "bird"'),
            *(f'{TEXTS} matches ignore case "DO"', f"{INTEGERS} != 3", f'{TEXTS} != "Dog"'),
            *(f"{INTEGERS} not in (1, 40)", f'{TEXTS} not in ("bird")', f"{PAIR} != 10"),
        ),
    ),
)
def order_holds_for_any_element_and_a_negation_for_none(world: World, row: Row) -> None:
    expect_row(world, row)


@check("Q-17", needs=["Q-3", "Q-11", "Q-16"], cases=range(4))
def order_holds_for_any_of_elements_of_chance(world: World, _: int) -> None:
    values, bound = numbers(world.random)
    made = world.make({NUMBERS: values})
    expect_found(world, f"{NUMBERS} < {bound}", made, min(values) < bound)
    expect_found(world, f"{NUMBERS} >= {bound}", made, max(values) >= bound)
    expect_found(world, f"{NUMBERS} != {bound}", made, bound not in values)


def numbers(chance: random.Random) -> tuple[list[float], float]:
    """An array of numbers, and a number that is in it or near it."""
    values = [
        chance.choice([chance.randint(-20, 20), chance.randint(-80, 80) / 4]) for _ in range(chance.randint(1, 4))
    ]
    return values, chance.choice([*values, chance.randint(-20, 20)])
