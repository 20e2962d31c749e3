"""Conditional requests (profile ``http``)."""

from collections.abc import Callable
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import Made
from sample_resource_testkit.checks.errors_shape import expect_malformed
from sample_resource_testkit.checks.names import ANY, UNKNOWN_ID
from sample_resource_testkit.checks.refusals import refused
from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

CHANGED = {"objectTypeProperty": {"arrayOfIntExample": [7]}}


def tag(version: int) -> str:
    """The entity tag of a version."""
    return f'"{version}"'


def twice(world: World) -> Made:
    """Make a resource with version 2, so that its version differs from that of a new one."""
    made = world.update(world.make())
    if made.version < 2:
        world.not_reachable("an update has not raised the version")
    return made


Write = Callable[[World, Made, dict[str, str]], Answer]

UPDATE = {"actions": [{"action": "changeSomeProperty", "someProperty": "changed"}]}

WRITES: dict[str, Write] = {
    "POST": lambda world, made, headers: world.post("", {"id": made.id, **CHANGED}, headers=headers),
    "PUT": lambda world, made, headers: world.put("", {"id": made.id, **CHANGED}, headers=headers),
    "PATCH": lambda world, made, headers: world.patch(
        "", {"id": made.id, "version": made.version, **CHANGED}, headers=headers
    ),
    "update by id": lambda world, made, headers: world.post(
        f"/{made.id}", {"version": made.version, **UPDATE}, headers=headers
    ),
    "delete": lambda world, made, headers: world.delete(f"/{made.id}", headers=headers),
}
"""Writes that change a resource at its actual version, unless a precondition prevents it."""


@check("H-1", cases=WRITES)
def a_write_has_the_etag_of_its_answer(world: World, write: Write) -> None:
    answer = write(world, twice(world), {}).expect_success()
    answer.expect_header("ETag", tag(answer.at("version")))


PLACES: dict[str, Callable[[Made], str]] = {
    "by id": lambda made: f"/{made.id}",
    "by key": lambda made: f"/key={made.key}",
}

Lists = Callable[[int], str]

LISTED: dict[str, Lists] = {
    "the version": tag,
    "anything": lambda _: "*",
    "the version first": lambda version: f'"{version}", "99"',
    "the version last": lambda version: f'"99","{version}"',
}

NOT_LISTED: dict[str, Lists] = {
    "the version before": lambda version: tag(version - 1),
    "the version as a part": lambda version: f'"{version}0"',
    "two others": lambda _: '"98", "99"',
}


def both_places(lists: dict[str, Lists]) -> dict[str, tuple[Callable[[Made], str], Lists]]:
    """Cases for each list of entity tags, with both paths of a resource."""
    return {f"{name}, {place}": (path, listed) for place, path in PLACES.items() for name, listed in lists.items()}


@check("H-2", needs=["4.2-1"], cases=both_places(NOT_LISTED))
def if_none_match_is_304_unless_it_has_other_versions(world: World, path: Callable[[Made], str], listed: Lists) -> None:
    made = twice(world)
    world.get(path(made), headers={"If-None-Match": tag(made.version)}).expect_status(304).expect_empty()
    answer = world.get(path(made), headers={"If-None-Match": listed(made.version)}).expect_status(200)
    answer.expect_json("id", made.id)


@check("H-5", cases=both_places(NOT_LISTED))
def if_match_with_other_versions_is_412_for_get(world: World, path: Callable[[Made], str], listed: Lists) -> None:
    made = twice(world)
    world.get(path(made), headers={"If-Match": listed(made.version)}).expect_status(412)


def all_writes(lists: dict[str, Lists]) -> dict[str, tuple[Write, Lists]]:
    """Cases for each list of entity tags with each write."""
    return {f"{name}, {verb}": (write, listed) for verb, write in WRITES.items() for name, listed in lists.items()}


@check("H-4", cases=all_writes(LISTED))
def a_write_with_its_version_is_carried_out(world: World, write: Write, listed: Lists) -> None:
    made = twice(world)
    write(world, made, {"If-Match": listed(made.version)}).expect_success()
    after = world.get(f"/{made.id}")
    gone = after.status == 404 and write is WRITES["delete"]
    after.expect(gone or after.at("version") != made.version, "a resource that is deleted, or has another version")


@check("H-5", needs=["4.2-1"], cases=all_writes(NOT_LISTED))
def a_write_with_another_version_is_412_and_changes_nothing(world: World, write: Write, listed: Lists) -> None:
    made = twice(world)
    refused(write(world, made, {"If-Match": listed(made.version)}), 412, "PreconditionFailed")
    world.get(f"/{made.id}").expect_status(200).expect_json(made.body)


