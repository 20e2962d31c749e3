"""What of the interface a client has exercised: derived from the OpenAPI document, and from what requests parse to."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from app.query.filters.ast import Presence, Subtree, Values
from app.query.filters.parser import parse_facet, parse_filter, terms_of_parameter
from app.query.language import InvalidExpression, Terms
from app.query.predicate.ast import And, Atom, Nested, Not, Or, Parsed
from app.query.predicate.operators import NEGATIONS, OPERATORS
from app.query.predicate.parser import parse, terms_of_request
from app.sandbox.analysis.look import LISTS, TOKEN_OPERATION, TROUBLES, Look

KINDS = ("operations", "parameters", "notations", "statuses", "errors", "operators", "recoveries")

Names = Mapping[str, Sequence[str]]
"""By kind."""

_OF_FILTERS = ("value", "subtree()", "range()", "exists", "missing")
_FILTER_PARAMETERS: Mapping[str, Callable[[str, Terms], Any]] = {
    "filter": parse_filter, "filter.query": parse_filter, "filter.facets": parse_filter, "facet": parse_facet,
}  # fmt: skip


def names_in(document: Mapping[str, Any]) -> Names:
    """All that can be exercised in a project.

    :param document: that of the interface.
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
        "notations": _NOTATIONS,
        "statuses": sorted({status for status, _ in responses}),
        "errors": sorted(codes),
        "operators": [*OPERATORS, *NEGATIONS, "and", "or", "not", *(f"filter {each}" for each in _OF_FILTERS)],
        "recoveries": list(TROUBLES),
    }


_NOTATIONS = ("key=", "%2F", "var.*", "text.*", "repetition", "forms", "Prefer")


_FAMILIES = {"var.": "var.<name>", "text.": "text.<language>"}
_HEADER_PARAMETERS = {"if-match": "If-Match", "if-none-match": "If-None-Match", "prefer": "Prefer"}


def exercised_by(look: Look, known: Mapping[str, frozenset[str]]) -> list[tuple[str, str]]:
    """What one request has exercised: kind and name.

    :param known: by kind.
    """
    operation, status, headers = look.operation, look.status, look.headers
    made: list[tuple[str, str]] = []
    if operation is not None:
        made.append(("operations", operation))
    if look.parameters or not headers.keys().isdisjoint(_HEADER_PARAMETERS):
        given = {_public(name) for name, _ in look.parameters}
        given |= {public for name, public in _HEADER_PARAMETERS.items() if name in headers}
        names = [f"{operation}.{name}" for name in given]
        made += [("parameters", name) for name in names if name in known["parameters"]]
    if "/key=" in look.path:
        made.append(("notations", "key="))
    if "%2f" in look.path.lower():
        made.append(("notations", "%2F"))
    if "prefer" in headers:
        made.append(("notations", "Prefer"))
    if look.parameters:
        made += [("notations", name) for name in _notations_in(look)]
    if status is not None and not look.is_lost:
        made.append(("statuses", str(status)))
        made += [("errors", code) for code in look.error_codes]
    if operation in LISTS and status == 200:
        operators = {each for name, value in look.parameters for each in _operators_in(name, value)}
        made += [("operators", each) for each in operators]
    return made


def _notations_in(look: Look) -> Iterator[str]:
    """The notations of parameters."""
    names = [name for name, _ in look.parameters]
    yield from (f"{family}*" for family in _FAMILIES if any(name.startswith(family) for name in names))
    if len(names) != len(set(names)):
        yield "repetition"
    if look.is_resource and look.form:
        yield "forms"


def _public(name: str) -> str:
    """The name of a parameter in the document, where a family has one name."""
    return next((public for begin, public in _FAMILIES.items() if name.startswith(begin)), name)


@lru_cache(maxsize=2048)
def _operators_in(name: str, value: str) -> tuple[str, ...]:
    """The operators in a parameter that was accepted."""
    with suppress(InvalidExpression):
        if name == "where":
            return tuple(set(_of_predicate(parse(value, terms_of_request()))))
        if name in _FILTER_PARAMETERS:
            return tuple(set(_of_filter(_FILTER_PARAMETERS[name](value, terms_of_parameter()).expression)))
    return ()


def _of_predicate(tree: Parsed) -> Iterator[str]:
    match tree:
        case And(terms) | Or(terms):
            yield "and" if isinstance(tree, And) else "or"
            for term in terms:
                yield from _of_predicate(term)
        case Not(term):
            yield "not"
            yield from _of_predicate(term)
        case Nested(_, term):
            yield from _of_predicate(term)
        case Atom():
            yield re.sub(r"\s+", " ", tree.operator)


def _of_filter(expression: Any) -> Iterator[str]:
    if isinstance(expression, Presence):
        yield f"filter {'exists' if expression.exists else 'missing'}"
    elif isinstance(expression, Values):
        for item in expression.items:
            yield "filter subtree()" if isinstance(item, Subtree) else "filter value"
    elif expression is not None:
        yield "filter range()"
