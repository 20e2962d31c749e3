"""How large an ObjectType, a page and the terms of facets may be."""

from typing import Any

import pytest

from app.database.connection import Connection
from app.resource import bulk_store
from app.resource.model import FACET_BYTES_AT_MOST
from app.resource.object_type import OBJECT_TYPE_BYTES_AT_MOST
from tests.support.api import Api
from tests.support.rows import made
from tests.support.statements import recorded

LISTS = ("", "/sorted-query-parameters", "/searchApiPattern")

KIB = 1024

TOO_LARGE = "The value is not valid for field 'objectTypeProperty'. Its JSON text has {} bytes, 65536 are accepted."


def texts(size: int) -> dict[str, Any]:
    """The fields of an ObjectType whose JSON text has a number of bytes."""
    return {"arrayOfStringExample": ["x" * (size - len('{"arrayOfStringExample":[""]}'))]}


def insert(connection: Connection, project: str, *sizes: int) -> None:
    """Insert resources whose ObjectTypes have so many bytes, with the keys k-000, k-001 and so on.

    The texts cannot be compressed, and have no blanks, so they have no words.
    """
    beginning, end = '{"arrayOfStringExample":["', '"]}'
    connection.execute(
        """
        INSERT INTO resource (project_key, id, version, key, created_at, last_modified_at, created_by, last_modified_by,
            object_type, some_property)
        SELECT %s, gen_random_uuid(), 1, 'k-' || lpad((s.number - 1)::text, 3, '0'), now(), now(), 'c', 'c',
            %s || left(r.random, s.size - length(%s)) || %s, 'ü"' || chr(1)
        FROM unnest(%s::int[]) WITH ORDINALITY s (size, number) CROSS JOIN (
            SELECT string_agg(md5(n::text), '') AS random FROM generate_series(1, 2100) n) r""",
        (project, beginning, beginning + end, end, list(sizes)),
    )


def refused(answer: Any, size: int) -> bool:
    """Whether an answer refuses an ObjectType of a size, without its value."""
    assert answer.status_code == 400, answer.text[:200]
    (fault,) = answer.get_json()["errors"]
    assert fault == {"code": "InvalidField", "message": TOO_LARGE.format(size), "field": "objectTypeProperty"}
    return True


def test_an_object_type_has_at_most_64_kib_as_it_is_stored(api: Api) -> None:
    assert OBJECT_TYPE_BYTES_AT_MOST == 64 * KIB
    numbers = [10**17] * 3_500  # sent as 1e17, and stored with 18 digits each
    sent = f'{{"objectTypeProperty":{{"arrayOfIntExample":[{",".join(["1e17"] * len(numbers))}]}}}}'
    size = len('{"arrayOfIntExample":[]}') + 19 * len(numbers) - 1
    assert len(sent) < 64 * KIB < size
    for method in ("POST", "PUT"):
        assert refused(api.request(method, data=sent, content_type="application/json"), size)
    assert api.get().get_json()["total"] == 0
    fits = sent.replace("1e17," * 52, "", 1)
    assert size - 52 * 19 <= 64 * KIB
    assert api.post(data=fits, content_type="application/json").status_code == 201


@pytest.mark.parametrize("staged", [False, True])
def test_fields_that_a_post_adds_count_with_those_that_stay(api: Api, staged: bool) -> None:
    created = api.create(texts(60_000), key="k-1")
    half = {"key": "k-1", "version": 1, "objectTypeProperty": {"arrayOfIntExample": [10**17] * 300}}
    query = {"staged": str(staged).lower()}
    added = len(',"arrayOfIntExample":[]') + 19 * 300 - 1
    assert refused(api.post(json=half, query_string=query), 60_000 + added)
    assert api.post(json={**half, "version": 2}, query_string=query).status_code == 409, "which comes first"
    fitting = {**half, "objectTypeProperty": {"arrayOfIntExample": [10**17] * 200}}
    assert api.post(json=fitting, query_string=query).get_json()["version"] == created["version"] + 1
    again = api.post(
        json={"key": "k-1", "objectTypeProperty": {"arrayOfFloatExample": [0.5] * 500}}, query_string=query
    )
    both = len(',"arrayOfIntExample":[],"arrayOfFloatExample":[]') + 19 * 200 - 1 + 4 * 500 - 1
    assert refused(again, 60_000 + both)
    assert api.put(json={"key": "k-1", "objectTypeProperty": texts(65_000)}, query_string=query).status_code == 200


def test_the_largest_page_is_that_of_its_parts(api: Api, connection: Connection) -> None:
    insert(connection, api.project, *[64 * KIB] * 500)
    for path in LISTS:
        whole = api.get(path, query_string={"sort": "key", "limit": 500})
        assert whole.content_type == "application/json; charset=utf-8"
        assert len(whole.data) > 500 * 64 * KIB
        page = whole.get_json()
        assert [result["key"] for result in page["results"]] == [f"k-{number:03}" for number in range(500)]
        part = api.get(path, query_string={"sort": "key desc", "limit": 2}).get_json()
        assert part["results"] == page["results"][:-3:-1]
        assert {**part, "results": [], "limit": 500, "count": 500} == {**page, "results": []}


def test_a_page_is_one_statement(api: Api, connection: Connection) -> None:
    insert(connection, api.project, *[1000] * 5)
    for path in LISTS:
        api.get(path, query_string={"limit": 1})  # the first use of a token looks up whether it is revoked
        with recorded() as statements:
            assert api.get(path, query_string={"limit": 20}).get_json()["count"] == 5
        assert len(statements) == 1


def test_the_terms_of_facets_are_bounded_together(api: Api, connection: Connection) -> None:
    assert FACET_BYTES_AT_MOST == 4 * KIB * KIB
    text = "x" * 60_000
    rows = [made(f'{{"arrayOfStringExample":["{number}{text}"]}}') for number in range(101, 161)]
    bulk_store.copy_in(connection, api.project, rows)

    def faceted(*facets: str) -> Any:
        return api.get("/searchApiPattern", query_string={"limit": 0, "facet": list(facets)})

    listed = faceted("arrayOfStringExample").get_json()["facets"]["arrayOfStringExample"]
    assert [len(term["term"]) for term in listed["terms"]] == [60_003] * 60
    refused = faceted("arrayOfStringExample as a", "arrayOfStringExample as b")
    assert refused.status_code == 400
    assert [fault["message"] for fault in refused.get_json()["errors"]] == [
        "Malformed parameter: facet: The terms of a facet have more than 2097152 bytes, its equal part of 4194304."
    ]
