"""Every operator, filter and facet is sent to every field: each is answered as the tables say, and none is an error.

A field that is added is asked without a line here.
"""

import pytest

from app.query.fields import RESOURCE, Field
from app.query.object_fields import OBJECT_FIELDS
from app.values.strict_json import encode
from tests.support.api import Api
from tests.support.predicates import EXAMPLES, FIELDS, OPERATIONS, ask, found, predicate

DOCUMENT = {row.name: row.example for row in OBJECT_FIELDS}


def example(row: Field) -> str:
    return encode(EXAMPLES.get(row.name, "x"))


@pytest.mark.parametrize("path", FIELDS)
def test_each_operator_is_answered_by_each_field(api: Api, path: str) -> None:
    api.create(DOCUMENT, key="the-key")
    row = FIELDS[path]
    for token, operator in OPERATIONS.items():
        where = predicate(path, token, example(row), example(row))
        answer = ask(api, where)
        assert answer.status_code == (200 if operator.fits(row) else 400), f"{where}: {answer.text}"


@pytest.mark.parametrize("path", [path for path, row in RESOURCE.items() if row.is_array and row.kind.literals])
def test_an_item_of_an_array_is_found_by_each_operator(api: Api, path: str) -> None:
    api.create(DOCUMENT, key="the-key")
    item = example(FIELDS[path])
    for condition in (f"= {item}", f"in ({item}, {item})", f"contains all ({item})", f"<= {item}", f">= {item}"):
        assert found(api, f"{path} {condition}") == ["the-key"]
    assert found(api, f"not({path} = {item})") == []


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
