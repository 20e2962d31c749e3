"""An index serves every order of the lists, so that no page sorts all resources of the project."""

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from app.query.fields import BEGINNING_LENGTH, SORTABLE
from app.resource.model import Paging, SortTerm
from app.resource.reading import reads
from tests.support.statements import recorded

_MANY = """
INSERT INTO resource (project_key, id, version, key, created_at, last_modified_at, created_by, last_modified_by,
    object_type, some_property)
SELECT 'p', gen_random_uuid(), 1 + i % 3, CASE WHEN i % 10 > 0 THEN 'key-' || i END,
    now() - i * interval '1 day', now() - i * interval '1 hour', 'c', 'c', '{}',
    CASE i % 3 WHEN 0 THEN 'text ' || i % 50 WHEN 1 THEN CASE WHEN i % 100 = 1 THEN repeat(i || ' ', 1000) END END
FROM generate_series(1, 20000) i
"""


@pytest.fixture(scope="module")
def planner(database_url: str) -> Iterator[Any]:
    """A connection that sees twenty thousand resources, without the scans that are cheaper for so few."""
    with psycopg.connect(database_url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ  # so that all of a test see the same
        connection.execute(_MANY)
        connection.execute("ANALYZE resource")
        connection.execute("SET LOCAL enable_seqscan = off")
        connection.execute("SET LOCAL enable_bitmapscan = off")
        yield connection
        connection.rollback()


def plan(connection: Any, paging: Paging) -> dict[str, Any]:
    """How PostgreSQL executes the statement of a page of all resources."""
    with recorded() as statements:
        reads.page("p", None, paging).read(connection)
    statement = statements[-1]
    explain = f"EXPLAIN (ANALYZE, FORMAT JSON) {statement.text}"
    return connection.execute(explain, statement.parameters).fetchone()[0][0]["Plan"]


def nodes(of: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield of
    for inner in of.get("Plans", ()):
        yield from nodes(inner)


@pytest.mark.one_machine("The coordinator's plan as JSON has the worker's plan as text.")
@pytest.mark.parametrize("name", list(SORTABLE))
@pytest.mark.parametrize("descending", [False, True])
def test_a_page_reads_little_more_than_itself(planner: Any, name: str, descending: bool) -> None:
    paging = Paging(sort=(SortTerm(SORTABLE[name], descending=descending),), with_total=False)
    scans = [node for node in nodes(plan(planner, paging)) if "Scan" in node["Node Type"]]
    read = [node for node in scans if "Relation Name" in node]
    assert read
    for scan in read:
        assert scan["Node Type"] in ("Index Scan", "Index Only Scan"), scan
        assert scan["Actual Rows"] <= 10 * paging.limit, scan
        assert not scan.get("Rows Removed by Filter"), scan


@pytest.mark.parametrize("descending", [False, True])
def test_a_text_is_sorted_by_its_beginning_and_an_absent_one_is_above_all(planner: Any, descending: bool) -> None:
    sort = (SortTerm(SORTABLE["someProperty"], descending=descending),)
    page = json.loads(reads.page("p", None, Paging(limit=20_000, sort=sort)).read_large(planner))
    rows = planner.execute("SELECT id::text, some_property FROM resource WHERE project_key = 'p'").fetchall()
    assert len(rows) == 20_000
    rows.sort(key=lambda row: (row[1] is None, (row[1] or "")[:BEGINNING_LENGTH], row[0]), reverse=descending)
    assert [(result["id"], result.get("someProperty")) for result in page["results"]] == rows
