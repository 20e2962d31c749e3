"""The commercetools SDK for Python. All lines but those that use ``client`` are glue.

Its services are those of the platform; here its client sends requests to the interface, so paths are written here.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests.exceptions
from commercetools.base_client import BaseClient
from commercetools.exceptions import CommercetoolsError
from commercetools.platform.models import ErrorResponse
from commercetools.utils import BaseTokenSaver
from oauthlib.oauth2.rfc6749.errors import MissingTokenError, OAuth2Error
from requests.adapters import HTTPAdapter
from urllib3 import Retry

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from sample_resource_testkit.adapter import FORM, OPERATIONS, serve, with_prefixes

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"  # otherwise oauthlib refuses to send credentials over http

Opened = dict[str, Any]


class Given(BaseTokenSaver):
    """A token that is there; without one the SDK asks for its own."""

    def __init__(self, token: str | None) -> None:
        self.token = None if token is None else {"access_token": token, "token_type": "Bearer"}

    def get_token(self, *_: Any) -> Any:
        return self.token

    def add_token(self, *found: Any) -> None:
        self.token = found[-1]


class WithTimeout(HTTPAdapter):
    """The SDK takes an adapter for a time limit. Its retries are those that the SDK has without one."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(max_retries=Retry(status=3, connect=3, status_forcelist=[502, 503, 504]))
        self.limit_s = limit_s

    def send(self, request: Any, *args: Any, **more: Any) -> Any:
        return super().send(request, *args, **{**more, "timeout": self.limit_s})


def make(_: Opened) -> list[BaseClient]:
    """The SDK asks for a token as soon as a client is made, so the first call makes it."""
    return []


def client_of(opened: Opened) -> BaseClient:
    return BaseClient(
        client_id=opened["clientId"],
        client_secret=opened["clientSecret"],
        scope=opened["scope"].split(" "),
        url=opened["url"],
        token_url=opened["url"],  # the SDK adds /oauth/token
        token_saver=Given(opened["token"]),
        http_adapter=WithTimeout(opened["timeoutMs"] / 1000),
    )


def written(values: dict[str, Any]) -> dict[str, Any]:
    """Parameters by the names that they have on the wire."""
    found: dict[str, Any] = {}
    for name, value in with_prefixes(values).items():
        found |= value if name in ("var.<name>", "text.<language>") else {name: value}
    return {name: json.dumps(value) if isinstance(value, dict) else value for name, value in found.items()}


def send(client: BaseClient, opened: Opened, operation: str, given: dict[str, Any], body: Any) -> Any:
    described = OPERATIONS[operation]
    places = {each["name"]: each["in"] for each in described["parameters"]}
    headers = {name: value for name, value in given.items() if name == "Accept" or places.get(name) == "header"}
    path = described["path"].replace("{projectKey}", opened["projectKey"])
    for name, place in places.items():
        if place == "path" and name != "projectKey":
            path = path.replace(f"{{{name}}}", quote(given[name], safe=""))
    query = written(
        {name: value for name, value in given.items() if name not in headers and places.get(name) != "path"}
    )
    method, is_form = described["method"], described["body"] == FORM
    if method == "GET":
        return client._get(path, params=query, headers=headers)
    if method == "DELETE":
        return client._delete(path, params=query, headers=headers)
    if method == "POST":
        content = {"data": written(body or {})} if is_form else {"json": body}
        return client._post(path, params=query, headers=headers, **content)
    # The SDK has functions for these three methods alone; its session has all.
    return client._http_client.request(method, client._base_url + path, params=query, headers=headers, json=body)


def call(client: list[BaseClient], opened: Opened, operation: str, given: dict[str, Any], body: Any) -> dict[str, Any]:
    try:
        if not client:
            client.append(client_of(opened))
        answer = send(client[0], opened, operation, given, body)
        if operation == "checkResources" and answer.status_code in (200, 404):
            return {"result": answer.ok}
        if answer.ok:
            # as the services of the SDK do
            return {"result": answer.json(), "meta": {"status": answer.status_code}}
        raise client[0]._create_exception(ErrorResponse.deserialize(answer.json()), answer)
    except CommercetoolsError as error:
        return {"error": shown(error)}
    except requests.exceptions.HTTPError as error:
        return {"error": {"kind": "http", "status": error.response.status_code}}
    except requests.exceptions.RetryError as error:
        return {"error": {"kind": "http", "message": str(error)}}
    except requests.exceptions.Timeout as error:
        return {"error": {"kind": "timeout", "message": str(error)}}
    except requests.exceptions.JSONDecodeError as error:
        return {"error": {"kind": "decoding", "message": str(error)}}
    except requests.exceptions.RequestException as error:
        is_late = "timed out" in str(error)
        return {"error": {"kind": "timeout" if is_late else "network", "message": str(error)}}
    except MissingTokenError as error:
        return {"error": {"kind": "decoding", "message": str(error)}}
    except OAuth2Error as error:
        return {"error": {"kind": "http", "status": error.status_code, "code": error.error, "message": str(error)}}
    except Exception as error:  # noqa: BLE001 -- whatever the SDK raises is what is measured
        return {"error": {"kind": "other", "message": repr(error)[:500]}}


def shown(error: CommercetoolsError) -> dict[str, Any]:
    """What the exception of the SDK shows."""
    first = error.errors[0] if error.errors else {}
    told = {
        "status": getattr(error.response, "status_code", None),
        "code": error.codes[0] if error.codes else None,
        "message": error.args[0],
        "currentVersion": first.get("currentVersion"),
        "errors": error.errors or None,
    }
    return {"kind": "http", **{name: value for name, value in told.items() if value is not None}}


serve({"client": "commercetools", "version": sys.argv[1], "features": ["reconnects", "retries"]}, make, call)
