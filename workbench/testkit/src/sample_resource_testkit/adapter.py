"""Helpers for adapters of Python clients, which ``sample-resource-conformance client`` drives.

They speak the protocol, list the operations of the OpenAPI document, and describe errors. They need only the standard
library, and add nothing to what a client does.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

Opened = dict[str, Any]

FORM = "application/x-www-form-urlencoded"

_DOCUMENTED = files("sample_resource_testkit.client") / "operations.json"

OPERATIONS: dict[str, Any] = {each["id"]: each for each in json.loads(_DOCUMENTED.read_text(encoding="utf-8"))}
"""The operations of the OpenAPI document, by their operationIds."""

_FAMILIES = {"var": "var.<name>", "text": "text.<language>"}


def with_prefixes(values: dict[str, Any]) -> dict[str, Any]:
    """Arguments by the names of their parameters: members of ``var`` and ``text`` get prefixes (``var.name``)."""
    return {
        _FAMILIES.get(name, name): {f"{name}.{key}": item for key, item in value.items()}
        if name in _FAMILIES and value is not None
        else value
        for name, value in values.items()
    }


def snake(name: str) -> str:
    """A name in the spelling of generators for Python: ``filter.facets`` becomes ``filter_facets``."""
    words = re.sub(r"[^A-Za-z0-9]+", "_", re.sub(r"([a-z])([A-Z])", r"\1_\2", name))
    return words.lower()


def http_error(status: int, body: Any, headers: Any) -> dict[str, Any]:
    """The adapter's answer to a call whose HTTP answer was no success.

    :param body: the body as the client has read it, of any type.
    :param headers: an object with the method ``get``.
    """
    told = body if isinstance(body, dict) else {}
    entries = told.get("errors")
    errors = entries if isinstance(entries, list) else []
    first = errors[0] if errors and isinstance(errors[0], dict) else {}
    wait = headers.get("Retry-After") or ""
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
    hello: Mapping[str, Any],
    make: Callable[[Opened], Any],
    call: Callable[[Any, Opened, str, dict[str, Any], Any], dict[str, Any]],
) -> None:
    """Answer the messages of the kit, one after the other, until the input ends.

    :param hello: ``client`` and ``version``; ``features``; and ``operations`` if the client lacks some.
    :param make: makes a client, or returns None if the client cannot get a token itself.
    :param call: makes a call. It gets the client, the members of the message that opened it, the operation, the
        arguments that are not null, and the body. It returns an answer with ``result``, ``error`` or ``unsupported``.
    """
    sessions: dict[str, tuple[Any, Opened]] = {}
    known = hello.get("operations", OPERATIONS)
    # UTF-8 also on systems with another encoding, such as Windows.
    for line in open(sys.stdin.fileno(), encoding="utf-8", closefd=False):  # noqa: SIM115 -- it stays open
        message = json.loads(line)
        if message["do"] == "hello":
            answer = dict(hello)
        elif message["do"] == "open":
            answer = {"session": message["session"], "ok": True}
            client = make(message)
            if client is None:
                answer = {"session": message["session"], "unsupported": "it asks for no tokens"}
            sessions[message["session"]] = (client, message)
        elif message["do"] == "close":
            sessions.pop(message["session"], None)
            answer = {"session": message["session"], "ok": True}
        elif message["operation"] not in known:
            answer = {"id": message["id"], "unsupported": f"it has no {message['operation']}"}
        else:
            arguments = {name: value for name, value in message.get("arguments", {}).items() if value is not None}
            client, opened = sessions[message["session"]]
            answer = {"id": message["id"], **call(client, opened, message["operation"], arguments, message.get("body"))}
        # Characters beyond ASCII become escapes, so that the encoding of the output makes no difference.
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
