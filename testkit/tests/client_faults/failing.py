"""Faults in what is raised."""

import asyncio
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
fault("currentVersion is not shown", "C-err-9 C-err-30")(without("currentVersion"))
fault("Retry-After is not shown", "C-err-19 C-err-20")(without("retryAfterSeconds"))
fault("Retry-After is shown in milliseconds", "C-err-19 C-err-20")(
    errors(
        lambda shown, _: (
            {**shown, "retryAfterSeconds": shown["retryAfterSeconds"] * 1000} if "retryAfterSeconds" in shown else shown
        )
    )
)


def of_message(change: Any) -> Any:
    return errors(lambda shown, _: {**shown, "message": change(shown["message"])} if "message" in shown else shown)


fault("messages are shown from their last colon on", "C-err-1")(of_message(lambda text: text.rpartition(": ")[2]))
fault("messages are shown in ASCII", "C-err-31")(of_message(lambda text: text.encode("ascii", "replace").decode()))
fault("ids are left out of messages", "C-err-6")(of_message(lambda text: text.partition(" with ID")[0]))
fault("the code of a 500 is not shown", "C-err-17")(
    errors(lambda shown, _: {name: item for name, item in shown.items() if name != "code" or shown["status"] != 500})
)
fault("currentVersion is cut to 32 bits", "C-err-10")(
    errors(
        lambda shown, _: (
            {**shown, "currentVersion": (shown["currentVersion"] + 2**31) % 2**32 - 2**31}
            if "currentVersion" in shown
            else shown
        )
    )
)
fault("entries of errors are shown in reverse", "C-err-2")(
    errors(lambda shown, _: {**shown, "errors": shown.get("errors", [])[::-1]})
)
fault("codes that nobody knows are shown as unknown", "C-err-29")(
    errors(lambda shown, _: {**shown, "code": "Unknown"} if shown.get("code") == "CodeOfTomorrow" else shown)
)
fault(
    "the status of an error is that of its class",
    "C-err-4..9 C-err-11 C-err-14..16 C-err-18..23 C-err-30 C-err-32 C-err-34 C-err-61 C-err-63 C-do-7 C-do-10 C-do-13 C-do-14 C-do-31..37",
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


fault("the body of an error has to be JSON", "C-err-13 C-err-21..24 C-err-63 C-do-25")(parsed(is_no_json))
fault("the body of an error may not be HTML", "C-err-21 C-err-22 C-err-63 C-do-25")(
    parsed(lambda response: response.content.startswith(b"<"))
)
fault("the body of an error may not be empty", "C-err-23")(
    parsed(lambda response: not response.content and response.request.method != "HEAD")
)
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


def of_object(fails: Any) -> Any:
    """Let the parser's error out for some error bodies that are objects."""
    return parsed(
        lambda response: (
            not is_no_json(response) and isinstance(body := json.loads(response.content), dict) and fails(body)
        )
    )


fault("the body of an error has to have a list of errors", "C-err-27 C-err-34 C-err-36")(
    of_object(lambda body: "errors" not in body)
)
fault("the list of errors may not be empty", "C-err-28 C-err-32")(of_object(lambda body: body.get("errors") == []))
fault("the body of an error has to have a message", "C-err-34 C-err-36")(of_object(lambda body: "message" not in body))
fault("a status that nobody knows is refused", "C-err-32")(parsed(lambda response: response.status_code == 499))

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
fault("a 403 returns null", "C-err-5 C-do-13 C-do-33")(of_status(403))
fault("a 404 of a delete is a success", "C-err-7")(of_status(404, "deleteResourceById"))
fault("a 404 of a key returns null", "C-err-8")(of_status(404, "getResourceByKey"))
fault("a 405 returns null", "C-err-18 C-do-34")(of_status(405))
fault("a 413 returns null", "C-err-14 C-do-35")(of_status(413))
fault("a 414 returns null", "C-err-16")(of_status(414))
fault("a 415 returns null", "C-err-15 C-do-36")(of_status(415))
fault("a 409 returns null", "C-err-9 C-err-30 C-do-37")(swallowed(lambda shown, _: shown.get("status") == 409))
fault("a 412 returns null", "C-err-11 C-do-32")(swallowed(lambda shown, _: shown.get("status") == 412))
fault("errors of decoding return null", "C-err-37..46 C-err-64")(
    swallowed(lambda shown, _: shown["kind"] == "decoding")
)
fault("errors of the network return null", "C-err-47..54 C-err-65 C-do-26..28 C-do-40 C-do-41")(
    swallowed(lambda shown, _: shown["kind"] == "network")
)
fault("a time limit returns null", "C-err-55..58 C-do-29")(swallowed(lambda shown, _: shown["kind"] == "timeout"))
fault("a POST that ran into its time limit is a success", "C-err-58 C-do-29")(
    swallowed(lambda shown, operation: shown["kind"] == "timeout" and operation == "createOrUpdateResource")
)
fault("a get that ran into its time limit returns null", "C-err-55 C-err-56")(
    swallowed(lambda shown, operation: shown["kind"] == "timeout" and operation == "getResourceById")
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


fault("an empty body is an empty object", "C-err-37")(decoded(lambda response: not response.content, lambda _: {}))
fault("null is returned in place of a resource", "C-err-43")(
    decoded(lambda response: response.content == b"null", lambda _: None)
)
fault("a text is returned in place of a page", "C-err-44")(
    decoded(lambda response: response.content.startswith(b'"'), lambda response: response.json())
)


def is_brace(response: Any) -> bool:
    return response.content.startswith(b"{")


fault("an object that is cut off is returned empty", "C-err-38 C-err-46")(
    decoded(
        lambda response: is_brace(response) and b"\xff" not in response.content and is_no_json(response), lambda _: {}
    )
)
fault("a write whose answer cannot be read is a success", "C-err-46")(
    decoded(lambda response: is_brace(response) and response.request.method == "POST", lambda _: {})
)
fault("a text is returned in place of a resource", "C-err-39")(
    decoded(lambda response: response.content.startswith(b"Service"), lambda response: response.text)
)
fault("a page of HTML is returned", "C-err-40")(
    decoded(lambda response: response.content.startswith(b"<"), lambda response: response.text)
)
fault("the Content-Type is not looked at", "C-err-41")(
    decoded(lambda response: is_brace(response) and not is_no_json(response), lambda response: response.json())
)
fault("an array of one resource is the resource", "C-err-42")(
    decoded(lambda response: response.content.startswith(b"["), lambda response: response.json()[0])
)
fault("bytes that are no UTF-8 are replaced", "C-err-45")(
    decoded(
        lambda response: b"\xff" in response.content,
        lambda response: json.loads(response.content.decode("utf-8", "replace")),
    )
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


fault("errors of the network have the kind other", "C-err-47..54 C-err-65 C-do-26..28 C-do-41")(kinds(network="other"))
fault("errors of the network are errors of decoding", "C-err-47..54 C-err-65 C-do-26 C-do-27 C-do-41")(
    kinds(network="decoding")
)
fault("time limits are errors of the network", "C-err-55..58 C-do-29")(kinds(timeout="network"))
fault("errors of decoding have the kind other", "C-err-37..46 C-err-64")(kinds(decoding="other"))
fault("errors of decoding are errors of HTTP", "C-err-37..46 C-err-64")(kinds(decoding="http"))


def raising(name: str, words: str, kind: str) -> Any:
    """Give an exception of httpx another kind."""

    def plant(adapter: Any) -> None:
        former = adapter.Client.answer

        async def answer(self: Any, *args: Any) -> Any:
            try:
                return await former(self, *args)
            except getattr(adapter.httpx, name) as error:
                if words not in str(error):
                    raise
                raise adapter.Failure(kind, message=str(error)) from error

        adapter.Client.answer = answer

    return plant


fault("a refused connection is an error of another kind", "C-err-53")(raising("ConnectError", "", "other"))
fault("a reset connection is an error of another kind", "C-err-50 C-do-27")(raising("ReadError", "", "other"))
fault("a connection that is closed is an error of HTTP", "C-err-49 C-err-52 C-err-54 C-err-65 C-do-26 C-do-41")(
    raising("RemoteProtocolError", "disconnected", "http")
)
fault("what is no HTTP is an error of decoding", "C-err-51")(raising("RemoteProtocolError", "illegal", "decoding"))


@fault("a 404 is raised again with the next answer", "C-err-35")
def _(adapter: Any) -> None:
    async def call(former: Any, self: Any, operation: str, *args: Any) -> Any:
        try:
            result = await former(self, operation, *args)
        except adapter.Failure as failure:
            self.failed = failure if failure.shown.get("status") == 404 else None
            raise
        if getattr(self, "failed", None) is not None:
            raise self.failed
        return result

    around(adapter.Client, "call", call)


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


@fault("the time limit is that of single reads", "C-err-57")
def _(adapter: Any) -> None:
    adapter.asyncio.timeout = lambda _: contextlib.AsyncExitStack()


@fault("a short time limit is nine seconds longer", "C-err-55..58")
def _(adapter: Any) -> None:
    former = adapter.Client.__init__

    def init(self: Any, opened: Any) -> None:
        former(self, {**opened, "timeoutMs": opened["timeoutMs"] + (9000 if opened["timeoutMs"] < 2000 else 0)})

    adapter.Client.__init__ = init


@fault("the time limit of a get is one second", "C-ans-58 C-err-59 C-do-15..17 C-do-42")
def _(adapter: Any) -> None:
    former = adapter.Client.answer

    async def answer(self: Any, method: str, path: str, headers: Any, operation: str, body: Any) -> Any:
        async with asyncio.timeout(1.0 if operation == "getResourceById" else self.limit_s):
            return await former(self, method, path, headers, operation, body)

    adapter.Client.answer = answer


@fault("a body that was cut off is returned", "C-err-47 C-err-48 C-do-28")
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


fault("after an error of the token endpoint the call goes on without a token", "C-err-61..65")(
    of_tokens(lambda *_: "none")
)


def of_granting(status: int | None, kind: str) -> Any:
    """Raise an error of another kind for some answers of the token endpoint."""

    def changed(adapter: Any, failure: Any) -> str:
        if failure.shown.get("status") == status and failure.shown["kind"] == kind:
            raise adapter.Failure("other", message=str(failure.shown))
        raise failure

    return of_tokens(changed)


fault("a client that is refused is an error of another kind", "C-err-61")(of_granting(401, "http"))
fault("a scope that is refused is an error of another kind", "C-err-62")(of_granting(400, "http"))
fault("a token that cannot be read is an error of another kind", "C-err-64")(of_granting(None, "decoding"))
fault("a token endpoint that hangs up is an error of another kind", "C-err-65")(of_granting(None, "network"))


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


async def _ends_at_once(attempt: int, send: Any) -> Any:
    if attempt > 1:
        raise TimeoutError
    return await send()


async def _breaks(attempt: int, send: Any) -> Any:
    if attempt > 1:
        raise httpx.ConnectError("an attempt that was given up")
    return await send()


fault("an attempt after one that was given up is given up at once", "C-err-69")(attempts(_ends_at_once))
fault("an attempt after one that was given up breaks", "C-err-69 C-err-70")(attempts(_breaks))
