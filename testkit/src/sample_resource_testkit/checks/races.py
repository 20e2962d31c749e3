"""Requests at the same time: the profile ``races``."""

from collections import Counter

from sample_resource_testkit.registry import check
from sample_resource_testkit.world import World

WRITERS = 64


@check("9-14", needs=["4.10-1"])
def one_of_many_writers_wins(world: World) -> None:
    made = world.make()
    body = {"version": made.version, "actions": [{"action": "doSomeThing"}]}
    answers = world.race([world.request("POST", f"/{made.id}", body) for _ in range(WRITERS)])
    statuses = Counter(answer.status for answer in answers)
    world.expect(statuses == {200: 1, 409: WRITERS - 1}, f"200 once and 409 {WRITERS - 1} times", dict(statuses))
    world.get(f"/{made.id}").expect_json("version", made.version + 1)
