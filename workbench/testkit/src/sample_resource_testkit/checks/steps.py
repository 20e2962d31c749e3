"""Steps that several modules of checks share: writes, reads, and the results of lists."""

from collections.abc import Mapping
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import JSON, Caller, Made
from sample_resource_testkit.world import World

JSON_BODY = {"Content-Type": JSON}

ON_THE_COLLECTION = ("POST", "PUT", "PATCH")
"""The methods of a write on the collection."""

CREATING = ("POST", "PUT")


def change(text: str, **more: Any) -> dict[str, Any]:
    """The update action ``changeSomeProperty``."""
    return {"action": "changeSomeProperty", "someProperty": text, **more}


def write(caller: Caller, method: str, made: Made, fields: Mapping[str, Any], **options: Any) -> Answer:
    """Send a write on the collection to a resource by its id, with its version if the method needs one.

    :param options: members of the body, and the query parameter ``staged``.
    """
    staged = options.pop("staged", None)
    body: dict[str, Any] = {"id": made.id, "objectTypeProperty": dict(fields)}
    if method == "PATCH":
        body["version"] = made.version
    return caller.send(method, "", {**body, **options}, query={} if staged is None else {"staged": staged})


def keyed(world: World, fields: Mapping[str, Any] | None = None, key: str | None = None) -> Made:
    """Make a resource with a key."""
    made = world.make(fields, key=key)
    if not made.key:
        world.not_reachable("no resource with a key can be made")
    return made


def made_by(answer: Answer, key: str = "") -> Made:
    """The resource in the answer to a successful write."""
    body = answer.expect_success().json
    return Made(body if isinstance(body, dict) else {}, key, answer.header("Location") or "")


def ids_in(answer: Answer) -> list[str]:
    """The ids of the results of a page, in their order."""
    results = answer.at("results")
    listed = results if isinstance(results, list) else []
    return [str(result.get("id")) for result in listed if isinstance(result, dict)]


def expect_found(answer: Answer, *wanted: Made) -> Answer:
    """Expect 200, and exactly the wanted resources as results, in any order."""
    answer.expect_status(200)
    found = ids_in(answer)
    return answer.expect(sorted(found) == sorted(made.id for made in wanted), f"{len(wanted)} of the made", found)


def as_read(world: World, made: Made) -> dict[str, Any]:
    """Read a resource, and return the body of the answer.

    :raises NotReachable: if the body is no JSON object.
    """
    answer = world.get(f"/{made.id}")
    if answer.status != 200 or not isinstance(answer.json, dict):
        world.not_reachable(f"a read of the resource was answered with {answer.status}")
    return answer.json
