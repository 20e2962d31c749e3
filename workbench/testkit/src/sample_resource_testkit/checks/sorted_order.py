"""The order of the sorted list (4.12)."""

from collections.abc import Sequence
from typing import Any

from sample_resource_testkit.callers import Made
from sample_resource_testkit.checks.names import SORTED
from sample_resource_testkit.checks.refusals import refused
from sample_resource_testkit.checks.sorted_list import ids_in, only
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

FIELDS = ("id", "key", "version", "createdAt", "lastModifiedAt", "someProperty")


def with_texts(world: World, texts: Sequence[str | None]) -> list[Made]:
    """Make resources with some texts as ``someProperty``, in this order. None: without the field, but with an equal
    version."""
    return [
        world.update(
            world.make(), "doSomeThing" if text is None else {"action": "changeSomeProperty", "someProperty": text}
        )
        for text in texts
    ]


def expect_order(world: World, made: Sequence[Made], sort: str | list[str] | None, wanted: Sequence[Made]) -> None:
    """Expect exactly the wanted results in their order."""
    asked: dict[str, Any] = {"where": only(made)}
    if sort is not None:
        asked["sort"] = sort
    answer = world.get(SORTED, query=asked)
    found = ids_in(answer)
    answer.expect(found == [one.id for one in wanted], f"the results {[one.id for one in wanted]}", found)


def shuffled(world: World, count: int) -> list[Made]:
    """Make resources with the versions 1, 2, 3 and so on, made and changed in another order."""
    versions = list(range(1, count + 1))
    while versions == sorted(versions):
        world.random.shuffle(versions)
    made: list[Made] = []
    for version in versions:
        one = world.make()
        for _ in range(version - 1):
            one = world.update(one)
        made.append(one)
    return made


DIRECTIONS = {
    f"{field}{direction}": (field, direction)
    for field in ("id", "key", "version", "createdAt")
    for direction in (" asc", " desc", "")
}


@check("4.12-11", needs=["4.10-1", "Q-6"], cases=DIRECTIONS)
def results_are_in_the_order_of_the_field(world: World, field: str, direction: str) -> None:
    made = shuffled(world, 3)
    answer = world.get(SORTED, query={"where": only(made), "sort": field + direction}).expect_status(200)
    results = answer.at("results")
    values = [result.get(field) for result in results]
    wanted = sorted((one.body[field] for one in made), reverse=direction == " desc")
    answer.expect(values == wanted, f"{field} in the order {wanted}", values)


TWO_SORTS = {
    f"{field} {first}, {other} {second}": (field, first, other, second)
    for field, other in (("version", "key"), ("version", "id"))
    for first in ("asc", "desc")
    for second in ("asc", "desc")
}


@check("4.12-11", cases=TWO_SORTS)
def the_second_sort_orders_what_the_first_finds_equal(
    world: World, field: str, first: str, other: str, second: str
) -> None:
    made = [world.update(world.make()), world.make(), world.update(world.make()), world.make()]
    wanted = sorted(made, key=lambda one: one.body[other], reverse=second == "desc")
    wanted.sort(key=lambda one: one.version, reverse=first == "desc")
    expect_order(world, made, [f"{field} {first}", f"{other} {second}"], wanted)


@check("4.12-13", cases=FIELDS)
def sort_takes_the_field(world: World, field: str) -> None:
    world.get(SORTED, query={"sort": field, "limit": 1}).expect_status(200)


@check("4.12-13", needs=["4.12-11"], cases=["DESC", "Desc", "dEsC", "ASC", "Asc", "aSc"])
def a_direction_may_have_any_letter_case(world: World, direction: str) -> None:
    made = shuffled(world, 3)
    wanted = sorted(made, key=lambda one: one.version, reverse=direction.lower() == "desc")
    expect_order(world, made, f"version {direction}", wanted)


TEXTS = {
    "letter case": ["Z", "a", "z"],
    "accents": ["e", "f", "z", "é"],
    "punctuation": ["-b", "a", "a-", "a-a", "aa"],
    "a part": ["", "a", "aa"],
    "beyond the basic plane": ["z", "\uff5e", "\U0001f600"],
}


@check("4.12-15", needs=["2.6-1", "4.12-13"], cases=TEXTS)
def texts_are_in_the_order_of_their_code_points(world: World, texts: list[str]) -> None:
    mixed = world.random.sample(texts, len(texts))
    made = with_texts(world, mixed)
    wanted = sorted(made, key=lambda one: mixed[made.index(one)])
    expect_order(world, made, "someProperty asc", wanted)


ENDS = {"ascending": "asc", "descending": "desc", "without a direction": ""}


@check("4.12-15", needs=["2.6-1", "4.12-13"], cases=ENDS)
def resources_without_someproperty_are_above_all_others(world: World, direction: str) -> None:
    made = with_texts(world, [None, "", "a"])
    ascending = [made[1], made[2], made[0]]
    expect_order(
        world, made, f"someProperty {direction}".strip(), ascending[::-1] if direction == "desc" else ascending
    )


TIES: dict[str, str | None] = {
    "version asc": "version asc",
    "version desc": "version desc",
    "a missing field asc": "someProperty asc",
    "a missing field desc": "someProperty desc",
    "no sort": None,
}


def falls(sort: str | None) -> bool:
    """Whether a ``sort`` is descending."""
    return sort is not None and sort.endswith(" desc")


@check("4.12-17", needs=["4.10-1", "Q-6"], cases=TIES)
def equal_resources_are_in_the_order_of_their_ids(world: World, sort: str | None) -> None:
    # They are changed in another order than they were made, so that neither times nor storage have the order of the
    # versions.
    made = [world.make() for _ in range(4)]
    for number in (2, 0, 3, 1):
        made[number] = world.update(made[number])
    expect_order(world, made, sort, sorted(made, key=lambda one: one.id, reverse=falls(sort)))


UNSORTABLE = ["foo", "objectTypeProperty", "arrayOfIntExample", "createdBy"]


@check("4.12-18", cases=UNSORTABLE)
def another_field_is_refused_and_the_fields_are_listed(world: World, field: str) -> None:
    answer = refused(world.get(SORTED, query={"sort": f"{field} asc"}), 400, "InvalidInput")
    message = answer.at("message")
    begin = f"Malformed parameter: sort: Invalid query field '{field}' in sort path. Sortable fields are: "
    answer.expect(str(message).startswith(begin), f"a message that begins {begin!r}", message)
    listed = str(message)[len(begin) :]
    missing = [name for name in FIELDS if f"`{name}`" not in listed]
    answer.expect(not missing, f"all sortable fields in the message, also {missing}", message)


@check(
    "4.12-18", cases=["id up", "id ascending", "id descending", "id asc desc", "id asc, key", "id,asc", "id 1", "-id"]
)
def anything_but_a_direction_is_refused(world: World, sort: str) -> None:
    refused(world.get(SORTED, query={"sort": sort}), 400, "InvalidInput")
