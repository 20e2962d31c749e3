"""The operations that the judge knows by kind."""

from typing import Any

from flask import Flask
from sample_resource_sandbox.analysis.look import BODIES_OF_RESOURCES, LISTS, WRITES_BY_ID


def test_the_sets_are_those_of_the_document(app: Flask) -> None:
    lists: set[str] = set()
    bodies: set[str] = set()
    writes: set[str] = set()
    document: dict[str, Any] = app.extensions["openapi"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            name = operation["operationId"]
            if any(parameter["name"] == "limit" for parameter in operation["parameters"]):
                lists.add(name)
            if "Draft" in str(operation.get("requestBody", {}).get("content", {}).get("application/json", {})):
                bodies.add(name)
            if path.endswith("/{id}") and method != "get":
                writes.add(name)
    known = (LISTS, BODIES_OF_RESOURCES, WRITES_BY_ID)
    assert (lists, bodies, writes) == known, "add the operation to its set in analysis/look.py of the sandbox"
