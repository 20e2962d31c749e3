"""GET and HEAD of a resource by id and by key (interface 4.2 and 4.3), with and without entity tags."""

import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from flask import Flask

from tests.conftest import TokenFor
from tests.support.api import EXAMPLE, UNKNOWN_ID, Api, codes


@pytest.mark.clause("4.2-1", "2.2-1", "2.2-2", "2.2-3", "2.2-4", "2.2-5", "2.2-7", "2.2-10", "4-1", "9-1")
def test_get_returns_all_fields_of_a_resource(api: Api) -> None:
    created = api.create(key="a-key")
    answer = api.get(f"/{created['id']}")
    assert answer.status_code == 200
    assert answer.content_type == "application/json; charset=utf-8"
    resource = answer.get_json()
    author = {"typeId": "api-client", "id": "test-client"}
    assert resource == {
        "id": created["id"],
        "version": 1,
        "key": "a-key",
        "createdAt": created["createdAt"],
        "lastModifiedAt": created["createdAt"],
        "createdBy": author,
        "lastModifiedBy": author,
        "objectTypeProperty": EXAMPLE,
    }
    assert UUID(resource["id"]).version == 7
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", resource["createdAt"])
    age = datetime.now(UTC) - datetime.fromisoformat(resource["createdAt"])
    assert timedelta(seconds=-1) < age < timedelta(minutes=1)


@pytest.mark.clause("2.2-8", "2.2-9", "2.3-2")
def test_get_omits_fields_without_a_value(api: Api) -> None:
    resource = api.get(f"/{api.create({})['id']}").get_json()
    assert resource["objectTypeProperty"] == {}
    assert "key" not in resource
    assert "someProperty" not in resource


@pytest.mark.clause("4.3-1", "4.3-4", "H-1")
def test_get_by_key_equals_get_by_id_and_is_case_sensitive(api: Api) -> None:
    created = api.create(key="Some_key-1")
    by_key, by_id = api.get("/key=Some_key-1"), api.get(f"/{created['id']}")
    assert by_key.get_json() == by_id.get_json() == created
    assert by_key.headers["ETag"] == by_id.headers["ETag"] == '"1"'
    assert api.get("/key=some_key-1").status_code == 404


def test_get_finds_a_key_of_256_characters(api: Api) -> None:
    created = api.create(key=256 * "k")
    assert api.get(f"/key={256 * 'k'}").get_json() == created


@pytest.mark.clause("2.1-7", "4.3-5")
def test_get_finds_a_key_that_is_a_fixed_word_or_an_id(api: Api) -> None:
    for key in ("searchApiPattern", "sorted-query-parameters", UNKNOWN_ID):
        created = api.create(key=key)
        assert api.get(f"/key={key}").get_json() == created
        assert api.get(f"/key%3D{key}").get_json() == created


@pytest.mark.clause("4.2-3", "2.1-8")
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


@pytest.mark.clause("4.3-2", "4.3-3")
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


@pytest.mark.clause("2.1-1", "2.1-4")
def test_get_of_a_resource_of_another_project_is_404(api: Api, other_project: Api) -> None:
    created = api.create(key="a-key")
    assert other_project.get(f"/{created['id']}").status_code == 404
    assert other_project.get("/key=a-key").status_code == 404


EMPTY_PARAMETERS = "optionalQueryParameter=&secondOptionalQueryParameter"


@pytest.mark.clause("4-6", "4.2-2", "4.2-5")
def test_optional_query_parameters_do_not_change_the_answer_of_get(api: Api) -> None:
    created = api.create()
    for query in ("optionalQueryParameter=a&secondOptionalQueryParameter=%C3%BC%20%F0%9F%90%95", EMPTY_PARAMETERS):
        assert api.get(f"/{created['id']}?{query}").get_json() == created


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


@pytest.mark.clause("4-4")
def test_get_by_key_with_a_query_parameter_is_400(api: Api) -> None:
    api.create(key="a-key")
    assert api.get("/key=a-key?optionalQueryParameter=a").status_code == 400


@pytest.mark.clause("H-2", "H-11")
@pytest.mark.parametrize("path", ["/key=a-key", "/{id}"])
@pytest.mark.parametrize("tags", ['"2"', 'W/"2"', '"1", "2"', '"x" ,W/"2","3"', "*", '  "2"  '])
def test_get_with_a_matching_entity_tag_is_304(api: Api, path: str, tags: str) -> None:
    resource = api.update(api.create(key="a-key"), {"action": "doSomeThing"})
    answer = api.get(path.format(**resource), headers={"If-None-Match": tags})
    assert answer.status_code == 304
    assert answer.data == b""
    assert answer.headers["ETag"] == '"2"'


@pytest.mark.clause("H-2")
@pytest.mark.parametrize("path", ["/key=a-key", "/{id}"])
@pytest.mark.parametrize("tags", ['"1"', 'W/"1"', '"02"', '"2.0"', '""', '"a", "b"', '"22"'])
def test_get_with_another_entity_tag_is_200(api: Api, path: str, tags: str) -> None:
    resource = api.update(api.create(key="a-key"), {"action": "doSomeThing"})
    answer = api.get(path.format(**resource), headers={"If-None-Match": tags})
    assert answer.status_code == 200
    assert answer.get_json() == resource
    assert answer.headers["ETag"] == '"2"'


@pytest.mark.clause("H-13")
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


@pytest.mark.clause("H-3")
def test_get_with_if_match_of_another_version_is_412(api: Api) -> None:
    created = api.create()
    stale = api.get(f"/{created['id']}", headers={"If-Match": '"2"'})
    assert stale.status_code == 412
    assert codes(stale) == ["PreconditionFailed"]
    assert api.get(f"/{created['id']}", headers={"If-Match": '"1"'}).status_code == 200


@pytest.mark.clause("H-14")
def test_head_has_status_and_entity_tag_of_get_and_no_body(api: Api) -> None:
    created = api.create(key="a-key")
    for path in (f"/{created['id']}", "/key=a-key"):
        answer = api.head(path)
        assert answer.status_code == 200
        assert answer.data == b""
        assert answer.headers["ETag"] == '"1"'
    assert api.head(f"/{UNKNOWN_ID}").status_code == 404
    assert api.head("/key=unknown").status_code == 404


@pytest.mark.clause("A-2", "A-9")
def test_get_requires_scope_view_test_or_manage_test(app: Flask, api: Api, token_for: TokenFor) -> None:
    created = api.create(key="a-key")
    for path in (f"/{created['id']}", "/key=a-key"):
        for scope, status in (("view_test", 200), ("manage_test", 200), ("view_published_products", 403)):
            reader = Api(app, api.project, token_for(f"{scope}:{api.project}"))
            assert reader.get(path).status_code == status
        assert Api(app, api.project, token_for(f"view_test:{api.project}-2")).get(path).status_code == 403
        assert Api(app, api.project, None).get(path).status_code == 401


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
