"""Errors: connections that end or stay silent, and answers of success that cannot be read."""

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
"""The time limit of calls that have to run into it."""

SILENT = {"delayMs": 20_000}
"""A rule: nothing is said for longer than any of these calls may take."""


def fails(
    number: str,
    text: str,
    of: str,
    reply: Reply | Mapping[str, Any],
    kind: str,
    call: Call = GET,
    timeout_ms: int = 10_000,
    level: str = "must",
) -> None:
    """Register a scenario: a server answers so, and the client raises an error of a kind, in time.

    :param reply: of a script, or a rule of the sandbox.
    """

    @scenario(number, text, of, level=level)
    def play(stage: Stage) -> None:
        if isinstance(reply, Reply):
            stage.script(reply)
        else:
            stage.rules(reply)
        done = stage.client(timeout_ms=timeout_ms).call(call.operation, call.arguments, call.body)
        done.expect_error(kind).expect_in_time(timeout_ms / 1000)


# Answers of success that are none

fails("C-err-37", "an answer of 200 without a body is an error of decoding", "4-1", Reply(), "decoding")
fails(
    "C-err-38",
    "JSON that is cut off is an error of decoding",
    "4-1",
    Reply(body='{"id": "a", "version": 2, "obj'),
    "decoding",
)
fails(
    "C-err-39", "a text that is no JSON is an error of decoding", "4-1", Reply(body="Service is starting"), "decoding"
)
fails(
    "C-err-40",
    "a page of HTML with 200 is an error of decoding",
    "4-1",
    Reply(body=HTML, headers={"Content-Type": "text/html"}),
    "decoding",
)
fails(
    "C-err-41",
    "JSON with the Content-Type text/html is an error of decoding",
    "4-1",
    Reply(body=RESOURCE, headers={"Content-Type": "text/html"}),
    "decoding",
)
fails(
    "C-err-42",
    "an array in place of a resource is an error of decoding",
    "4-1 2.2-1",
    Reply(body=[RESOURCE]),
    "decoding",
    level="should",
)
fails(
    "C-err-43",
    "null in place of a resource is an error of decoding",
    "4-1 2.2-1",
    Reply(body="null"),
    "decoding",
    level="should",
)
fails(
    "C-err-44",
    "a text in place of a page is an error of decoding",
    "4-1 4.1-2",
    Reply(body='"results"'),
    "decoding",
    Call("listResources"),
    level="should",
)
fails(
    "C-err-45",
    "a body that is no UTF-8 is an error of decoding",
    "4-1",
    Reply(body=b'{"id": "\xff\xfe", "version": 2}'),
    "decoding",
)
fails(
    "C-err-46",
    "a write whose answer cannot be read is an error, and no success",
    "4-1",
    Reply(201, '{"id": "a", "vers'),
    "decoding",
    NEW,
)

# Connections

fails(
    "C-err-47",
    "a body that ends before its length is an error of the network",
    "4-1",
    Reply(body=RESOURCE, wire="cut"),
    "network",
)
fails(
    "C-err-48",
    "a body in chunks without its end is an error of the network",
    "4-1",
    Reply(body=RESOURCE, wire="chunked-cut"),
    "network",
)
fails(
    "C-err-49",
    "a connection that is closed without an answer is an error of the network",
    "4-1",
    {"connection": "close"},
    "network",
)
fails("C-err-50", "a connection that is reset is an error of the network", "4-1", {"connection": "reset"}, "network")
fails("C-err-51", "an answer that is no HTTP is an error of the network", "4-1", {"connection": "garbage"}, "network")
fails(
    "C-err-52",
    "a POST whose connection is closed is an error, and no success",
    "4.6-3",
    {"connection": "close"},
    "network",
    NEW,
)


@scenario("C-err-53", "a connection that is refused is an error of the network", "4-1")
def refused_connection(stage: Stage) -> None:
    stage.script(Reply(body=RESOURCE))
    client = stage.client()
    stage.stop_script()
    client.call("getResourceById", {"id": ID}).expect_error("network").expect_in_time(10)


fails(
    "C-err-54",
    "a connection that ends within the head is an error",
    "4-1",
    Reply(body=RESOURCE, wire="head-cut"),
    ANY_KIND,
)
fails(
    "C-err-66",
    "a connection that ends within the head is an error of the network",
    "4-1",
    Reply(body=RESOURCE, wire="head-cut"),
    "network",
    level="should",
)

# Time limits

fails(
    "C-err-55",
    "a server that says nothing ends the call at its time limit",
    "4-1",
    SILENT,
    "timeout",
    timeout_ms=SHORT_MS,
)
fails(
    "C-err-56",
    "a head without its body ends the call at its time limit",
    "4-1",
    Reply(body=RESOURCE, wire="head"),
    "timeout",
    timeout_ms=SHORT_MS,
)
fails(
    "C-err-57",
    "a body that comes too slowly ends the call at its time limit",
    "4-1",
    Reply(body=page(*[RESOURCE] * 200), wire="drip"),
    "timeout",
    Call("listResourcesSorted"),
    timeout_ms=SHORT_MS,
)
fails(
    "C-err-58",
    "a POST that runs into its time limit is an error, and no success",
    "4.6-3",
    SILENT,
    "timeout",
    NEW,
    timeout_ms=SHORT_MS,
)


@scenario("C-err-59", "an answer that is slow and in time is returned", "4-1")
def slow_and_in_time(stage: Stage) -> None:
    made = stage.make()
    stage.rules({"delayMs": 1200})
    stage.client().call("getResourceById", {"id": made["id"]}).expect_result(made).expect_requests(1)


@scenario("C-err-60", "after a connection that was lost the same client goes on", "H-20", needs="C-err-49")
def goes_on(stage: Stage) -> None:
    made = stage.make()
    stage.rules({"times": {"first": 3}, "connection": "close"})
    client = stage.client()
    calls = [client.call("getResourceById", {"id": made["id"]}) for _ in range(4)]
    calls[-1].expect_known(made)


# Time limits of one attempt

ATTEMPT_MS = 2000


def _attempts(number: str, text: str, rule: Mapping[str, Any], judge: Callable[[Done], Done]) -> None:
    @scenario(number, text, "4-1", level="should", feature="attempt-timeout")
    def attempts(stage: Stage) -> None:
        made = stage.make()
        stage.rules({**SILENT, **rule})
        client = stage.client(timeout_ms=8000, attempt_timeout_ms=ATTEMPT_MS)
        judge(client.call("getResourceById", {"id": made["id"]})).expect_in_time(8)


_attempts(
    "C-err-69",
    "an attempt of a GET that runs into its own time limit is given up, and the next one has all of its time",
    {"times": {"first": 1}},
    lambda done: done.expect_success().expect_requests(2),
)
_attempts(
    "C-err-70",
    "attempts that all run into their own time limit end the call, at its time limit at the latest",
    {},
    lambda done: done.expect_error("timeout"),
)
