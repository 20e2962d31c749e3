"""Small random sets of resources, for tests that compare SQL with an evaluator in Python."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from app.query.fields import Projection
from app.resource.bulk_store import copy_in
from app.resource.model import ResourceRow
from app.values.strict_json import encode

# Values: few, so that operands and stored values are often equal

IDS = [f"0190a6d4-0000-7000-8000-00000000000{digit}" for digit in "0123456789ab"]
ID_TEXTS = [*IDS[:8], IDS[3].upper(), IDS[5][:-1], "0", "g", "", "x"]
INTEGERS = [-7, -1, 0, 1, 2, 3, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)]
NUMBERS = [*INTEGERS, 0.1, 1.5, -0.5, 2.5, 5e-324, 1e300, -1e300, 1e19]
OPERAND_NUMBERS = [*NUMBERS, float("inf"), float("-inf")]
TEXTS = ["", "a", "A", "ab", "b", "B", "é", "É", 'q"t', "back\\", "%s", "a\nb", "{}", "$v0", "🐍", "\ue000", "null"]
TIMES = {
    "2020-01-01": 0,
    "2020-01-01T00:00:00": 0,
    "2020-01-01t00:00:00z": 0,
    "2020-01-01T01:00:00+01:00": 0,
    "2019-12-31T23:59:60Z": 0,
    "2020-01-01T00:00:00.0000001Z": Decimal("0.0001"),
    "2020-01-01T00:00:00.0005-00:00": Decimal("0.5"),
    "2020-01-01T00:00:00.001Z": 1,
    "2020-01-02": 86_400_000,
    "2019-12-31 12:00:00Z": -43_200_000,
}
"""Times as texts, and their milliseconds since the first of them."""

STORED_TIMES = {0: "2020-01-01T00:00:00Z", 1: "2020-01-01T00:00:00.001Z", 86_400_000: "2020-01-02T00:00:00Z"}

texts = st.sampled_from(TEXTS) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=4
)
numbers = st.sampled_from(NUMBERS)


def optional(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=members)


def arrays(items: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(items, max_size=3)


object_types = optional(
    arrayOfIntExample=arrays(st.sampled_from(INTEGERS)),
    arrayOfNumberNoDefaultsExample=arrays(numbers),
    arrayOfStringExample=arrays(texts),
    arrayOfObjectType=arrays(
        optional(integerExample=st.sampled_from(INTEGERS), integerExampleInt32=st.sampled_from([0, 1, 2]))
    ),
)

resources = st.fixed_dictionaries(
    {
        "version": st.sampled_from([1, 2, 3, 2**53 + 1]),
        "createdAt": st.sampled_from(list(STORED_TIMES)),
        "createdBy": st.fixed_dictionaries({"typeId": st.just("api-client"), "id": texts}),
        "objectTypeProperty": object_types,
    },
    optional={"key": st.sampled_from(["a", "A", "b", "ab"]), "someProperty": texts},
)
"""A strategy for resources in the form of answers, but with times in milliseconds."""

staged_changes = st.none() | st.tuples(object_types, st.none() | texts)

libraries = st.lists(
    st.tuples(resources, staged_changes), min_size=1, max_size=5, unique_by=lambda row: str(row[0].get("key", id(row)))
)

Library = list[tuple[dict[str, Any], Any]]


def printed_number(number: float) -> str:
    return {float("inf"): "1e999", float("-inf"): "-1e999"}.get(number) or encode(number)


def comparable(value: Any) -> Any:
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value) if isinstance(value, int) else value


@pytest.fixture(scope="module")
def connection(database_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection of its own, whose statements are planned anew each time."""
    with psycopg.connect(database_url, autocommit=True, prepare_threshold=None) as connection:
        yield connection


def store(connection: psycopg.Connection[Any], library: Library) -> None:
    resources = [
        ResourceRow(
            id=UUID(IDS[number]),
            version=resource["version"],
            key=resource.get("key"),
            created_at=STORED_TIMES[resource["createdAt"]],
            last_modified_at="2030-01-01T00:00:00.000Z",
            created_by=resource["createdBy"]["id"],
            last_modified_by="x",
            object_type=encode(resource["objectTypeProperty"]),
            some_property=resource.get("someProperty"),
            staged_object_type=None if staged is None else encode(staged[0]),
            staged_some_property=None if staged is None else staged[1],
        )
        for number, (resource, staged) in enumerate(library)
    ]
    copy_in(connection, "oracle", resources)


def seen(library: Library, projection: Projection) -> list[dict[str, Any]]:
    """The resources with their ids, in one projection."""
    views: list[dict[str, Any]] = []
    for number, (resource, staged) in enumerate(library):
        view = {**resource, "id": IDS[number]}
        if projection is Projection.STAGED and staged is not None:
            view |= {"objectTypeProperty": staged[0], "someProperty": staged[1]}
        views.append(view)
    return views


many = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
