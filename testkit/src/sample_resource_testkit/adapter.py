"""Glue for adapters of clients in Python: the protocol, and what is shown of errors."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Opened = dict[str, Any]

FORM = "application/x-www-form-urlencoded"

_DOCUMENTED = Path(__file__).parents[1] / "src/sample_resource_testkit/client/operations.json"

OPERATIONS: dict[str, Any] = {each["id"]: each for each in json.loads(_DOCUMENTED.read_text())}
"""What the OpenAPI document says of each operation."""

_FAMILIES = {"var": "var.<name>", "text": "text.<language>"}


def with_prefixes(values: dict[str, Any]) -> dict[str, Any]:
    """Arguments under the names that the document gives them: the members of ``var`` and ``text`` have prefixes."""
    return {
        _FAMILIES.get(name, name): {f"{name}.{key}": item for key, item in value.items()}
        if name in _FAMILIES and value is not None
        else value
        for name, value in values.items()
    }


def snake(name: str) -> str:
    """A name as generators for Python write it: ``filter.facets`` is filter_facets."""
    words = re.sub(r"[^A-Za-z0-9]+", "_", re.sub(r"([a-z])([A-Z])", r"\1_\2", name))
    return words.lower()


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
