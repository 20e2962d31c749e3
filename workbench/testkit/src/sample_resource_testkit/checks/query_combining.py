"""How conditions of ``where`` are combined and nested: the profile ``query``."""

from itertools import product

from sample_resource_testkit.checks.finding import expect_found, with_names
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
    f"not({TRUE} and {FALSE})": True,
    f"not(not({TRUE}))": True,
    f"not({TRUE}) or {TRUE}": True,
    f"({TRUE} or {TRUE}) and {FALSE}": False,
    f"(({TRUE}) and (({FALSE}) or not({FALSE})))": True,
}


@check("Q-12", needs=["Q-1"], cases={**TRUTHS, **with_names(GROUPS)})
def conditions_are_combined(world: World, case: tuple[str, bool]) -> None:
    expect_found(world, case[0], world.make(), case[1])


CHAINS = {
    f"{TRUE} or {TRUE} and {FALSE}": True,
    f"{FALSE} and {TRUE} or {TRUE}": True,
    f"{FALSE} or {TRUE} and {TRUE} or {FALSE}": True,
    f"{TRUE} or not({TRUE}) and {FALSE}": True,
}


@check("Q-13", needs=["Q-12"], cases=with_names(CHAINS))
def and_binds_tighter_than_or(world: World, case: tuple[str, bool]) -> None:
    expect_found(world, case[0], world.make(), case[1])
