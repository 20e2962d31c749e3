"""The sorted list (4.12): parameters, pages, totals and order."""

from collections.abc import Sequence
from itertools import product
from typing import Any

from sample_resource_testkit.callers import Made
from sample_resource_testkit.checks.finding import expect_page, ids_of
from sample_resource_testkit.checks.names import SORTED
from sample_resource_testkit.checks.refusals import refused
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

CLIENT_MEMBERS = {"id", "name", "scopes"}


def only(resources: Sequence[Made]) -> str:
    """A predicate that holds for exactly the given resources."""
    ids = ", ".join(f'"{made.id}"' for made in resources)
    return f"id in ({ids})"


def several(world: World, count: int) -> list[Made]:
    """Make ``count`` resources."""
    return [world.make() for _ in range(count)]


PARAMETERS: dict[str, list[tuple[str, Any]]] = {
    "where": [("where", "version >= 1")],
    "sort, twice": [("sort", "version desc"), ("sort", "id asc")],
    "limit": [("limit", 1)],
    "expand, twice": [("expand", "createdBy"), ("expand", "lastModifiedBy")],
    "var, twice": [("where", "key in :a"), ("var.a", "b"), ("var.a", "c")],
    "all": [
        ("where", "version >= :least"),
        ("var.least", "1"),
        ("sort", "id desc"),
        ("limit", 2),
        ("offset", 0),
        ("withTotal", False),
        ("expand", "createdBy"),
    ],
}


@check("4.12-1", cases=PARAMETERS)
def each_parameter_is_accepted(world: World, pairs: list[tuple[str, Any]]) -> None:
    named = {name for name, _ in pairs}
    added = [] if "limit" in named else [("limit", 1)]
    world.get(SORTED, query=[*pairs, *added]).expect_status(200)


@check(
    "4.12-2", cases={"first page": (3, 0), "second page": (1, 1), "no results": (0, 0), "the largest": (500, 10_000)}
)
def a_page_shows_its_limit_and_offset(world: World, limit: int, offset: int) -> None:
    answer = expect_page(world.get(SORTED, query={"limit": limit, "offset": offset}))
    answer.expect_json("limit", limit).expect_json("offset", offset)


SHAPES: dict[str, dict[str, Any]] = {
    "no fields": {},
    "numbers": {"arrayOfIntExample": [1, -5], "arrayOfFloatExample": [0.1], "arrayOfTwonumbersExample": [1, 2.5]},
    "texts": {"arrayOfStringExample": ["", 'a "quote"', "ä😀"]},
}


@check("4.12-3", needs=["4.2-1", "Q-6"], cases=SHAPES)
def a_result_is_the_resource_as_by_id(world: World, fields: dict[str, Any]) -> None:
    made = world.make(fields)
    alone = world.get(f"/{made.id}").expect_status(200).json
    world.get(SORTED, query={"where": only([made])}).expect_json("results", [alone])


@check("4.12-4", needs=["Q-6"], cases=[1, 2, 3, 4, 500])
def a_page_has_at_most_limit_results(world: World, limit: int) -> None:
    made = several(world, 3)
    found = ids_of(world.get(SORTED, query={"where": only(made), "limit": limit}).expect_status(200))
    world.expect(len(found) == min(limit, 3), f"{min(limit, 3)} of 3 results", len(found))


@check("4.12-4", cases=["-1", "501", "1000", "-0.0001e4", "9223372036854775808", "abc", "true", "1,5", "null", "1e3"])
def a_limit_out_of_range_is_refused(world: World, limit: str) -> None:
    refused(world.get(SORTED, query={"limit": limit}), 400, "InvalidInput")


@check("4.12-5", needs=["Q-6"], cases=[0, 1, 2, 3, 4, 20, 10_000])
def a_page_leaves_out_offset_matches(world: World, offset: int) -> None:
    asked = {"where": only(several(world, 3))}
    whole = ids_of(world.get(SORTED, query=asked).expect_status(200))
    answer = world.get(SORTED, query={**asked, "offset": offset})
    found = ids_of(answer.expect_status(200))
    answer.expect(found == whole[offset:], f"the matches from {offset} on: {whole[offset:]}", found)


@check("4.12-5", cases=["-1", "10001", "100000", "9223372036854775808", "abc", "true", "1,5", "null", "2e4"])
def an_offset_out_of_range_is_refused(world: World, offset: str) -> None:
    refused(world.get(SORTED, query={"offset": offset}), 400, "InvalidInput")


@check("4.12-6", needs=["4.12-2"], cases=["20.0", "0.0", "1.00"])
def limit_and_offset_may_be_written_with_a_zero_fraction(world: World, text: str) -> None:
    answer = world.get(SORTED, query={"limit": text, "offset": text}).expect_status(200)
    answer.expect_json("limit", float(text)).expect_json("offset", float(text))


TOTALS: dict[str, dict[str, Any]] = {
    "alone": {},
    "beyond the end": {"offset": 100},
    "limit and offset": {"limit": 1, "offset": 1},
}


