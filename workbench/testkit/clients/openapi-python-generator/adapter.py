"""What openapi-python-generator generates. All lines but the call of ``function`` are glue."""

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any, get_type_hints

import httpx
from openapi_python_generator_client.api_config import APIConfig, HTTPException
from pydantic import BaseModel

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from sample_resource_testkit.adapter import http_error, serve, with_prefixes

SERVICES = [
    importlib.import_module(f"openapi_python_generator_client.services.{name}_service")
    for name in ("Resource", "Search", "Echo")
]


def make(opened: dict[str, Any]) -> APIConfig | None:
    """A configuration, which has no time limit."""
    return opened["token"] and APIConfig(base_path=opened["url"], access_token=opened["token"])


def call(config: Any, opened: dict[str, Any], operation: str, arguments: dict[str, Any], body: Any) -> dict[str, Any]:
    function = next(getattr(service, operation) for service in SERVICES if hasattr(service, operation))
    hints = get_type_hints(function)
    # it drops what no name of Python can have: filter.facets is filterfacets
    given = {re.sub(r"[.<>]", "", name).replace("-", "_"): value for name, value in with_prefixes(arguments).items()}
    lacking = [*(given.keys() - hints.keys()), *(["data"] if body is not None and "data" not in hints else [])]
    if lacking:
        return {"unsupported": f"{operation} has no parameter {', '.join(sorted(lacking))}"}
    if isinstance(given.get("objectParameter"), dict):
        given["objectParameter"] = json.dumps(given["objectParameter"])
    try:
        if body is not None:
            given["data"] = hints["data"](**body)
        found = function(config, projectKey=opened["projectKey"], **given)
    except HTTPException as error:
        return http_error(error.status_code, None, {})
    except httpx.TimeoutException as error:
        return {"error": {"kind": "timeout", "message": str(error)}}
    except httpx.TransportError as error:
        return {"error": {"kind": "network", "message": str(error)}}
    except ValueError as error:
        return {"error": {"kind": "decoding", "message": repr(error)}}
    except Exception as error:  # noqa: BLE001 -- whatever the client raises is what is measured
        return {"error": {"kind": "other", "message": repr(error)}}
    return {"result": found.model_dump(mode="json", exclude_unset=True) if isinstance(found, BaseModel) else found}


serve({"client": "openapi-python-generator", "version": sys.argv[1]}, make, call)
