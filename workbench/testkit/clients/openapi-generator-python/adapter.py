"""What openapi-generator makes with python. All lines but the call of ``..._with_http_info`` are glue."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import urllib3
from openapi_client import ApiClient, Configuration
from openapi_client.api.echo_api import EchoApi
from openapi_client.api.resource_api import ResourceApi
from openapi_client.api.search_api import SearchApi
from openapi_client.exceptions import ApiException, OpenApiException
from pydantic import BaseModel, ValidationError

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from sample_resource_testkit.adapter import http_error, serve, snake, with_prefixes


def model_of(value: Any, hint: Any) -> Any:
    """A value as the type that the generated function asks for. What the call does not have is not set."""
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        if "actual_instance" in hint.model_fields:
            return hint.from_dict(value) if isinstance(value, dict) else hint(value)
        hints = {field.alias or name: field.annotation for name, field in hint.model_fields.items()}
        return hint.model_validate({name: model_of(item, hints.get(name)) for name, item in value.items()})
    if get_origin(hint) is dict and isinstance(value, dict):
        return {name: model_of(item, get_args(hint)[1]) for name, item in value.items()}
    if get_origin(hint) is list and isinstance(value, list):
        return [model_of(item, get_args(hint)[0]) for item in value]
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return model_of(value, kinds[0]) if len(kinds) == 1 or get_origin(hint) is Annotated else value


def json_of(found: Any) -> Any:
    """What the client returned, as JSON."""
    plain = found.to_dict() if hasattr(found, "to_dict") else found
    return json.loads(json.dumps(plain, default=lambda value: instant(value) if hasattr(value, "year") else str(value)))


def instant(value: Any) -> str:
    return value.isoformat().replace("+00:00", "Z")


def make(opened: dict[str, Any]) -> Any:
    if opened["token"] is None:
        return None
    client = ApiClient(Configuration(host=opened["url"], access_token=opened["token"]))
    return [api(client) for api in (ResourceApi, SearchApi, EchoApi)]


def asked(operation: str, opened: dict[str, Any], given: dict[str, Any], body: Any, hints: Any) -> dict[str, Any]:
    """The arguments of a generated function. Fields of a form have the names of parameters with a 2 behind them."""
    headers = {"Accept": given.pop("Accept")} if "Accept" in given else None
    values: dict[str, Any] = {"project_key": opened["projectKey"], "_headers": headers}
    for name, value in with_prefixes(given).items():
        is_object = name == "objectParameter" and not isinstance(value, str)
        values[argument(name)] = json.dumps(value) if is_object else value
    if operation == "searchProductProjections":
        values |= {f"{argument(name)}2": value for name, value in with_prefixes(body or {}).items()}
    elif body is not None:
        values[
            next(name for name in ("resource_draft", "overwrite_draft", "update", "complex_record") if name in hints)
        ] = body
    values["_request_timeout"] = opened["timeoutMs"] / 1000
    return {name: model_of(value, hints.get(name)) for name, value in values.items() if value is not None}


def argument(name: str) -> str:
    return {"var.<name>": "var_name", "text.<language>": "text_language"}.get(name, snake(name))


def call(client: Any, opened: dict[str, Any], operation: str, given: dict[str, Any], body: Any) -> dict[str, Any]:
    name = f"{snake(operation)}_with_http_info"
    function = next(getattr(api, name) for api in client if hasattr(api, name))
    try:
        answer = function(**asked(operation, opened, given, body, get_type_hints(function)))
    except ApiException as error:
        if operation == "checkResources" and error.status == 404:
            return {"result": False}
        if not error.status:
            return {"error": {"kind": "decoding", "message": str(error.reason)}}
        return http_error(error.status, json_of(error.data), error.headers or {})
    except (urllib3.exceptions.TimeoutError, urllib3.exceptions.HTTPError) as error:
        cause = getattr(error, "reason", None) or error
        is_timeout = isinstance(cause, urllib3.exceptions.TimeoutError)
        refused = isinstance(cause, urllib3.exceptions.NewConnectionError)
        return {"error": {"kind": "timeout" if is_timeout and not refused else "network", "message": repr(error)}}
    except json.JSONDecodeError as error:
        return {"error": {"kind": "decoding", "message": str(error)}}
    except (OpenApiException, ValidationError, UnicodeError, ValueError, TypeError, AttributeError) as error:
        return {"error": {"kind": "decoding" if was_answered(error) else "other", "message": str(error)[:500]}}
    if operation == "checkResources":
        return {"result": answer.status_code == 200}
    return {"result": json_of(answer.data), "meta": {"status": answer.status_code}}


def was_answered(error: BaseException) -> bool:
    """Whether it was raised by what reads an answer, and not by what checks arguments."""
    frame, names = error.__traceback__, []
    while frame is not None:
        names.append(frame.tb_frame.f_code.co_name)
        frame = frame.tb_next
    return "response_deserialize" in names


serve({"client": "openapi-generator python", "version": sys.argv[1], "features": ["retries"]}, make, call)
