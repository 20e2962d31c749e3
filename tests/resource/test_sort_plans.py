"""A long text is sorted by its beginning, which its index has."""

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from app.query.fields import BEGINNING_LENGTH, SORTABLE
from app.resource.model import Paging, SortTerm
from app.resource.reading import reads

_MANY = """
INSERT INTO resource (project_key, id, version, key, created_at, last_modified_at, created_by, last_modified_by,
    object_type, some_property)
SELECT 'p', gen_random_uuid(), 1 + i % 3, CASE WHEN i % 10 > 0 THEN 'key-' || i END,
    now() - i * interval '1 day', now() - i * interval '1 hour', 'c', 'c', '{}',
    CASE i % 3 WHEN 0 THEN 'text ' || i % 50 WHEN 1 THEN CASE WHEN i % 100 = 1 THEN repeat(i || ' ', 1000) END END
FROM generate_series(1, 20000) i
"""


@pytest.fixture(scope="module")
def connection(database_url: str) -> Iterator[Any]:
    """A connection that sees twenty thousand resources."""
    with psycopg.connect(database_url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ  # so that all of a test see the same
        connection.execute(_MANY)
        yield connection
        connection.rollback()


@pytest.mark.parametrize("descending", [False, True])
def test_a_text_is_sorted_by_its_beginning_and_an_absent_one_is_above_all(connection: Any, descending: bool) -> None:
    sort = (SortTerm(SORTABLE["someProperty"], descending=descending),)
    page = json.loads(reads.page("p", None, Paging(limit=20_000, sort=sort)).read(connection))
    rows = connection.execute("SELECT id::text, some_property FROM resource WHERE project_key = 'p'").fetchall()
    assert len(rows) == 20_000
    rows.sort(key=lambda row: (row[1] is None, (row[1] or "")[:BEGINNING_LENGTH], row[0]), reverse=descending)
    assert [(result["id"], result.get("someProperty")) for result in page["results"]] == rows
