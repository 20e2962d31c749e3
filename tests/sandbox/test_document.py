"""``/sandbox/openapi.json``: valid, complete, and true of what is answered."""

import json
import re
from typing import Any

import jsonschema_rs
import pytest
from flask import Flask
from openapi_spec_validator import validate

from app.config import Settings
from app.sandbox.api.document import ROUTES, document
from tests.support.applications import open_app
from tests.support.sandbox import Project, Service

UNDESCRIBED = {("GET", "/sandbox"), ("GET", "/sandbox/page/{asset}"), ("GET", "/sandbox/openapi.json")}
"""The page for people, and the document itself."""


def test_it_is_valid(sandbox: Service) -> None:
    answer = sandbox.send("GET", "/sandbox/openapi.json")
    assert answer.status == 200
    validate(answer.json)


def test_it_has_every_route(settings: Settings) -> None:
    with open_app(settings, sandbox="on") as app:
        assert _routes(app) == ROUTES | UNDESCRIBED


def _routes(app: Flask) -> set[tuple[str, str]]:
    names = {"sandbox_key": "projectKey"}
    found: set[tuple[str, str]] = set()
    for rule in app.url_map.iter_rules():
        if rule.endpoint.startswith("sandbox."):
            path = re.sub("<[^:>]+:([^>]+)>", lambda match: f"{{{names.get(match[1], match[1])}}}", rule.rule)
            found |= {(method, path) for method in (rule.methods or set()) - {"OPTIONS", "HEAD"}}
    return found


def test_the_contract_does_not_have_it(settings: Settings, app: Flask) -> None:
    with open_app(settings, sandbox="on") as with_sandbox:
        assert with_sandbox.extensions["openapi"] == app.extensions["openapi"]


def schema(name: str) -> Any:
    whole = document(Settings())
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
        ("Explanation", "POST", "/explain", {"operationId": "listResources", "execute": True}),
        ("Explanation", "POST", "/explain", {"operationId": "listResources", "query": "where=version%3D1"}),
        ("Error", "POST", "/explain", {"operationId": "nothing"}),
    ],
)
def test_answers_are_as_described(throwaway: Project, name: str, method: str, path: str, body: Any) -> None:
    throwaway.rules({"name": "one", "status": 503, "times": {"first": 1}})
    throwaway.order("PUT", "/snapshots/one")
    throwaway.send("POST", "", {"objectTypeProperty": {}})
    throwaway.send("GET", "?limit=0")
    schema(name).validate(throwaway.order(method, path, body).json)


def test_a_made_project_and_the_list_are_as_described(sandbox: Service, throwaway: Project) -> None:
    schema("MadeProject").validate(throwaway.made)
    schema("ProjectList").validate(sandbox.send("GET", "/sandbox/projects").json)


def test_its_examples_are_taken(throwaway: Project) -> None:
    for path, operations in document(Settings())["paths"].items():
        for method, operation in operations.items():
            if "requestBody" in operation:
                example = operation["requestBody"]["content"]["application/json"]["example"]
                filled = path.replace("{projectKey}", throwaway.key).replace("{name}", "one")
                answer = throwaway.service.send(method.upper(), filled, json.loads(json.dumps(example)))
                assert answer.status in (200, 201, 204), answer.text


def test_the_documentation_page_offers_it(sandbox: Service) -> None:
    assert 'href="/docs?document=sandbox"' in sandbox.send("GET", "/docs").text


def test_without_the_sandbox_the_page_does_not_offer_it(app: Flask) -> None:
    assert "sandbox" not in app.test_client().get("/docs").get_data(as_text=True)
