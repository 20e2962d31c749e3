"""Errors: connections that end or stay silent, and successful answers that cannot be read."""

from collections.abc import Callable, Mapping
from typing import Any

from sample_resource_testkit.client.done import ANY_KIND, Done
from sample_resource_testkit.client.operations import Call
from sample_resource_testkit.client.registry import scenario
from sample_resource_testkit.client.scenarios.answers_scripted import RESOURCE, page
from sample_resource_testkit.client.scenarios.errors_http import HTML, NEW
from sample_resource_testkit.client.scenarios.sending import ID
from sample_resource_testkit.client.scripted import Reply
from sample_resource_testkit.client.stage import Stage

GET = Call("getResourceById", {"id": ID})

SHORT_MS = 1500
"""The time limit of calls that have to exceed it."""

SILENT = {"delayMs": 20_000}
"""A rule that delays the answer beyond the time limit of every call here."""


def fails(number: str, reply: Reply | Mapping[str, Any], kind: str, call: Call = GET, timeout_ms: int = 10_000) -> None:
    """Register a scenario: a server sends a reply or a rule acts, and the client raises an error in time.

    :param reply: the reply of a script, or a rule of the sandbox.
    """

    @scenario(number)
    def play(stage: Stage) -> None:
        if isinstance(reply, Reply):
            stage.script(reply)
        else:
            stage.rules(reply)
        done = stage.client(timeout_ms=timeout_ms).call(call.operation, call.arguments, call.body)
        done.expect_error(kind).expect_in_time(timeout_ms / 1000)


# Successful answers that are not valid

fails("C-err-37", Reply(), "decoding")
fails("C-err-38", Reply(body='{"id": "a", "version": 2, "obj'), "decoding")
fails("C-err-39", Reply(body="Service is starting"), "decoding")
fails("C-err-40", Reply(body=HTML, headers={"Content-Type": "text/html"}), "decoding")
fails("C-err-41", Reply(body=RESOURCE, headers={"Content-Type": "text/html"}), "decoding")
fails("C-err-42", Reply(body=[RESOURCE]), "decoding")
fails("C-err-43", Reply(body="null"), "decoding")
fails("C-err-44", Reply(body='"results"'), "decoding", Call("listResources"))
fails("C-err-45", Reply(body=b'{"id": "\xff\xfe", "version": 2}'), "decoding")
fails("C-err-46", Reply(201, '{"id": "a", "vers'), "decoding", NEW)

# Connections

fails("C-err-47", Reply(body=RESOURCE, wire="cut"), "network")
fails("C-err-48", Reply(body=RESOURCE, wire="chunked-cut"), "network")
fails("C-err-49", {"connection": "close"}, "network")
fails("C-err-50", {"connection": "reset"}, "network")
fails("C-err-51", {"connection": "garbage"}, "network")
fails("C-err-52", {"connection": "close"}, "network", NEW)


@scenario("C-err-53")
def refused_connection(stage: Stage) -> None:
    stage.script(Reply(body=RESOURCE))
    client = stage.client()
    stage.stop_script()
    client.call("getResourceById", {"id": ID}).expect_error("network").expect_in_time(10)


fails("C-err-54", Reply(body=RESOURCE, wire="head-cut"), ANY_KIND)
fails("C-err-66", Reply(body=RESOURCE, wire="head-cut"), "network")

# Time limits

fails("C-err-55", SILENT, "timeout", timeout_ms=SHORT_MS)
fails("C-err-56", Reply(body=RESOURCE, wire="head"), "timeout", timeout_ms=SHORT_MS)
fails(
    "C-err-57",
    Reply(body=page(*[RESOURCE] * 200), wire="drip"),
    "timeout",
    Call("listResourcesSorted"),
    timeout_ms=SHORT_MS,
)
fails("C-err-58", SILENT, "timeout", NEW, timeout_ms=SHORT_MS)


@scenario("C-err-59")
def slow_and_in_time(stage: Stage) -> None:
    made = stage.make()
    stage.rules({"delayMs": 1200})
    stage.client().call("getResourceById", {"id": made["id"]}).expect_result(made).expect_requests(1)


@scenario("C-err-60")
def goes_on(stage: Stage) -> None:
    made = stage.make()
    stage.rules({"times": {"first": 3}, "connection": "close"})
    client = stage.client()
    calls = [client.call("getResourceById", {"id": made["id"]}) for _ in range(4)]
    calls[-1].expect_known(made)


# Time limits of one attempt

ATTEMPT_MS = 2000


ATTEMPTS: dict[str, tuple[Mapping[str, Any], Callable[[Done], Done]]] = {
    "C-err-69": ({"times": {"first": 1}}, lambda done: done.expect_success().expect_requests(2)),
    "C-err-70": ({}, lambda done: done.expect_error("timeout")),
}


@scenario(ATTEMPTS)
def attempts(stage: Stage, rule: Mapping[str, Any], judge: Callable[[Done], Done]) -> None:
    made = stage.make()
    stage.rules({**SILENT, **rule})
    client = stage.client(timeout_ms=8000, attempt_timeout_ms=ATTEMPT_MS)
    judge(client.call("getResourceById", {"id": made["id"]})).expect_in_time(8)
