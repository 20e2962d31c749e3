"""Reads of one resource and of the list: odd paths, odd numbers, and that both write a resource in the same way."""

import pytest
from flask import Flask

from tests.support.api import Api
from tests.support.fixtures import TokenFor


def test_a_resource_alone_is_written_as_it_is_in_a_page(api: Api, token_for: TokenFor, app: Flask) -> None:
    """One is made by Python, the other by PostgreSQL."""
    author = Api(app, api.project, token_for(f"manage_test:{api.project}", client_id='c"\\\u0001\u007fäß\u2028😀'))
    created = author.create({"arrayOfFloatExample": [1e-300, -0.0, 0.5], "arrayOfStringExample": ['a"\\\n']})
    text = "".join(map(chr, [*range(1, 0x100), 0x2028, 0x2029, 0xFFFD, 0x1F600]))
    author.update(created, {"action": "changeSomeProperty", "someProperty": text})
    api.create({}, key="with-a-key_1")
    page = api.get("/sorted-query-parameters?sort=id").text
    for resource in api.get("/sorted-query-parameters?sort=id").get_json()["results"]:
        assert api.get(f"/{resource['id']}").text in page


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("[]", "A JSON object is expected."),
        ('{"a": "\\u0000"}', "A text cannot hold U+0000."),
        ('{"\\u0000": 1}', "A text cannot hold U+0000."),
        ('{"a": [1e400]}', "A number that a double can hold is expected."),
        ('{"a": ' + "[" * 100 + "]" * 100 + "}", "JSON value with at most 100 levels expected."),
    ],
)
def test_what_no_document_can_hold_is_refused_in_object_parameter(api: Api, value: str, reason: str) -> None:
    answer = api.get(query_string={"objectParameter": value})
    assert answer.status_code == 400
    assert answer.get_json()["message"].startswith(f"Malformed parameter: objectParameter: {reason[:18]}")


def test_a_double_that_is_a_whole_number_is_this_integer(api: Api) -> None:
    numbers = "-9223372036854775809, -9223372036854775808.5, 1234567890123456800.5"
    body = f'{{"objectTypeProperty": {{"arrayOfFloatExample": [{numbers}]}}}}'
    as_json = {"Content-Type": "application/json"}
    created = api.post(data=body, headers=as_json).get_json()
    assert created["objectTypeProperty"]["arrayOfFloatExample"] == [-(2**63), -(2**63), 1234567890123456768]
    for literal in (*numbers.split(", "), "-9223372036854775808", "-9.223372036854775808e18"):
        found = api.get(query_string={"floatParameter": literal}).get_json()["results"]
        assert [each["id"] for each in found] == [created["id"]], literal
        query = {"where": f"arrayOfFloatExample = {literal}"}
        assert api.get("/sorted-query-parameters", query_string=query).get_json()["total"] == 1, literal
    echoed = api.post("/description-with-urn-links", data=f'{{"id": {numbers[:20]}, "version": 1}}', headers=as_json)
    assert echoed.get_json()["arrayOfIntExample"] == [1], "only what was sent as an integer of 64 bits"


@pytest.mark.parametrize("text", ["id\u00a0desc", "id\u000bdesc", "\u2003id", "id de\u017fc"])
def test_a_sort_has_the_whitespace_of_json(api: Api, text: str) -> None:
    assert api.get("/sorted-query-parameters", query_string={"sort": "\tid \r\n desc "}).status_code == 200
    assert api.get("/sorted-query-parameters", query_string={"sort": text}).status_code == 400
