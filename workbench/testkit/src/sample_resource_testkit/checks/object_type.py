"""ObjectType (2.3): its arrays with their numbers, objects and texts, and that stored values come back."""

import re
from collections.abc import Mapping, Sequence
from math import copysign
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.checks.names import ALL_FIELDS, FLOATS, INTEGERS, NUMBERS, OBJECTS, PAIR, TEXTS, UNIQUE
from sample_resource_testkit.checks.refusals import refused
from sample_resource_testkit.checks.steps import JSON_BODY, made_by
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

INTEGER_FIELDS = (INTEGERS, UNIQUE)


def sent(world: World, fields: str) -> Answer:
    """POST an ObjectType that is given as JSON text, so that numbers are written as the check wants."""
    return world.post("", body=f'{{"objectTypeProperty": {fields}}}', headers=JSON_BODY)


def expect_kept(world: World, answer: Answer, fields: Mapping[str, Any], *, alone: bool = False) -> None:
    """Expect fields of an ObjectType in the answer to a POST, and in the answer to the next read.

    :param alone: whether further fields are refused, as 2.3-2 and 2.3-4 demand.
    """
    for found in (answer.expect_success(), world.get(f"/{made_by(answer).id}").expect_status(200)):
        if alone:
            found.expect_json("objectTypeProperty", dict(fields))
        else:
            found.expect_subset(fields, "objectTypeProperty")


def kept(world: World, fields: Mapping[str, Any], *, alone: bool = False) -> None:
    """Expect that an ObjectType is accepted, and comes back."""
    expect_kept(world, world.post("", {"objectTypeProperty": dict(fields)}), fields, alone=alone)


@check("2.3-1", cases=ALL_FIELDS)
def each_array_is_kept(world: World, values: Any) -> None:
    name = next(field for field, known in ALL_FIELDS.items() if known is values)
    kept(world, {name: values})


@check("2.3-2", cases=ALL_FIELDS)
def each_field_is_optional(world: World, values: Any) -> None:
    kept(world, {name: known for name, known in ALL_FIELDS.items() if known is not values})


@check(
    "2.3-3",
    cases={
        "integers": {INTEGERS: [5, -1, 5, 0, 5, -1]},
        "two numbers": {PAIR: [2, 1]},
        "numbers": {NUMBERS: [10, 9.5, 10, -3, 9.5]},
        "texts": {TEXTS: ["b", "a", "b", "B", "", "a"]},
        "objects": {OBJECTS: [{"integerExample": 2}, {"integerExample": 1}, {}, {"integerExample": 2}]},
    },
)
def order_and_duplicates_are_kept(world: World, fields: Mapping[str, Any]) -> None:
    kept(world, fields)


@check("2.3-2", cases=[[], [{}, {"integerExample": 0}, {"integerExampleInt32": 0}]])
def empty_arrays_and_members_of_items_are_kept(world: World, items: list[dict[str, int]]) -> None:
    kept(world, {INTEGERS: [], UNIQUE: [], FLOATS: [], NUMBERS: [], TEXTS: [], OBJECTS: items}, alone=True)


LARGE = {
    "2**53 + 1": 9007199254740993,
    "the smallest of 64 bits": -9223372036854775808,
    "the largest of 64 bits": 9223372036854775807,
    "19 digits": 1234567890123456789,
    "0": 0,
}


@check("2.3-5", cases=LARGE)
def an_integer_of_64_bits_is_kept(world: World, number: int) -> None:
    kept(world, {INTEGERS: [number, number], UNIQUE: [number]})


DOUBLES = {
    "0.1": "0.1",
    "1e-7": "1e-7",
    "the smallest": "5e-324",
    "the largest": "1.7976931348623157e308",
    "17 digits": "0.30000000000000004",
    "more digits than a double has": "0.1000000000000000055511151231257827",
    "16 digits and a half": "4503599627370496.5",
    "beyond 64 bits": "12345678901234567890123",
}


@check("2.3-6", cases=DOUBLES)
def a_double_is_kept(world: World, text: str) -> None:
    fields = {FLOATS: [float(text)], NUMBERS: [float(text)], PAIR: [float(text), 1]}
    written = f'{{"{FLOATS}": [{text}], "{NUMBERS}": [{text}], "{PAIR}": [{text}, 1]}}'
    expect_kept(world, sent(world, written), fields)


ROUND = {"9007199254740993.5": 2**53 + 2, "1e18": 10**18, "-4503599627370497.5": -(2**52 + 2), "0.5e1": 5}


@check("2.3-6", cases=list(ROUND))
def a_double_that_is_a_whole_number_is_that_integer(world: World, text: str) -> None:
    whole = ROUND[text]
    answer = sent(world, f'{{"{FLOATS}": [{text}], "{NUMBERS}": [{text}], "{PAIR}": [{text}, 0.1]}}').expect_success()
    for name in (FLOATS, NUMBERS, PAIR):
        found = answer.at("objectTypeProperty", name, 0)
        answer.expect(isinstance(found, int) and found == whole, f"the integer {whole}", found)
    again = world.put("", answer.json).expect_success()
    again.expect_json("version", answer.at("version"))


WHOLE = {"3.0": 3, "1e2": 100, "1E2": 100, "-1.50e1": -15, "100e-2": 1, "0.0": 0, "9.007199254740993e15": 2**53 + 1}


@check("2.3-7", cases={f"{text} in {name}": (name, text) for name in INTEGER_FIELDS for text in WHOLE})
def a_number_without_a_fraction_is_an_integer(world: World, name: str, text: str) -> None:
    expect_kept(world, sent(world, f'{{"{name}": [{text}]}}'), {name: [WHOLE[text]]})


