"""Faults in how the client behaves: repetitions, connections, pages."""

import asyncio
from typing import Any

from client_faults.planting import answering, around, fault, of_client, planted

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


@fault("an update is sent with the version of the first one", "C-req-85 C-do-39")
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


@fault("a list whose answer is lost is sent without end", "C-do-41")
def _(adapter: Any) -> None:
    former = adapter.Client.answer

    async def answer(self: Any, method: str, path: str, headers: Any, operation: str, body: Any) -> Any:
        while True:
            try:
                return await former(self, method, path, headers, operation, body)
            except adapter.httpx.TransportError:
                if operation != "listResources":
                    raise

    adapter.Client.answer = answer


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


@fault("calls at the same time share an answer", "C-ans-49")
def _(adapter: Any) -> None:
    async def call(former: Any, self: Any, operation: str, *args: Any) -> Any:
        if operation != "getResourceById":
            return await former(self, operation, *args)
        running = getattr(self, "running", None)
        if running is None or running.done():
            running = self.running = asyncio.ensure_future(former(self, operation, *args))
        return await running

    around(adapter.Client, "call", call)


def shares_answers(same: Any) -> Any:
    """Send a safe request once, if one under way is the same."""

    async def attempt(_: Any, former: Any, self: Any, method: str, path: str, *args: Any) -> Any:
        # With tokens of its own a shared 401 would fail scenarios of tokens too.
        if method not in ("GET", "HEAD") or self.opened["token"] is None:
            return await former(self, method, path, *args)
        under_way, key = self.__dict__.setdefault("shared", {}), same(method, path)
        if key not in under_way:
            under_way[key] = asyncio.ensure_future(former(self, method, path, *args))
            under_way[key].add_done_callback(lambda _: under_way.pop(key))
        return await asyncio.shield(under_way[key])

    return of_client("attempt", attempt)


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


@fault("an update is followed by a read", "C-do-47")
def _(adapter: Any) -> None:
    async def changed(self: Any, send: Any, operation: str, *_: Any) -> Any:
        response = await send()
        if operation == "updateResourceById" and response.status_code == 200:
            await send(method="GET", body=None)
        return response

    answering(changed)(adapter)


@fault("a header is sent twice", "C-do-53")
def _(adapter: Any) -> None:
    async def twice(request: Any) -> None:
        request.headers = adapter.httpx.Headers([*request.headers.raw, (b"Accept-Encoding", b"identity")])

    def made(former: Any, self: Any, opened: Any) -> None:
        former(self, opened)
        self.http.event_hooks = {"request": [twice]}

    around(adapter.Client, "__init__", made)


def variables(change: Any) -> Any:
    """Change arguments of the sorted list."""
    return lambda adapter: around(
        adapter, "target", lambda former, operation, arguments: former(operation, change(dict(arguments)))
    )


def _cut_off(arguments: Any) -> Any:
    if "last" in (arguments.get("var") or {}):
        arguments["var"] = {"last": arguments["var"]["last"][:8]}
    return arguments


def headers(extra: Any) -> Any:
    def plant(adapter: Any) -> None:
        adapter.Client.authorization = lambda _, token: {"Authorization": f"Bearer {token}", **extra}

    return plant


@fault("a resource is deleted with the version that was tried first", "C-do-59")
def _(adapter: Any) -> None:
    versions: dict[str, Any] = {}

    def changed(arguments: Any) -> Any:
        if arguments.get("version") is not None:
            arguments["version"] = versions.setdefault(arguments["id"], arguments["version"])
        return arguments

    variables(changed)(adapter)


def _without_backslashes(arguments: Any) -> Any:
    if arguments.get("where"):
        arguments["where"] = [predicate.replace("\\\\", "\\") for predicate in arguments["where"]]
    return arguments


def _escaped(arguments: Any) -> Any:
    if arguments.get("var"):
        arguments["var"] = {
            name: value.replace('"', '\\"') if isinstance(value, str) else value
            for name, value in arguments["var"].items()
        }
    return arguments


planted(
    ("C-do-15..20 C-do-22 C-do-55", "Retry-After is not waited for", lambda adapter: setattr(adapter.Client, "wait_s", lambda *_: 0.2)),
    ("C-do-22", "a long Retry-After is waited for a second", waits(lambda wait_s, _: min(wait_s, 1.0))),
    ("C-do-15 C-do-16 C-do-20", "503 is not repeated",
     of_client("should_wait", lambda _, former, self, method, path, body, response, ends: (response.status_code != 503 and former(self, method, path, body, response, ends)))),
    ("C-do-17", "429 is not repeated",
     of_client("should_wait", lambda _, former, self, method, path, body, response, ends: (response.status_code != 429 and former(self, method, path, body, response, ends)))),
    ("C-do-30", "a 400 is repeated", repeated({400}, times=3, when=lambda operation, *_: operation == "listResourcesSorted")),
    ("C-do-13 C-do-33", "a 403 is repeated", repeated({403})),
    ("C-req-105 C-do-38 C-do-58", "a 409 is repeated", repeated({409})),
    ("C-req-101 C-req-121 C-do-32", "a 412 is repeated", repeated({412}, when=lambda operation, *_: operation == "createOrUpdateResource")),
    ("C-do-23", "a POST whose key is null is repeated after a 503",
     lambda adapter: around(adapter, "may_repeat", lambda former, method, path, body: former(method, path, body) or (isinstance(body, dict) and "key" in body))),
    ("C-do-23..25", "a POST whose key is null is repeated after a 5xx", repeated({500, 502, 503}, when=lambda operation, _, body: isinstance(body, dict) and "key" in body and body["key"] is None)),
    ("C-do-24", "a 500 is repeated", repeated({500})),
    ("C-do-41", "a list that is answered 500 is sent thirteen times", repeated({500}, times=12, when=lambda operation, *_: operation == "listResources")),
    ("C-do-25", "a 502 is repeated", repeated({502})),
    ("C-err-9 C-do-37", "a conflict is overwritten with the current version", answering(_takes_the_current_version)),
    ("C-do-43", "each call has a connection of its own", connections(lambda response: response.request.extensions is not None)),
    ("C-do-44", "the connection is closed after an error", connections(lambda response: response.status_code >= 400)),
    ("C-do-48", "the last id of a page is cut off", variables(_cut_off)),
    ("C-err-69 C-do-60", "a GET whose connection breaks is not repeated", lambda adapter: setattr(adapter.Client, "tries_again", lambda *_: False)),
    ("C-do-26..28 C-do-61", "any request whose connection breaks is repeated",
     lambda adapter: setattr(adapter.Client, "tries_again", lambda *_: True)),
    ("C-ans-49", "queries of one path at the same time share an answer", shares_answers(lambda method, path: (method, path.partition("?")[0]))),
    ("C-ans-49", "HEAD and GET of one target at the same time share an answer", shares_answers(lambda _, path: path)),
    ("C-ans-75", "escapes of predicates are undone", variables(_without_backslashes)),
    ("C-ans-76", "quotes of variables are escaped", variables(_escaped)),
)  # fmt: skip
