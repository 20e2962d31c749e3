"""Bodies of all endpoints (4): media types, valid and invalid JSON, unknown fields, and null."""

from collections.abc import Callable
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.checks.names import UNKNOWN_ID
from sample_resource_testkit.checks.refusals import details_of, refused
from sample_resource_testkit.checks.steps import JSON_BODY, expect_found
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

WRITES = ("POST ", "PUT ", "PATCH ", "POST /{id}")


def sent_raw(world: World, endpoint: str, body: bytes | str | None, content_type: str = "application/json") -> Answer:
    """Send an unchanged body in a write to an existing resource."""
    method, _, pattern = endpoint.partition(" ")
    path = pattern.format(id=world.make().id) if "{" in pattern else pattern
    return world.send(method, path, body=body, headers={"Content-Type": content_type} if content_type else {})


ANSWERS: dict[str, Callable[[World], Answer]] = {
    "list": lambda world: world.get("?limit=1"),
    "created": lambda world: world.post("", {"objectTypeProperty": {}}),
    "text beyond ASCII": lambda world: world.post("", {"objectTypeProperty": {"arrayOfStringExample": ["ü🐙"]}}),
    "sorted list": lambda world: world.get("/sorted-query-parameters?limit=1"),
    "search": lambda world: world.get("/searchApiPattern?limit=1"),
    "an unknown id": lambda world: world.get(f"/{UNKNOWN_ID}"),
    "an unknown URL": lambda world: world.get("/a/b"),
    "a refused parameter": lambda world: world.get("?limit=x"),
    "a method that is not allowed": lambda world: world.delete(""),
    "no token": lambda world: world.nobody().get(),
}


@check("4-1", cases=ANSWERS)
def an_answer_with_a_body_is_json(world: World, ask: Callable[[World], Answer]) -> None:
    answer = ask(world)
    media_type, _, parameters = (answer.header("Content-Type") or "").lower().partition(";")
    answer.expect(media_type.strip() == "application/json", "Content-Type: application/json", media_type)
    charset = parameters.replace('"', "").replace(" ", "")
    answer.expect(charset in ("", "charset=utf-8"), "no charset but utf-8", parameters)
    answer.expect(answer.json is not None, "a JSON value in UTF-8")


MEDIA_TYPES = ["application/json", "application/json; charset=utf-8", 'application/json; charset="utf-8"']


@check("4-2", cases=MEDIA_TYPES)
def a_body_of_json_is_accepted(world: World, media_type: str) -> None:
    body = '{"objectTypeProperty": {"arrayOfStringExample": ["ü"]}}'
    answer = sent_raw(world, "POST ", body, media_type).expect_success()
    answer.expect_json("objectTypeProperty", "arrayOfStringExample", ["ü"])


@check("4-3", cases=["GET ", "HEAD ", "GET /{id}", "HEAD /{id}", "DELETE /{id}", "GET /sorted-query-parameters"])
def a_content_type_without_a_body_makes_no_difference(world: World, endpoint: str) -> None:
    method, _, pattern = endpoint.partition(" ")
    without = world.send(method, pattern.format(id=world.make().id))
    world.send(method, pattern.format(id=world.make().id), headers=JSON_BODY).expect_status(without.status)


NO_JSON = {
    "half an object": "{",
    "something after it": '{"version": 1, "actions": [], "objectTypeProperty": {}} x',
    "single quotes": "{'objectTypeProperty': {}}",
    "a comma too many": '{"version": 1, "actions": [], "objectTypeProperty": {},}',
    "a leading zero": '{"version": 01, "objectTypeProperty": {}}',
    "a form": "objectTypeProperty=1",
    "an array": "[]",
    "a text": '"objectTypeProperty"',
    "null": "null",
    "no bytes": "",
}


@check("4-14", cases=NO_JSON)
def a_body_that_is_no_object_is_refused(world: World, text: str) -> None:
    refused(sent_raw(world, "POST ", text), 400, "InvalidJsonInput")


@check("4-14", cases=WRITES)
def each_write_refuses_a_body_that_is_no_object(world: World, endpoint: str) -> None:
    for text in ("{", "[]", "null", ""):
        refused(sent_raw(world, endpoint, text), 400, "InvalidJsonInput")