@check("2.3-13", cases=["1.5", "1e-1", "3.0000000000000004"])
def a_fraction_is_refused_among_integers(world: World, text: str) -> None:
    for name in INTEGER_FIELDS:
        sent(world, f'{{"{name}": [1, {text}]}}').expect_status(400)


BEYOND_64_BITS = ["9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e19", "-1e300", "1" * 100]


@check("2.3-12", cases={f"{text[:24]} in {name}": (name, text) for name in INTEGER_FIELDS for text in BEYOND_64_BITS})
def an_integer_beyond_64_bits_is_refused(world: World, name: str, text: str) -> None:
    refused(sent(world, f'{{"{name}": [{text}]}}'), 400, "InvalidField")


@check("2.3-10", cases=[-2147483648, 2147483647, 0, -1])
def an_integer_of_32_bits_is_kept(world: World, number: int) -> None:
    kept(world, {OBJECTS: [{"integerExampleInt32": number}]})


@check("2.3-10", cases=[-2147483649, 2147483648, 4294967296, 9007199254740993, -9223372036854775808])
def an_integer_beyond_32_bits_is_refused(world: World, number: int) -> None:
    fields = {OBJECTS: [{}, {"integerExample": 1, "integerExampleInt32": number}]}
    world.post("", {"objectTypeProperty": fields}).expect_status(400)


BEYOND_DOUBLES = {"1e400": "1e400", "-1e400": "-1e400", "1e309": "1e309", "400 digits": "9" * 400, "1e99999": "1e99999"}


@check("2.3-12", cases=BEYOND_DOUBLES)
def a_number_beyond_all_doubles_is_refused(world: World, text: str) -> None:
    for fields in (f'{{"{FLOATS}": [{text}]}}', f'{{"{NUMBERS}": [1, {text}]}}', f'{{"{PAIR}": [1, {text}]}}'):
        refused(sent(world, fields), 400, "InvalidField")


@check("2.3-14", needs=["2.3-7"], cases=["1, 1.0", "100, 1e2", "-5, 3, -5.0"])
def the_same_integer_in_another_notation_is_a_repetition(world: World, items: str) -> None:
    sent(world, f'{{"{UNIQUE}": [{items}]}}').expect_status(400)


@check("2.3-14", cases=[[], [1], [1, -1], [9007199254740992, 9007199254740993], [0, 1, 10, 100], [2**63 - 1, -(2**63)]])
def unique_integers_that_differ_are_accepted(world: World, items: list[int]) -> None:
    world.post("", {"objectTypeProperty": {UNIQUE: items}}).expect_success()


@check("2.3-15", cases=[[1, 2], [0.5, 0.5], [-1, 1.5], [0, 0]])
def two_numbers_are_kept(world: World, items: Sequence[float]) -> None:
    kept(world, {PAIR: items})


@check("2.3-15", cases=[[], [1], [1, 2, 3], [1, 2, 3, 4], [0.5]])
def another_number_of_items_than_two_is_refused(world: World, items: Sequence[float]) -> None:
    world.post("", {"objectTypeProperty": {PAIR: items}}).expect_status(400)


@check("E-36")
def thousands_of_items_are_kept(world: World) -> None:
    kept(world, {UNIQUE: list(range(5_000)), OBJECTS: [{}] * 5_000})


@check("2.3-6", cases={"floats": "arrayOfFloatExample", "numbers": NUMBERS, "two numbers": "arrayOfTwonumbersExample"})
def a_negative_zero_keeps_its_sign(world: World, name: str) -> None:
    answer = sent(world, f'{{"{name}": [-0.0, 0.0]}}').expect_success()
    for found in (answer, world.get(f"/{made_by(answer).id}").expect_status(200)):
        # -0 is the double -0.0. A JSON parser that makes it an integer would lose the sign.
        text = re.search(rf'"{name}":\s*\[([^\]]*)\]', found.text)
        items = [] if text is None else text.group(1).split(",")
        signs = [copysign(1, float(item)) for item in items]
        found.expect(signs == [-1, 1], "[-0.0, 0.0]", items)


UNICODE = {
    "the empty text": "",
    "blanks at both ends": "  a  ",
    "quotes": "\"'`„“",
    "a backslash": "\\",
    "an escape that is text": "\\u0041\\n",
    "controls": "\u0001\u0008\u001f\u007f\u0085",
    "line ends": "a\nb\r\nc\td\u2028e\u2029f",
    "a family": "👨‍👩‍👧‍👦",
    "a combining accent": "e\u0301",
    "the last character": "\U0010ffff",
    "noncharacters": "\ufffe\uffff\ufdd0",
    "a byte order mark": "\ufeffa",
    "SQL": "'; DROP TABLE resource; --",
    "a percent sign": "%s %00 %41 {} {0} ${a}",
    "a word of JSON": "null",
    "10,000 characters": "ü" * 10_000,
}


@check("2.3-16", cases=UNICODE)
def any_text_is_kept(world: World, text: str) -> None:
    kept(world, {TEXTS: [text, f"{text}a"]})


UNKEEPABLE = {
    "U+0000 within": "a\\u0000b",
    "a high surrogate": "\\ud800",
    "a low surrogate": "\\udc00",
    "a pair and a half": "\\ud83d\\ude00\\ud83d",
}


@check("2.3-17", cases=UNKEEPABLE)
def such_a_text_is_refused(world: World, text: str) -> None:
    refused(sent(world, f'{{"{TEXTS}": ["a", "{text}"]}}'), 400, "InvalidField")