@check("4.12-8", needs=["Q-6"], cases=TOTALS)
def the_total_is_the_number_of_all_matches_if_it_is_wanted(world: World, asked: dict[str, Any]) -> None:
    query = {"where": only(several(world, 3)), **asked}
    world.get(SORTED, query=query).expect_status(200).expect_json("total", 3)
    world.get(SORTED, query={"withTotal": False, **query}).expect_status(200).expect_absent("total")


@check(
    "4.12-10", cases={"a page": {"limit": 1}, "no results": {"limit": 0}, "an offset": {"limit": 1, "offset": 9_999}}
)
def a_total_beyond_10000_is_capped(world: World, asked: dict[str, int]) -> None:
    """Making such a large project takes too long, so the check uses the project only if it is so large already."""
    last = ids_of(world.get(SORTED, query={"offset": 10_000, "limit": 1, "sort": "id"}).expect_status(200))
    if not last:
        world.skip("needs a project with more than 10,000 resources: --project")
    answer = world.get(SORTED, query=asked).expect_status(200)
    answer.expect_json("total", 10_000).expect_json("totalCapped", True)


REFERENCES = ("createdBy", "lastModifiedBy")


@check("4.12-19", needs=["2.2-5", "Q-6"], cases=[("createdBy",), ("lastModifiedBy",), REFERENCES])
def a_reference_that_is_expanded_has_its_client(world: World, expanded: tuple[str, ...]) -> None:
    made = world.make()
    answer = world.get(SORTED, query={"where": only([made]), "expand": list(expanded)}).expect_status(200)
    for name in expanded:
        client = answer.at("results", 0, name, "obj")
        holds = isinstance(client, dict) and set(client) == CLIENT_MEMBERS and isinstance(client["name"], str)
        answer.expect(holds, f"an obj of {name} with id, name and scopes", client)
        answer.expect_json("results", 0, name, "obj", "id", answer.at("results", 0, name, "id"))


PATHS = ["foo", "key", "createdBy.id", "createdBy,lastModifiedBy", "createdby"]


@check("4.12-20", needs=["2.2-5", "Q-6"], cases=PATHS)
def another_path_is_ignored(world: World, path: str) -> None:
    made = world.make()
    for expanded in (path, [path, "foo"]):
        answer = world.get(SORTED, query={"where": only([made]), "expand": expanded}).expect_status(200)
        for name in REFERENCES:
            answer.expect_absent("results", 0, name, "obj")


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
    found = ids_of(answer.expect_status(200))
    answer.expect(found == [one.id for one in wanted], f"the results {[one.id for one in wanted]}", found)


def shuffled(world: World) -> list[Made]:
    """Make resources with the versions 2, 3 and 1."""
    return [world.update(world.make()), world.update(world.update(world.make())), world.make()]


@check("4.12-11", needs=["4.10-1", "Q-6"], cases=product(("id", "key", "version", "createdAt"), ("", " asc", " desc")))
def results_are_in_the_order_of_the_field(world: World, field: str, direction: str) -> None:
    made = shuffled(world)
    answer = world.get(SORTED, query={"where": only(made), "sort": field + direction}).expect_status(200)
    results = answer.at("results")
    values = [result.get(field) for result in results]
    wanted = sorted((one.body[field] for one in made), reverse=direction == " desc")
    answer.expect(values == wanted, f"{field} in the order {wanted}", values)


@check("4.12-11", cases=product(("asc", "desc"), repeat=2))
def the_second_sort_orders_what_the_first_finds_equal(world: World, first: str, second: str) -> None:
    made = [world.update(world.make()), world.make(), world.update(world.make()), world.make()]
    wanted = sorted(made, key=lambda one: one.key, reverse=second == "desc")
    wanted.sort(key=lambda one: one.version, reverse=first == "desc")
    expect_order(world, made, [f"version {first}", f"key {second}"], wanted)


@check("4.12-13", cases=FIELDS)
def sort_takes_the_field(world: World, field: str) -> None:
    world.get(SORTED, query={"sort": field, "limit": 1}).expect_status(200)


@check("4.12-13", needs=["4.12-11"], cases=["DESC", "Desc", "dEsC", "ASC", "Asc", "aSc"])
def a_direction_may_have_any_letter_case(world: World, direction: str) -> None:
    made = shuffled(world)
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


@check("4.12-15", needs=["2.6-1", "4.12-13"], cases=["someProperty", "someProperty asc", "someProperty desc"])
def resources_without_someproperty_are_above_all_others(world: World, sort: str) -> None:
    made = with_texts(world, [None, "", "a"])
    ascending = [made[1], made[2], made[0]]
    expect_order(world, made, sort, ascending[::-1] if sort.endswith(" desc") else ascending)


@check(
    "4.12-17",
    needs=["4.10-1", "Q-6"],
    cases=["version asc", "version desc", "someProperty asc", "someProperty desc", None],
)
def equal_resources_are_in_the_order_of_their_ids(world: World, sort: str | None) -> None:
    # They are changed in another order than they were made, so that neither times nor storage have the order of the
    # versions.
    made = [world.make() for _ in range(4)]
    for number in (2, 0, 3, 1):
        made[number] = world.update(made[number])
    is_falling = sort is not None and sort.endswith(" desc")
    expect_order(world, made, sort, sorted(made, key=lambda one: one.id, reverse=is_falling))


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
