"""Behaviour: which requests a client repeats, and which not."""

from collections.abc import Sequence
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


@scenario({"C-do-15": (503, 1), "C-do-16": (503, 2), "C-do-17": (429, 1)})
def recovers(stage: Stage, status: int, first: int) -> None:
    made = stage.make()
    stage.rules({"times": {"first": first}, "status": status, "retryAfter": 1})
    done = stage.client(timeout_ms=15_000).call("getResourceById", {"id": made["id"]})
    waited(done.expect_success().expect_requests(first + 1))


@scenario({"C-do-18": 503, "C-do-19": 429})
def careful(stage: Stage, status: int) -> None:
    stage.rules({"status": status, "retryAfter": 1})
    waited(stage.client(timeout_ms=2500).call("listResources").expect_error("http timeout"))


@scenario("C-do-20")
def repeats_a_write_with_a_key(stage: Stage) -> None:
    stage.rules({"times": {"first": 1}, "status": 503, "retryAfter": 1})
    body = {"key": "again", "objectTypeProperty": {}}
    done = stage.client(timeout_ms=15_000).call("createOrUpdateResource", {}, body)
    waited(done.expect_result().expect_requests(2))


@scenario("C-do-21")
def ends(stage: Stage) -> None:
    stage.rules({"status": 503})
    stage.client(timeout_ms=3000).call("listResources").expect_error("http timeout").expect_in_time(3)


@scenario("C-do-22")
def does_not_wait_for_long(stage: Stage) -> None:
    stage.rules({"status": 503, "retryAfter": 600})
    done = stage.client(timeout_ms=3000).call("listResources").expect_error("http timeout").expect_in_time(3)
    done.expect_requests(1)


# Requests that must not be repeated


CARRIED_OUT = {"phase": "after", "match": {"method": "POST"}}
LOST = {**CARRIED_OUT, "connection": "close"}


@scenario(
    {
        "C-do-23": ({**CARRIED_OUT, "status": 503}, 4000),
        "C-do-24": ({**CARRIED_OUT, "status": 500}, 4000),
        "C-do-25": ({**CARRIED_OUT, "status": 502, "body": "html"}, 4000),
        "C-do-26": (LOST, 4000),
        "C-do-27": ({**LOST, "connection": "reset"}, 4000),
        "C-do-28": ({**LOST, "connection": "truncate"}, 4000),
        "C-do-29": ({**CARRIED_OUT, "delayMs": 20_000}, 1500),
        "C-do-61": ({"connection": "close"}, 4000),
    }
)
def not_repeated(stage: Stage, rule: dict[str, Any], timeout_ms: int) -> None:
    """Expect that a request that fails by a rule is sent once. The client may raise any error."""
    stage.rules(rule)
    client = stage.client(timeout_ms=timeout_ms)
    # A null key means no key. Faults that answer at once take no time.
    for body in (NEW.body, {"key": None, **NEW.body})[: 2 if "status" in rule else 1]:
        done = client.call(NEW.operation, NEW.arguments, body)
        count = len(done.sent)
        if not count:
            raise done.answered_wrong("no request was sent")
        done.expect(
            count == 1, f"a POST without id, key and version was sent {count} times, and may make as many resources"
        )


@scenario("C-do-60")
def reconnects(stage: Stage) -> None:
    made = stage.make()
    stage.rules({"times": {"first": 1}, "connection": "close"})
    stage.client().call("getResourceById", {"id": made["id"]}).expect_result(made).expect_requests(2)


@scenario(
    {
        "C-do-30": (Call("listResourcesSorted", {"where": ["("]}), 400),
        "C-do-32": (Call("createOrUpdateResource", {"If-Match": '"9"'}, {"objectTypeProperty": {}}), 412),
    }
)
def refused(stage: Stage, call: Call, status: int) -> None:
    done = stage.client().call(call.operation, call.arguments, call.body).expect_error("http", status=status)
    done.expect_requests(1)


@scenario({"C-do-31": 404, "C-do-33": 403, "C-do-34": 405, "C-do-35": 413, "C-do-36": 415})
def by_rule(stage: Stage, status: int) -> None:
    stage.rules({"status": status})
    stage.client().call("listResources").expect_error("http", status=status).expect_requests(1)


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


@scenario("C-do-39")
def with_the_current_version(stage: Stage) -> None:
    made = stage.make()
    stage.update(made)
    client = stage.client()
    done = client.call("updateResourceById", {"id": made["id"]}, {"version": made["version"], **UPDATE})
    current = (done.expect_error("http", currentVersion=2).returned.error or {})["currentVersion"]
    client.call("updateResourceById", {"id": made["id"]}, {"version": current, **UPDATE}).expect_result()


@scenario("C-do-58")
def not_deleted_with_the_same_version(stage: Stage) -> None:
    made = stage.make()
    stage.update(made)
    done = stage.client().call("deleteResourceById", {"id": made["id"], "version": 1})
    done.expect_error("http", status=409).expect_requests(1)


@scenario("C-do-59")
def deletes_what_was_read_again(stage: Stage) -> None:
    made = stage.make()
    stage.update(made)
    client, of = stage.client(), {"id": made["id"]}
    client.call("deleteResourceById", {**of, "version": 1}).expect_error("http", status=409)
    read = client.call("getResourceById", of).expect_result()
    client.call("deleteResourceById", {**of, "version": read.at("version")}).expect_result()


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
    done = client.call("listResources").expect_error("network timeout").expect_in_time(3)
    _expect_few(done, "whose answer is lost")
    for status in (500, 502, 504):
        stage.rules({"status": status})
        # Other scenarios judge the result of a client for such an answer.
        _expect_few(client.call("listResources"), f"that is answered {status}")


def _expect_few(done: Done, told: str) -> None:
    count = len(done.sent)
    done.expect(count <= 10, f"a request {told} was sent {count} times within three seconds")


@scenario("C-do-42")
def waits_for_a_slow_answer(stage: Stage) -> None:
    made = stage.make()
    stage.rules({"delayMs": 1500})
    stage.client().call("getResourceById", {"id": made["id"]}).expect_result(made).expect_requests(1)
