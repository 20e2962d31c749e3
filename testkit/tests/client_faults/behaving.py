"""Faults in how the client behaves: tokens, repetitions, connections."""

import asyncio
from typing import Any

from client_faults.planting import around, fault


def of_client(name: str, change: Any) -> Any:
    """Replace a method of the client; the new one gets the module and the former one first."""

    def plant(adapter: Any) -> None:
        former = getattr(adapter.Client, name)
        setattr(adapter.Client, name, lambda self, *args, **more: change(adapter, former, self, *args, **more))

    return plant


# Tokens


@fault("a token is asked for by each call", "C-do-4")
def _(adapter: Any) -> None:
    async def get_token(self: Any, refused: str | None = None) -> str:
        return self.opened["token"] or await self.new_token()

    adapter.Client.get_token = get_token


@fault("calls at the same time do not wait for each other's token", "C-do-5")
def _(adapter: Any) -> None:
    async def get_token(self: Any, refused: str | None = None) -> str:
        if self.token is None or self.token == refused:
            self.token = await self.new_token()
        return self.token

    adapter.Client.get_token = get_token


def token_request(change: Any) -> Any:
    """Change the form and the options of the request for a token."""

    def plant(adapter: Any) -> None:
        async def new_token(self: Any) -> str:
            form = {"grant_type": "client_credentials", "scope": self.opened["scope"]}
            options = {"auth": (self.opened["clientId"], self.opened["clientSecret"]), "data": form}
            url = self.opened["tokenUrl"]
            changed = change(self, url, options)
            response = await self.http.post(changed[0], **changed[1])
            if response.status_code != 200:
                raise adapter.error_of(response)
            granted = adapter.result_of("POST", response)
            if not isinstance(granted.get("access_token"), str):
                raise adapter.Failure("decoding")
            return granted["access_token"]

        adapter.Client.new_token = new_token

    return plant


fault("the scope is not asked for", "C-do-2 C-do-13")(
    token_request(lambda _, url, options: (url, {**options, "data": {"grant_type": "client_credentials"}}))
)
fault("the secret stands in the address", "C-do-1")(
    token_request(
        lambda self, url, options: (
            f"{url}?client_secret={self.opened['clientSecret']}&grant_type=client_credentials",
            options,
        )
    )
)
fault("a token is asked for in JSON", "C-do-1")(
    token_request(lambda _, url, options: (url, {"auth": options["auth"], "json": options["data"]}))
)


async def _never(adapter: Any, former: Any, self: Any, refused: str | None = None) -> str:
    return await former(self)


fault("a refused token is not replaced", "C-do-8")(of_client("get_token", _never))


def answering(change: Any) -> Any:
    """Put a coroutine around the exchange of a call; it gets a function that sends it."""

    def plant(adapter: Any) -> None:
        former = adapter.Client.answer

        async def answer(self: Any, method: str, path: str, headers: Any, operation: str, body: Any) -> Any:
            async def send(**changes: Any) -> Any:
                sent = {
                    "method": method,
                    "path": path,
                    "headers": headers,
                    "operation": operation,
                    "body": body,
                    **changes,
                }
                return await former(self, *sent.values())

            return await change(self, send, operation, method, body)

        adapter.Client.answer = answer

    return plant


async def _replaces_the_given(self: Any, send: Any, *_: Any) -> Any:
    response = await send()
    if response.status_code == 401 and self.opened["token"] is not None:
        self.token = await self.new_token()
        return await send()
    return response


fault("a token that was given is replaced", "C-err-4 C-do-7")(answering(_replaces_the_given))


async def _renews_without_end(self: Any, send: Any, *_: Any) -> Any:
    response = await send()
    for _ in range(3):
        if response.status_code != 401 or self.opened["token"] is not None:
            break
        response = await send()
    return response


fault("refused tokens are replaced again and again", "C-do-10")(answering(_renews_without_end))


async def _renews_for_scopes(self: Any, send: Any, *_: Any) -> Any:
    response = await send()
    if response.status_code == 403 and self.opened["token"] is None:
        self.token = await self.new_token()
        return await send()
    return response


fault("a missing scope is answered by a new token", "C-do-13")(answering(_renews_for_scopes))


async def _write_is_not_sent_again(self: Any, send: Any, operation: str, method: str, _: Any) -> Any:
    if method in ("GET", "HEAD") or self.opened["token"] is not None:
        return await send()
    given, self.opened["token"] = self.opened["token"], "own"
    try:
        return await send()
    finally:
        self.opened["token"] = given


# Repetitions


fault("Retry-After is not waited for", "C-do-15..20 C-do-22")(
    lambda adapter: setattr(adapter.Client, "wait_s", lambda *_: 0.2)
)
fault("Retry-After is waited for half as long", "C-do-15..20")(
    lambda adapter: around(adapter.Client, "wait_s", lambda former, *args: former(*args) / 2)
)
fault("503 is not repeated", "C-do-15 C-do-16 C-do-20")(
    of_client(
        "should_wait",
        lambda _, former, self, method, path, body, response, ends: (
            response.status_code != 503 and former(self, method, path, body, response, ends)
        ),
    )
)
fault("429 is not repeated", "C-do-17")(
    of_client(
        "should_wait",
        lambda _, former, self, method, path, body, response, ends: (
            response.status_code != 429 and former(self, method, path, body, response, ends)
        ),
    )
)


