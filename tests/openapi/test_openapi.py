"""The OpenAPI document is valid, and describes every endpoint, parameter, body and answer of the interface."""

import json
from typing import Any

import jsonschema_rs
import pytest
from flask import Flask
from openapi_spec_validator import validate

from app.config import Settings
from app.echo import ComplexRecordSchema, echo
from app.errors import CATALOGUE
from app.http.bodies import JSON
from app.identity.scopes import SCOPE_NAMES
from app.openapi.examples import ANSWER_EXAMPLES, PARTS
from app.openapi.marks import operation_of
from app.resource.model import FACET_TERMS_AT_MOST, KEY_PATTERN, TOTAL_AT_MOST
from app.values.json_fields import STORABLE_TEXT
from app.values.patterns import PROJECT_KEY_PATTERN
from tests.support.api import Api
from tests.support.applications import open_app
from tests.support.contract import Contract
from tests.support.endpoints import endpoints, endpoints_of_a_project
from tests.support.pages import ROOT


@pytest.fixture
def document(app: Flask) -> dict[str, Any]:
    return app.extensions["openapi"]


def operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for path in document["paths"].values() for operation in path.values()]


def test_the_openapi_document_is_valid(document: dict[str, Any]) -> None:
    validate(document)


def test_openapi_json_is_made_once_and_has_an_entity_tag(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(api.app.extensions, "openapi", {})
    first = api.get("//openapi.json")
    assert first.get_json()["openapi"] == "3.1.0"
    tag = first.headers["ETag"]
    again = api.get("//openapi.json", headers={"If-None-Match": f'"another", {tag}'})
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag)
    assert api.get("//openapi.json", headers={"If-None-Match": '"another"'}).data == first.data


def test_every_schema_of_an_answer_has_its_rows(app: Flask, document: dict[str, Any]) -> None:
    described = [described for view in endpoints(app).values() if (described := operation_of(view)) is not None]
    named = {each.schema for operation in described for each in operation.answers if each.schema is not None}
    in_json = {each.schema for operation in described for each in operation.answers if JSON in each.media_types}
    assert named - document["components"]["schemas"].keys() == set(), "components of app/openapi/parts.json lacks these"
    assert in_json - {None} - ANSWER_EXAMPLES.keys() == set(), "answerExamples of app/openapi/parts.json lacks these"


def test_every_endpoint_of_a_project_is_documented(app: Flask, document: dict[str, Any]) -> None:
    described = [op for path, ops in document["paths"].items() if path.startswith("/{projectKey}") for op in ops]
    assert len(described) == len(endpoints_of_a_project(app))


def test_the_parts_that_are_written_by_hand_agree_with_the_code(document: dict[str, Any]) -> None:
    record: Any = ComplexRecordSchema().load(PARTS["requestExamples"]["ComplexRecord"])
    assert echo((), (0.5, "any text"), record) == ANSWER_EXAMPLES["EchoedObjectType"]
    schemas = document["components"]["schemas"]
    resource = schemas["Resource"]["properties"]
    assert (resource["key"]["pattern"], resource["someProperty"]) == (f"^{KEY_PATTERN}$", STORABLE_TEXT)
    assert schemas["TermFacet"]["properties"]["terms"]["maxItems"] == FACET_TERMS_AT_MOST
    for page in ("FlatResourcePage", "ResourcePage", "ProjectionPage"):
        assert schemas[page]["properties"]["total"]["description"] == f"matches, exact up to {TOTAL_AT_MOST:,}"
    assert PARTS["pathParameters"]["project_key"]["schema"]["pattern"] == f"^{PROJECT_KEY_PATTERN}$"
    flow = document["components"]["securitySchemes"]["clientCredentials"]["flows"]["clientCredentials"]
    assert list(flow["scopes"]) == [f"{name}:{{projectKey}}" for name in SCOPE_NAMES]


def test_no_alternative_of_a_view_with_scopes_is_without_them(document: dict[str, Any]) -> None:
    of_projects = [
        each for path, methods in document["paths"].items() if "{projectKey}" in path for each in methods.values()
    ]
    assert len(of_projects) >= 14
    for operation in of_projects:
        assert operation["security"]
        assert all(len(scopes) == 1 for each in operation["security"] for scopes in each.values())


def test_every_parameter_has_a_schema_a_description_and_a_valid_example(document: dict[str, Any]) -> None:
    for operation in operations(document):
        for parameter in operation["parameters"]:
            where = (operation["operationId"], parameter["name"])
            kinds = parameter["schema"].get("anyOf", [parameter["schema"]])
            assert all(kind.get("type") for kind in kinds), where
            assert parameter["description"], where
            example = parameter["example"] if "example" in parameter else parameter["schema"]["examples"][0]
            jsonschema_rs.validate(parameter["schema"] | {"components": document["components"]}, example)


def test_every_error_response_has_an_example_for_each_code(document: dict[str, Any]) -> None:
    seen: set[str] = set()
    for operation in operations(document):
        for status, response in operation["responses"].items():
            examples = response.get("content", {}).get("application/json", {}).get("examples", {})
            for code, example in examples.items():
                assert example == {"$ref": f"#/components/examples/{code}"}
                value = document["components"]["examples"][code]["value"]
                assert value["statusCode"] == int(status)
                for error in value["errors"]:
                    assert status == "414" or CATALOGUE[error["code"]].status == int(status)
                    seen.add(error["code"])
    # No operation documents 405, since it answers methods that an endpoint does not have.
    assert set(CATALOGUE) - seen == {"MethodNotAllowed"}


def test_every_request_body_has_a_valid_example(app: Flask, document: dict[str, Any]) -> None:
    contract = Contract(app)
    bodies = [operation["requestBody"] for operation in operations(document) if "requestBody" in operation]
    assert len(bodies) == 10
    for body in bodies:
        (media,) = body["content"].values()
        assert contract.is_valid(media["schema"]["$ref"].rpartition("/")[2], media["example"])


def test_every_json_response_has_a_valid_example(app: Flask, document: dict[str, Any]) -> None:
    contract = Contract(app)
    for operation in operations(document):
        for status, response in operation["responses"].items():
            media = response.get("content", {}).get("application/json")
            # test_every_schema_of_an_answer_has_its_rows says of which answer the example is missing.
            if media is not None and "example" in media and int(status) < 400:
                assert contract.is_valid(media["schema"]["$ref"].rpartition("/")[2], media["example"]), operation


def test_with_a_base_domain_the_server_url_has_region_and_cloud_provider(settings: Settings) -> None:
    with open_app(settings, base_domain="example.com", connections=1) as app:
        document = app.extensions["openapi"]
    own, server = document["servers"]
    assert own["url"] == settings.base_url
    assert server["url"] == f"http://api.{{region}}.{{cloudProvider}}.example.com:{settings.port}"
    assert set(server["variables"]) == {"region", "cloudProvider"}
    validate(document)


def test_docs_openapi_json_is_the_served_document(app: Flask) -> None:
    """A change of the contract shows in review."""
    committed = (ROOT / "docs/openapi.json").read_text()
    assert committed == json.dumps(app.extensions["openapi"], indent=2) + "\n", "make generate ARGS=specification"
