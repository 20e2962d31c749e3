"""Tests an adapter for its author, by ``--check``: it goes through the protocol, and does not judge the client.

Mistakes of the client are shown but do not count: wrong requests, and missing operations.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TextIO

from sample_resource_testkit.client.adapter import Adapter, AdapterFailed, AdapterLate
from sample_resource_testkit.client.done import Done
from sample_resource_testkit.client.messages import Unsupported, Wrong, shortened
from sample_resource_testkit.client.operations import Call, operations
from sample_resource_testkit.client.runner import Cast, start
from sample_resource_testkit.client.stage import Shared, Stage
from sample_resource_testkit.options import AS_EXPECTED, NOT_AS_EXPECTED, NOT_CHECKED
from sample_resource_testkit.sandbox import SandboxError

ID = "01a2032c-47e7-7238-9557-4a15aa7b8370"

Step = Callable[[Stage], None]


def _knows_its_operations(stage: Stage) -> None:
    listed = stage.adapter.hello.operations
    if listed is not None and not listed & operations().keys():
        raise Wrong(f"hello lists no operation that the kit calls: {', '.join(sorted(listed))}")
    # An adapter may list other operations, such as getToken. A name that resembles one of the kit's is a typing error.
    for name in sorted((listed or frozenset()) - operations().keys()):
        near = get_close_matches(name, operations(), 1, 0.85)
        if near:
            raise Wrong(f"hello lists {name}, which does not exist: is {near[0]} meant?")


def _opens_and_closes(stage: Stage) -> None:
    stage.client().close()


def _calls(stage: Stage) -> None:
    made = stage.make({"arrayOfIntExample": [1]}, key="my-key")
    done = stage.client().call("getResourceById", {"id": made["id"]})
    _expect_result(done)
    found = done.returned.result
    if not isinstance(found, dict) or "objectTypeProperty" not in found:
        raise done.answered_wrong(
            "result has to be the resource as a JSON object with the interface's names of members"
        )


def _expect_result(done: Done) -> None:
    if done.returned.error is not None:
        raise done.answered_wrong("the call succeeded, and the adapter answered with an error")


def _takes_null(stage: Stage) -> None:
    arguments = {"limit": None, "where": None, "stringParameter": None}
    _expect_result(stage.client().call("listResources", arguments))


def _takes_unicode(stage: Stage) -> None:
    text = '日本 😀 " \\ \u2028 e\u0301'
    body = {"key": "unicode", "objectTypeProperty": {"arrayOfStringExample": [text]}}
    done = stage.client().call("createOrUpdateResource", {}, body)
    _expect_result(done)
    found = done.returned.result
    if not isinstance(found, dict) or found.get("objectTypeProperty", {}).get("arrayOfStringExample") != [text]:
        raise done.answered_wrong("a text came back changed: lines are UTF-8 in both directions")


def _takes_long_lines(stage: Stage) -> None:
    body = {"key": "long", "objectTypeProperty": {"arrayOfStringExample": ["0123456789" * 6_000]}}
    _expect_result(stage.client().call("createOrUpdateResource", {}, body))


def _answers_at_once(stage: Stage) -> None:
    made = [stage.make() for _ in range(5)]
    for done in stage.client().at_once(*(Call("getResourceById", {"id": each["id"]}) for each in made)):
        _expect_result(done)


def _existence(stage: Stage) -> None:
    client = stage.client()
    for wanted in (False, True):
        done = client.call("checkResources")
        if done.returned.result is not wanted:
            raise done.answered_wrong(f"the result of HEAD is {'true for 200' if wanted else 'false for 404'}")
        stage.make()


def _tells_errors(stage: Stage) -> None:
    done = stage.client().call("getResourceById", {"id": ID})
    error = done.returned.error
    if error is None or error["kind"] != "http" or error.get("status") != 404:
        raise done.answered_wrong('a 404 is {"error": {"kind": "http", "status": 404, ...}}')


def _tells_lost_connections(stage: Stage) -> None:
    stage.rules({"connection": "close"})
    done = stage.client().call("getResourceById", {"id": ID})
    if done.returned.error is None or done.returned.error["kind"] not in ("network", "other"):
        raise done.answered_wrong('a connection that is closed without an answer is {"error": {"kind": "network"}}')


def _keeps_time(stage: Stage) -> None:
    stage.rules({"delayMs": 20_000})
    done = stage.client(timeout_ms=1500).call("getResourceById", {"id": ID})
    if done.returned.error is None:
        raise done.wrong("a server that says nothing is an error after timeoutMs")


def _refuses_unknown_operations(stage: Stage) -> None:
    session = "check/unknown"
    stage.adapter.open(session, stage.order())
    try:
        stage.adapter.begin(session, "noSuchOperation", {}, None, 1)()
    except Unsupported:
        stage.adapter.close(session)
        return
    raise Wrong('an operation that does not exist is answered by {"id": ..., "unsupported": "reason"}')


def _gets_its_token(stage: Stage) -> None:
    _expect_result(stage.client(own_token=True).call("listResources"))


STEPS: dict[str, Step] = {
    "hello names operations of the OpenAPI document": _knows_its_operations,
    "open and close are answered": _opens_and_closes,
    "a call is answered with the result as JSON": _calls,
    "arguments that are null are absent": _takes_null,
    "lines are UTF-8 in both directions": _takes_unicode,
    "a line may have sixty thousand characters": _takes_long_lines,
    "calls that come at once are all answered": _answers_at_once,
    "the result of HEAD is true or false": _existence,
    "an error of HTTP has its kind and its status": _tells_errors,
    "a lost connection is an error": _tells_lost_connections,
    "a call ends at its time limit": _keeps_time,
    "an operation that does not exist is unsupported": _refuses_unknown_operations,
    "without a token the client gets one, or open is unsupported": _gets_its_token,
}


_NO_LIMIT = "the client has none, so scenarios of time limits will fail, and the kit ends the adapter each time"
"""The remark on a client without a time limit. That is no fault of its adapter, which must not add a limit."""

_SHOWN = 600
"""How many characters of a text are shown. A call may have hundreds of thousands."""


@dataclass(frozen=True, slots=True)
class _Complaint:
    """A fault that a step has shown.

    :param log: the output of the adapter to stderr during the step.
    :param is_clients: whether the client is at fault, or lacks something, and not the adapter.
    """

    text: str
    log: str = ""
    is_clients: bool = False

    def told(self, log_before: str) -> str:
        """The complaint as text.

        :param log_before: the log of the previous complaint, which is not shown again.
        """
        if not self.log:
            return self.text
        if self.log == log_before:
            return f"{self.text}, with the same log"
        lines = self.log.splitlines()
        shown = lines if len(lines) <= 16 else [*lines[:8], "...", *lines[-7:]]
        return self.text + "".join(f"\n       | {line}" for line in shown)


def check(cast: Cast, out: TextIO) -> int:
    """Go through the protocol step by step, and print the result of each step.

    :return: the exit code of the command.
    """
    try:
        adapter = start(cast)
    except OSError as error:
        out.write(f"{cast.command[0]} cannot be started: {error.strerror or error}\n")
        return NOT_CHECKED
    except AdapterFailed as error:
        out.write(f"no   hello is answered: {_Complaint(str(error), error.log).told('')}\n")
        return NOT_AS_EXPECTED
    hello = adapter.hello
    features = ", ".join(sorted(hello.features)) or "no features"
    out.write(f"ok   hello is answered: {hello.client} {hello.version}, {features}\n")
    faults, of_client, log = 0, 0, ""
    for text, step in STEPS.items():
        complaint, adapter = _try(step, adapter, cast)
        if complaint is None:
            out.write(f"ok   {text}\n")
        else:
            faults += not complaint.is_clients
            of_client += complaint.is_clients
            out.write(f"{'--' if complaint.is_clients else 'no'}   {text}: {complaint.told(log)}\n")
            log = complaint.log or log
        out.flush()
        if adapter is None:
            return NOT_AS_EXPECTED
    ends = adapter.ends_by_itself()
    out.write(f"{'ok' if ends else 'no'}   it ends when its input ends{'' if ends else ': it had to be killed'}\n")
    faults += not ends
    if of_client:
        out.write(f"\nlines about the client (--), not about its adapter: {of_client}\n")
    out.write(f"\n{'It keeps to the protocol.' if not faults else f'{faults} of {len(STEPS) + 2} do not hold.'}\n")
    return NOT_AS_EXPECTED if faults else AS_EXPECTED


def _try(step: Step, adapter: Adapter, cast: Cast) -> tuple[_Complaint | None, Adapter | None]:
    """Run a step. Return its fault, or None; and the adapter for the next step, or None if the adapter has ended."""
    stage = cast.stage("check", adapter, Shared())
    complaint: _Complaint | None = None
    adapter.forget_log()
    try:
        step(stage)
        stage.close_sessions()
    except Unsupported as unsupported:
        complaint = _Complaint(shortened(f"unsupported: {unsupported}", _SHOWN), is_clients=True)
    except Wrong as wrong:
        texts = {"call": wrong.call, "sent": wrong.sent if wrong.is_request else "", "answer": wrong.returned}
        shown = [f"\n       {name}: {shortened(text, _SHOWN)}" for name, text in texts.items() if text]
        reason = shortened(wrong.reason, _SHOWN) + "".join(shown)
        complaint = _Complaint(reason, adapter.log, wrong.is_request)
    except AdapterFailed as failed:
        adapter.kill()
        has_no_limit = isinstance(failed, AdapterLate) and step is _keeps_time
        complaint = _Complaint(_NO_LIMIT, "", True) if has_no_limit else _Complaint(str(failed), adapter.log)
        try:
            adapter = start(cast)
        except (AdapterFailed, OSError) as error:
            return _Complaint(f"{complaint.text}\n       and it does not start again: {error}", adapter.log), None
    finally:
        with contextlib.suppress(SandboxError):
            stage.end()
    return complaint, adapter
