"""Behaviour: which requests a client repeats, and which not."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from sample_resource_testkit.client.done import Done
from sample_resource_testkit.client.messages import Sent
from sample_resource_testkit.client.operations import Call
from sample_resource_testkit.client.registry import scenario
from sample_resource_testkit.client.scenarios.sending import creating
from sample_resource_testkit.client.stage import Stage

NEW = creating({"arrayOfIntExample": [1]})

EARLY_S = 0.9
"""The fewest seconds before a request may be repeated after ``Retry-After: 1``."""


def waited(done: Done, sent: Sequence[Sent] = ()) -> Done:
    """Expect that each repetition came no earlier than ``Retry-After`` permits.

    :param sent: the requests; by default those of the call.
    """
    for before, after in pairwise(sent or done.sent):
        gap = after.began - before.ended
        if gap < EARLY_S:
            raise done.wrong(
                f"the request came again {gap:.2f} s after an answer with Retry-After: 1",
                wanted="the same request, one second later or not at all",
                sent=after,
            )
    return done


@scenario("C-do-15")
def recovers(stage: Stage) -> None:
    made = stage.make()

    def one(status: int, first: int) -> None:
        stage.rules({"times": {"first": first}, "status": status, "retryAfter": 1})
        done = stage.client(timeout_ms=15_000).call("getResourceById", {"id": made["id"]})
        waited(done.expect_success().expect_requests(first + 1))

    stage.all_of(partial(one, *each) for each in ((503, 1), (503, 2), (429, 1)))


@scenario("C-do-18")
def careful(stage: Stage) -> None:
    def one(status: int) -> None:
        stage.rules({"status": status, "retryAfter": 1})
        waited(stage.client(timeout_ms=2500).read().expect_error("http timeout"))

    stage.all_of(partial(one, status) for status in (503, 429))


@scenario("C-do-20")
def repeats_a_write_with_a_key(stage: Stage) -> None:
    stage.rules({"times": {"first": 1}, "status": 503, "retryAfter": 1})
    body = {"key": "again", "objectTypeProperty": {}}
    done = stage.client(timeout_ms=15_000).call("createOrUpdateResource", {}, body)
    waited(done.expect_result().expect_requests(2))


@scenario("C-do-21")
def ends(stage: Stage) -> None:
    stage.rules({"status": 503})
    stage.client(timeout_ms=3000).read().expect_error("http timeout").expect_in_time(3)


@scenario("C-do-22")
def does_not_wait_for_long(stage: Stage) -> None:
    stage.rules({"status": 503, "retryAfter": 600})
    done = stage.client(timeout_ms=3000).read().expect_error("http timeout").expect_in_time(3)
    done.expect_requests(1)


# Requests that must not be repeated


CARRIED_OUT = {"phase": "after", "match": {"method": "POST"}}
LOST = {**CARRIED_OUT, "connection": "close"}


NOT_REPEATED: dict[str, tuple[list[dict[str, Any]], int]] = {
    "C-do-23": ([{**CARRIED_OUT, "status": status} for status in (503, 500, 502)], 4000),
    "C-do-26": ([LOST, {**LOST, "connection": "reset"}, {**LOST, "connection": "truncate"}], 4000),
    "C-do-29": ([{**CARRIED_OUT, "delayMs": 20_000}], 1500),
    "C-do-61": ([{"connection": "close"}], 4000),
}


@scenario(NOT_REPEATED)
def not_repeated(stage: Stage, rules: list[dict[str, Any]], timeout_ms: int) -> None:
    """Expect that a request that fails by a rule is sent once. The client may raise any error."""
    client = stage.client(timeout_ms=timeout_ms)

    def one(rule: dict[str, Any], body: Any) -> None:
        stage.rules(rule)
        done = client.call(NEW.operation, NEW.arguments, body)
        count = len(done.sent)
        if not count:
            raise done.answered_wrong("no request was sent")
        done.expect(
            count == 1, f"a POST without id, key and version was sent {count} times, and may make as many resources"
        )

    # A null key means no key. Faults that answer at once take no time.
    bodies = (NEW.body, {"key": None, **NEW.body})
    stage.all_of(partial(one, rule, body) for rule in rules for body in bodies[: 2 if "status" in rule else 1])


@scenario("C-do-60")
def reconnects(stage: Stage) -> None:
    made = stage.make()
    stage.rules({"times": {"first": 1}, "connection": "close"})
    stage.client().call("getResourceById", {"id": made["id"]}).expect_result(made).expect_requests(2)


@scenario("C-do-30")
def refused(stage: Stage) -> None:
    client = stage.client()
    for call, status in (
        (Call("listResourcesSorted", {"where": ["("]}), 400),
        (Call("createOrUpdateResource", {"If-Match": '"9"'}, {"objectTypeProperty": {}}), 412),
    ):
        done = client.call(call.operation, call.arguments, call.body).expect_error("http", status=status)
        done.expect_requests(1)

    def by_rule(status: int) -> None:
        stage.rules({"status": status})
        stage.client().read().expect_error("http", status=status).expect_requests(1)

    stage.all_of(partial(by_rule, status) for status in (404, 403, 405, 413, 415))


# Versions


UPDATE: dict[str, Any] = {"actions": [{"action": "changeSomeProperty", "someProperty": "mine"}]}


@scenario("C-do-37")
def a_real_conflict(stage: Stage) -> None:
    made = stage.make()
    other = stage.update(made, {"action": "changeSomeProperty", "someProperty": "theirs"})
    done = stage.client().call("updateResourceById", {"id": made["id"]}, {"version": made["version"], **UPDATE})
    done.expect_error("http", status=409)
    now = stage.read(f"/{made['id']}")
    done.expect(now == other, f"the change of another writer is lost: the resource is {now}")


@scenario("C-do-38")
def not_the_same_version(stage: Stage) -> None:
    made = stage.make()
    stage.update(made)
    done = stage.client().call("updateResourceById", {"id": made["id"]}, {"version": made["version"], **UPDATE})
    done.expect_error("http", status=409).expect_requests(1)


@scenario("C-do-58")
def not_deleted_with_the_same_version(stage: Stage) -> None:
    made = stage.make()
    stage.update(made)
    done = stage.client().call("deleteResourceById", {"id": made["id"], "version": 1})
    done.expect_error("http", status=409).expect_requests(1)


@scenario("C-do-40")
def a_lost_update(stage: Stage) -> None:
    made = stage.make()
    stage.rules({"phase": "after", "connection": "close", "times": {"first": 1}, "match": {"method": "POST"}})
    done = stage.client(timeout_ms=5000).call("updateResourceById", {"id": made["id"]}, {"version": 1, **UPDATE})
    now = stage.read(f"/{made['id']}")
    done.expect_request().expect_authorization()
    done.expect(now["version"] == 2, f"the update was made {now['version'] - 1} times")
    done.expect(done.returned.error is not None or done.returned.result == now, "the client reports what is not so")


@scenario("C-do-41")
def not_without_end(stage: Stage) -> None:
    client = stage.client(timeout_ms=3000)
    stage.rules({"connection": "close"})
    done = client.read().expect_error("network timeout").expect_in_time(3)
    _expect_few(done, "whose answer is lost")
    for status in (500, 502, 504):
        stage.rules({"status": status})
        # Other scenarios judge the result of a client for such an answer.
        _expect_few(client.read(), f"that is answered {status}")


def _expect_few(done: Done, told: str) -> None:
    count = len(done.sent)
    done.expect(count <= 10, f"a request {told} was sent {count} times within three seconds")


@scenario("C-do-42")
def waits_for_a_slow_answer(stage: Stage) -> None:
    made = stage.make()
    stage.rules({"delayMs": 1500})
    stage.client().call("getResourceById", {"id": made["id"]}).expect_result(made).expect_requests(1)
