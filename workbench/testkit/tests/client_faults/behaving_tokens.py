"""Faults in how the client deals with tokens."""

import asyncio
import base64
from typing import Any

from client_faults.planting import answering, around, fault, of_client, planted


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


async def _never(adapter: Any, former: Any, self: Any, refused: str | None = None) -> str:
    return await former(self)


def in_header(name: str, spelt: Any) -> Any:
    return lambda adapter: around(
        adapter.Client,
        "authorization",
        lambda former, self, token: {**former(self, token), name: spelt(self.opened["clientSecret"])},
    )


@fault("a token is asked for though one was given", "C-do-6")
def _(adapter: Any) -> None:
    async def changed(former: Any, self: Any, refused: str | None = None) -> str:
        # a script has an answer for each request of the call, and none for this one
        is_script = self.opened["projectKey"] == "scripted"
        if self.opened["token"] is not None and not is_script and not hasattr(self, "has_asked"):
            self.has_asked = True
            await self.new_token()
        return await former(self, refused)

    around(adapter.Client, "get_token", changed)


@fault("all clients use the token of the one that was made last", "C-do-14")
def _(adapter: Any) -> None:
    async def changed(former: Any, self: Any, refused: str | None = None) -> str:
        return await former(self, refused) if self.opened["token"] is None else adapter.last_token

    def made(former: Any, self: Any, opened: Any) -> None:
        former(self, opened)
        adapter.last_token = opened["token"]

    around(adapter.Client, "get_token", changed)
    around(adapter.Client, "__init__", made)


async def _replaces_the_given(self: Any, send: Any, *_: Any) -> Any:
    response = await send()
    if response.status_code == 401 and self.opened["token"] is not None:
        self.token = await self.new_token()
        return await send()
    return response


async def _renews_without_end(self: Any, send: Any, *_given: Any) -> Any:
    response = await send()
    for _ in range(3):
        if response.status_code != 401 or self.opened["token"] is not None:
            break
        response = await send()
    return response


def not_renewed(when: Any) -> Any:
    """Replace no token that is refused, for some operations."""

    async def change(self: Any, send: Any, operation: str, method: str, _: Any) -> Any:
        if self.opened["token"] is not None or not when(operation, method):
            return await send()
        self.opened["token"] = "own"
        try:
            return await send()
        finally:
            self.opened["token"] = None

    return answering(change)


# A token endpoint in trouble


@fault("a token endpoint that says nothing is told as a broken connection", "C-err-67")
def _(adapter: Any) -> None:
    async def call(former: Any, self: Any, *args: Any) -> Any:
        try:
            return await former(self, *args)
        except adapter.Failure as failure:
            if failure.shown["kind"] == "timeout" and self.token is None:
                failure.shown["kind"] = "network"
            raise

    around(adapter.Client, "call", call)


@fault("a 503 of the token endpoint is told as something else", "C-err-68")
def _(adapter: Any) -> None:
    async def new_token(former: Any, self: Any) -> str:
        try:
            return await former(self)
        except adapter.Failure as failure:
            if failure.shown.get("status") == 503:
                failure.shown["kind"] = "other"
            raise

    around(adapter.Client, "new_token", new_token)


@fault("a token endpoint that takes a second is asked once more", "C-do-54..56")
def _(adapter: Any) -> None:
    async def new_token(former: Any, self: Any) -> str:
        first = asyncio.ensure_future(former(self))
        done, _ = await asyncio.wait([first], timeout=0.6)
        return await (first if done else former(self))

    around(adapter.Client, "new_token", new_token)


@fault("the time of a call begins when the calls before it have ended", "C-do-57")
def _(adapter: Any) -> None:
    async def call(former: Any, self: Any, *args: Any) -> Any:
        if self.token is not None:
            return await former(self, *args)
        turn = self.__dict__.setdefault("turn", asyncio.Lock())
        async with turn:
            return await former(self, *args)

    around(adapter.Client, "call", call)


planted(
    ("C-do-2 C-do-13 C-do-55", "the scope is not asked for",
     token_request(lambda _, url, options: (url, {**options, "data": {"grant_type": "client_credentials"}}))),
    ("C-err-61 C-err-63..65 C-err-67 C-do-1", "the secret stands in the address",
     token_request(lambda self, url, options: (f"{url}?client_secret={self.opened['clientSecret']}&grant_type=client_credentials", options))),
    ("C-do-8", "a refused token is not replaced", of_client("get_token", _never)),
    ("C-do-3", "the secret stands in a header of each request", in_header("client_secret", str)),
    ("C-do-3", "the secret stands in a header of another name", in_header("X-Secret", str)),
    ("C-do-3", "the secret stands in base64 in a header", in_header("X-Basic", lambda secret: base64.b64encode(f"id:{secret}".encode()).decode())),
    ("C-do-3", "the secret stands in a query",
     of_client("answer", lambda _, former, self, method, path, *more: (former(self, method, f"{path}{'&' if '?' in path else '?'}key={self.opened['clientSecret']}", *more) if self.opened["token"] is None and self.opened["projectKey"] == "scripted" else former(self, method, path, *more)))),
    ("C-do-3", "the secret stands in bodies",
     of_client("answer", lambda _, former, self, method, path, headers, operation, body: former(self, *(method, path, headers, operation), {**body, "key": self.opened["clientSecret"]} if body and self.opened["token"] is None and self.opened["projectKey"] == "scripted" else body))),
    ("C-err-4 C-do-7", "a token that was given is replaced", answering(_replaces_the_given)),
    ("C-do-10", "refused tokens are replaced again and again", answering(_renews_without_end)),
    ("C-do-12", "a write whose token is refused is not sent again", not_renewed(lambda _, method: method not in ("GET", "HEAD"))),
    ("C-do-9 C-do-11", "a token that is refused for a list is not replaced", not_renewed(lambda operation, _: operation == "listResources")),
)  # fmt: skip
