"""What all routes of the sandbox share: their blueprint, and how they answer."""

import json
from typing import Any

from flask import Response, current_app, request

from app.http.answers import json_answer
from app.sandbox.api.addresses import base_url_of
from app.sandbox.api.declaring import SandboxBlueprint
from app.sandbox.api.parts import parts
from app.sandbox.projects.model import SandboxProject

blueprint = SandboxBlueprint("sandbox", __name__, url_prefix="/sandbox")

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
