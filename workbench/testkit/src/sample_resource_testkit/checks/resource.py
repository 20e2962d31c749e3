"""The resource (2.2): its members, authors and times, and its key."""

import re
from collections.abc import Callable
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import Made, update_body
from sample_resource_testkit.checks.names import INTEGERS, TEXTS
from sample_resource_testkit.checks.refusals import refused
from sample_resource_testkit.checks.steps import ON_THE_COLLECTION, as_read, change, keyed, made_by, write
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

UUID = re.compile(r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")


MOMENT = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z")


CREATIONS: dict[str, Callable[[World], Answer]] = {
    "POST": lambda world: world.post("", {"objectTypeProperty": {INTEGERS: [1]}}),
    "POST with a key": lambda world: world.post("", {"key": world.key(), "objectTypeProperty": {}}),
    "PUT with a key": lambda world: world.put("", {"key": world.key(), "version": 1, "objectTypeProperty": {}}),
}

UPDATES: dict[str, Callable[[World, Made], Answer]] = {
    "POST": lambda world, made: write(world, "POST", made, {INTEGERS: [world.number()]}),
    "PUT": lambda world, made: write(world, "PUT", made, {INTEGERS: [world.number()]}),
    "PATCH": lambda world, made: write(world, "PATCH", made, {INTEGERS: [world.number()]}),
    "POST on the id": lambda world, made: world.post(f"/{made.id}", update_body(made.version, change(world.word()))),
}
"""Writes that change something."""


@check("2.2-1", cases=CREATIONS)
def a_created_resource_has_a_version_and_an_object(world: World, create: Callable[[World], Answer]) -> None:
    answer = create(world).expect_success()
    version, fields = answer.at("version"), answer.at("objectTypeProperty")
    answer.expect(isinstance(version, int) and not isinstance(version, bool), "version to be an integer", version)
    answer.expect(isinstance(fields, dict), "objectTypeProperty to be an object", fields)
    world.get(f"/{answer.at('id')}").expect_status(200).expect_subset(
        {"version": version, "objectTypeProperty": fields}
    )


@check("2.2-2", cases=CREATIONS)
def the_id_is_a_uuid(world: World, create: Callable[[World], Answer]) -> None:
    answer = create(world).expect_success()
    found = answer.at("id")
    answer.expect(isinstance(found, str) and UUID.fullmatch(found) is not None, "id to be a UUID", found)


@check("2.2-2", cases=UPDATES)
def the_id_never_changes(world: World, update: Callable[[World, Made], Answer]) -> None:
    made = world.make()
    update(world, made).expect_success().expect_json("id", made.id)


@check("2.2-4", cases=CREATIONS)
def a_created_resource_has_two_equal_times(world: World, create: Callable[[World], Answer]) -> None:
    answer = create(world).expect_success()
    created = answer.at("createdAt")
    answer.expect(isinstance(created, str) and MOMENT.fullmatch(created) is not None, "createdAt in UTC", created)
    answer.expect_json("lastModifiedAt", created)


@check("2.2-4", cases=UPDATES)
def an_update_is_not_before_the_creation(world: World, update: Callable[[World, Made], Answer]) -> None:
    answer = update(world, world.make()).expect_success()
    created, modified = answer.at("createdAt"), answer.at("lastModifiedAt")
    answer.expect(isinstance(modified, str) and MOMENT.fullmatch(modified) is not None, "lastModifiedAt in UTC")
    answer.expect(created <= modified, "lastModifiedAt not before createdAt", [created, modified])


def expect_author(world: World, answer: Answer, name: str) -> None:
    """Expect a reference to the client whose token was used."""
    known = world.client.client_id
    if known:
        answer.expect_json(name, {"typeId": "api-client", "id": known})
        return
    answer.expect_json(name, "typeId", "api-client")
    found = answer.at(name, "id")
    answer.expect(isinstance(found, str) and bool(found), f"{name}.id to be a text", found)


@check("2.2-5", cases=UPDATES)
def a_changed_resource_says_who_changed_it(world: World, update: Callable[[World, Made], Answer]) -> None:
    expect_author(world, update(world, world.make()).expect_success(), "lastModifiedBy")


@check("2.2-6", needs=["2.2-4", "2.2-5"], cases=UPDATES)
def a_write_sets_who_changed_it_when(world: World, update: Callable[[World, Made], Answer]) -> None:
    made = first = world.make()
    # Times have milliseconds, and several writes may happen in one millisecond.
    for _ in range(20):
        answer = update(world, made).expect_success()
        made = made_by(answer)
        if made.body.get("lastModifiedAt") != first.body.get("lastModifiedAt"):
            break
    later = str(made.body.get("lastModifiedAt")) > str(first.body.get("lastModifiedAt"))
    world.expect(later, "lastModifiedAt to rise", made.body.get("lastModifiedAt"))
    world.expect(made.body.get("createdAt") == first.body.get("createdAt"), "createdAt as it was", made.body)
    world.expect(made.body.get("createdBy") == first.body.get("createdBy"), "createdBy as it was", made.body)


@check("2.2-7", cases=["POST", "PUT"])
def a_resource_has_its_key(world: World, method: str) -> None:
    key = f"{world.key()}_{world.random.choice('XYZ')}-9"
    answer = world.send(method, "", {"key": key, "objectTypeProperty": {}}).expect_success().expect_json("key", key)
    world.get(f"/{made_by(answer).id}").expect_status(200).expect_json("key", key)


@check("2.2-7")
def a_resource_without_a_key_has_none(world: World) -> None:
    answer = world.post("", {"objectTypeProperty": {}}).expect_success()
    answer.expect(answer.members.get("key") is None, "no key", answer.members.get("key"))


@check(
    "2.2-8",
    needs=["2.6-1"],
    cases={"text": "a text", "the empty text": "", "an emoji": "🐙", "10,000 characters": "x" * 10_000},
)
def some_property_is_a_text_after_its_first_change(world: World, text: str) -> None:
    made = world.update(world.make(), change(text))
    world.get(f"/{made.id}").expect_status(200).expect_json("someProperty", text)
    world.update(made)
    world.get(f"/{made.id}").expect_status(200).expect_json("someProperty", text)


def nulls_in(value: Any, path: str = "") -> list[str]:
    """The paths of all nulls in a JSON value."""
    if value is None:
        return [path]
    if isinstance(value, dict):
        return [place for name, item in value.items() for place in nulls_in(item, f"{path}.{name}")]
    if isinstance(value, list):
        return [place for position, item in enumerate(value) for place in nulls_in(item, f"{path}[{position}]")]
    return []


ANSWERS: dict[str, Callable[[World], Answer]] = {
    "created": lambda world: world.post("", {"objectTypeProperty": {"arrayOfObjectType": [{}]}}),
    "updated": lambda world: world.post(f"/{world.make().id}", update_body(1)),
    "list": lambda world: world.get(f"?stringParameter={word_of(world)}"),
    "sorted list": lambda world: world.get(f"/sorted-query-parameters?where={contains_word(world)}"),
    "search": lambda world: world.get(f"/searchApiPattern?text.en={word_of(world)}"),
}


@check("2.2-9", cases=ANSWERS)
def nothing_is_null(world: World, ask: Callable[[World], Answer]) -> None:
    answer = ask(world)
    if not 200 <= answer.status < 300:
        world.skip(f"needs an endpoint that this server answers with {answer.status}")
    found = nulls_in(answer.json)
    answer.expect(not found, "no member that is null", found)


def word_of(world: World) -> str:
    """Make a resource without a key, and return a word that only it has."""
    word = world.word()
    world.post("", {"objectTypeProperty": {TEXTS: [word]}}).expect_success()
    return word


def contains_word(world: World) -> str:
    """A predicate, percent-encoded, for a new resource without a key."""
    return f"{TEXTS}%20contains%20any%20(%22{word_of(world)}%22)"


@check("2.2-11", needs=["4.6-8"], cases=ON_THE_COLLECTION)
def a_key_of_another_resource_is_refused(world: World, method: str) -> None:
    taken = keyed(world)
    made = keyed(world, {INTEGERS: [1]})
    before = as_read(world, made)
    answer = write(world, method, made, {INTEGERS: [2]}, key=taken.key)
    refused(answer, 400, "DuplicateField", field="key", duplicateValue=taken.key)
    world.get(f"/{made.id}").expect_status(200).expect_json(before)


KEYS = {
    "two letters": "{c}{c}",
    "two underscores": "__",
    "256 characters": "{w}" + "x" * 240,
    "upper case": "KEY-{w}",
    "a hyphen first": "-{w}",
}


@check("2.2-12", cases=KEYS)
def such_a_key_is_accepted(world: World, pattern: str) -> None:
    key = pattern.format(c=world.random.choice("abcdefgh"), w=world.word())
    # By PUT, because a resource may already have the short key.
    world.put("", {"key": key, "objectTypeProperty": {}}).expect_success().expect_json("key", key)


OTHER_KEYS = {
    "empty": "",
    "one letter": "a",
    "257 characters": "k" * 257,
    "a blank": "kit a",
    "a line feed at the end": "kit-a\n",
    "a dot": "kit.a",
    "a percent sign": "kit%41",
    "an umlaut": "kit-ä",
}


@check("2.2-12", cases=OTHER_KEYS)
def any_other_key_is_refused(world: World, key: str) -> None:
    world.post("", {"key": key, "objectTypeProperty": {}}).expect_status(400)


@check("2.2-13", needs=["4.2-1"], cases=UPDATES)
def the_next_read_answers_what_an_update_has_answered(world: World, update: Callable[[World, Made], Answer]) -> None:
    made = keyed(world, {TEXTS: ["ü"]})
    answered = made_by(update(world, made)).body
    world.get(f"/{made.id}").expect_json(answered)
