"""Reading one resource: by id (4.2) and by key (4.3)."""

from typing import Any

from sample_resource_testkit.checks.names import INTEGERS, NUMBERS, TEXTS, UNKNOWN_ID
from sample_resource_testkit.checks.refusals import refused
from sample_resource_testkit.checks.steps import keyed
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

FIELDS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "integers and texts": {INTEGERS: [1, -2], TEXTS: ["a text", "ü"]},
    "numbers": {NUMBERS: [0.5, 7]},
    "objects": {"arrayOfObjectType": [{"integerExample": 1}, {}]},
}


@check("4.2-1", cases=FIELDS)
def what_was_made_is_found_by_its_id(world: World, fields: dict[str, Any]) -> None:
    made = world.make(fields)
    world.get(f"/{made.id}").expect_status(200).expect_json("objectTypeProperty", fields)


PARAMETERS = ("optionalQueryParameter", "secondOptionalQueryParameter")


@check("4.2-2", needs=["4.2-1"], cases=[(name, text) for name in PARAMETERS for text in ("", "ü", "&=+%#?/")])
def an_optional_parameter_makes_no_difference(world: World, name: str, text: str) -> None:
    made = world.make({TEXTS: ["a"]})
    without = world.get(f"/{made.id}").expect_status(200)
    world.get(f"/{made.id}", query={name: text}).expect_status(200).expect_json(without.json)


@check(
    "4.2-3",
    cases={
        "a UUID": (UNKNOWN_ID, UNKNOWN_ID),
        "the nil UUID": ("00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000"),
        "a word": ("abc", "abc"),
        "an umlaut": ("k%C3%A4se", "käse"),
        "quotes": ("%22a%22", '"a"'),
        "500 characters": ("x" * 500, "x" * 500),
    },
)
def an_id_that_no_resource_has_is_not_found(world: World, segment: str, identifier: str) -> None:
    message = f"The Resource with ID '{identifier}' was not found."
    refused(world.get(f"/{segment}"), 404, "ResourceNotFound", message=message)


@check(
    "4.2-3",
    needs=["4.2-1"],
    cases={"without hyphens": "{hex}", "a blank after it": "{id}%20", "a character less": "{short}"},
)
def something_like_an_id_is_not_found(world: World, pattern: str) -> None:
    made = world.make()
    segment = pattern.format(id=made.id, hex=made.id.replace("-", ""), short=made.id[:-1])
    refused(world.get(f"/{segment}"), 404, "ResourceNotFound")


@check("4.3-1", cases=FIELDS)
def what_was_made_is_found_by_its_key(world: World, fields: dict[str, Any]) -> None:
    made = keyed(world, fields)
    world.get(f"/key={made.key}").expect_status(200).expect_json(world.get(f"/{made.id}").json)


@check("4.3-2", cases={"a word": "{}", "upper case": "K{}", "underscores": "__{}", "256": "{}" + "k" * 240})
def a_key_that_no_resource_has_is_not_found(world: World, pattern: str) -> None:
    key = pattern.format(world.word())
    message = f"The Resource with key '{key}' was not found."
    refused(world.get(f"/key={key}"), 404, "ResourceNotFound", message=message)


@check("4.3-4", needs=["4.3-1"], cases=["upper", "lower", "swapped"])
def keys_are_compared_in_their_letter_case(world: World, how: str) -> None:
    made = keyed(world, key=f"Key-{world.word()}")
    other = {"upper": made.key.upper(), "lower": made.key.lower(), "swapped": made.key.swapcase()}[how]
    world.get(f"/key={made.key}").expect_status(200)
    world.get(f"/key={other}").expect_status(404)


@check(
    "2.1-9",
    needs=["4.3-1"],
    cases=["key", "searchApiPattern", "sorted-query-parameters", "resource", "null", "true", "00", "--", "id"],
)
def a_key_that_looks_like_something_else_is_a_key(world: World, key: str) -> None:
    # By PUT, because a resource of an earlier run may have the key.
    made = world.put("", {"key": key, "objectTypeProperty": {}})
    if not 200 <= made.status < 300:
        world.not_reachable(f"a resource with this key cannot be made: {made.status}")
    world.get(f"/key={key}").expect_status(200).expect_json("key", key)
