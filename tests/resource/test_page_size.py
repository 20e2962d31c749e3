"""How large a page may be: its documents and the terms of its facets, decided before documents are read."""

from typing import Any

import psycopg
import pytest
from flask import Flask

from app.config import Settings
from app.database.admission import Lane
from app.database.connection import Connection
from app.errors import ApiError
from app.resource.model import (
    FACET_BYTES_AT_MOST,
    PAGE_BYTES_AT_MOST,
    SMALL_PAGE_BYTES,
    Paging,
)
from app.resource.reading import reads
from app.resource.resource_json import FLAT_JSON, RESULT_JSON
from tests.support.api import Api
from tests.support.applications import open_app
from tests.support.fixtures import TokenFor
from tests.support.statements import recorded

LISTS = ("", "/sorted-query-parameters", "/searchApiPattern")

MIB = 1024 * 1024


def insert(connection: Connection, project: str, *sizes: int, some_property: str | None = None) -> None:
    """Insert resources whose ObjectTypes have so many bytes, with the keys k-000, k-001 and so on."""
    beginning, end = '{"arrayOfStringExample":["', '"]}'
    connection.execute(
        """
        INSERT INTO resource (project_key, id, version, key, created_at, last_modified_at, created_by, last_modified_by,
            object_type, some_property)
        SELECT %s, gen_random_uuid(), 1, 'k-' || lpad((s.number - 1)::text, 3, '0'), now(), now(), 'c', 'c',
            %s || repeat('x', s.size - length(%s)) || %s, %s
        FROM unnest(%s::int[]) WITH ORDINALITY s (size, number)""",
        (project, beginning, beginning + end, end, some_property, list(sizes)),
    )


def page(api: Api, path: str, **query: Any) -> Any:
    return api.get(path, query_string={"sort": "key", **query})


def fitting(answer: Any) -> int:
    """The limit that fits, as the refusal of a page says."""
    assert answer.status_code == 400
    [fault] = answer.get_json()["errors"]
    assert fault["code"] == "InvalidInput"
    too_large = f"The documents of this page have more than {PAGE_BYTES_AT_MOST} bytes."
    beginning, end = f"Malformed parameter: limit: {too_large} A limit of ", " fits."
    assert fault["message"].startswith(beginning)
    assert fault["message"].endswith(end)
    return int(fault["message"].removeprefix(beginning).removesuffix(end))


