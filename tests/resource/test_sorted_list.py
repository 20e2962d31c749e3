"""The list with sorted query parameters (interface 4.12): paging and order."""

from typing import Any

from app.database.connection import Connection
from app.resource import bulk_store
from tests.support.api import Api
from tests.support.rows import made
from tests.support.statements import recorded

PATH = "/sorted-query-parameters"


def page(api: Api, **query: Any) -> dict[str, Any]:
    """A page of the list."""
    answer = api.get(PATH, query_string=query)
    assert answer.status_code == 200, answer.text
    return answer.get_json()


def keys(api: Api, *sort: str) -> list[str | None]:
    """The keys of all resources in an order."""
    return [result.get("key") for result in page(api, sort=list(sort), limit=500)["results"]]


def some_property(api: Api, text: str | None, **fields: Any) -> dict[str, Any]:
    """Create a resource whose someProperty is set, or absent."""
    created = api.create({}, **fields)
    return created if text is None else api.update(created, {"action": "changeSomeProperty", "someProperty": text})


def test_the_total_is_exact_up_to_ten_thousand(api: Api, connection: Connection) -> None:
    api.create()
    bulk_store.copy_in(connection, api.project, [made() for _ in range(9_999)])
    answer = page(api, limit=1)
    assert answer["total"] == 10_000
    assert "totalCapped" not in answer
    api.create()
    capped = page(api, limit=1)
    assert (capped["total"], capped["totalCapped"]) == (10_000, True)
    assert "totalCapped" not in page(api, limit=1, withTotal="false")
    assert page(api, limit=2, offset=9999)["count"] == 2
    listed = api.get("?limit=1").get_json()
    assert (listed["total"], listed["totalCapped"]) == (10_000, True)


def test_a_field_counts_where_it_stands_first(api: Api) -> None:
    for key, text in (("b1", "b"), ("a1", "a"), ("b2", "b")):
        some_property(api, text, key=key)
    with recorded() as statements:
        assert keys(api, "someProperty", "key desc", *["someProperty desc", "key"] * 200) == ["a1", "b2", "b1"]
        assert keys(api, "someProperty", "key desc") == ["a1", "b2", "b1"]
    assert len({statement.text for statement in statements}) == 1
