"""What the testkit knows of each operation to hold clients against, taken from the OpenAPI document."""

import json
from typing import Any

from tests.specification.clauses import ROOT

DOCUMENT = ROOT / "docs/openapi.json"

DATA = ROOT / "workbench/testkit/src/sample_resource_testkit/client/operations.json"

JSON, FORM = "application/json", "application/x-www-form-urlencoded"

DEFAULTS = {"limit": 20, "offset": 0, "withTotal": True, "staged": False, "fuzzy": False, "fuzzyLevel": 2}
"""What the absence of a parameter means, by the clauses 4.12-4, 4.12-5, 4.12-8, 3-2, 3-4, S-10 and S-12; the document
names few of them."""


def as_json() -> str:
    """The data file: an array with a line for each operation below a project."""
    document = json.loads(DOCUMENT.read_text("utf-8"))
    made = [
        _operation(document, path, method, item)
        for path, methods in document["paths"].items()
        if path.startswith("/{projectKey}/")
        for method, item in methods.items()
    ]
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in made)
    return f"[\n{lines}\n]\n"


def _operation(document: dict[str, Any], path: str, method: str, item: dict[str, Any]) -> dict[str, Any]:
    parameters = [
        _parameter(each["name"], each["in"], each["schema"])
        for each in item["parameters"]
        if each["name"] != "projectKey"
    ]
    taken = [list(answer.get("content", ())) for status, answer in item["responses"].items() if status < "300"]
    if any(len(types) > 1 for types in taken):
        parameters.append({"name": "Accept", "in": "header", "kind": "text"})
    (body,) = item.get("requestBody", {}).get("content") or [None]
    fields: list[dict[str, Any]] = []
    if body == FORM:
        reference = item["requestBody"]["content"][FORM]["schema"]["$ref"].rpartition("/")[2]
        properties = document["components"]["schemas"][reference]["properties"]
        fields = [_parameter(name, "form", schema) for name, schema in properties.items()]
    return {
        "id": item["operationId"],
        "method": method.upper(),
        "path": path,
        "parameters": parameters,
        "body": body,
        "fields": fields,
    }


def _parameter(name: str, place: str, schema: dict[str, Any]) -> dict[str, Any]:
    default = {"default": DEFAULTS[name]} if name in DEFAULTS and place != "path" else {}
    assert schema.get("default", DEFAULTS.get(name)) == DEFAULTS.get(name), name
    return {"name": name, "in": place, "kind": _kind(schema), **default}


def _kind(schema: dict[str, Any]) -> str:
    """How the values of a parameter are written: as one of JSON's scalars, repeated, by names of their own, as JSON."""
    kind: str = schema.get("type", "string")
    if kind == "object":
        return "family"
    if schema.get("contentMediaType") == JSON:
        return "json"
    return {"array": "list", "string": "text"}.get(kind, kind)
