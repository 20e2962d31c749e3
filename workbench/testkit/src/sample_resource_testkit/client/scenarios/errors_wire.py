"""Errors: connections that end or stay silent, and successful answers that cannot be read."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from sample_resource_testkit.client.done import ANY_KIND, Done
from sample_resource_testkit.client.operations import Call
from sample_resource_testkit.client.registry import scenario
from sample_resource_testkit.client.scenarios.answers_scripted import RESOURCE
from sample_resource_testkit.client.scenarios.errors_http import HTML, NEW
from sample_resource_testkit.client.scenarios.sending import ID
from sample_resource_testkit.client.scripted import Reply
from sample_resource_testkit.client.stage import Stage

GET = Call("getResourceById", {"id": ID})

SHORT_MS = 1500
"""The time limit of calls that have to exceed it."""

SILENT = {"delayMs": 20_000}
"""A rule that delays the answer beyond the time limit of every call here."""


Given = Reply | Mapping[str, Any]
"""A reply of a script, or a rule of the sandbox."""


def fails(number: str, kind: str, *replies: Given, call: Call = GET, timeout_ms: int = 10_000) -> None:
    """Register a scenario: for each reply of a server the client raises an error in time."""

    @scenario(number)
    def play(stage: Stage) -> None:
        def one(reply: Given) -> None:
            if isinstance(reply, Reply):
                stage.script(reply)
            else:
                stage.rules(reply)
            done = stage.client(timeout_ms=timeout_ms).call(call.operation, call.arguments, call.body)
            done.expect_error(kind).expect_in_time(timeout_ms / 1000)

        stage.all_of(partial(one, each) for each in replies)


# Successful answers that are not valid

fails(
    "C-err-37",
    "decoding",
    Reply(),
    Reply(body='{"id": "a", "version": 2, "obj'),
    Reply(body="Service is starting"),
    Reply(body=HTML, headers={"Content-Type": "text/html"}),
    Reply(body=b'{"id": "\xff\xfe", "version": 2}'),
)
fails("C-err-41", "decoding", Reply(body=RESOURCE, headers={"Content-Type": "text/html"}))
fails("C-err-42", "decoding", Reply(body=[RESOURCE]), Reply(body="null"), Reply(body='"results"'))
fails("C-err-46", "decoding", Reply(201, '{"id": "a", "vers'), call=NEW)

# Connections

fails("C-err-47", "network", Reply(body=RESOURCE, wire="cut"), Reply(body=RESOURCE, wire="chunked-cut"))
fails("C-err-49", "network", {"connection": "close"}, {"connection": "reset"}, {"connection": "garbage"})
fails("C-err-52", "network", {"connection": "close"}, call=NEW)


@scenario("C-err-53")
def refused_connection(stage: Stage) -> None:
    stage.script(Reply(body=RESOURCE))
    client = stage.client()
    stage.stop_script()
    client.call("getResourceById", {"id": ID}).expect_error("network").expect_in_time(10)


fails("C-err-54", ANY_KIND, Reply(body=RESOURCE, wire="head-cut"))
fails("C-err-66", "network", Reply(body=RESOURCE, wire="head-cut"))

# Time limits

fails(
    "C-err-55",
    "timeout",
    SILENT,
    Reply(body=RESOURCE, wire="head"),
    Reply(body={**RESOURCE, "someProperty": "slow " * 4000}, wire="drip"),
    timeout_ms=SHORT_MS,
)
fails("C-err-58", "timeout", SILENT, call=NEW, timeout_ms=SHORT_MS)


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
