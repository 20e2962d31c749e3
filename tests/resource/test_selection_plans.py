"""Selective reads use an index instead of reading all resources of the project.

This holds whatever the planner knows: with the values of parameters or without, with statistics or without, and also
while the pending lists of the GIN indexes have entries.
"""

import secrets
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psycopg
import pytest

from app.database import migrate
from app.query.fields import SORTABLE, Index
from app.query.filters.resolver import read_facets, read_filters
from app.query.predicate import resolver
from app.query.predicate.conditions import Condition
from app.resource.model import Paging, Search, SearchText, SortTerm
from app.resource.reading import reads
from app.resource.reading.listing import Selected
from app.resource.resource_json import FLAT_JSON
from app.resource.searching.searches import page_of_search
from app.resource.searching.words import expand
from app.values.strict_json import encode
from tests.support.api import UNKNOWN_ID
from tests.support.cluster import Cluster

RESOURCES = 20_000
FOUND = 20

_INSERT = """
INSERT INTO resource (project_key, id, version, key, created_at, last_modified_at, created_by, last_modified_by,
    object_type, some_property)
SELECT 'p', gen_random_uuid(), 1 + i % 3, 'key-' || %(from)s + i, now(), now(), 'c', 'c',
    format('{"arrayOfStringExample":["word%%s","common"],"arrayOfObjectType":[{"integerExample":%%s}]}', i %% 1000,
        i %% 1000), 'text'
FROM generate_series(1, %(count)s) i
"""


