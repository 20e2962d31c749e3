"""``/sandbox/openapi.json``: valid, complete, and true of what is answered."""

import json
import re
from typing import Any

import jsonschema_rs
import pytest
from flask import Flask
from openapi_spec_validator import validate
from tester import Project, Service, with_sandbox

from app.config import Settings
from tests.support.applications import open_app

UNDESCRIBED = {
    ("GET", "/sandbox"),
    ("GET", "/sandbox/page/{asset}"),
    ("GET", "/sandbox/projects/{projectKey}/resources"),
    ("GET", "/sandbox/openapi.json"),
}
"""The page for people with what only it reads, and the document itself."""


def test_it_is_valid(sandbox: Service) -> None:
    answer = sandbox.send("GET", "/sandbox/openapi.json")
    assert answer.status == 200
    validate(answer.json)


def test_it_has_every_route(sandbox: Service, settings: Settings) -> None:
    described = {
        (method.upper(), path)
        for path, methods in sandbox.send("GET", "/sandbox/openapi.json").json["paths"].items()
        for method in methods
        if method != "parameters"
    }
    with open_app(with_sandbox(settings)) as app:
        assert _routes(app) == described | UNDESCRIBED


def _routes(app: Flask) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for rule in app.url_map.iter_rules():
        if rule.endpoint.startswith("sandbox."):
            path = re.sub("<[^:>]+:([^>]+)>", lambda match: f"{{{match[1]}}}", rule.rule)
            found |= {(method, path) for method in (rule.methods or set()) - {"OPTIONS", "HEAD"}}
    return found


def test_the_contract_does_not_have_it(settings: Settings, app: Flask) -> None:
    with open_app(with_sandbox(settings)) as switched_on:
        assert switched_on.extensions["openapi"] == app.extensions["openapi"]


def schema(service: Service, name: str) -> Any:
    whole = service.send("GET", "/sandbox/openapi.json").json
    return jsonschema_rs.validator_for({"$ref": f"#/components/schemas/{name}", "components": whole["components"]})


@pytest.mark.parametrize(
    ("name", "method", "path", "body"),
    [
        ("Project", "GET", "", None),
        ("RuleList", "GET", "/rules", None),
        ("EntryPage", "GET", "/requests", None),
        ("Entry", "GET", "/requests/1", None),
        ("Archive", "GET", "/requests.har", None),
        ("Report", "GET", "/report", None),
        ("IssuedToken", "POST", "/tokens", None),
        ("Expected", "POST", "/requests/expect", {"method": "GET"}),
        ("Unmet", "POST", "/requests/expect", {"method": "DELETE"}),
    ],
)
def test_answers_are_as_described(throwaway: Project, name: str, method: str, path: str, body: Any) -> None:
    throwaway.rules({"name": "one", "status": 503, "times": {"first": 1}})
    throwaway.send("POST", "", {"objectTypeProperty": {}})
    throwaway.send("GET", "?limit=0")
    schema(throwaway.service, name).validate(throwaway.order(method, path, body).json)


def test_a_made_project_and_the_list_are_as_described(sandbox: Service, throwaway: Project) -> None:
    schema(sandbox, "MadeProject").validate(throwaway.made)
    schema(sandbox, "ProjectList").validate(sandbox.send("GET", "/sandbox/projects").json)


def test_its_examples_are_taken(throwaway: Project) -> None:
    for path, operations in throwaway.service.send("GET", "/sandbox/openapi.json").json["paths"].items():
        for method, operation in operations.items():
            if method != "parameters" and "requestBody" in operation:
                example = operation["requestBody"]["content"]["application/json"]["example"]
                filled = path.replace("{projectKey}", throwaway.key)
                answer = throwaway.service.send(method.upper(), filled, json.loads(json.dumps(example)))
                assert answer.status in (200, 201, 204), answer.text
