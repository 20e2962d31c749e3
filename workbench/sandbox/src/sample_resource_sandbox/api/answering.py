"""The common parts of all routes of the sandbox: their blueprint, and functions that make answers."""

import json
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar
from urllib.parse import urlsplit

from flask import Request, Response, current_app, request

from app.config import Settings, is_loopback
from app.http.answers import json_answer
from sample_resource_sandbox.api.declaring import SandboxBlueprint
from sample_resource_sandbox.api.guard import is_loopback_host
from sample_resource_sandbox.api.parts import parts
from sample_resource_sandbox.projects.model import SandboxProject

blueprint = SandboxBlueprint("sandbox", __name__, url_prefix="/sandbox")

Item = TypeVar("Item")

_TURN_S = 0.003

PROJECT = "/projects/<project_key:projectKey>"


def project_of(project_key: str) -> SandboxProject:
    """The sandbox project with the key in the path.

    :raises ApiError: 404 if the sandbox has no such project.
    """
    return parts().projects.get(project_key)


def json_of(value: Any, status: int = 200) -> Response:
    """A JSON answer with a value."""
    return json_answer(json.dumps(value), status)


def base_url() -> str:
    """The base URL at which the tester reaches the service."""
    return base_url_of(request, current_app.extensions["settings"])


def base_url_of(request: Request, settings: Settings) -> str:
    """The base of URLs in an answer, without a slash at its end.

    It is the Host of the request if that is the tester's own machine, for example with a port that a container maps;
    else ``PUBLIC_URL``, or the address on which gunicorn listens. If ``PUBLIC_URL`` is another machine, it is always
    used, because a proxy may send any Host.
    """
    is_public = settings.public_url is not None and not is_loopback(urlsplit(settings.public_url).hostname or "")
    if is_public or not is_loopback_host(request):
        return settings.base_url
    return f"{request.scheme}://{request.host}{request.script_root}"


def done() -> Response:
    """An answer 204."""
    answer = Response(status=204)
    del answer.headers["Content-Type"]
    return answer


def giving_way(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items. After every few milliseconds, other requests get as much time as the items took."""
    since = time.monotonic()
    for item in items:
        yield item
        spent = time.monotonic() - since
        if spent > _TURN_S:
            time.sleep(spent)
            since = time.monotonic()
