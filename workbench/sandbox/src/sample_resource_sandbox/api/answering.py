"""What all routes of the sandbox share: their blueprint, and how they answer."""

import json
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from flask import Response, current_app, request

from app.http.answers import json_answer
from sample_resource_sandbox.api.addresses import base_url_of
from sample_resource_sandbox.api.declaring import SandboxBlueprint
from sample_resource_sandbox.api.parts import parts
from sample_resource_sandbox.projects.model import SandboxProject

blueprint = SandboxBlueprint("sandbox", __name__, url_prefix="/sandbox")

Item = TypeVar("Item")

_TURN_S = 0.003

PROJECT = "/projects/<project_key:projectKey>"


def project_of(project_key: str) -> SandboxProject:
    """The project of the path.

    :raises ApiError: 404 if the sandbox has not made it.
    """
    return parts().projects.get(project_key)


def json_of(value: Any, status: int = 200) -> Response:
    """Answer JSON."""
    return json_answer(json.dumps(value), status)


def base_url() -> str:
    """The address under which the tester reaches the service."""
    return base_url_of(request, current_app.extensions["settings"])


def done() -> Response:
    """Answer that something was done."""
    answer = Response(status=204)
    del answer.headers["Content-Type"]
    return answer


def giving_way(items: Iterable[Item]) -> Iterator[Item]:
    """The items, between which other requests have as much time as is spent on them, every few milliseconds."""
    since = time.monotonic()
    for item in items:
        yield item
        spent = time.monotonic() - since
        if spent > _TURN_S:
            time.sleep(spent)
            since = time.monotonic()
