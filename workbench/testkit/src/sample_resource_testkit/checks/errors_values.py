"""Errors about values of a body: ``InvalidField`` and ``DuplicateField`` (profile ``errors``)."""

import json as json_text
import re
from typing import Any

from sample_resource_testkit.answers import Answer, same
from sample_resource_testkit.checks.errors_shape import fields, refusal
from sample_resource_testkit.checks.names import ANY
from sample_resource_testkit.checks.refusals import errors_of
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

VALUES: dict[str, tuple[Any, str, Any]] = {
    "a range": (
        fields(arrayOfObjectType=[{"integerExampleInt32": 1 << 31}]),
        "objectTypeProperty -> arrayOfObjectType -> 0 -> integerExampleInt32",
        1 << 31,
    ),
    "a repetition": (
        fields(arrayOfUniqueIntExample=[1, 2, 1]),
        "objectTypeProperty -> arrayOfUniqueIntExample",
        [1, 2, 1],
    ),
    "three numbers of two": (
        fields(arrayOfTwonumbersExample=[1, 2, 3]),
        "objectTypeProperty -> arrayOfTwonumbersExample",
        [1, 2, 3],
    ),
    "a pattern": ({"key": "a b", **ANY}, "key", "a b"),
    "characters": (
        fields(arrayOfStringExample=["ok", "a\u0000b"]),
        "objectTypeProperty -> arrayOfStringExample -> 1",
        "a\u0000b",
    ),
}


def invalid_field(world: World, answer: Answer) -> dict[str, Any]:
    """The first entry with the code ``InvalidField`` of a 400."""
    refusal(world, answer)
    found = [entry for entry in errors_of(answer) if entry.get("code") == "InvalidField"]
    answer.expect(bool(found), "an entry with the code InvalidField")
    return found[0]


@check("E-9", cases=list(VALUES))
def a_fault_of_a_value_is_invalidfield(world: World, name: str) -> None:
    body, path, value = VALUES[name]
    answer = world.post("", body)
    entry = invalid_field(world, answer)
    # For a repeated item, the field may be that of the item or of the array.
    paths = (path, f"{path} -> 2") if name == "a repetition" else (path,)
    answer.expect(entry.get("field") in paths, f"the field '{path}'", entry)
    wanted = (value, value[0]) if name == "a repetition" else (value,)
    holds = "invalidValue" in entry and any(same(entry["invalidValue"], one) for one in wanted)
    answer.expect(holds, f"invalidValue {json_text.dumps(value)}", entry.get("invalidValue"))


INVALID = re.compile(r"The value '(.*?)' is not valid for field '([^']*)'\.(?: .*)?", re.DOTALL)


@check("E-11", needs=["E-9"], cases=list(VALUES))
def the_message_has_the_value_and_the_field(world: World, name: str) -> None:
    answer = world.post("", VALUES[name][0])
    entry = invalid_field(world, answer)
    found = INVALID.fullmatch(str(entry.get("message")))
    holds = (
        found is not None
        and found[2] == entry.get("field")
        and same(_value(found[1]), entry.get("invalidValue", found))
    )
    wanted = "a message that begins \"The value '<value as JSON>' is not valid for field '<field>'.\""
    answer.expect(holds, wanted, entry.get("message"))


def _value(text: str) -> Any:
    """The value of a JSON text; None for another text. No ``invalidValue`` of these checks is null."""
    try:
        return json_text.loads(text)
    except ValueError:
        return None


@check("E-11", needs=["2.2-11"], cases=["POST", "PUT"])
def a_duplicate_is_told_with_its_value(world: World, method: str) -> None:
    made, other = world.make(), world.make()
    answer = world.send(method, "", {"id": other.id, "key": made.key, **ANY}).expect_status(400)
    wanted = f"A duplicate value '\"{made.key}\"' exists for field 'key'."
    found = [entry.get("message") for entry in errors_of(answer) if entry.get("code") == "DuplicateField"]
    answer.expect(found == [wanted], f'the message "{wanted}"', found)