@fault("503 is repeated once", "C-do-16")
def _(adapter: Any) -> None:
    def changed(former: Any, self: Any, method: str, path: str, body: Any, response: Any, ends: float) -> bool:
        counts = self.__dict__.setdefault("counts", {})
        counts[ends] = counts.get(ends, 0) + 1
        return counts[ends] < 2 and former(self, method, path, body, response, ends)

    around(adapter.Client, "should_wait", changed)


@fault("a POST without a key is repeated after a 503", "C-do-23")
def _(adapter: Any) -> None:
    adapter.may_repeat = lambda *_: True


def repeated(statuses: set[int], times: int = 1, when: Any = None) -> Any:
    async def change(self: Any, send: Any, operation: str, method: str, body: Any) -> Any:
        response = await send()
        for _ in range(times):
            if response.status_code in statuses and (when is None or when(operation, method, body)):
                response = await send()
        return response

    return answering(change)


fault("a 400 is repeated", "C-do-30")(repeated({400}))
fault("a 404 is repeated", "C-req-5 C-req-6 C-req-8..10")(
    repeated({404}, when=lambda operation, *_: operation != "checkResources")
)
fault("a 405 is repeated", "C-do-34")(repeated({405}))
fault("a 413 is repeated", "C-do-35")(repeated({413}))
fault("a 415 is repeated", "C-do-36")(repeated({415}))
fault("a 500 is repeated", "C-do-24")(repeated({500}))
fault("a 502 is repeated", "C-do-25")(repeated({502}))


async def _takes_the_current_version(self: Any, send: Any, operation: str, method: str, body: Any) -> Any:
    response = await send()
    if response.status_code == 409 and operation == "updateResourceById":
        version = response.json()["errors"][0].get("currentVersion")
        return await send(body={**body, "version": version})
    return response


fault("a conflict is overwritten with the current version", "C-err-9 C-do-37")(answering(_takes_the_current_version))


def lost(adapter_errors: str, when: Any) -> Any:
    def plant(adapter: Any) -> None:
        former = adapter.Client.answer

        async def answer(self: Any, method: str, path: str, headers: Any, operation: str, body: Any) -> Any:
            for _ in range(2):
                try:
                    return await former(self, method, path, headers, operation, body)
                except getattr(adapter.httpx, adapter_errors):
                    if not when(method):
                        raise
            return await former(self, method, path, headers, operation, body)

        adapter.Client.answer = answer

    return plant


fault("a POST is repeated after a lost connection", "C-do-26..28")(
    lost("TransportError", lambda method: method == "POST")
)
fault("a POST is repeated after a reset connection", "C-do-27")(lost("ReadError", lambda method: method == "POST"))
fault("a POST is repeated after an answer that was cut off", "C-do-26 C-do-28")(
    lost("RemoteProtocolError", lambda method: method == "POST")
)


@fault("a POST is sent again within its time limit", "C-do-29")
def _(adapter: Any) -> None:
    former = adapter.Client.answer

    async def answer(self: Any, method: str, *args: Any) -> Any:
        if method != "POST" or self.limit_s > 2:
            return await former(self, method, *args)
        try:
            async with asyncio.timeout(self.limit_s / 3):
                return await former(self, method, *args)
        except TimeoutError:
            return await former(self, method, *args)

    adapter.Client.answer = answer


# Connections and what goes over them


def connections(make: Any) -> Any:
    """Use another HTTP client for each call."""

    def plant(adapter: Any) -> None:
        former = adapter.Client.answer

        async def answer(self: Any, *args: Any) -> Any:
            response = await former(self, *args)
            if make(response):
                await self.http.aclose()
                self.http = adapter.httpx.AsyncClient(timeout=self.limit_s, verify=adapter.TRUSTED)
            return response

        adapter.Client.answer = answer

    return plant


fault("each call has a connection of its own", "C-ans-49 C-do-5 C-do-43")(
    connections(lambda response: response.request.extensions is not None)
)
fault("the connection is closed after an error", "C-do-44")(connections(lambda response: response.status_code >= 400))


@fault("a connection that has ended is used again", "C-do-45")
def _(adapter: Any) -> None:
    former = adapter.Client.answer

    async def answer(self: Any, *args: Any) -> Any:
        if getattr(self, "has_ended", False):
            raise adapter.httpx.ReadError("the connection has ended")
        response = await former(self, *args)
        self.has_ended = response.headers.get("Connection") == "close"
        return response

    adapter.Client.answer = answer


@fault("a connection that has ended silently is used again", "C-do-46")
def _(adapter: Any) -> None:
    former = adapter.Client.answer

    async def answer(self: Any, *args: Any) -> Any:
        response = await former(self, *args)
        if getattr(self, "is_second", False) and "C-do-46" in self.opened["session"]:
            raise adapter.httpx.ReadError("the connection has ended")
        self.is_second = True
        return response

    adapter.Client.answer = answer


async def _asks_first(self: Any, send: Any, operation: str, method: str, _: Any) -> Any:
    if operation == "deleteResourceById":
        await send(method="GET")
    return await send()


def headers(extra: Any) -> Any:
    def plant(adapter: Any) -> None:
        adapter.Client.authorization = lambda _, token: {"Authorization": f"Bearer {token}", **extra}

    return plant


fault("a header that is no longer read is sent", "C-do-50 C-do-52")(headers({"X-Vrap-Disable-Validation": "true"}))


@fault("pages have twenty results at most", "C-ans-48")
def _(adapter: Any) -> None:
    around(
        adapter,
        "target",
        lambda former, operation, arguments: former(
            operation, {**arguments, "limit": min(arguments["limit"], 20)} if arguments.get("limit") else arguments
        ),
    )
