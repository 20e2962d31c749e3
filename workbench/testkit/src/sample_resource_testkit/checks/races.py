"""Requests at the same time: the profile ``races``.

No other case runs at the same time, so that only these requests compete on the server.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from sample_resource_testkit.answers import Answer
from sample_resource_testkit.callers import Made, update_body
from sample_resource_testkit.checks.names import ALL_FIELDS, FLOATS, INTEGERS, TEXTS, UNIQUE
from sample_resource_testkit.checks.refusals import errors_of
from sample_resource_testkit.checks.steps import change, keyed
from sample_resource_testkit.registry import check
from sample_resource_testkit.wire import Request
from sample_resource_testkit.world import World

WRITERS = 64


def counted(answers: Sequence[Answer]) -> dict[int, int]:
    """The number of answers with each status."""
    return dict(sorted(Counter(answer.status for answer in answers).items()))


def expect_statuses(world: World, answers: Sequence[Answer], wanted: dict[int, int]) -> None:
    """Expect each status as often as it is wanted."""
    found = counted(answers)
    told = " and ".join(f"{status} {times} times" for status, times in wanted.items())
    odd = next((answer for answer in answers if answer.status not in wanted), answers[-1])
    world.expect(found == wanted, told, {str(status): times for status, times in found.items()}, of=odd)


def collection(world: World, method: str, made: Made, fields: dict[str, Any]) -> Request:
    """A write without a version on the collection, which finds a resource by its id."""
    return world.request(method, "", {"id": made.id, "objectTypeProperty": fields})


@check("9-14", needs=["4.10-1", "9-5"], alone=True, cases=["doSomeThing", "changeSomeProperty"])
def one_of_many_updates_of_a_version_succeeds(world: World, name: str) -> None:
    made = world.make()
    actions = [name if name == "doSomeThing" else change(f"text {number}") for number in range(WRITERS)]
    answers = world.race(
        [world.request("POST", f"/{made.id}", update_body(made.version, action)) for action in actions]
    )
    succeeded = [answer for answer in answers if 200 <= answer.status < 300]
    world.expect(len(succeeded) == 1, "one success", f"{len(succeeded)} of {WRITERS}")
    others = counted([answer for answer in answers if answer not in succeeded])
    world.expect(others == {409: WRITERS - 1}, f"409 {WRITERS - 1} times", {str(key): n for key, n in others.items()})


@check("9-15", needs=["9-3", "4.6-5"], alone=True)
def the_version_rises_by_as_many_writes_as_succeeded(world: World) -> None:
    made = world.make()
    # Each of them changes the resource, even after another one of them.
    requests = [
        world.request("POST", f"/{made.id}", update_body(made.version))
        if number % 4 == 0
        else collection(world, ("POST", "PUT")[number % 2], made, {INTEGERS: [number], UNIQUE: [number]})
        for number in range(WRITERS)
    ]
    answers = world.race(requests)
    risen = sum(answer.status == 200 for answer in answers)
    world.expect(risen > 0, "one success at least", {str(key): times for key, times in counted(answers).items()})
    answer = world.get(f"/{made.id}").expect_status(200)
    answer.expect(answer.at("version") >= made.version + risen, f"{made.version + risen} or more", answer.at("version"))
    versions = {one.at("version") for one in answers if one.status == 200}
    world.expect(len(versions) == risen, "each version in one answer", f"{len(versions)} versions of {risen} writes")


@check("9-17", needs=["4.6-6"], alone=True, cases={"a new key": False, "a key that is there": True})
def concurrent_posts_leave_all_fields(world: World, is_there: bool) -> None:
    key = keyed(world).key if is_there else world.key()
    names = list(ALL_FIELDS)
    answers = world.race(
        [
            world.request("POST", "", {"key": key, "objectTypeProperty": {name: ALL_FIELDS[name]}})
            for name in (names[number % len(names)] for number in range(WRITERS))
        ]
    )
    refused = sorted({answer.status for answer in answers} - {200, 201})
    world.expect(not refused, "success of each POST", refused)
    world.get(f"/key={key}").expect_status(200).expect_json("objectTypeProperty", ALL_FIELDS)


@check("9-18", needs=["4.6-5"], alone=True, cases=["POST", "PUT", "POST and PUT"])
def concurrent_writes_of_a_new_key_make_one(world: World, how: str) -> None:
    methods = how.split(" and ")
    body = {"key": world.key(), "objectTypeProperty": {INTEGERS: [1]}}
    answers = world.race([world.request(methods[number % len(methods)], "", body) for number in range(WRITERS)])
    expect_statuses(world, answers, {200: WRITERS - 1, 201: 1})
    ids = {answer.at("id") for answer in answers}
    world.expect(len(ids) == 1, "one id in all answers", f"{len(ids)} ids")


@check(
    "9-19",
    needs=["4.8-4"],
    alone=True,
    cases={"in an empty project": 0, "beside others with keys": 2},
)
def concurrent_puts_without_a_name_make_one(world: World, others: int) -> None:
    own = world.empty_project()
    for number in range(others):
        own.post("", {"key": f"kit-{number}", "objectTypeProperty": {}}).expect_success()
    bodies = [{"objectTypeProperty": {INTEGERS: [number]}} for number in range(WRITERS)]
    answers = world.race([own.request("PUT", "", body) for body in bodies])
    expect_statuses(world, answers, {200: WRITERS - 1, 201: 1})
    own.get().expect_status(200).expect_json("total", others + 1)


@check("9-20", needs=["H-10"], alone=True)
def one_of_many_puts_that_only_create_does(world: World) -> None:
    body = {"key": world.key(), "objectTypeProperty": {}}
    answers = world.race([world.request("PUT", "", body, headers={"If-None-Match": "*"}) for _ in range(WRITERS)])
    expect_statuses(world, answers, {201: 1, 412: WRITERS - 1})


@check("9-21", needs=["4.11-1"], alone=True, cases={"without a version": False, "with the version": True})
def one_of_many_deletes_succeeds(world: World, with_version: bool) -> None:
    made = world.make()
    query = {"version": made.version} if with_version else {}
    answers = world.race([world.request("DELETE", f"/{made.id}", query=query) for _ in range(WRITERS)])
    expect_statuses(world, answers, {200: 1, 404: WRITERS - 1})


CHANGING: dict[str, Callable[[World, Made], Request]] = {
    "POST on the id": lambda world, made: world.request("POST", f"/{made.id}", update_body(made.version)),
    "PATCH": lambda world, made: world.request(
        "PATCH", "", {"id": made.id, "version": made.version, "objectTypeProperty": {INTEGERS: [1]}}
    ),
}


@check("9-21", needs=["4.11-5", "9-5"], alone=True, cases=CHANGING)
def of_an_update_and_a_delete_one_succeeds(world: World, request: Callable[[World, Made], Request]) -> None:
    all_made = [world.make() for _ in range(16)]
    requests = [
        one
        for made in all_made
        for one in (request(world, made), world.request("DELETE", f"/{made.id}", query={"version": made.version}))
    ]
    answers = world.race(requests)
    for updated, deleted in zip(answers[::2], answers[1::2], strict=True):
        statuses = [updated.status, deleted.status]
        one_won = statuses.count(200) == 1 and (404 in statuses or 409 in statuses)
        updated.expect(one_won, "200 for the update or the delete, and 404 or 409 for the other", statuses)


@check("9-23", needs=["2.2-11"], alone=True, cases=["POST", "PATCH"])
def one_of_many_resources_gets_a_key(world: World, method: str) -> None:
    all_made = [world.make() for _ in range(16)]
    key = world.key()
    answers = world.race(
        [
            world.request(method, "", {"id": made.id, "key": key, "version": made.version, "objectTypeProperty": {}})
            for made in all_made
        ]
    )
    expect_statuses(world, answers, {200: 1, 400: 15})
    for answer in answers:
        codes = [entry.get("code") for entry in errors_of(answer)]
        answer.expect(answer.status == 200 or "DuplicateField" in codes, "DuplicateField", codes)


READINGS: dict[str, Callable[[World, Made], Request]] = {
    "by id": lambda world, made: world.request("GET", f"/{made.id}"),
    "by key": lambda world, made: world.request("GET", f"/key={made.key}"),
    "list": lambda world, made: world.request("GET", "", query={"where": f'id = "{made.id}"'}),
}


@check("9-24", needs=["4.6-5"], alone=True, cases=READINGS)
def a_read_sees_a_write_whole(world: World, reading: Callable[[World, Made], Request]) -> None:
    made = keyed(world, {INTEGERS: [0], FLOATS: [0.5], TEXTS: ["0"]})
    if world.deliver(reading(world, made)).status != 200:
        world.not_reachable("a read without writes at the same time is not answered with 200")
    requests = [
        collection(
            world,
            ("POST", "PUT")[number % 4 // 2],
            made,
            {INTEGERS: [number], FLOATS: [number + 0.5], TEXTS: [f"{number}"]},
        )
        if number % 2
        else reading(world, made)
        for number in range(WRITERS)
    ]
    answers = world.race(requests)
    seen = 0
    for request, answer in zip(requests, answers, strict=True):
        if request.method != "GET" or answer.status != 200:
            continue
        found = answer.json
        if "results" in found:
            found = found["results"][0]
        fields = found.get("objectTypeProperty", found)
        number = fields[INTEGERS][0]
        seen += 1
        answer.expect(
            (fields[FLOATS], fields[TEXTS]) == ([number + 0.5], [f"{number}"]), "three fields of one write", fields
        )
    world.expect(seen > 0, "a read that is answered with 200", seen)


@check("9-24", needs=["4.10-1"], alone=True)
def a_read_sees_all_actions_of_an_update_or_none(world: World) -> None:
    made = world.make()
    update = update_body(made.version, *(change(f"step {number}") for number in range(50)))
    answers = world.race(
        [
            world.request("POST", f"/{made.id}", update) if number == 20 else world.request("GET", f"/{made.id}")
            for number in range(WRITERS)
        ]
    )
    for answer in answers:
        found = (answer.members.get("version"), answer.members.get("someProperty")) if answer.status == 200 else None
        wanted = [(made.version, None), (made.version + 1, "step 49")]
        answer.expect(found in wanted, "all actions of the update or none", found)


@check("9-26", alone=True)
def another_project_is_answered_meanwhile(world: World) -> None:
    second = world.second()
    made, other = world.make(), second.make()
    busy = [collection(world, "POST", made, {INTEGERS: [1]}) for _ in range(WRITERS)]
    others = [second.request("GET", f"/{other.id}") for _ in range(4)]
    others += [second.request("POST", "", {"id": other.id, "objectTypeProperty": {INTEGERS: [1]}}) for _ in range(4)]
    answers = world.race([*busy, *others])
    expect_statuses(world, answers[WRITERS:], {200: 8})
