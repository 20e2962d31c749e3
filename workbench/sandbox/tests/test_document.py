"""``/sandbox/openapi.json``: valid, complete, and true of what is answered."""

import re

import jsonschema_rs
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
    validate(sandbox.send("GET", "/sandbox/openapi.json").json)


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


def test_answers_are_as_described(throwaway: Project) -> None:
    throwaway.rules({"name": "one", "status": 503, "times": {"first": 1}})
    throwaway.send("POST", "", {"objectTypeProperty": {}})
    throwaway.send("GET", "?limit=0")
    components = throwaway.service.send("GET", "/sandbox/openapi.json").json["components"]
    answers = {
        "MadeProject": throwaway.made,
        "ProjectList": throwaway.service.send("GET", "/sandbox/projects").json,
        "Project": throwaway.order("GET").json,
        "RuleList": throwaway.order("GET", "/rules").json,
        "EntryPage": throwaway.order("GET", "/requests").json,
        "Entry": throwaway.order("GET", "/requests/1").json,
        "Archive": throwaway.order("GET", "/requests.har").json,
        "Report": throwaway.order("GET", "/report").json,
        "IssuedToken": throwaway.order("POST", "/tokens").json,
        "Expected": throwaway.order("POST", "/requests/expect", {"method": "GET"}).json,
        "Unmet": throwaway.order("POST", "/requests/expect", {"method": "DELETE"}).json,
    }
    for name, answer in answers.items():
        schema = {"$ref": f"#/components/schemas/{name}", "components": components}
        jsonschema_rs.validator_for(schema).validate(answer)


def test_its_examples_are_taken(throwaway: Project) -> None:
    for path, operations in throwaway.service.send("GET", "/sandbox/openapi.json").json["paths"].items():
        for method, operation in operations.items():
            if method != "parameters" and "requestBody" in operation:
                example = operation["requestBody"]["content"]["application/json"]["example"]
                filled = path.replace("{projectKey}", throwaway.key)
                answer = throwaway.service.send(method.upper(), filled, example)
                assert answer.status in (200, 201, 204), answer.text
