"""Faults in what is raised."""

import contextlib
import json
from typing import Any

import httpx

from client_faults.planting import around, fault, planted


def errors(change: Any) -> Any:
    """Change what is shown of an error of HTTP."""

    def plant(adapter: Any) -> None:
        def changed(former: Any, response: Any) -> Any:
            made = former(response)
            made.shown = change(made.shown, response)
            return made

        around(adapter, "error_of", changed)

    return plant


def without(*names: str) -> Any:
    return errors(lambda shown, _: {name: item for name, item in shown.items() if name not in names})


def of_message(change: Any) -> Any:
    return errors(lambda shown, _: {**shown, "message": change(shown["message"])} if "message" in shown else shown)


def parsed(fails: Any) -> Any:
    """Let the parser's error out, where the body is not what it expects."""

    def plant(adapter: Any) -> None:
        def changed(former: Any, response: Any) -> Any:
            if fails(response):
                return adapter.Failure("decoding", message="unexpected character")
            return former(response)

        around(adapter, "error_of", changed)

    return plant


def is_no_json(response: Any) -> bool:
    try:
        json.loads(response.content)
    except ValueError:
        return True
    return False


# Errors that are none


def swallowed(when: Any, result: Any = None) -> Any:
    """Return a value in place of an error of HTTP."""

    def plant(adapter: Any) -> None:
        former = adapter.Client.call

        async def call(self: Any, operation: str, arguments: Any, body: Any) -> Any:
            try:
                return await former(self, operation, arguments, body)
            except adapter.Failure as failure:
                if when(failure.shown, operation):
                    return result, {}
                raise

        adapter.Client.call = call

    return plant


def of_status(status: int, *operations: str) -> Any:
    return swallowed(
        lambda shown, operation: shown.get("status") == status and (not operations or operation in operations)
    )


# Bodies of success that are none


def decoded(when: Any, result: Any) -> Any:
    def plant(adapter: Any) -> None:
        def changed(former: Any, method: str, response: Any) -> Any:
            try:
                return former(method, response)
            except adapter.Failure:
                if when(response):
                    return result(response)
                raise

        around(adapter, "result_of", changed)

    return plant


def is_brace(response: Any) -> bool:
    return response.content.startswith(b"{")


# Kinds


def kinds(**others: str) -> Any:
    def plant(adapter: Any) -> None:
        former = adapter.Failure.__init__

        def init(self: Any, kind: str, **shown: Any) -> None:
            former(self, others.get(kind, kind), **shown)

        adapter.Failure.__init__ = init

    return plant


@fault("after an error of the network the client is of no use", "C-err-60")
def _(adapter: Any) -> None:
    async def call(former: Any, self: Any, *args: Any) -> Any:
        if getattr(self, "is_of_no_use", False):
            raise adapter.Failure("other", message="the client has failed before")
        try:
            return await former(self, *args)
        except adapter.Failure as failure:
            self.is_of_no_use = failure.shown["kind"] == "network"
            raise

    around(adapter.Client, "call", call)


# Limits


@fault("the time limit is that of single reads", "C-err-57 C-err-70 C-do-57")
def _(adapter: Any) -> None:
    adapter.asyncio.timeout = lambda _: contextlib.AsyncExitStack()


@fault("a short time limit is nine seconds longer", "C-err-55..58 C-do-57")
def _(adapter: Any) -> None:
    former = adapter.Client.__init__

    def init(self: Any, opened: Any) -> None:
        former(self, {**opened, "timeoutMs": opened["timeoutMs"] + (9000 if opened["timeoutMs"] < 2000 else 0)})

    adapter.Client.__init__ = init


@fault("a body that was cut off is returned", "C-err-47 C-err-48")
def _(adapter: Any) -> None:
    former = adapter.Client.answer

    async def answer(self: Any, method: str, path: str, headers: Any, operation: str, body: Any) -> Any:
        try:
            return await former(self, method, path, headers, operation, body)
        except adapter.httpx.RemoteProtocolError as error:
            if "incomplete" not in str(error) and "peer closed" not in str(error):
                raise
            return adapter.httpx.Response(200, json={}, request=adapter.httpx.Request(method, self.base))

    adapter.Client.answer = answer


# The token endpoint


def of_tokens(change: Any) -> Any:
    def plant(adapter: Any) -> None:
        former = adapter.Client.new_token

        async def new_token(self: Any) -> str:
            try:
                return await former(self)
            except adapter.Failure as failure:
                return change(adapter, failure)
            except adapter.httpx.TransportError:
                return change(adapter, adapter.Failure("network"))

        adapter.Client.new_token = new_token

    return plant


# Time limits of one attempt


def attempts(change: Any) -> Any:
    """Change what an attempt does that has a time limit of its own; the change gets the number of the attempt."""

    def plant(adapter: Any) -> None:
        async def request(former: Any, self: Any, *args: Any, **more: Any) -> Any:
            client = getattr(self, "of_client", None)
            if client is None or "attemptTimeoutMs" not in client.opened:
                return await former(self, *args, **more)
            self.attempts = getattr(self, "attempts", 0) + 1
            return await change(self.attempts, lambda: former(self, *args, **more))

        def made(former: Any, self: Any, opened: Any) -> None:
            former(self, opened)
            self.http.of_client = self

        around(adapter.httpx.AsyncClient, "request", request)
        around(adapter.Client, "__init__", made)

    return plant