@pytest.fixture(scope="module", params=["after ANALYZE", "without statistics", "with writes pending"])
def connection(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[psycopg.Connection[Any]]:
    # A database of its own: in a shared one autovacuum may have collected statistics of other tests' rows.
    url = cluster.create_database(f"plans_{secrets.token_hex(8)}")
    migrate.upgrade(url)
    with psycopg.connect(url, prepare_threshold=0) as connection:
        # 20 of 20,000 resources fulfil each condition, whether or not 4,000 of them are in the pending lists.
        pending = 4_000 if request.param == "with writes pending" else 0
        insert = _INSERT.replace("1 + i % 3", "1 + i %% 3")
        connection.execute(insert, {"from": 0, "count": RESOURCES - pending})
        connection.execute("SELECT gin_clean_pending_list('resource_object'), gin_clean_pending_list('resource_words')")
        if request.param != "without statistics":
            connection.execute("ANALYZE resource")
        if pending:
            connection.execute(insert, {"from": RESOURCES, "count": pending})
        yield connection
        connection.rollback()


def read(connection: psycopg.Connection[Any]) -> int:
    """Rows of resources that the transaction has read so far."""
    row = connection.execute(
        "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'resource'"
    ).fetchone()
    assert row is not None
    return row[0]


def where(text: str) -> Condition:
    return resolver.read([text], {})


def any_of(*words: str) -> Condition:
    return where(f"arrayOfStringExample contains any ({', '.join(map(encode, words))})")


CONTAINED = any_of("word7")
EITHER = any_of("word7", "no word")
ANY_OF_300 = any_of("word7", *["none"] * 299)
FILTER = read_filters(['arrayOfStringExample:"word7"'])


@pytest.fixture(params=["force_custom_plan", "force_generic_plan"])
def planned(connection: psycopg.Connection[Any], request: pytest.FixtureRequest) -> psycopg.Connection[Any]:
    """The connection, for whose transaction PostgreSQL makes one kind of plans."""
    connection.execute("SELECT set_config('plan_cache_mode', %s, true)", (request.param,))
    return connection


def searched(connection: psycopg.Connection[Any], query: Search) -> bytes:
    texts = expand(connection, "p", query.texts, query.fuzzy_level) if query.texts else None
    return page_of_search("p", query, texts).read(connection)


WITHOUT_TOTAL = Paging(with_total=False)
WORD = (SearchText("text.en", "word7"),)

PAGES = {
    "with a total": (CONTAINED, Paging()),
    "without a total": (CONTAINED, WITHOUT_TOTAL),
    "one of two": (EITHER, WITHOUT_TOTAL),
    "one of 300": (ANY_OF_300, WITHOUT_TOTAL),
    "sorted by key": (CONTAINED, Paging(sort=(SortTerm(SORTABLE["key"]),))),
    "sorted by version": (CONTAINED, Paging(sort=(SortTerm(SORTABLE["version"], True),))),
    "a page of 500": (CONTAINED, Paging(limit=500, with_total=False)),
    "far beyond": (CONTAINED, Paging(offset=10_000)),
    "two conditions": (where('arrayOfStringExample = "word7" and version > 0'), Paging()),
    "of two arrays": (where('arrayOfStringExample = "word7" or arrayOfIntExample = 7'), Paging()),
    "of an element": (where("arrayOfObjectType(integerExample = 7)"), Paging()),
    "all of an array": (where('arrayOfStringExample contains all ("word7", "common")'), Paging()),
    "of one element or another": (where("arrayOfObjectType(integerExample = 7 or integerExample = -1)"), Paging()),
    "of ids and keys": (where(f'id = "{UNKNOWN_ID}" or key in ("key-7", "none")'), Paging()),
}
SEARCHES = {
    "search by a filter": Search(query_filters=FILTER),
    "search by words": Search(texts=WORD),
    "search by words, sorted": Search(texts=WORD, paging=Paging(sort=(SortTerm(SORTABLE["id"]),))),
    "facets": Search(texts=WORD, filters=FILTER, facets=read_facets(["version"])),
}


def of_page(condition: Condition, paging: Paging) -> Callable[[Any], object]:
    return lambda connection: reads.page("p", condition, paging, FLAT_JSON).read(connection)


READS: dict[str, Callable[[Any], object]] = {
    **{name: of_page(*asked) for name, asked in PAGES.items()},
    **{name: partial(searched, query=query) for name, query in SEARCHES.items()},
    "exists": lambda connection: reads.exists(connection, "p", reads.selected_by(CONTAINED)),
}


@pytest.mark.parametrize("name", READS)
def test_a_selective_read_reads_few_other_rows(planned: psycopg.Connection[Any], name: str) -> None:
    before = read(planned)
    READS[name](planned)
    assert read(planned) - before <= 5 * FOUND


@pytest.mark.parametrize("name", [name for name, field in SORTABLE.items() if Index.ORDER in field.indexed])
@pytest.mark.parametrize("descending", [False, True])
def test_a_page_of_all_resources_reads_no_other_rows(
    planned: psycopg.Connection[Any], name: str, descending: bool
) -> None:
    before = read(planned)
    sort = (SortTerm(SORTABLE[name], descending),)
    page = reads.page("p", None, Paging(limit=500, sort=sort, with_total=False)).read(planned)
    assert b'"count":500,' in page
    assert read(planned) - before <= 500


@pytest.mark.parametrize("limit", [20, 500])
@pytest.mark.parametrize("name", ["id", "lastModifiedAt", "createdAt", "key"])
def test_a_condition_that_many_fulfil_is_read_in_the_order_of_the_page(
    planned: psycopg.Connection[Any], name: str, limit: int
) -> None:
    before = read(planned)
    page = reads.page("p", any_of("common"), Paging(limit=limit, sort=(SortTerm(SORTABLE[name]),))).read(planned)
    assert b'"total":10000,"totalCapped":true' in page
    # Counting stops at the cap; then the page is read, and each of its resources looked up once more.
    assert read(planned) - before <= 10_001 + 3 * limit


@pytest.mark.parametrize(
    ("name", "limit"), [("lastModifiedAt", "2000-01-01"), ("key", "a"), ("createdAt", "2000-01-01")]
)
def test_a_range_is_read_in_its_own_order(planned: psycopg.Connection[Any], name: str, limit: str) -> None:
    before = read(planned)
    range_ = where(f'{name} > "{limit}"')
    paging = Paging(limit=20, offset=10, sort=(SortTerm(SORTABLE[name], descending=True),))
    assert b'"count":20,"total":10000,"totalCapped":true' in reads.page("p", range_, paging).read(planned)
    assert read(planned) - before <= 10_001 + 30
    assert reads.exists(planned, "p", reads.selected_by(range_))
    assert read(planned) - before <= 10_001 + 30 + 1


def test_the_condition_on_the_project_comes_first() -> None:
    assert Selected().where.startswith("r.project_key = ")


@pytest.mark.parametrize("mode", ["auto", "force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize(
    "text", ['lastModifiedAt = "2001-01-01"', 'someProperty = "none"', 'key = "none"', 'createdAt = "2001-01-01"']
)
def test_a_value_that_no_resource_has_is_not_searched_for_by_another_index(
    connection: psycopg.Connection[Any], text: str, mode: str
) -> None:
    """A constant drops out of ORDER BY, so the planner could walk the primary key of a project with one time."""
    connection.rollback()
    connection.execute(f"SET LOCAL plan_cache_mode = {mode}".encode())
    selected = reads.selected_by(where(text))
    for _ in range(8):  # PostgreSQL tries a generic plan from the sixth on
        before = read(connection)
        assert not reads.exists(connection, "p", selected)
        assert reads.page("p", where(text), Paging(sort=(SortTerm(SORTABLE[text.partition(" ")[0]]),))).read(connection)
        assert read(connection) - before == 0
