"""Creating, reading, updating and deleting: the profile ``core``."""

from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

NO_VERSIONS_OF_A_NEW_RESOURCE = {"one more": 1, "one less": -1, "far more": 1_000_000, "half more": 0.5}


@check("4.6-1")
def a_post_makes_a_resource(world: World) -> None:
    fields = {"arrayOfStringExample": [world.word()], "arrayOfIntExample": [1, 1, -5]}
    answer = world.post("", {"objectTypeProperty": fields})
    answer.expect_success().expect_json("objectTypeProperty", fields)
    answer.expect(isinstance(answer.at("version"), int), "a version that is an integer", answer.at("version"))


@check("4.6-2", needs=["4.6-1"])
def a_new_resource_has_an_id(world: World) -> None:
    answer = world.post("", {"objectTypeProperty": {}}).expect_success()
    answer.expect(isinstance(answer.at("id"), str), "an id that is a text", answer.at("id"))


@check("4.2-1")
def what_was_made_is_found_by_its_id(world: World) -> None:
    fields = {"arrayOfNumberNoDefaultsExample": [world.number(), 0.1]}
    made = world.make(fields)
    world.get(f"/{made.id}").expect_status(200).expect_json("objectTypeProperty", fields)


@check("4.2-2", cases={"an unknown UUID": "6f9619ff-8b86-4011-b42d-00c04fc964ff", "no UUID": "abc", "a slash": "a%2Fb"})
def an_unknown_id_is_not_found(world: World, unknown: str) -> None:
    world.get(f"/{unknown}").expect_error(404, "ResourceNotFound")


@check("4.10-1")
def an_update_with_the_actual_version_is_carried_out(world: World) -> None:
    made = world.make()
    answer = world.post(f"/{made.id}", {"version": made.version, "actions": [{"action": "doSomeThing"}]})
    answer.expect_success()
    read = world.get(f"/{made.id}").expect_status(200)
    read.expect(read.at("version") > made.version, f"a version above {made.version}", read.at("version"))


@check("4.10-3", needs=["4.10-1"], cases=NO_VERSIONS_OF_A_NEW_RESOURCE)
def another_version_is_a_conflict(world: World, difference: float) -> None:
    made = world.make()
    body = {"version": made.version + difference, "actions": [{"action": "doSomeThing"}]}
    world.post(f"/{made.id}", body).expect_status(409)
    world.get(f"/{made.id}").expect_json("version", made.version)
