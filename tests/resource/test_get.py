"""GET and HEAD of a resource by id and by key (interface 4.2 and 4.3), with and without entity tags."""

import pytest
from flask import Flask

from tests.conftest import TokenFor
from tests.support.api import UNKNOWN_ID, Api, codes


def test_get_finds_a_key_of_256_characters(api: Api) -> None:
    created = api.create(key=256 * "k")
    assert api.get(f"/key={256 * 'k'}").get_json() == created


@pytest.mark.parametrize(
    ("path", "name"),
    [(UNKNOWN_ID, UNKNOWN_ID), ("no-uuid", "no-uuid"), ("1", "1"), ("a%2Fb", "a/b"), ("%C3%A4", "ä"), ("%25", "%")],
)
def test_get_by_an_unknown_id_is_404(api: Api, path: str, name: str) -> None:
    answer = api.get(f"/{path}")
    assert answer.status_code == 404
    assert answer.get_json() == {
        "statusCode": 404,
        "message": f"The Resource with ID '{name}' was not found.",
        "errors": [{"code": "ResourceNotFound", "message": f"The Resource with ID '{name}' was not found."}],
    }


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("unknown", "unknown"),
        ("", ""),
        ("a", "a"),
        (257 * "k", 257 * "k"),
        ("a%2Fb", "a/b"),
        ("a%252Fb", "a%2Fb"),
        ("a%20b", "a b"),
        ("%F0%9F%90%95", "🐕"),
        ("a=b", "a=b"),
        ("a%00b", "a\x00b"),
    ],
)
def test_get_by_an_unknown_or_invalid_key_is_404(api: Api, path: str, name: str) -> None:
    api.create(key="a-key")
    answer = api.get(f"/key={path}")
    assert answer.status_code == 404
    assert codes(answer) == ["ResourceNotFound"]
    assert answer.get_json()["message"] == f"The Resource with key '{name}' was not found."


@pytest.mark.parametrize("path", ["%FF", "key=%FF", "%00", "key=%ED%A0%80", "%ED%A0%80", 5000 * "x"])
def test_get_with_an_undecodable_or_overlong_path_is_404(api: Api, path: str) -> None:
    answer = api.get(f"/{path}")
    assert answer.status_code == 404
    assert codes(answer) == ["ResourceNotFound"]


EMPTY_PARAMETERS = "optionalQueryParameter=&secondOptionalQueryParameter"


@pytest.mark.parametrize(
    "query",
    [
        "optionalQueryParameter=a&optionalQueryParameter=b",
        "optionalQueryParamter=a",
        "secondOptionalQueryParameter=%00",
    ],
)
def test_get_with_a_malformed_query_is_400_also_for_an_unknown_id(api: Api, query: str) -> None:
    answer = api.get(f"/{UNKNOWN_ID}?{query}")
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]


@pytest.mark.parametrize("tags", ["1", 'w/"1"', '"1', '"1" "2"', '"1", 2', '"1", *', "W/1", ""])
def test_get_with_a_malformed_entity_tag_is_400(api: Api, tags: str) -> None:
    created = api.create()
    answer = api.get(f"/{created['id']}", headers={"If-None-Match": tags})
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]
    assert "If-None-Match" in answer.get_json()["message"]


def test_conditional_get_of_an_unknown_resource_is_404(api: Api) -> None:
    for header in ("If-Match", "If-None-Match"):
        for path in (f"/{UNKNOWN_ID}", "/key=unknown"):
            assert api.get(path, headers={header: "*"}).status_code == 404


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
