"""Compares every answer of the application under test with its OpenAPI document."""

import json
from functools import cache
from typing import Any

import jsonschema_rs
from flask import Flask, Request, Response, request

from app.openapi.document import path_template

OPTIONAL_HEADERS = {"Preference-Applied"}
"""Documented headers that an answer may lack."""


class Contract:
    """The OpenAPI document, and the violations in the answers so far."""

    def __init__(self, app: Flask) -> None:
        self.document: dict[str, Any] = app.extensions["openapi"]
        self.violations: list[str] = []
        self.checked = 0
        self._validator_of = cache(self._make_validator)

    def _make_validator(self, name: str) -> Any:
        schema = {"$ref": f"#/components/schemas/{name}", "components": _closed(self.document["components"])}
        return jsonschema_rs.validator_for(schema)

    def is_valid(self, name: str, value: Any) -> bool:
        """Whether a value is valid against a schema of the document."""
        return self._validator_of(name).is_valid(value)

    def check(self, response: Response) -> Response:
        """Record what is wrong with an answer to the current request; registered as an ``after_request`` function."""
        problem = self._problem(request, response)
        self.checked += 1
        if problem is not None:
            self.violations.append(f"{request.method} {request.full_path}: {response.status_code}: {problem}")
        return response

    def _problem(self, request: Request, response: Response) -> str | None:
        if request.method == "OPTIONS":
            return None
        if request.url_rule is None:
            return self._body_problem(response, {"application/json": {"schema": {"$ref": "/Error"}}}, request.method)
        operations = self.document["paths"].get(_public_template(request.url_rule.rule))
        if operations is None:
            return None  # the documentation page, and routes that tests add
        operation = operations.get(request.method.lower()) or operations.get("get")
        documented = operation["responses"].get(str(response.status_code))
        if documented is None:
            return "the status is not documented"
        missing = set(documented["headers"]) - set(response.headers.keys()) - OPTIONAL_HEADERS
        # The request log adds the header after this check.
        missing.discard("X-Correlation-ID")
        if missing:
            return f"headers are missing: {sorted(missing)}"
        return self._body_problem(response, documented.get("content", {}), request.method)

    def _body_problem(self, response: Response, content: dict[str, Any], method: str) -> str | None:
        body = response.get_data()
        if not content or method == "HEAD":
            return None if method == "HEAD" or not body else "a body that is not documented"
        media_type = content.get(response.mimetype or "")
        if media_type is None:
            return f"the content type {response.mimetype} is not documented"
        if response.mimetype != "application/json":
            return None
        name = media_type["schema"]["$ref"].rpartition("/")[2]
        error = next(iter(self._validator_of(name).iter_errors(json.loads(body))), None)
        return None if error is None else f"{error.message} at {error.instance_path} of {body[:300]!r}"


def _closed(schema: Any) -> Any:
    """A schema that permits no unknown members. In the document, objects of answers permit them, for later versions."""
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(value) for name, value in schema.items()}
    return {"additionalProperties": False, **closed} if isinstance(schema.get("properties"), dict) else closed


def _public_template(rule: str) -> str:
    try:
        return path_template(rule)
    except KeyError:
        return rule
