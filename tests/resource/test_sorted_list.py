"""The list with sorted query parameters (interface 4.12): paging and order."""

from typing import Any

import psycopg
import pytest
from flask import Flask

from tests.conftest import TokenFor
from tests.support.api import Api, codes
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


@pytest.mark.clause("4.1-2", "4.12-2", "4.12-3")
def test_results_are_whole_resources(api: Api) -> None:
    resources = [api.create(key="a-key"), some_property(api, "x"), api.create({})]
    assert page(api) == {"limit": 20, "offset": 0, "count": 3, "total": 3, "results": resources}


@pytest.mark.clause("4.12-4", "4.12-17")
def test_without_parameters_the_page_has_twenty_results(api: Api) -> None:
    made = [api.create({})["id"] for _ in range(21)]
    first = page(api)
    assert (first["limit"], first["offset"], first["count"], first["total"]) == (20, 0, 20, 21)
    assert [result["id"] for result in first["results"]] == sorted(made)[:20]


@pytest.mark.clause("4-9", "4.12-2", "4.12-4", "4.12-5", "4.12-6", "4.12-9")
@pytest.mark.parametrize(
    ("limit", "offset", "expected"),
    [
        ("2", "0", ["k-0", "k-1"]),
        ("2", "3", ["k-3", "k-4"]),
        ("2", "4", ["k-4"]),
        ("500", "0", ["k-0", "k-1", "k-2", "k-3", "k-4"]),
        ("0", "0", []),
        ("500", "5", []),
        ("1", "10000", []),
        ("2.0", "1e0", ["k-1", "k-2"]),
        ("20e-1", "10E-1", ["k-1", "k-2"]),
    ],
)
def test_limit_and_offset_cut_the_page(api: Api, limit: str, offset: str, expected: list[str]) -> None:
    for number in range(5):
        api.create({}, key=f"k-{number}")
    answer = page(api, limit=limit, offset=offset, sort="key")
    assert [result["key"] for result in answer["results"]] == expected
    assert answer["limit"] == int(float(limit))
    assert answer["offset"] == int(float(offset))
    assert answer["count"] == len(expected)
    assert answer["total"] == 5
    assert isinstance(answer["limit"], int)


@pytest.mark.clause("4-8", "4.12-8")
def test_the_total_is_left_out_on_demand(api: Api) -> None:
    api.create()
    for text in ("false", "False", "FALSE"):
        assert set(page(api, withTotal=text)) == {"limit", "offset", "count", "results"}
    for text in ("true", "True", "TRUE"):
        assert page(api, withTotal=text)["total"] == 1


@pytest.mark.clause("4.12-9", "4.12-10")
def test_the_total_is_exact_up_to_ten_thousand(api: Api, database_url: str) -> None:
    api.create()
    with psycopg.connect(database_url) as connection:
        connection.execute(
            """
            INSERT INTO resource (project_key, id, version, created_at, last_modified_at,
                created_by, last_modified_by, object_type)
            SELECT %s, gen_random_uuid(), 1, now(), now(), 'c', 'c', '{}' FROM generate_series(1, 9999)
            """,
            [api.project],
        )
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


@pytest.mark.clause("4.12-11", "4.12-13")
@pytest.mark.parametrize("name", ["id", "version", "createdAt", "lastModifiedAt", "key", "someProperty"])
def test_every_sortable_field_sorts_both_ways(api: Api, name: str) -> None:
    for number, text in enumerate(("m", "z", "a")):
        resource = some_property(api, text, key=f"{text}-key")
        api.update(resource, *[{"action": "doSomeThing"}] if number == 1 else [])
    ascending = [result[name] for result in page(api, sort=name)["results"]]
    assert ascending == sorted(ascending)
    assert [result[name] for result in page(api, sort=f"{name} asc")["results"]] == ascending
    assert [result[name] for result in page(api, sort=f"{name} desc")["results"]] == sorted(ascending, reverse=True)


@pytest.mark.clause("4.12-16")
def test_absent_values_are_last_both_ways_and_then_by_id(api: Api) -> None:
    without = [some_property(api, None)["id"], some_property(api, None)["id"]]
    low, high = some_property(api, "a", key="aa")["id"], some_property(api, "b", key="bb")["id"]
    without.append(some_property(api, None)["id"])
    for name in ("someProperty", "key"):
        for sort, present in ((f"{name} asc", [low, high]), (f"{name} desc", [high, low])):
            assert [result["id"] for result in page(api, sort=sort)["results"]] == present + sorted(without)


@pytest.mark.clause("4.12-17")
def test_ties_are_by_id_whatever_the_direction(api: Api) -> None:
    ids = sorted(some_property(api, "same")["id"] for _ in range(5))
    for sort in ("someProperty", "someProperty desc", "version desc", "key desc", ["version desc", "key"]):
        assert [result["id"] for result in page(api, sort=sort)["results"]] == ids


@pytest.mark.clause("4.12-1", "4.12-12")
def test_several_fields_sort_in_the_given_order(api: Api) -> None:
    for key, text in (("b1", "b"), ("a1", "a"), ("b2", "b"), ("a2", "a"), ("n1", None)):
        some_property(api, text, key=key)
    assert keys(api, "someProperty", "key desc") == ["a2", "a1", "b2", "b1", "n1"]
    assert keys(api, "someProperty desc", "key") == ["b1", "b2", "a1", "a2", "n1"]
    assert keys(api, "key desc", "someProperty") == ["n1", "b2", "b1", "a2", "a1"]
    assert keys(api, "id desc", "key") == ["n1", "a2", "b2", "a1", "b1"]


