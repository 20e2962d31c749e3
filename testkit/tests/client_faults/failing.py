"""Faults in what is raised."""

import json
from typing import Any

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
fault("entries of errors are shown in reverse", "C-err-2")(
    errors(lambda shown, _: {**shown, "errors": shown.get("errors", [])[::-1]})
)


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


# Errors that are none


def success(when: Any) -> Any:
    """Take an answer for a success."""

    def plant(adapter: Any) -> None:
        around(
            adapter,
            "is_success",
            lambda former, operation, status: when(operation, status) or former(operation, status),
        )

    return plant


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


fault("null is returned in place of a resource", "C-err-43")(
    decoded(lambda response: response.content == b"null", lambda _: None)
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


# Limits


@fault("the time limit is twice as long", "C-err-55..58 C-do-29")
def _(adapter: Any) -> None:
    former = adapter.Client.__init__

    def init(self: Any, opened: Any) -> None:
        former(self, {**opened, "timeoutMs": opened["timeoutMs"] + (9000 if opened["timeoutMs"] < 2000 else 0)})

    adapter.Client.__init__ = init


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


def _raised(adapter: Any, failure: Any) -> str:
    raise adapter.Failure("other", message=str(failure.shown))


fault("after an error of the token endpoint the call goes on without a token", "C-err-61..65")(
    of_tokens(lambda *_: "none")
)
