"""Faults in what is raised."""

import contextlib
import json
from typing import Any

import httpx

from client_faults.planting import around, fault


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


fault("the entries of errors are not shown", "C-err-2")(without("errors"))
fault("Retry-After is not shown", "C-err-19 C-err-20")(without("retryAfterSeconds"))


def of_message(change: Any) -> Any:
    return errors(lambda shown, _: {**shown, "message": change(shown["message"])} if "message" in shown else shown)


fault("messages are shown from their last colon on", "C-err-1")(of_message(lambda text: text.rpartition(": ")[2]))
fault("messages are shown in ASCII", "C-err-31")(of_message(lambda text: text.encode("ascii", "replace").decode()))
fault("currentVersion is cut to 32 bits", "C-err-10")(
    errors(
        lambda shown, _: (
            {**shown, "currentVersion": (shown["currentVersion"] + 2**31) % 2**32 - 2**31}
            if "currentVersion" in shown
            else shown
        )
    )
)
fault("codes that nobody knows are shown as unknown", "C-err-29")(
    errors(lambda shown, _: {**shown, "code": "Unknown"} if shown.get("code") == "CodeOfTomorrow" else shown)
)
fault(
    "the status of an error is that of its class",
    "C-err-4..9 C-err-11 C-err-14..16 C-err-18..23 C-err-30 C-err-32 C-err-34 C-err-61 C-err-63 C-do-7 C-do-10 C-do-13 C-do-14 C-do-31..37 C-do-58 C-do-59",
)(errors(lambda shown, _: {**shown, "status": shown["status"] // 100 * 100}))


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


fault("the body of an error has to be JSON", "C-err-13 C-err-21..24 C-err-63")(parsed(is_no_json))
fault("the body of an error has to be an object", "C-err-25 C-err-26")(
    parsed(lambda response: not is_no_json(response) and not isinstance(json.loads(response.content), dict))
)
fault("the body of an error has to have entries", "C-err-27 C-err-28 C-err-32 C-err-34 C-err-36")(
    parsed(
        lambda response: (
            not is_no_json(response)
            and isinstance(body := json.loads(response.content), dict)
            and not body.get("errors")
        )
    )
)


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


fault("a 404 returns null", "C-err-6..8 C-err-22 C-do-14 C-do-31")(
    swallowed(lambda shown, _: shown.get("status") == 404)
)


def of_status(status: int, *operations: str) -> Any:
    return swallowed(
        lambda shown, operation: shown.get("status") == status and (not operations or operation in operations)
    )


fault("a 400 of a get is a success", "C-err-33 C-err-62")(of_status(400, "getResourceById"))
fault("a 400 of a list is a success", "C-err-12")(of_status(400, "listResources"))
fault("errors of decoding return null", "C-err-37..46 C-err-64")(
    swallowed(lambda shown, _: shown["kind"] == "decoding")
)
fault("errors of the network return null", "C-err-47..54 C-err-65 C-err-66 C-do-40 C-do-41")(
    swallowed(lambda shown, _: shown["kind"] == "network")
)
fault("a POST that ran into its time limit is a success", "C-err-58")(
    swallowed(lambda shown, operation: shown["kind"] == "timeout" and operation == "createOrUpdateResource")
)
fault("an update whose answer was lost is a success", "C-do-40")(
    swallowed(lambda shown, operation: shown["kind"] == "network" and operation == "updateResourceById")
)
fault("a resource with the status 500 is a success", "C-err-13 C-err-24 C-err-36")(
    swallowed(lambda shown, _: shown.get("status") == 500 and "message" not in shown and "code" not in shown)
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


fault("the Content-Type is not looked at", "C-err-41")(
    decoded(lambda response: is_brace(response) and not is_no_json(response), lambda response: response.json())
)
fault("what is no JSON is returned as a text", "C-err-37..40 C-err-45 C-err-46 C-err-64")(
    decoded(is_no_json, lambda response: response.text)
)


# Kinds


def kinds(**others: str) -> Any:
    def plant(adapter: Any) -> None:
        former = adapter.Failure.__init__

        def init(self: Any, kind: str, **shown: Any) -> None:
            former(self, others.get(kind, kind), **shown)

        adapter.Failure.__init__ = init

    return plant


fault("errors of the network have the kind other", "C-err-47..53 C-err-65 C-err-66 C-do-41")(kinds(network="other"))
fault("time limits are errors of the network", "C-err-55..58 C-err-67 C-err-70")(kinds(timeout="network"))


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


fault("after an error of the token endpoint the call goes on without a token", "C-err-61..65 C-err-68")(
    of_tokens(lambda *_: "none")
)


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


fault("an attempt after one that was given up breaks", "C-err-69 C-err-70")(attempts(_breaks))


fault("the code of a duplicate is not shown", "C-err-3")(
    errors(
        lambda shown, _: {
            name: item for name, item in shown.items() if name != "code" or shown["code"] != "DuplicateField"
        }
    )
)


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


fault("the code of a 500 is not shown", "C-err-17")(
    errors(lambda shown, _: {name: item for name, item in shown.items() if name != "code" or shown["status"] != 500})
)
