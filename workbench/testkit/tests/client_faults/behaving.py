"""Faults in how the client behaves: repetitions, connections, pages."""

import asyncio
from typing import Any

from client_faults.planting import answering, around, fault, planted

# Repetitions


def waits(change: Any) -> Any:
    """Change how long the client waits."""
    return lambda adapter: around(
        adapter.Client, "wait_s", lambda former, self, response: change(former(self, response), response)
    )


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


async def _takes_the_current_version(self: Any, send: Any, operation: str, method: str, body: Any) -> Any:
    response = await send()
    if response.status_code == 409 and operation == "updateResourceById":
        version = response.json()["errors"][0].get("currentVersion")
        return await send(body={**body, "version": version})
    return response


@fault("an update is sent with the version of the first one", "C-req-85")
def _(adapter: Any) -> None:
    async def changed(former: Any, self: Any, operation: str, arguments: Any, body: Any) -> Any:
        if operation == "updateResourceById":
            versions = self.__dict__.setdefault("versions", {})
            body = {**body, "version": versions.setdefault(arguments["id"], body["version"])}
        return await former(self, operation, arguments, body)

    around(adapter.Client, "call", changed)


@fault("a server that is away is tried beyond the time limit", "C-do-21")
def _(adapter: Any) -> None:
    async def changed(former: Any, self: Any, operation: str, *args: Any) -> Any:
        try:
            return await former(self, operation, *args)
        except adapter.Failure as failure:
            if failure.shown.get("status") == 503 and operation == "listResources" and self.limit_s == 3:
                await asyncio.sleep(0 if "retryAfterSeconds" in failure.shown else 9)
            raise

    around(adapter.Client, "call", changed)


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
    """Use another HTTP client for the next call, unless another call is under way."""

    def plant(adapter: Any) -> None:
        former = adapter.Client.answer

        async def answer(self: Any, *args: Any) -> Any:
            self.under_way = getattr(self, "under_way", 0) + 1
            try:
                response = await former(self, *args)
            finally:
                self.under_way -= 1
            if make(response) and not self.under_way:
                await self.http.aclose()
                self.http = adapter.httpx.AsyncClient(timeout=self.limit_s, verify=adapter.TRUSTED)
            return response

        adapter.Client.answer = answer

    return plant


@fault("an update is followed by a read", "C-do-47")
def _(adapter: Any) -> None:
    async def changed(self: Any, send: Any, operation: str, *_: Any) -> Any:
        response = await send()
        if operation == "updateResourceById" and response.status_code == 200:
            await send(method="GET", body=None)
        return response

    answering(changed)(adapter)


@fault("User-Agent is sent twice", "C-do-53")
def _(adapter: Any) -> None:
    async def twice(request: Any) -> None:
        request.headers = adapter.httpx.Headers([*request.headers.raw, (b"User-Agent", b"another")])

    def made(former: Any, self: Any, opened: Any) -> None:
        former(self, opened)
        self.http.event_hooks = {"request": [twice]}

    around(adapter.Client, "__init__", made)


planted(
    ("C-do-15 C-do-18 C-do-20 C-do-22 C-do-55", "Retry-After is not waited for",
     lambda adapter: setattr(adapter.Client, "wait_s", lambda *_: 0.2)),
    ("C-do-22", "a long Retry-After is waited for a second",
     waits(lambda wait_s, _: min(wait_s, 1.0))),
    ("C-do-38 C-do-58", "a 409 is repeated",
     repeated({409})),
    ("C-err-9 C-do-37", "a conflict is overwritten with the current version",
     answering(_takes_the_current_version)),
    ("C-do-43", "each call has a connection of its own",
     connections(lambda response: response.request.extensions is not None)),
    ("C-do-44", "the connection is closed after an error",
     connections(lambda response: response.status_code >= 400)),
    ("C-err-69 C-do-60", "a GET whose connection breaks is not repeated",
     lambda adapter: setattr(adapter.Client, "tries_again", lambda *_: False)),
    ("C-do-26 C-do-61", "any request whose connection breaks is repeated",
     lambda adapter: setattr(adapter.Client, "tries_again", lambda *_: True)),
    ("C-do-15 C-do-18 C-do-20 C-do-55", "half of Retry-After is waited for",
     waits(lambda wait_s, _: wait_s / 2)),
)  # fmt: skip
