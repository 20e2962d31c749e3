"""``where`` and its operators: the profile ``query``."""

from sample_resource_testkit.checks.finding import (
    expect_ids,
    where,
)
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

NOTHING = 'id = "none"'

SEVERAL = {
    "two that hold": ([True, True], True),
    "the last does not hold": ([True, False], False),
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
