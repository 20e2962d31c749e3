"""How conditions of ``where`` are combined and nested: the profile ``query``."""

import random
from itertools import product
from typing import Any

from sample_resource_testkit.checks.finding import expect_found, with_names
from sample_resource_testkit.checks.names import OBJECTS
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

TRUE, FALSE = "version = 1", "version = 2"
"""Conditions on a new resource: one that holds, and one that does not."""


def literal(value: bool) -> str:
    """A condition that holds, or does not."""
    return TRUE if value else FALSE


TRUTHS = {
    f"{one} {word} {other}": (
        f"{literal(one)} {word} {literal(other)}",
        one and other if word == "and" else one or other,
    )
    for word in ("and", "or")
    for one, other in product((True, False), repeat=2)
}

GROUPS = {
    f"not({TRUE})": False,
    f"not({FALSE})": True,
    f"({TRUE})": True,
    f"(({FALSE}))": False,
    f"not({TRUE} and {FALSE})": True,
    f"not({FALSE} or {TRUE})": False,
    f"not(not({TRUE}))": True,
    f"not({TRUE}) or {TRUE}": True,
    f"not({FALSE}) and {FALSE}": False,
    f"({TRUE} or {TRUE}) and {FALSE}": False,
    f"{TRUE} and ({FALSE} or {TRUE})": True,
    f"{FALSE} and ({TRUE} or {TRUE})": False,
    f"{TRUE} and {TRUE} and {FALSE}": False,
    f"{FALSE} or {FALSE} or {TRUE}": True,
    f"(({TRUE}) and (({FALSE}) or not({FALSE})))": True,
}


@check("Q-12", needs=["Q-1"], cases={**TRUTHS, **with_names(GROUPS)})
def conditions_are_combined(world: World, case: tuple[str, bool]) -> None:
    expect_found(world, case[0], world.make(), case[1])


@check("Q-12", needs=["Q-1"], cases=range(6))
def conditions_of_chance_are_combined(world: World, _: int) -> None:
    text, holds = tree(world.random, 4)
    expect_found(world, text, world.make(), holds)


def tree(chance: random.Random, depth: int) -> tuple[str, bool]:
    """Draw a condition with parentheses around each part. Return it, and whether it holds."""
    form = chance.choice(("and", "or", "not")) if depth else "leaf"
    if form == "leaf":
        value = chance.random() < 0.5
        return literal(value), value
    text, value = tree(chance, depth - 1)
    if form == "not":
        return f"not({text})", not value
    other_text, other = tree(chance, depth - 1)
    return f"({text}) {form} ({other_text})", (value and other) if form == "and" else (value or other)


CHAINS = {
    f"{TRUE} or {TRUE} and {FALSE}": True,
    f"{TRUE} or {FALSE} and {FALSE}": True,
    f"{FALSE} and {TRUE} or {TRUE}": True,
    f"{FALSE} and {FALSE} or {TRUE}": True,
    f"{TRUE} and {FALSE} or {FALSE} and {TRUE}": False,
    f"{FALSE} or {TRUE} and {TRUE} or {FALSE}": True,
    f"{TRUE} or not({TRUE}) and {FALSE}": True,
}


@check("Q-13", needs=["Q-12"], cases=with_names(CHAINS))
def and_binds_tighter_than_or(world: World, case: tuple[str, bool]) -> None:
    expect_found(world, case[0], world.make(), case[1])


@check("Q-19", needs=["Q-12"], cases=range(6))
def one_element_of_chance_fulfils_the_whole_condition(world: World, _: int) -> None:
    pairs = [(world.random.randrange(3), world.random.randrange(3)) for _ in range(world.random.randint(1, 3))]
    made = world.make({OBJECTS: [{"integerExample": one, "integerExampleInt32": other} for one, other in pairs]})
    for one, other in product(range(2), repeat=2):
        predicate = f"{OBJECTS}(integerExample > {one} and integerExampleInt32 = {other})"
        expect_found(world, predicate, made, any(first > one and second == other for first, second in pairs))


EMPTY: dict[str, dict[str, Any]] = {"an absent array": {}, "an empty array": {OBJECTS: []}}

CONDITIONS = (
    "integerExample is not defined",
    "integerExample != 5",
    "not(integerExample = 5)",
    "integerExample not in (5)",
    "not(integerExample is defined)",
)


@check(
    "Q-15",
    needs=["Q-19"],
    cases={f"{name}: {text}": (EMPTY[name], text) for name in EMPTY for text in CONDITIONS},
)
def without_an_element_a_nested_condition_does_not_hold(world: World, fields: dict[str, Any], condition: str) -> None:
    expect_found(world, f"{OBJECTS}({condition})", world.make(fields), False)