@pytest.mark.clause("4.12-15")
def test_text_sorts_by_code_point(api: Api) -> None:
    texts = ["", " ", "-", "1", "10", "2", "A", "B", "_", "a", "aa", "b", "ä", "ﬀ", "\uffff", "🐕"]
    assert texts == sorted(texts)
    for text in reversed(texts):
        some_property(api, text)
    assert [result["someProperty"] for result in page(api, sort="someProperty")["results"]] == texts


@pytest.mark.clause("4.12-14")
@pytest.mark.parametrize("direction", ["asc", "ASC", "Asc", "desc", "DESC", "Desc"])
@pytest.mark.parametrize("form", ["key {}", "key  {}", " key {} ", "key\t{}"])
def test_blanks_and_letter_case_around_the_direction_do_not_matter(api: Api, form: str, direction: str) -> None:
    for key in ("bb", "aa"):
        api.create({}, key=key)
    assert keys(api, form.format(direction)) == sorted(("aa", "bb"), reverse=direction.lower() == "desc")


@pytest.mark.clause("4-11", "4.12-4", "4.12-5", "4.12-7", "4.12-18")
@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("limit=501", "limit"),
        ("limit=-1", "limit"),
        ("limit=20.5", "limit"),
        ("limit=500.0001", "limit"),
        ("limit=abc", "limit"),
        ("limit=", "limit"),
        ("limit=1e400", "limit"),
        ("limit=99999999999999999999", "limit"),
        ("limit=1&limit=1", "limit"),
        ("limit=true", "limit"),
        ("offset=10001", "offset"),
        ("offset=-1", "offset"),
        ("offset=0.5", "offset"),
        ("offset=x", "offset"),
        ("withTotal=1", "withTotal"),
        ("withTotal=yes", "withTotal"),
        ("withTotal=", "withTotal"),
        ("withTotal=true&withTotal=true", "withTotal"),
        ("sort=", "sort"),
        ("sort=%20", "sort"),
        ("sort=key%20up", "sort"),
        ("sort=key%20asc%20desc", "sort"),
        ("sort=asc", "sort"),
        ("sort=key,id", "sort"),
        ("sort=Key", "sort"),
        ("sort=objectTypeProperty", "sort"),
        ("sort=createdBy", "sort"),
        ("sort=key%00", "sort"),
        ("sort=key&sort=unknown", "sort"),
        ("stringParameter=a", "stringParameter"),
        ("staged=true", "staged"),
    ],
)
def test_a_malformed_query_is_refused(api: Api, query: str, name: str) -> None:
    answer = api.get(f"{PATH}?{query}")
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]
    assert answer.get_json()["message"].startswith(f"Malformed parameter: {name}: ")


@pytest.mark.clause("4.12-18")
def test_the_message_for_an_unknown_sort_field_lists_the_known_ones(api: Api) -> None:
    message = api.get(f"{PATH}?sort=orderHint").get_json()["message"]
    assert message.startswith("Malformed parameter: sort: Invalid query field 'orderHint' in sort path. ")
    for name in ("id", "key", "version", "createdAt", "lastModifiedAt", "someProperty"):
        assert f"`{name}`" in message


@pytest.mark.clause("4.12-17")
def test_pages_contain_every_resource_once(api: Api) -> None:
    made = {some_property(api, "same" if number % 2 else None)["id"] for number in range(11)}
    met = [
        result["id"]
        for offset in range(0, 12, 3)
        for result in page(api, sort="someProperty desc", limit=3, offset=offset)["results"]
    ]
    assert len(met) == 11
    assert set(met) == made


@pytest.mark.clause("2.1-4")
def test_resources_of_another_project_are_not_listed_or_counted(app: Flask, api: Api, token_for: TokenFor) -> None:
    api.create()
    other = Api(app, f"{api.project}-2", token_for(f"view_test:{api.project}-2"))
    assert page(other)["total"] == 0


@pytest.mark.clause("A-9")
def test_scopes_to_view_or_to_manage_suffice(app: Flask, project: str, token_for: TokenFor) -> None:
    for scope, status in (("view_test", 200), ("manage_test", 200), ("view_products", 403)):
        assert Api(app, project, token_for(f"{scope}:{project}")).get(PATH).status_code == status
    assert Api(app, project, None).get(PATH).status_code == 401


def statement(api: Api, sort: str) -> str:
    with recorded() as statements:
        page(api, sort=sort, withTotal="false")
    return statements[-1].text


@pytest.mark.parametrize("field", ["id", "version", "createdAt", "lastModifiedAt"])
@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_a_field_that_every_resource_has_is_sorted_in_a_form_that_an_index_can_serve(
    api: Api, field: str, direction: str
) -> None:
    assert "NULLS" not in statement(api, f"{field} {direction}")
    nullable = f"ORDER BY r.sort_0 {direction.upper()} NULLS LAST, r.id ASC"
    assert nullable in statement(api, f"key {direction}")
