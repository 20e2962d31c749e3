"""Facets of searches, and what narrows them: the profile ``search``."""

import re
from datetime import UTC, datetime
from typing import Any

from sample_resource_testkit.answers import Answer, same
from sample_resource_testkit.checks.finding import Fields, among, expect_counts, facet, refused, search
from sample_resource_testkit.checks.names import FLOATS, INTEGERS, NUMBERS, OBJECTS, TEXTS, UNIQUE
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import Made, World


@check(
    "S-28",
    needs=["S-23"],
    cases={"one": ["version"], "two": ["version", INTEGERS], "a range": ["version:range(1 to 2)"]},
)
def facets_stand_in_the_answer_if_one_was_asked_for(world: World, expressions: list[str]) -> None:
    asked = [("facet", expression) for expression in expressions]
    answer = search(world, *asked, among(world.make())).expect_status(200)
    facets = answer.at("facets")
    answer.expect(isinstance(facets, dict) and len(facets) == len(asked), f"{len(asked)} facets", facets)


NAMES = {
    "version": "version",
    f"objectTypeProperty.{INTEGERS}": f"objectTypeProperty.{INTEGERS}",
    INTEGERS: INTEGERS,
    "version as v": "v",
    "version:range(1 to 2),(2 to *) as my_name2": "my_name2",
    f"{TEXTS} as texts counting products": "texts",
}


@check("S-28", cases={expression: (expression, name) for expression, name in NAMES.items()})
def a_facet_has_its_path_or_its_name(world: World, expression: str, name: str) -> None:
    answer = search(world, ("facet", expression), among(world.make())).expect_status(200)
    names = list(answer.at("facets"))
    answer.expect(names == [name], f"just the facet {name}", names)


TERMS: dict[str, tuple[list[Fields], str, dict[object, int]]] = {
    "numbers": ([{INTEGERS: [1, 2]}, {INTEGERS: [2]}], INTEGERS, {1: 1, 2: 2}),
    "fractions": ([{FLOATS: [0.82, -2.5]}, {FLOATS: [0.82]}], FLOATS, {0.82: 2, -2.5: 1}),
    "texts": ([{TEXTS: ["dog", "Dog"]}, {TEXTS: ["dog", 'a "b"']}], TEXTS, {"dog": 2, "Dog": 1, 'a "b"': 1}),
    "members": (
        [{OBJECTS: [{"integerExample": 7}, {"integerExample": 8}]}, {OBJECTS: [{"integerExample": 7}]}],
        f"{OBJECTS}.integerExample",
        {7: 2, 8: 1},
    ),
    "versions": ([{}, {}], "version", {1: 2}),
    "nothing": ([{}], UNIQUE, {}),
}


@check("S-30", needs=["S-23"], cases=TERMS)
def a_path_counts_terms(world: World, listed: list[Fields], path: str, wanted: dict[object, int]) -> None:
    answer = facet(world, path, among(*(world.make(fields) for fields in listed)))
    answer.expect_json("facets", path, "type", "terms")
    expect_counts(answer, path, wanted, "the terms and how many resources have them")
    names = {"type", "dataType", "missing", "total", "other", "terms"}
    got = answer.at("facets", path)
    answer.expect(got.keys() == names, f"just {', '.join(sorted(names))}", sorted(got))


@check("S-31", needs=["S-30"], cases={"numbers": ([2, 9, -1], INTEGERS), "texts": (["a", "b", "Z"], TEXTS)})
def terms_are_in_descending_order_of_their_counts(world: World, values: list[Any], path: str) -> None:
    """The last term is in three resources, the one before it in two."""
    made = [world.make({path: values[start:]}) for start in range(3)]
    answer = facet(world, path, among(*made))
    got = [term.get("term") for term in answer.at("facets", path, "terms")]
    answer.expect(same(got, values[::-1]), f"terms in the order {values[::-1]}", got)


@check("S-34", needs=["S-31"], cases={"numbers": ([10, 9, 2, -1], INTEGERS), "texts": (["b", "a", "Z", "é"], TEXTS)})
def terms_with_equal_counts_are_in_the_order_of_their_values(world: World, values: list[Any], path: str) -> None:
    """The first term is in one resource, the others are in two, and the last is in three."""
    most = values[-1]
    made = [world.make({path: listed}) for listed in (values[:], values[1:], [most])]
    answer = facet(world, path, among(*made))
    wanted = [most, *sorted(values[1:-1]), values[0]]
    got = [term.get("term") for term in answer.at("facets", path, "terms")]
    answer.expect(same(got, wanted), f"terms in the order {wanted}", got)


