"""What openapi-python-client generates. All lines but the call of ``sync_detailed`` are glue."""

import importlib
import json
import pkgutil
import sys
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import httpx
import sample_resource_client.api as api
from sample_resource_client import AuthenticatedClient

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from sample_resource_testkit.adapter import http_error, serve, snake, with_prefixes

FUNCTIONS = {
    module.name.rpartition(".")[2]: importlib.import_module(module.name).sync_detailed
    for module in pkgutil.walk_packages(api.__path__, f"{api.__name__}.")
    if not module.ispkg
}


def converted(value: Any, hint: Any) -> Any:
    """A value as the type that the generated function asks for."""
    for kind in get_args(hint) if get_origin(hint) is not list and get_args(hint) else [hint]:
        if get_origin(kind) is list and isinstance(value, list):
            return [converted(item, get_args(kind)[0]) for item in value]
        if isinstance(kind, type) and issubclass(kind, Enum):
            if value in {member.value for member in kind}:
                return kind(value)
            continue
        if hasattr(kind, "from_dict") and isinstance(value, dict):
            return kind.from_dict(value)
    return value


def make(opened: dict[str, Any]) -> AuthenticatedClient | None:
    if opened["token"] is None:
        return None
    return AuthenticatedClient(opened["url"], token=opened["token"], timeout=httpx.Timeout(opened["timeoutMs"] / 1000))


def call(client: Any, opened: dict[str, Any], operation: str, arguments: dict[str, Any], body: Any) -> dict[str, Any]:
    function = FUNCTIONS[snake(operation)]
    hints = get_type_hints(function)
    given: dict[str, Any] = {"project_key": opened["projectKey"]}
    for name, value in with_prefixes(arguments).items():
        key = {"var.<name>": "var_name", "text.<language>": "text_language", "filter": "filter_"}.get(name, snake(name))
        if key not in hints:
            return {"unsupported": f"{operation} has no parameter {name}"}
        if name == "objectParameter" and not isinstance(value, str):
            value = json.dumps(value)
        given[key] = converted(value, hints[key])
    if body is not None:
        given["body"] = converted(
            with_prefixes(body) if operation == "searchProductProjections" else body, hints["body"]
        )
    try:
        answer = function(client=client, **given)
    except httpx.TimeoutException as error:
        return {"error": {"kind": "timeout", "message": str(error)}}
    except httpx.TransportError as error:
        return {"error": {"kind": "network", "message": str(error)}}
    except (ValueError, KeyError) as error:
        return {"error": {"kind": "decoding", "message": repr(error)}}
    except (AttributeError, TypeError) as error:
        return {"error": {"kind": "other", "message": repr(error)}}
    status = int(answer.status_code)
    parsed = answer.parsed.to_dict() if hasattr(answer.parsed, "to_dict") else answer.parsed
    if operation == "checkResources" and status in (200, 404):
        return {"result": status == 200}
    if status >= 400:
        return http_error(status, parsed, answer.headers)
    return {"result": parsed, "meta": {"status": status}}


serve({"client": "openapi-python-client", "version": sys.argv[1]}, make, call)
