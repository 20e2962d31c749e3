"""Creating, reading, updating and deleting: the profile ``core``."""

from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

OTHER_VERSIONS = {"one more": 1, "one less": -1, "far more": 1_000_000}


@check("4.6-1")
def a_post_answers_with_the_fields_that_were_sent(world: World) -> None:
    fields = {"arrayOfStringExample": [world.word()], "arrayOfIntExample": [1, 1, -5]}
    world.post("", {"objectTypeProperty": fields}).expect_success().expect_json("objectTypeProperty", fields)


@check("4.2-1")
def what_was_made_is_found_by_its_id(world: World) -> None:
    fields = {"arrayOfNumberNoDefaultsExample": [world.number(), 0.1]}
    made = world.make(fields)
    world.get(f"/{made.id}").expect_status(200).expect_json("objectTypeProperty", fields)


@check(
    "4.2-3",
    cases={
        "a UUID": "6f9619ff-8b86-4011-b42d-00c04fc964ff",
        "letters": "abc",
        "a slash": "a%2Fb",
        "too long for a UUID": "1" * 40,
    },
)
def an_unknown_id_is_not_found(world: World, unknown: str) -> None:
    world.get(f"/{unknown}").expect_error(404, "ResourceNotFound")


@check("4.10-1")
def the_last_of_several_changes_counts(world: World) -> None:
    made = world.make()
    actions = [{"action": "changeSomeProperty", "someProperty": text} for text in ("first", "second")]
    world.post(f"/{made.id}", {"version": made.version, "actions": actions}).expect_success()
    world.get(f"/{made.id}").expect_json("someProperty", "second")


@check("9-5", needs=["4.10-1"], cases=OTHER_VERSIONS)
def another_version_is_a_conflict(world: World, difference: int) -> None:
    made = world.make()
    body = {"version": made.version + difference, "actions": [{"action": "doSomeThing"}]}
    world.post(f"/{made.id}", body).expect_status(409)


@check("9-7", needs=["9-5"], cases=OTHER_VERSIONS)
def a_conflict_changes_nothing(world: World, difference: int) -> None:
    made = world.make()
    actions = [{"action": "changeSomeProperty", "someProperty": world.word()}]
    world.post(f"/{made.id}", {"version": made.version + difference, "actions": actions})
    world.get(f"/{made.id}").expect_json("version", made.version).expect_absent("someProperty")


@check("4.1-1")
def a_list_is_a_page(world: World) -> None:
    made = world.make({"arrayOfStringExample": [world.word()]})
    word = made.body["objectTypeProperty"]["arrayOfStringExample"][0]
    answer = world.get("", query={"stringParameter": word}).expect_status(200)
    answer.expect(isinstance(answer.at("results"), list), "results that are an array", answer.at("results"))