ODD_JSON: dict[str, bytes] = {
    "a byte that is no UTF-8": b'{"objectTypeProperty": {"arrayOfStringExample": ["\xff"]}}',
    "UTF-16": '{"objectTypeProperty": {}}'.encode("utf-16"),
    "a surrogate in UTF-8": b'{"objectTypeProperty": {"arrayOfStringExample": ["\xed\xa0\x80"]}}',
    "NaN": b'{"objectTypeProperty": {"arrayOfFloatExample": [NaN]}}',
    "Infinity": b'{"objectTypeProperty": {"arrayOfNumberNoDefaultsExample": [Infinity]}}',
    "a name twice": b'{"objectTypeProperty": {}, "objectTypeProperty": {}}',
    "5,000 levels": b'{"objectTypeProperty": {"arrayOfIntExample": ' + b"[" * 5_000 + b"]" * 5_000 + b"}}",
    "a name twice in it": b'{"objectTypeProperty":{"arrayOfObjectType":[{"integerExample":1,"integerExample":2}]}}',
    "a name twice, once escaped": b'{"objectTypeProperty": {}, "objectTypePropert\\u0079": {}}',
}


@check("4-15", cases=ODD_JSON)
def json_that_parsers_differ_about_is_refused(world: World, body: bytes) -> None:
    refused(sent_raw(world, "POST ", body), 400, "InvalidJsonInput")


UNKNOWN_FIELDS = {
    "a field of the body": ({"objectTypeProperty": {}, "fooBar": 1}, "fooBar"),
    "letter case": ({"objectTypeProperty": {}, "Key": "kit-a"}, "Key"),
    "a field of ObjectType": ({"objectTypeProperty": {"fooBar": []}}, "fooBar"),
    "a field of an item": ({"objectTypeProperty": {"arrayOfObjectType": [{}, {"fooBar": 1}]}}, "fooBar"),
}


@check("4-16", cases=UNKNOWN_FIELDS)
def an_unknown_field_is_refused_and_named(world: World, body: object, name: str) -> None:
    answer = refused(world.post("", body), 400, "InvalidJsonInput")
    answer.expect(any(name in text for text in details_of(answer)), f"{name} in detailedErrorMessage")


NULLS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "key": ({"key": None}, {}),
    "all of them": ({"id": None, "key": None, "version": None}, {}),
    "one array of two": (
        {"objectTypeProperty": {"arrayOfStringExample": None, "arrayOfIntExample": [1]}},
        {"arrayOfIntExample": [1]},
    ),
    "a field of an item": (
        {"objectTypeProperty": {"arrayOfObjectType": [{"integerExample": None, "integerExampleInt32": 2}]}},
        {"arrayOfObjectType": [{"integerExampleInt32": 2}]},
    ),
    "a field that nobody knows": ({"fooBar": None}, {}),
    "a field that no item has": (
        {"objectTypeProperty": {"arrayOfObjectType": [{"integerExample": 1, "fooBar": None}]}},
        {"arrayOfObjectType": [{"integerExample": 1}]},
    ),
}
"""Members of a body with nulls, and the fields that the stored ObjectType has."""


@check("4-18", cases=NULLS)
def null_is_as_if_absent(world: World, body: dict[str, Any], meant: dict[str, Any]) -> None:
    answer = world.post("", {"objectTypeProperty": {}, **body}).expect_success()
    answer.expect_json("objectTypeProperty", meant)
    answer.expect("key" not in answer.members, "no key", answer.json)


@check("4-18", cases=["POST", "PUT", "PATCH"])
def null_is_as_if_absent_in_each_write_on_the_collection(world: World, method: str) -> None:
    made = world.make({"arrayOfIntExample": [1], "arrayOfStringExample": ["a"]})
    sent = {"arrayOfIntExample": None, "arrayOfStringExample": ["b"]}
    answer = world.send(
        method, "", {"id": made.id, "key": None, "version": made.version, "objectTypeProperty": sent}
    ).expect_success()
    # A POST merges: absent fields stay.
    kept = {"arrayOfIntExample": [1]} if method == "POST" else {}
    answer.expect_json("objectTypeProperty", {**kept, "arrayOfStringExample": ["b"]})
    answer.expect_json("key", made.key or None)


@check(
    "4-18",
    needs=["4.1-12"],
    cases={
        "a field": '{{"arrayOfIntExample": [{0}], "arrayOfStringExample": null}}',
        "an item": '{{"arrayOfIntExample": [{0}, null]}}',
        "beside the wrapper": '{{"objectTypeProperty": {{"arrayOfIntExample": [{0}]}}, "key": null}}',
    },
)
def null_is_as_if_absent_in_object_parameter(world: World, sought: str) -> None:
    number = world.number()
    made = world.make({"arrayOfIntExample": [number]})
    expect_found(world.get("", query={"objectParameter": sought.format(number)}), made)
