"""The document that conditions and facets look at: each array of numbers and texts has each value once, in order."""

import json
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
from hypothesis import given, settings
from hypothesis import strategies as st

from app.database.connection import Connection
from app.query.object_fields import DOUBLE, INT32, INT64, NUMBER, OBJECT_FIELDS, TEXT
from app.resource import bulk_store
from app.values.strict_json import encode
from tests.support.generated import examples
from tests.support.object_types import object_types
from tests.support.oracle import INTEGERS, NUMBERS, many, texts
from tests.support.rows import made

integers, numbers = st.sampled_from([*INTEGERS, -0.0]), st.sampled_from([*NUMBERS, -0.0, 1, 1.0])
anything = object_types({INT64: integers, INT32: integers, NUMBER: numbers, DOUBLE: numbers, TEXT: texts}, at_most=5)


def distinct(object_type: dict[str, Any] | None) -> dict[str, Any] | None:
    """The document in Python, from the JSON text that is stored."""
    if object_type is None:
        return None
    sent = json.loads(encode(object_type), parse_float=Decimal)
    of_objects = {row.name for row in OBJECT_FIELDS if row.members}
    return {name: items if name in of_objects else sorted(set(items)) for name, items in sent.items()}


def documents(connection: Connection, project_key: str, ids: list[UUID]) -> list[tuple[Any, Any]]:
    """Those of both projections, in the order of the ids."""
    rows = connection.execute(
        "SELECT r.object::text, r.staged_object::text FROM unnest(%(ids)s) WITH ORDINALITY w (id, place)"
        " JOIN resource r USING (id) WHERE r.project_key = %(project_key)s ORDER BY w.place",
        {"project_key": project_key, "ids": ids},
    )
    return [tuple(text and json.loads(text, parse_float=Decimal) for text in row) for row in rows]


@settings(many, max_examples=examples(20))
@given(library=st.lists(st.tuples(anything, st.none() | anything), min_size=1, max_size=8))
def test_each_value_stands_once_and_in_order(database_url: str, library: list[Any]) -> None:
    with psycopg.connect(database_url) as connection:
        rows = [made(encode(one), staged=None if staged is None else encode(staged)) for one, staged in library]
        bulk_store.copy_in(connection, "items", rows)
        found = documents(connection, "items", [row.id for row in rows])
        expected = [(distinct(current), distinct(staged)) for current, staged in library]
        assert found == expected, "distinct_items of a migration makes the items of each type distinct and ordered"