@check("H-4", needs=["4.7-1"], cases=["the version", "anything"])
def if_match_is_enough_for_patch(world: World, name: str) -> None:
    made = twice(world)
    headers = {"If-Match": LISTED[name](made.version)}
    answer = world.patch("", {"id": made.id, **CHANGED}, headers=headers).expect_status(200)
    answer.expect_json("objectTypeProperty", CHANGED["objectTypeProperty"])


def with_version(world: World, name: str, made: Made, version: int, header: str) -> Answer:
    """Send one of ``WRITES`` with a version in its body or query, and with an ``If-Match``."""
    headers = {"If-Match": header}
    if name == "delete":
        return world.delete(f"/{made.id}", query={"version": version}, headers=headers)
    if name == "update by id":
        return world.post(f"/{made.id}", {"version": version, **UPDATE}, headers=headers)
    return world.send(name, "", {"id": made.id, "version": version, **CHANGED}, headers=headers)


@check("E-20", needs=["H-4", "9-5"], cases=list(WRITES))
def the_412_comes_before_409(world: World, name: str) -> None:
    made = twice(world)
    with_version(world, name, made, made.version + 1, '"99"').expect_status(412)
    for right in (tag(made.version), "*"):
        with_version(world, name, made, made.version + 1, right).expect_status(409)


@check("H-8", needs=["4.3-2"], cases=[(method, header) for method in ("POST", "PUT") for header in ("*", '"1"')])
def nothing_is_created_with_if_match(world: World, method: str, header: str) -> None:
    key = world.key()
    world.send(method, "", {"key": key, **ANY}, headers={"If-Match": header}).expect_status(412)
    world.get(f"/key={key}").expect_status(404)


MISSING: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    "POST with an id": ("POST", "", {"id": UNKNOWN_ID, **ANY}),
    "PATCH with an id": ("PATCH", "", {"id": UNKNOWN_ID, "version": 1, **ANY}),
    "update": ("POST", f"/{UNKNOWN_ID}", {"version": 1, "actions": []}),
    "delete": ("DELETE", f"/{UNKNOWN_ID}", None),
}


@check("E-20", cases={f"{name} {header}": (name, header) for name in MISSING for header in ("*", '"1"', '"99"')})
def what_does_not_exist_is_404_with_if_match(world: World, name: str, header: str) -> None:
    method, path, body = MISSING[name]
    options = {} if body is None else {"json": body}
    world.send(method, path, headers={"If-Match": header}, **options).expect_status(404)


NOTHING_YET = {"If-None-Match": "*"}


@check("H-10", cases=["by key", "by id"])
def put_does_not_overwrite_what_is_there(world: World, place: str) -> None:
    made = twice(world)
    named = {"key": made.key} if place == "by key" else {"id": made.id}
    world.put("", {**named, **CHANGED}, headers=NOTHING_YET).expect_status(412)
    world.get(f"/{made.id}").expect_json("version", made.version)


@check("H-11", needs=["H-5"], cases=WRITES)
def a_weak_tag_does_not_permit_a_write(world: World, write: Write) -> None:
    made = twice(world)
    write(world, made, {"If-Match": f"W/{tag(made.version)}"}).expect_status(412)


@check("H-27", needs=["H-5"], cases=WRITES)
def a_412_has_the_actual_version(world: World, write: Write) -> None:
    made = twice(world)
    answer = write(world, made, {"If-Match": '"99"'}).expect_status(412)
    answer.expect_header("ETag", tag(made.version))
    message = str(answer.at("message"))
    answer.expect(str(made.version) in message and "99" not in message, "the actual version in the message", message)


@check("H-27", needs=["H-11"], cases={"a weak one": 'W/"{}"', "one of a proxy": '"{}-gzip"'})
def a_412_says_why_a_tag_never_matches(world: World, pattern: str) -> None:
    made = twice(world)
    headers = {"If-Match": pattern.format(made.version)}
    answer = world.put("", {"id": made.id, **CHANGED}, headers=headers).expect_status(412)
    message = str(answer.at("message"))
    answer.expect("weak" in message and "never" in message, "'weak' and 'never' in the message", message)


UNQUOTED = ["1", "2", "abc", '"1', '1"', "'2'", '"2" "3"', "w/2", '*, "2"']


@check("H-13", cases=UNQUOTED)
def a_tag_without_quotes_is_refused_by_reads(world: World, header: str) -> None:
    made = twice(world)
    for name in ("If-Match", "If-None-Match"):
        for resource_id in (made.id, UNKNOWN_ID):
            expect_malformed(world, world.get(f"/{resource_id}", headers={name: header}), name)