async def _breaks(attempt: int, send: Any) -> Any:
    if attempt > 1:
        raise httpx.ConnectError("an attempt that was given up")
    return await send()


@fault("an answer that ends within its head is a success", "C-err-54 C-err-66")
def _(adapter: Any) -> None:
    former = adapter.Client.call

    async def call(self: Any, operation: str, arguments: Any, body: Any) -> Any:
        try:
            return await former(self, operation, arguments, body)
        except adapter.Failure as failure:
            if "C-err-54" in self.opened["session"] or "C-err-66" in self.opened["session"]:
                return None, {}
            raise failure

    adapter.Client.call = call


planted(
    ("C-err-2", "the entries of errors are not shown", without("errors")),
    ("C-err-19 C-err-20", "Retry-After is not shown", without("retryAfterSeconds")),
    ("C-err-1", "messages are shown from their last colon on", of_message(lambda text: text.rpartition(": ")[2])),
    ("C-err-31", "messages are shown in ASCII", of_message(lambda text: text.encode("ascii", "replace").decode())),
    ("C-err-10", "currentVersion is cut to 32 bits",
     errors(lambda shown, _: ({**shown, "currentVersion": (shown["currentVersion"] + 2**31) % 2**32 - 2**31} if "currentVersion" in shown else shown))),
    ("C-err-29", "codes that nobody knows are shown as unknown",
     errors(lambda shown, _: {**shown, "code": "Unknown"} if shown.get("code") == "CodeOfTomorrow" else shown)),
    ("C-err-4..9 C-err-11 C-err-14..16 C-err-18..23 C-err-30 C-err-32 C-err-34 C-err-61 C-err-63 C-do-7 C-do-10 C-do-13 C-do-14 C-do-31..37 C-do-58 C-do-59", "the status of an error is that of its class",
     errors(lambda shown, _: {**shown, "status": shown["status"] // 100 * 100})),
    ("C-err-13 C-err-21..24 C-err-63", "the body of an error has to be JSON", parsed(is_no_json)),
    ("C-err-25 C-err-26", "the body of an error has to be an object",
     parsed(lambda response: not is_no_json(response) and not isinstance(json.loads(response.content), dict))),
    ("C-err-27 C-err-28 C-err-32 C-err-34 C-err-36", "the body of an error has to have entries",
     parsed(lambda response: (not is_no_json(response) and isinstance(body := json.loads(response.content), dict) and not body.get("errors")))),
    ("C-err-6..8 C-err-22 C-do-14 C-do-31", "a 404 returns null", swallowed(lambda shown, _: shown.get("status") == 404)),
    ("C-err-33 C-err-62", "a 400 of a get is a success", of_status(400, "getResourceById")),
    ("C-err-12", "a 400 of a list is a success", of_status(400, "listResources")),
    ("C-err-37..46 C-err-64", "errors of decoding return null", swallowed(lambda shown, _: shown["kind"] == "decoding")),
    ("C-err-47..54 C-err-65 C-err-66 C-do-40 C-do-41", "errors of the network return null", swallowed(lambda shown, _: shown["kind"] == "network")),
    ("C-err-58", "a POST that ran into its time limit is a success",
     swallowed(lambda shown, operation: shown["kind"] == "timeout" and operation == "createOrUpdateResource")),
    ("C-do-40", "an update whose answer was lost is a success",
     swallowed(lambda shown, operation: shown["kind"] == "network" and operation == "updateResourceById")),
    ("C-err-13 C-err-24 C-err-36", "a resource with the status 500 is a success",
     swallowed(lambda shown, _: shown.get("status") == 500 and "message" not in shown and "code" not in shown)),
    ("C-err-41", "the Content-Type is not looked at",
     decoded(lambda response: is_brace(response) and not is_no_json(response), lambda response: response.json())),
    ("C-err-37..40 C-err-45 C-err-46 C-err-64", "what is no JSON is returned as a text", decoded(is_no_json, lambda response: response.text)),
    ("C-err-47..53 C-err-65 C-err-66 C-do-41", "errors of the network have the kind other", kinds(network="other")),
    ("C-err-55..58 C-err-67 C-err-70", "time limits are errors of the network", kinds(timeout="network")),
    ("C-err-61..65 C-err-68", "after an error of the token endpoint the call goes on without a token", of_tokens(lambda *_: "none")),
    ("C-err-69 C-err-70", "an attempt after one that was given up breaks", attempts(_breaks)),
    ("C-err-3", "the code of a duplicate is not shown",
     errors(lambda shown, _: {name: item for name, item in shown.items() if name != "code" or shown["code"] != "DuplicateField"})),
    ("C-err-17", "the code of a 500 is not shown",
     errors(lambda shown, _: {name: item for name, item in shown.items() if name != "code" or shown["status"] != 500})),
)  # fmt: skip
