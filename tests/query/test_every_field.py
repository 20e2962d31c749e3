"""Every operator, filter and facet is sent to every field: each is answered as the tables say, and none is an error.

A field that is added is asked without a line here.
"""

import operator
from collections.abc import Callable

import pytest

from app.query.fields import RESOURCE, Field
from app.query.object_fields import OBJECT_FIELDS
from app.values.strict_json import encode
from tests.support.api import Api
from tests.support.predicates import EXAMPLES, FIELDS, OPERATIONS, SORTED, ask, found, predicate

DOCUMENT = {row.name: row.example for row in OBJECT_FIELDS}


def example(row: Field) -> str:
    return encode(EXAMPLES.get(row.name, "x"))


@pytest.mark.parametrize("path", FIELDS)
def test_each_operator_is_answered_by_each_field(api: Api, path: str) -> None:
    api.create(DOCUMENT, key="the-key")
    row = FIELDS[path]
    for token, operation in OPERATIONS.items():
        where = predicate(path, token, example(row), example(row))
        answer = ask(api, where)
        assert answer.status_code == (200 if operation.fits(row) else 400), f"{where}: {answer.text}"


@pytest.mark.parametrize("path", [path for path, row in RESOURCE.items() if row.is_array and row.kind.literals])
def test_an_item_of_an_array_is_found_by_each_operator(api: Api, path: str) -> None:
    api.create(DOCUMENT, key="the-key")
    item = example(FIELDS[path])
    for condition in (f"= {item}", f"in ({item}, {item})", f"contains all ({item})", f"<= {item}", f">= {item}"):
        assert found(api, f"{path} {condition}") == ["the-key"]
    assert found(api, f"not({path} = {item})") == []


COMPARISONS: dict[str, Callable[[str, str], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def test_a_text_that_is_longer_than_its_beginning_is_compared_whole(api: Api) -> None:
    texts = {f"{count}{end}": "x" * count + end for count in (398, 399, 400, 401) for end in ("", "a")}
    for key, text in texts.items():
        api.update(api.create(key=key), {"action": "changeSomeProperty", "someProperty": text})
    for value in texts.values():
        for token, holds in COMPARISONS.items():
            expected = sorted(key for key, text in texts.items() if holds(text, value))
            assert found(api, predicate("someProperty", token, encode(value))) == expected, (token, len(value))
        expected = sorted(key for key, text in texts.items() if text in ("x", value))
        assert found(api, predicate("someProperty", "in", '"x"', encode(value))) == expected


def test_a_range_in_its_own_order_is_a_page_with_its_total(api: Api) -> None:
    for number in range(6):
        api.create(key=f"key-{number}")
    query = {"where": 'key > "key-0" and key <= "key-4"', "sort": "key desc", "limit": "2", "offset": "1"}
    page = api.get(SORTED, query_string=query).get_json()
    assert [result["key"] for result in page["results"]] == ["key-3", "key-2"]
    assert (page["count"], page["total"]) == (2, 4)
    assert "total" not in api.get(SORTED, query_string={**query, "withTotal": "false"}).get_json()
    assert api.head(query_string={"where": query["where"]}).status_code == 200
    assert api.head(query_string={"where": 'key > "key-5"'}).status_code == 404


@pytest.mark.parametrize("staged", ["false", "true"])
@pytest.mark.parametrize("path", FIELDS)
def test_filters_and_facets_are_answered_by_each_field(api: Api, path: str, staged: str) -> None:
    api.create(DOCUMENT, key="the-key")
    row, value = FIELDS[path], example(FIELDS[path])

    def status(parameter: str, text: str) -> int:
        return api.get("/searchApiPattern", query_string={parameter: f"{path}{text}", "staged": staged}).status_code

    is_value = 400 if row.members else 200
    assert status("filter", ":exists") == status("filter", ":missing") == 200
    for text in (f":{value}", f":range({value} to {value})", f":range({value} to *)", f":range(* to {value})"):
        assert status("filter", text) == is_value, text
    assert status("facet", "") == status("facet", f":{value}") == is_value
    assert status("facet", f":range({value} to *),(* to {value})") == (200 if row.kind.amount else 400)
    assert status("filter", ":true") == (200 if bool in row.kind.literals else 400)
