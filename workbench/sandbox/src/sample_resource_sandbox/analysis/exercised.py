"""Determines which parts of the interface a client has exercised, from the OpenAPI document and its requests."""

from collections.abc import Mapping, Sequence
from typing import Any

from sample_resource_sandbox.analysis.look import TOKEN_OPERATION, TROUBLES, Look

KINDS = ("operations", "parameters", "statuses", "errors", "recoveries")

Names = Mapping[str, Sequence[str]]
"""The names of parts of the interface, by their kind."""


def names_in(document: Mapping[str, Any]) -> Names:
    """The names of all parts of the interface that can be exercised in a project.

    :param document: the OpenAPI document of the interface.
    """
    operations: dict[str, Any] = {
        operation["operationId"]: operation
        for path, methods in document["paths"].items()
        for operation in methods.values()
        if path.startswith("/{projectKey}/") or operation["operationId"] == TOKEN_OPERATION
    }
    responses = [each for operation in operations.values() for each in operation["responses"].items()]
    codes = {
        example.partition("-")[0]
        for _, response in responses
        for content in response.get("content", {}).values()
        for example in content.get("examples", ())
    }
    return {
        "operations": list(operations),
        "parameters": [
            f"{id_}.{parameter['name']}"
            for id_, operation in operations.items()
            for parameter in operation["parameters"]
            if parameter["in"] != "path" and parameter["name"] != "X-Correlation-ID"
        ],
        "statuses": sorted({status for status, _ in responses}),
        "errors": sorted(codes),
        "recoveries": [f"recovered:{trouble}" for trouble in TROUBLES],
    }


_FAMILIES = {"var.": "var.<name>", "text.": "text.<language>"}
_HEADER_PARAMETERS = {"if-match": "If-Match", "if-none-match": "If-None-Match", "prefer": "Prefer"}


_CARRIED_OUT = (404, 409, 412)
"""The error statuses that depend on the resources of the project. A request that gets one of them was valid."""


def exercised_by(look: Look, known: Mapping[str, frozenset[str]]) -> list[tuple[str, str]]:
    """The kinds and names of the parts that one request has exercised.

    A request that was refused, or that a rule has answered, exercises no operation.

    :param known: the names of all parts, by kind.
    """
    made: list[tuple[str, str]] = []
    operation, status, headers = look.operation, look.own_status, look.headers
    if operation is not None and status is not None and (status < 400 or status in _CARRIED_OUT):
        given = {_public(name) for name, _ in look.parameters}
        given |= {public for name, public in _HEADER_PARAMETERS.items() if name in headers}
        names = [f"{operation}.{name}" for name in given]
        made = [("operations", operation), *(("parameters", name) for name in names if name in known["parameters"])]
    if status is not None and not look.is_lost and not look.is_ordered:
        made.append(("statuses", str(status)))
        made += [("errors", code) for code in look.error_codes]
    return made


def _public(name: str) -> str:
    """The name of a parameter in the document, in which a parameter family has one name."""
    return next((public for begin, public in _FAMILIES.items() if name.startswith(begin)), name)
