"""The parts of the sandbox that its routes use, and the OpenAPI document of the routes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

from flask import Flask, current_app
from flask_smorest import Api

from app.openapi.document import describe_fields
from sample_resource_sandbox.api.declaring import SandboxBlueprint, ref
from sample_resource_sandbox.api.guard import Guard
from sample_resource_sandbox.api.rules import MatchSchema, OwnBodySchema, RuleSchema, TimesSchema
from sample_resource_sandbox.connections import Waits
from sample_resource_sandbox.projects.lifecycle import Projects

_TAGS = {
    "Projects": "Throwaway projects, their clocks and ids.",
    "Faults": "Rules that make answers fail.",
    "Journal": "What clients have sent and got.",
    "Runs": "What the clients of one run of tests did together, for a build to be judged by.",
}

_PATH_PARAMETERS = {"projectKey": "a sandbox project", "run": "the name of a run", "number": "the number of a request"}


class _Api(Api):
    """flask-smorest's Api, with the schema of the platform's errors."""

    ERROR_SCHEMA = ref("Error")


@dataclass(slots=True)
class Parts:
    """The parts of one application's sandbox.

    :param operations: the ids of the operations whose requests the journal shows.
    """

    projects: Projects
    guard: Guard
    operations: Sequence[str]
    waits: Waits
    _document: str = ""

    def install(self, app: Flask, blueprint: SandboxBlueprint) -> None:
        """Register the routes, and make their OpenAPI document."""
        app.config.update(
            SANDBOX_API_TITLE="Sample Resource Service: sandbox",
            SANDBOX_API_VERSION="v1",
            SANDBOX_OPENAPI_VERSION="3.1.0",
        )
        api = _Api(app, config_prefix="SANDBOX")
        describe_fields(api)
        schemas: dict[str, Any] = json.loads(Path(__file__).with_name("answers.json").read_text("utf-8"))
        # The schemas to which answers.json and other schemas refer by name.
        schemas |= {"OwnBody": OwnBodySchema, "Match": MatchSchema, "Times": TimesSchema, "Rule": RuleSchema}
        for name, schema in schemas.items():
            as_given = {"component": schema} if isinstance(schema, dict) else {"schema": schema}
            cast(Any, api.spec).components.schema(name, **as_given)
        api.register_blueprint(blueprint)
        self._document = json.dumps(_finished(cast("Any", api.spec).to_dict()))

    def document(self, base_url: str) -> str:
        """The OpenAPI document as JSON text.

        :param base_url: the URL of the service.
        """
        servers = json.dumps([{"url": base_url, "description": "this server"}])
        return f'{self._document.removesuffix("}")}, "servers": {servers}}}'


def _finished(made: dict[str, Any]) -> dict[str, Any]:
    """Complete the document with the parts that flask-smorest does not make."""
    made["info"] |= {
        "description": "Throwaway projects for those who test clients: faults on demand, a clock and ids of their own,"
        " and a journal of what the client really sent. The manual is docs/workbench/sandbox.md in the repository.",
        "contact": {"name": "Whoever runs this server"},
        "license": {"name": "MIT", "identifier": "MIT"},
    }
    made["tags"] = [{"name": name, "description": meaning} for name, meaning in _TAGS.items()]
    made["components"]["securitySchemes"] = {
        "sandboxToken": {
            "type": "http",
            "scheme": "bearer",
            "description": "The token of `SANDBOX_TOKEN`, if the service has one.",
        }
    }
    # The page, its files and the document itself have no operation id, and are left out.
    made["paths"] = {
        path: methods
        for path, methods in made["paths"].items()
        if any("operationId" in described for described in methods.values())
    }
    for path in made["paths"].values():
        for parameter in path.get("parameters", ()):
            parameter["description"] = _PATH_PARAMETERS.get(parameter["name"], "")
        for method, operation in path.items():
            if method != "parameters":
                operation["security"] = [{"sandboxToken": []}, {}]
                responses = operation["responses"]
                responses["403"] = responses["default"]
                if path.get("parameters"):
                    responses["404"] = responses["default"]
                if responses.pop("422", None) is not None:
                    responses["400"] = responses["default"]
    # HTTPStatus has the name of 422, which Python 3.13 changed.
    del made["components"]["schemas"]["PaginationMetadata"], made["components"]["responses"][HTTPStatus(422).name]
    return made


def parts() -> Parts:
    """The parts of the current application's sandbox."""
    return current_app.extensions["extension"].parts
