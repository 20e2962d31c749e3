"""Faults in how the client deals with tokens."""

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


def asked_twice(when: Any) -> Any:
    """Ask for two tokens in place of one."""

    async def new_token(_: Any, former: Any, self: Any) -> str:
        if when(self):
            await former(self)
        return await former(self)

    return of_client("new_token", new_token)


@fault("all scopes are asked for, whatever was given", "C-do-2 C-do-13")
def _(adapter: Any) -> None:
    async def new_token(former: Any, self: Any) -> str:
        given = self.opened["scope"]
        self.opened["scope"] = " ".join(f"{name}:{self.opened['projectKey']}" for name in ("manage_test", "view_test"))
        try:
            return await former(self)
        finally:
            self.opened["scope"] = given

    around(adapter.Client, "new_token", new_token)


planted(
    ("C-do-8", "a refused token is not replaced",
     of_client("get_token", _never)),
    ("C-do-3", "the secret stands in a header of each request",
     in_header("client_secret", str)),
    ("C-do-9 C-do-11", "a token that is refused for a list is not replaced",
     not_renewed(lambda operation, _: operation == "listResources")),
    ("C-do-4 C-do-13 C-do-54 C-do-55", "each token is asked for twice",
     asked_twice(lambda _: True)),
)  # fmt: skip
