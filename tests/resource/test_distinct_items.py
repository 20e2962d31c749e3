"""The document that conditions and facets look at: each array of numbers and texts has each value once, in order."""

import json
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import psycopg
from hypothesis import given, settings
from hypothesis import strategies as st

from app.database.connection import Connection
from app.query.object_fields import DOUBLE, INT32, INT64, NUMBER, OBJECT_FIELDS, TEXT
from app.resource import bulk_store
from app.resource.model import ResourceRow
from app.values.strict_json import encode
from tests.support.api import Api
from tests.support.generated import examples
from tests.support.object_types import object_types
from tests.support.oracle import INTEGERS, NUMBERS, many, texts

AT = "2030-01-01T00:00:00.000Z"

integers, numbers = st.sampled_from([*INTEGERS, -0.0]), st.sampled_from([*NUMBERS, -0.0, 1, 1.0])
anything = object_types({INT64: integers, INT32: integers, NUMBER: numbers, DOUBLE: numbers, TEXT: texts}, at_most=5)


def made(object_type: dict[str, Any], staged: dict[str, Any] | None = None) -> ResourceRow:
    staged_text = None if staged is None else encode(staged)
    return ResourceRow(uuid4(), 1, None, AT, AT, "c", "c", encode(object_type), None, staged_text, None)


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
        rows = [made(current, staged) for current, staged in library]
        bulk_store.copy_in(connection, "items", rows)
        found = documents(connection, "items", [row.id for row in rows])
        assert found == [(distinct(current), distinct(staged)) for current, staged in library]


def test_what_is_answered_stays_as_it_was_sent(api: Api) -> None:
    sent = {"arrayOfIntExample": [2, 1, 2], "arrayOfStringExample": ["b", "a", "b"], "arrayOfFloatExample": [-0.0, 0]}
    answer = api.get(f"/{api.create(sent)['id']}")
    assert answer.get_json()["objectTypeProperty"] == sent
    assert "-0.0" in answer.text
    assert documents_of(api, "arrayOfIntExample:range(* to *)") == 1


def documents_of(api: Api, filter_text: str) -> int:
    return api.get("/searchApiPattern", query_string={"filter": filter_text}).get_json()["count"]


def test_a_resource_counts_once_for_a_value_that_it_repeats(api: Api) -> None:
    elements = [{"integerExample": 7, "integerExampleInt32": 1}, {"integerExample": 7}, {"integerExample": 9}, {}]
    api.create({"arrayOfIntExample": [5, 3, 5], "arrayOfFloatExample": [1, 1.0], "arrayOfObjectType": elements})
    facets = ["arrayOfIntExample", "arrayOfFloatExample", "arrayOfObjectType.integerExample"]
    ranges = [f"{facet}:range(0 to 6),(4 to *),(* to 8)" for facet in facets]
    names = [f"{facet} as f{number}" for number, facet in enumerate([*facets, *ranges])]
    answer = api.get("/searchApiPattern", query_string={"facet": names}).get_json()["facets"]
    terms = [[(term["term"], term["count"]) for term in answer[f"f{number}"]["terms"]] for number in range(3)]
    assert terms == [[(3.0, 1), (5.0, 1)], [(1.0, 1)], [(7.0, 1), (9.0, 1)]]
    counted = [[(each["count"], each["total"]) for each in answer[f"f{number}"]["ranges"]] for number in range(3, 6)]
    assert counted == [[(1, 8), (1, 5), (1, 8)], [(1, 1), (0, 0), (1, 1)], [(0, 0), (1, 16), (1, 7)]]
