"""aiopenapi3, which reads the OpenAPI document when it runs. All lines but those with ``LOADED`` and ``api`` are glue.

It refuses ``contentSchema``, so it gets the document without.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiopenapi3
import httpx2
import yarl
from aiopenapi3 import errors

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from sample_resource_testkit.adapter import FORM, OPERATIONS, http_error, serve, with_prefixes

DOCUMENT = Path(__file__).parents[4] / "docs/openapi.json"

KINDS = {
    "decoding": (errors.ResponseError, httpx2.DecodingError, UnicodeDecodeError),
    "timeout": (httpx2.TimeoutException,),
    "network": (httpx2.TransportError,),
}
"""What the client raises, and lets through of what it is built on."""


def sessions_of(timeout_s: float) -> Callable[..., httpx2.Client]:
    """What the client makes connections with; the type of the result tells it that it does not run in a loop."""

    def session(**options: Any) -> httpx2.Client:
        return httpx2.Client(timeout=timeout_s, **options)

    return session


def readable(value: Any) -> Any:
    """The document without what the client refuses."""
    if isinstance(value, dict):
        return {name: readable(item) for name, item in value.items() if name != "contentSchema"}
    return [readable(item) for item in value] if isinstance(value, list) else value


DESCRIBED = readable(json.loads(DOCUMENT.read_text())) | {"servers": [{"url": "/"}]}
LOADED = aiopenapi3.OpenAPI.loads("http://127.0.0.1", json.dumps(DESCRIBED), sessions_of(5))


def make(opened: dict[str, Any]) -> aiopenapi3.OpenAPI | None:
    """A client: what was read, with another server."""
    if opened["token"] is None:
        return None
    api = LOADED.clone(yarl.URL(opened["url"]))
    api._session_factory = sessions_of(opened["timeoutMs"] / 1000)
    api.authenticate(bearer=opened["token"])
    return api


def call(api: Any, opened: dict[str, Any], operation: str, arguments: dict[str, Any], body: Any) -> dict[str, Any]:
    described = OPERATIONS[operation]
    request = api.createRequest((described["path"], described["method"].lower()))
    given = with_prefixes(arguments)
    lacking = given.keys() - {each.name for each in request.parameters}
    if lacking:
        return {"unsupported": f"{operation} has no parameter {', '.join(sorted(lacking))}"}
    if isinstance(given.get("objectParameter"), dict):
        given["objectParameter"] = json.dumps(given["objectParameter"])
    try:
        if described["body"] == FORM:
            fields = {name: value for name, value in with_prefixes(body or {}).items() if value is not None}
            body = request.args(FORM)["data"].get_type().model_validate(fields)
        _, data, answer = request.request(body, {"projectKey": opened["projectKey"], **given})
    except errors.HTTPStatusIndicatedError as error:
        return http_error(error.status_code, as_json(error.data), error.headers)
    except errors.HTTPStatusError as error:
        return http_error(error.http_status, None, {})
    except Exception as error:  # noqa: BLE001 -- whatever the client raises is what is measured
        cause = error.__cause__ if isinstance(error, errors.RequestError) else error
        kind = next((kind for kind, classes in KINDS.items() if isinstance(cause, classes)), "other")
        return {"error": {"kind": kind, "message": str(error) or repr(error)}}
    # it raises nothing for an answer whose body the document does not describe
    if operation == "checkResources" and answer.status_code in (200, 404):
        return {"result": answer.status_code == 200}
    if answer.status_code >= 400:
        return http_error(answer.status_code, None, {})
    return {"result": as_json(data), "meta": {"status": answer.status_code}}


def as_json(data: Any) -> Any:
    """What the client returned, as JSON: it has models."""
    return data.model_dump(mode="json", by_alias=True, exclude_unset=True) if hasattr(data, "model_dump") else data


serve({"client": "aiopenapi3", "version": sys.argv[1]}, make, call)