@check("S-31", needs=["S-30"], cases=range(4))
def total_is_the_sum_and_missing_what_has_no_value(world: World, empty: int) -> None:
    listed = [world.random.sample(range(9), world.random.randint(1, 4)) for _ in range(3)]
    fields: list[Fields] = [{INTEGERS: numbers} for numbers in listed]
    fields += [{}, {INTEGERS: []}, {UNIQUE: [1]}][:empty]
    answer = facet(world, INTEGERS, among(*(world.make(each) for each in fields)))
    answer.expect_json("facets", INTEGERS, "total", sum(map(len, listed)))
    answer.expect_json("facets", INTEGERS, "missing", empty)


@check("S-32", needs=["S-34"], cases={"200 terms": 200, "201 terms": 201, "230 terms": 230})
def at_most_200_terms_are_listed(world: World, count: int) -> None:
    made = [world.make({INTEGERS: list(range(count))}), world.make({INTEGERS: [count - 1, count - 2]})]
    answer = facet(world, INTEGERS, among(*made))
    terms = [term.get("term") for term in answer.at("facets", INTEGERS, "terms")]
    wanted = [count - 2, count - 1, *range(198)]
    answer.expect(same(terms, wanted), f"{count - 2} and {count - 1}, and then 0 to 197", terms)
    answer.expect_json("facets", INTEGERS, "other", count - 200)


TYPES = {
    "version": "number",
    INTEGERS: "number",
    f"{OBJECTS}.integerExampleInt32": "number",
    TEXTS: "text",
    "createdBy.typeId": "text",
    "createdAt": "datetime",
}


@check("S-30", cases={path: (path, name) for path, name in TYPES.items()})
def the_data_type_is_that_of_the_field(world: World, path: str, name: str) -> None:
    facet(world, path, among(world.make())).expect_json("facets", path, "dataType", name)


TWICE: dict[str, tuple[Fields, str, list[object]]] = {
    "numbers": ({INTEGERS: [2, 2, 3, 2]}, INTEGERS, [2, 3]),
    "texts": ({TEXTS: ["dog", "dog"]}, TEXTS, ["dog"]),
}


@check("S-34", needs=["S-30"], cases=TWICE)
def a_value_that_is_held_twice_counts_once(world: World, fields: Fields, path: str, values: list[object]) -> None:
    answer = facet(world, path, among(world.make(fields)))
    expect_counts(answer, path, dict.fromkeys(values, 1), "one for each term")


VALUES = {
    "one value": (f"{INTEGERS}:2", 2),
    "two values": (f"{INTEGERS}:1,3", 2),
    "all values": (f"{INTEGERS}:1,2,3,9", 3),
    "another case of a text": (f'{TEXTS}:"DOG"', 0),
    "members": (f"{OBJECTS}.integerExample:7", 1),
}


@check("S-35", needs=["S-23"], cases=VALUES)
def values_count_what_has_one_of_them(world: World, expression: str, count: int) -> None:
    made = [
        world.make({INTEGERS: [1, 2], TEXTS: ["dog"]}),
        world.make({INTEGERS: [2], TEXTS: ["cat", "bird"]}),
        world.make({INTEGERS: [3], OBJECTS: [{"integerExample": 7}]}),
    ]
    answer = facet(world, expression, among(*made))
    answer.expect_json("facets", expression.partition(":")[0], {"type": "filter", "count": count})


def ranges_of(world: World, expression: str, *made: Made) -> tuple[Answer, list[dict[str, Any]]]:
    """Send a search with a facet of ranges. Return the answer, and the ranges in it."""
    answer = facet(world, expression, among(*made))
    found = answer.at("facets", expression.partition(":")[0], "ranges")
    answer.expect(isinstance(found, list), "ranges that are an array", found)
    return answer, found


@check("S-36", needs=["S-23"], cases=[["1 to 5"], ["5 to 9", "1 to 5"], ["* to 5", "5 to *"]])
def a_range_facet_has_an_object_for_each_range(world: World, bounds: list[str]) -> None:
    made = world.make({INTEGERS: [3, 7]})
    expression = f"{INTEGERS}:range{','.join(f'({each})' for each in bounds)}"
    answer, ranges = ranges_of(world, expression, made)
    answer.expect_json("facets", INTEGERS, "type", "range")
    names = ["count", "from", "fromStr", "max", "mean", "min", "to", "toStr", "total"]
    for each in ranges:
        answer.expect(sorted(each) == names, f"just {', '.join(names)}", each)
    lows = [each.partition(" to ")[0].replace("*", "0") for each in bounds]
    got = [each["from"] for each in ranges]
    answer.expect(same(got, [int(low) for low in lows]), f"the ranges that begin with {lows}", got)


