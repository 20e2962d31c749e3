"""Helpers for tests of the query language: requests with predicates, and their results or error messages."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.query.fields import RESOURCE, Field
from app.query.object_fields import OBJECT_FIELDS
from app.query.predicate.operators import NEGATIONS, OPERATORS, Arity
from tests.support.api import Api, codes

SORTED = "/sorted-query-parameters"

OPERATIONS = {**OPERATORS, **NEGATIONS}
"""The operators by their tokens."""

EXAMPLES = {
    **{row.name: row.example[0] for row in OBJECT_FIELDS if row.type is not None},
    **{name: row.example[0][name] for row in OBJECT_FIELDS for name in row.members},
    "id": "00000000-0000-4000-8000-000000000001",
    "key": "the-key",
    "version": 1,
    "createdAt": "2020-01-01T00:00:00.000Z",
    "lastModifiedAt": "2020-01-01T00:00:00.000Z",
    "someProperty": "x",
    "typeId": "api-client",
}
"""Example values by the names of their fields."""


def _paths(known: Mapping[str, Field], before: str = "") -> Iterator[tuple[str, Field]]:
    for name, row in known.items():
        yield f"{before}{name}", row
        yield from _paths(row.members, f"{before}{name}.")


FIELDS = dict(_paths(RESOURCE))
"""The fields of a resource by their paths."""


def predicate(path: str, token: str, *values: str) -> str:
    """A predicate with one operator on one field. An operator with a list gets all values, any other the first."""
    *around, name = path.split(".")
    operand = {Arity.NONE: "", Arity.ONE: values[0], Arity.LIST: f"({', '.join(values)})"}[OPERATIONS[token].arity]
    return f"{''.join(f'{outer}(' for outer in around)}{name} {token} {operand}{')' * len(around)}"


def ask(api: Api, *where: str, path: str = SORTED, **variables: str | list[str]) -> Any:
    """Send a request with predicates and variables; the names of variables lack ``var.``."""
    named = {f"var.{name}": value for name, value in variables.items()}
    return api.get(path, query_string={"where": list(where), "limit": "500", **named})


def found(api: Api, *where: str, path: str = SORTED, **variables: str | list[str]) -> list[str]:
    """The sorted keys of the resources that predicates find; a dash for a resource without a key."""
    answer = ask(api, *where, path=path, **variables)
    assert answer.status_code == 200, answer.text
    page = answer.get_json()
    assert page["count"] == page["total"] == len(page["results"])
    return sorted(result.get("key", "-") for result in page["results"])


def refusals(api: Api, *where: str, **variables: str | list[str]) -> list[str]:
    """The messages of a 400 answer, without their common beginning."""
    answer = ask(api, *where, path=SORTED, **variables)
    assert answer.status_code == 400, answer.text
    assert set(codes(answer)) == {"InvalidInput"}
    messages = [error["message"] for error in answer.get_json()["errors"]]
    assert all(message.startswith("Malformed parameter: where: ") for message in messages)
    return [message.removeprefix("Malformed parameter: where: ") for message in messages]