def keys(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text[:1000]
    found = answer.get_json()
    assert found["count"] == len(found["results"])
    return [result["key"] for result in found["results"]]


def test_a_page_has_at_most_32_mib_of_documents(
    app: Flask, api: Api, connection: Connection, token_for: TokenFor
) -> None:
    assert PAGE_BYTES_AT_MOST == 32 * MIB
    insert(connection, api.project, *[2 * MIB] * 16, 100)
    reader = Api(app, api.project, token_for(f"view_products:{api.project}"))
    for path in LISTS:
        assert len(keys(page(api, path, limit=16))) == 16
        assert fitting(page(api, path, limit=17)) == 16
        assert fitting(page(api, path, limit=500)) == 16
        assert len(keys(page(api, path, offset=1, limit=500))) == 16
        assert fitting(page(api, path, sort="key desc", limit=500)) == 16
        assert len(keys(page(api, path, limit=0))) == 0
    form = {"sort": "key", "limit": "17"}
    assert fitting(reader.post("/product-projection-search", data=form)) == 16
    assert len(reader.post("/product-projection-search", data={**form, "limit": "16"}).get_json()["results"]) == 16
    assert fitting(page(api, "/sorted-query-parameters", limit=17, where="version = 1")) == 16
    assert fitting(page(api, "/sorted-query-parameters", limit=17, expand="createdBy")) == 16
    assert api.head(query_string={"limit": 500}).status_code == 200


def test_one_byte_more_is_refused(api: Api, connection: Connection) -> None:
    insert(connection, api.project, *[2 * MIB] * 15, 2 * MIB + 1)
    assert fitting(page(api, "", limit=16)) == 15
    assert len(keys(page(api, "", limit=15))) == 15


def test_the_bytes_of_some_property_count_as_they_are_answered(api: Api, connection: Connection) -> None:
    """A control character is stored as one byte and answered as six, and a letter of two bytes as two."""
    insert(connection, api.project, *[100] * 20, some_property="\x01" * 350_000)
    each = 100 + 6 * 350_000 + 2
    for path in LISTS[1:]:
        fits = fitting(page(api, path, limit=20))
        assert fits == PAGE_BYTES_AT_MOST // each
        assert len(keys(page(api, path, limit=fits))) == fits
    assert len(keys(page(api, "", limit=20))) == 20  # which shows no someProperty
    connection.execute("UPDATE resource SET some_property = %s WHERE project_key = %s", ("ü" * 350_000, api.project))
    for path in LISTS[1:]:
        assert len(keys(page(api, path, limit=20))) == 20


def test_the_staged_projection_counts_where_it_is_shown(api: Api, connection: Connection) -> None:
    insert(connection, api.project, *[100] * 17)
    connection.execute(
        """
        UPDATE resource SET staged_object_type = '{"arrayOfStringExample":["' || repeat('x', 2000000) || '"]}'
        WHERE project_key = %s""",
        (api.project,),
    )
    assert len(keys(page(api, "/searchApiPattern", limit=500))) == 17
    assert fitting(page(api, "/searchApiPattern", limit=500, staged="true")) == 16


def test_a_large_page_is_that_of_its_parts(api: Api, connection: Connection) -> None:
    insert(connection, api.project, 100, SMALL_PAGE_BYTES, 40, 3 * MIB, some_property='ü"\x01🐕')
    for key in ("k-000", "k-003"):
        api.update(api.get(f"/key={key}").get_json(), {"action": "changeSomeProperty", "someProperty": "x"})
    for path in LISTS:
        for sort in ("key", "key desc", "version"):
            large = page(api, path, sort=sort, limit=400)
            parts = [page(api, path, sort=sort, limit=1, offset=offset).get_json() for offset in range(4)]
            assert large.content_type == "application/json; charset=utf-8"
            assert large.get_json() == {
                "limit": 400,
                "offset": 0,
                "count": 4,
                "total": 4,
                "results": [part["results"][0] for part in parts],
            }
    faceted = api.get("/searchApiPattern", query_string={"limit": 400, "facet": "version", "withTotal": "false"})
    small = api.get("/searchApiPattern", query_string={"limit": 0, "facet": "version"}).get_json()
    assert faceted.get_json()["facets"] == small["facets"]
    assert "total" not in faceted.get_json()


@pytest.mark.one_machine("The documents, and how often they were fetched, are on a worker.")
def test_documents_are_not_read_before_it_is_decided(api: Api, connection: Connection) -> None:
    insert(connection, api.project, *[100] * 17)
    # What cannot be compressed is stored outside of its row.
    connection.execute(
        """
        UPDATE resource SET object_type = '{"arrayOfStringExample":["'
            || (SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 65000)) || '"]}'
        WHERE project_key = %s""",
        (api.project,),
    )
    with psycopg.connect(connection.info.dsn) as own:
        own.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        for result in (FLAT_JSON, RESULT_JSON[frozenset()]):
            assert reads.page(api.project, None, Paging(limit=16), result).read(own) is None
            with pytest.raises(ApiError, match="A limit of 16 fits"):
                reads.page(api.project, None, Paging(limit=17), result).read_large(own)
            assert _looked_up_parts(own) == 0
        assert reads.page(api.project, None, Paging(limit=1)).read(own) is not None
        assert _looked_up_parts(own) > 0


def _looked_up_parts(connection: Connection) -> int:
    """How often PostgreSQL has fetched a text that is stored outside of its row, in this transaction."""
    row = connection.execute(
        """
        SELECT idx_scan FROM pg_stat_xact_all_tables
        WHERE relid = (SELECT reltoastrelid FROM pg_class WHERE oid = 'resource'::regclass)"""
    ).fetchone()
    assert row is not None
    return int(row[0])


def test_a_usual_page_is_one_statement(api: Api, connection: Connection) -> None:
    insert(connection, api.project, *[1000] * 5, SMALL_PAGE_BYTES // 20)
    keys(page(api, "", limit=1))  # the first use of a token looks up whether it is revoked
    with recorded() as statements:
        assert len(keys(page(api, "", limit=20))) == 6
    assert len(statements) == 1


def test_a_page_with_a_document_beyond_its_share_is_one_statement_more(api: Api, connection: Connection) -> None:
    insert(connection, api.project, SMALL_PAGE_BYTES, 1000)
    keys(page(api, "", limit=1))  # the first use of a token looks up whether it is revoked
    with recorded() as statements:
        assert len(keys(page(api, "", limit=1))) == 1
    assert len(statements) == 1
    for path in LISTS:
        with recorded() as statements:
            assert len(keys(page(api, path))) == 2
        assert len(statements) == 2


def test_a_large_page_is_read_in_the_slow_lane(settings: Settings, api: Api, connection: Connection) -> None:
    insert(connection, api.project, *[MIB - 1000] * 5)
    with open_app(settings, connections=4, queue_timeout_ms=200) as own:
        busy = Api(own, api.project, api.token)
        with own.extensions["database"].connection("another", Lane.SLOW):
            assert len(keys(page(busy, "", limit=4))) == 4
            refused = page(busy, "", limit=5)
            assert refused.status_code == 503
            assert refused.get_json()["errors"][0]["code"] == "OverCapacity"
        assert len(keys(page(busy, "", limit=5))) == 5


def test_the_terms_of_facets_are_bounded_together(api: Api) -> None:
    assert FACET_BYTES_AT_MOST == 4 * MIB
    for number in range(2):
        api.create({"arrayOfStringExample": [str(number) + "x" * (MIB - 1)]}, key=f"k-{number}")
    resources = [api.get(f"/key=k-{number}").get_json() for number in range(2)]

    def faceted(*facets: str) -> Any:
        return api.get("/searchApiPattern", query_string={"limit": 0, "facet": list(facets)})

    listed = faceted("arrayOfStringExample", "version").get_json()["facets"]["arrayOfStringExample"]
    assert [len(term["term"]) for term in listed["terms"]] == [MIB, MIB]
    texts = "arrayOfStringExample as a", "arrayOfStringExample as b", "key"
    refused = faceted(*texts)
    assert refused.status_code == 400
    assert [fault["message"] for fault in refused.get_json()["errors"]] == [
        f"Malformed parameter: facet: The terms of the facets have more than {FACET_BYTES_AT_MOST} bytes."
    ]
    for resource in resources:
        api.update(resource, {"action": "changeSomeProperty", "someProperty": str(resource["id"]) + "x" * 1_400_000})
    assert faceted("someProperty").status_code == 200
    assert faceted("someProperty", "arrayOfStringExample").status_code == 400