@check("S-37", needs=["S-36"], cases=[("7 to 9", 1), ("1 to 7", 0), ("7 to *", 1), ("* to 7", 0), ("7 to 7", 0)])
def the_upper_bound_of_a_range_does_not_belong_to_it(world: World, bounds: str, count: int) -> None:
    answer, ranges = ranges_of(world, f"{INTEGERS}:range({bounds})", world.make({INTEGERS: [7]}))
    answer.expect(same(ranges[0].get("count"), count), f"the count {count}", ranges[0])


@check("S-36", cases={INTEGERS: (INTEGERS, [[-4, 7, 9], [-9, 3]]), NUMBERS: (NUMBERS, [[-4.5, 7], [0.25, 9]])})
def a_range_sums_its_values(world: World, path: str, listed: list[list[float]]) -> None:
    made = [world.make({path: values}) for values in listed]
    low, high = -5, 8
    values = [value for each in listed for value in each if low <= value < high]
    wanted = {"total": sum(values), "min": min(values), "max": max(values), "mean": sum(values) / len(values)}
    answer, ranges = ranges_of(world, f"{path}:range({low} to {high})", *made)
    for name, value in wanted.items():
        got = ranges[0].get(name)
        near = isinstance(got, int | float) and abs(got - value) < 1e-9
        answer.expect(near, f"{name} of {values}: {value}", got)


BEGIN, END = "2020-02-29T12:00:00.500Z", "9000-01-01T00:00:00.000Z"


def milliseconds(text: object) -> int:
    """A time as milliseconds since 1970."""
    since = datetime.fromisoformat(str(text)) - datetime(1970, 1, 1, tzinfo=UTC)
    return since.days * 86_400_000 + since.seconds * 1_000 + since.microseconds // 1_000


@check("S-37", needs=["S-36"], cases={"both bounds": f'"{BEGIN}" to "{END}"', "dates": '"2020-02-29" to "9000-01-01"'})
def times_are_milliseconds(world: World, bounds: str) -> None:
    made = world.make()
    answer, _ = ranges_of(world, f"createdAt:range({bounds})", made)
    begin = milliseconds(BEGIN if "T" in bounds else "2020-02-29T00:00:00Z")
    end, moment = milliseconds(END), milliseconds(made.body.get("createdAt"))
    wanted = {"from": begin, "fromStr": str(begin), "to": end, "toStr": str(end), "min": moment, "max": moment}
    answer.expect_subset(wanted, "facets", "createdAt", "ranges", 0)


PRODUCTS: dict[str, tuple[str, tuple[str | int, ...]]] = {
    "terms": (INTEGERS, ("terms", 0)),
    "values": (f"{INTEGERS}:2", ()),
    "ranges": (f"{INTEGERS}:range(1 to 3)", ("ranges", 0)),
}


@check("S-40", needs=["S-30", "S-35", "S-36"], cases=PRODUCTS)
def counting_products_adds_a_count(world: World, expression: str, path: tuple[str | int, ...]) -> None:
    made = world.make({INTEGERS: [2]})
    answer = search(world, ("facet", f"{expression} counting products"), among(made)).expect_status(200)
    answer.expect_json("facets", INTEGERS, *path, "productCount", 1)
    answer = search(world, ("facet", expression), among(made)).expect_status(200)
    answer.at("facets", INTEGERS, *path)
    answer.expect_absent("facets", INTEGERS, *path, "productCount")


@check("S-54", needs=["S-28"], cases=[("key", "version as key"), ("version:1", "version:range(1 to 2)")])
def two_facets_with_one_name_are_refused(world: World, one: str, other: str) -> None:
    refused(search(world, ("facet", one), ("facet", other)))


WRITTEN: dict[str, tuple[str, Fields, list[str]]] = {
    "integers": (INTEGERS, {INTEGERS: [3, -40]}, ["3", "-40"]),
    "numbers": (NUMBERS, {NUMBERS: [10, 2.5]}, ["10", "2.5"]),
    "members": (f"{OBJECTS}.integerExample", {OBJECTS: [{"integerExample": 7}]}, ["7"]),
}


@check("S-55", needs=["S-30"], cases=WRITTEN)
def whole_terms_are_integers(world: World, path: str, fields: Fields, wanted: list[str]) -> None:
    answer = facet(world, path, among(world.make(fields)))
    terms = re.findall(r'"term"\s*:\s*([^,}\s]+)', answer.text)
    answer.expect(sorted(terms) == sorted(wanted), f"terms written as {', '.join(wanted)}", terms)
