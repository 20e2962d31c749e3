"""Behaviour: what a client sends again, and what it does not."""

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
"""So much of a second has to be over before a request comes again after ``Retry-After: 1``."""


def waited(done: Done, sent: Sequence[Sent] = ()) -> Done:
    """Expect that each repetition came after the second that ``Retry-After`` asked for.

    :param sent: the requests, if they are not those of the call itself.
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


def _recovers(number: str, status: int, first: int, text: str) -> None:
    @scenario(number, text, "E-26", level="should", feature="retries")
    def recovers(stage: Stage) -> None:
        made = stage.make()
        stage.rules({"times": {"first": first}, "status": status, "retryAfter": 1})
        done = stage.client(timeout_ms=15_000).call("getResourceById", {"id": made["id"]})
        waited(done.expect_success().expect_requests(first + 1))


_recovers("C-do-15", 503, 1, "a GET that is answered 503 is sent again after Retry-After, and succeeds")
_recovers("C-do-16", 503, 2, "a GET that is answered 503 twice is sent again each time after Retry-After")
_recovers("C-do-17", 429, 1, "a GET that is answered 429 is sent again after Retry-After, and succeeds")


def _careful(number: str, status: int) -> None:
    @scenario(number, f"no request comes again before Retry-After of a {status} is over", "E-26", level="should")
    def careful(stage: Stage) -> None:
        stage.rules({"status": status, "retryAfter": 1})
        done = stage.client(timeout_ms=2500).call("listResources")
        waited(done.expect_error("http timeout"))


_careful("C-do-18", 503)
_careful("C-do-19", 429)


@scenario(
    "C-do-20",
    "a write with a key that is answered 503 may come again, and then after Retry-After",
    "E-26 4.6-5",
    level="should",
    feature="retries",
)
def repeats_a_write_with_a_key(stage: Stage) -> None:
    stage.rules({"times": {"first": 1}, "status": 503, "retryAfter": 1})
    body = {"key": "again", "objectTypeProperty": {}}
    done = stage.client(timeout_ms=15_000).call("createOrUpdateResource", {}, body)
    waited(done.expect_result().expect_requests(2))


@scenario("C-do-21", "a server that is away for long ends the call within its time limit", "E-26")
def ends(stage: Stage) -> None:
    stage.rules({"status": 503})
    stage.client(timeout_ms=3000).call("listResources").expect_error("http timeout").expect_in_time(3)


@scenario(
    "C-do-22",
    "a Retry-After beyond the time limit is not waited for, and the request not sent before it",
    "E-26",
    level="should",
)
def does_not_wait_for_long(stage: Stage) -> None:
    stage.rules({"status": 503, "retryAfter": 600})
    done = stage.client(timeout_ms=3000).call("listResources").expect_error("http timeout").expect_in_time(3)
    done.expect_requests(1)


# What must not come again


def _not_repeated(number: str, text: str, rule: dict[str, Any], timeout_ms: int = 4000) -> None:
    """Register a scenario: whatever error the client raises, the request is sent once."""

    @scenario(number, text, "4.6-3", level="should")
    def not_repeated(stage: Stage) -> None:
        stage.rules(rule)
        done = stage.client(timeout_ms=timeout_ms).call(NEW.operation, NEW.arguments, NEW.body)
        count = len(done.sent)
        if not count:
            raise done.answered_wrong("no request was sent")
        done.expect(
            count == 1, f"a POST without id, key and version was sent {count} times, and may make as many resources"
        )


CARRIED_OUT = {"phase": "after", "match": {"method": "POST"}}
LOST = {**CARRIED_OUT, "connection": "close"}

_not_repeated("C-do-23", "a POST without a key is not sent again after a 503", {**CARRIED_OUT, "status": 503})
_not_repeated("C-do-24", "a POST without a key is not sent again after a 500", {**CARRIED_OUT, "status": 500})
_not_repeated(
    "C-do-25",
    "a POST without a key is not sent again after a 502 of a proxy",
    {**CARRIED_OUT, "status": 502, "body": "html"},
)
_not_repeated("C-do-26", "a POST without a key is not sent again if its answer was lost", LOST)
_not_repeated(
    "C-do-27", "a POST without a key is not sent again if its connection was reset", {**LOST, "connection": "reset"}
)
_not_repeated(
    "C-do-28", "a POST without a key is not sent again if its answer was cut off", {**LOST, "connection": "truncate"}
)
_not_repeated(
    "C-do-29",
    "a POST without a key is not sent again after its time limit",
    {**CARRIED_OUT, "delayMs": 20_000},
    timeout_ms=1500,
)
_not_repeated(
    "C-do-61", "a POST without a key is not sent again if its connection ends before an answer", {"connection": "close"}
)


@scenario(
    "C-do-60",
    "a GET whose connection ends before an answer is sent again, and succeeds",
    "4-1",
    level="should",
    feature="reconnects",
)
def reconnects(stage: Stage) -> None:
    made = stage.make()
    stage.rules({"times": {"first": 1}, "connection": "close"})
    stage.client().call("getResourceById", {"id": made["id"]}).expect_result(made).expect_requests(2)


REFUSED = {
    "C-do-30": ("a 400", Call("listResourcesSorted", {"where": ["("]}), 400, "E-1"),
    "C-do-32": ("a 412", Call("createOrUpdateResource", {"If-Match": '"9"'}, {"objectTypeProperty": {}}), 412, "H-8"),
}


def _refused(number: str, what: str, call: Call, status: int, of: str) -> None:
    @scenario(number, f"{what} is not answered by the same request", of, level="should")
    def refused(stage: Stage) -> None:
        done = stage.client().call(call.operation, call.arguments, call.body).expect_error("http", status=status)
        done.expect_requests(1)


for each, found in REFUSED.items():
    _refused(each, *found)

BY_RULE = {"C-do-31": 404, "C-do-33": 403, "C-do-34": 405, "C-do-35": 413, "C-do-36": 415}


def _by_rule(number: str, status: int) -> None:
    @scenario(number, f"a {status} is not answered by the same request", "E-1", level="should")
    def by_rule(stage: Stage) -> None:
        stage.rules({"status": status})
        stage.client().call("listResources").expect_error("http", status=status).expect_requests(1)


for each, status in BY_RULE.items():
    _by_rule(each, status)


# Versions


UPDATE: dict[str, Any] = {"actions": [{"action": "changeSomeProperty", "someProperty": "mine"}]}


@scenario("C-do-37", "a conflict made by another writer is an error, and nothing is overwritten", "9-5 9-7")
def a_real_conflict(stage: Stage) -> None:
    made = stage.make()
    other = stage.update(made, {"action": "changeSomeProperty", "someProperty": "theirs"})
    done = stage.client().call("updateResourceById", {"id": made["id"]}, {"version": made["version"], **UPDATE})
    done.expect_error("http", status=409)
    now = stage.read(f"/{made['id']}")
    done.expect(now == other, f"the change of another writer is lost: the resource is {now}")


@scenario("C-do-38", "a 409 is not answered by the same version", "9-5 9-8", level="should", needs="C-do-37")
def not_the_same_version(stage: Stage) -> None:
    made = stage.make()
    stage.update(made)
    done = stage.client().call("updateResourceById", {"id": made["id"]}, {"version": made["version"], **UPDATE})
    done.expect_error("http", status=409).expect_requests(1)


@scenario("C-do-39", "after a conflict the update succeeds with currentVersion", "9-8", needs="C-err-9")
def with_the_current_version(stage: Stage) -> None:
    made = stage.make()
    stage.update(made)
    client = stage.client()
    done = client.call("updateResourceById", {"id": made["id"]}, {"version": made["version"], **UPDATE})
    current = (done.expect_error("http", currentVersion=2).returned.error or {})["currentVersion"]
    client.call("updateResourceById", {"id": made["id"]}, {"version": current, **UPDATE}).expect_result()


@scenario(
    "C-do-58", "a DELETE that is answered 409 is not sent again with the same version", "9-5 4.11-5", level="should"
)
def not_deleted_with_the_same_version(stage: Stage) -> None:
    made = stage.make()
    stage.update(made)
    done = stage.client().call("deleteResourceById", {"id": made["id"], "version": 1})
    done.expect_error("http", status=409).expect_requests(1)


@scenario("C-do-59", "after a conflict a DELETE succeeds with the version that was read again", "9-8 4.11-5")
def deletes_what_was_read_again(stage: Stage) -> None:
    made = stage.make()
    stage.update(made)
    client, of = stage.client(), {"id": made["id"]}
    client.call("deleteResourceById", {**of, "version": 1}).expect_error("http", status=409)
    read = client.call("getResourceById", of).expect_result()
    client.call("deleteResourceById", {**of, "version": read.at("version")}).expect_result()


@scenario("C-do-40", "an update whose answer was lost is no success unless it was made once", "9-2 9-5")
def a_lost_update(stage: Stage) -> None:
    made = stage.make()
    stage.rules({"phase": "after", "connection": "close", "times": {"first": 1}, "match": {"method": "POST"}})
    done = stage.client(timeout_ms=5000).call("updateResourceById", {"id": made["id"]}, {"version": 1, **UPDATE})
    now = stage.read(f"/{made['id']}")
    done.expect_request().expect_authorization()
    done.expect(now["version"] == 2, f"the update was made {now['version'] - 1} times")
    done.expect(done.returned.error is not None or done.returned.result == now, "the client reports what is not so")


@scenario("C-do-41", "a GET whose answer is lost again and again is not sent without end", "4-1", level="should")
def not_without_end(stage: Stage) -> None:
    stage.rules({"connection": "close"})
    done = stage.client(timeout_ms=3000).call("listResources").expect_error("network timeout").expect_in_time(3)
    count = len(done.sent)
    done.expect(count <= 10, f"the request was sent {count} times within three seconds")


@scenario("C-do-42", "an answer that is slow is waited for, and not asked for again", "4-1", level="should")
def waits_for_a_slow_answer(stage: Stage) -> None:
    made = stage.make()
    stage.rules({"delayMs": 1500})
    stage.client().call("getResourceById", {"id": made["id"]}).expect_result(made).expect_requests(1)
