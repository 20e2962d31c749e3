"""Glue for adapters of clients in Python: the protocol, and what is shown of errors."""

import json
import sys
from collections.abc import Callable
from typing import Any

Opened = dict[str, Any]


def http_error(status: int, body: Any, headers: Any) -> dict[str, Any]:
    """What a client shows of an answer that is no success.

    :param body: as the client has read it.
    """
    told = body if isinstance(body, dict) else {}
    errors = told.get("errors") or []
    first = errors[0] if errors else {}
    wait = headers.get("Retry-After", "")
    shown = {
        "status": status,
        "code": first.get("code") or told.get("error"),
        "message": told.get("message"),
        "currentVersion": first.get("currentVersion"),
        "retryAfterSeconds": int(wait) if wait.isdecimal() else None,
        "errors": errors or None,
    }
    return {"error": {"kind": "http", **{name: value for name, value in shown.items() if value is not None}}}


def serve(
    hello: dict[str, Any],
    make: Callable[[Opened], Any],
    call: Callable[[Any, Opened, str, dict[str, Any], Any], dict[str, Any]],
) -> None:
    """Answer messages one after the other until the input ends.

    :param make: makes a client; None if it cannot get a token itself.
    """
    sessions: dict[str, tuple[Any, Opened]] = {}
    for line in sys.stdin:
        message = json.loads(line)
        if message["do"] == "hello":
            answer = hello
        elif message["do"] == "open":
            answer = {"session": message["session"], "ok": True}
            client = make(message)
            if client is None:
                answer = {"session": message["session"], "unsupported": "it asks for no tokens"}
            sessions[message["session"]] = (client, message)
        elif message["do"] == "close":
            sessions.pop(message["session"], None)
            answer = {"session": message["session"], "ok": True}
        else:
            arguments = {name: value for name, value in message.get("arguments", {}).items() if value is not None}
            client, opened = sessions[message["session"]]
            answer = {"id": message["id"], **call(client, opened, message["operation"], arguments, message.get("body"))}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
