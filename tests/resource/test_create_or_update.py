"""POST on the collection (interface 4.6): create a resource, or update fields of its ObjectType."""

import pytest
from flask import Flask

from tests.conftest import TokenFor
from tests.support.api import EXAMPLE, UNKNOWN_ID, Api, codes, details, send_concurrently


@pytest.mark.clause("4.6-1", "4.6-2", "4.6-3", "4.6-11", "9-1", "H-1")
def test_post_without_id_and_key_creates_a_resource_each_time(api: Api) -> None:
    first, second = api.post(json={"objectTypeProperty": EXAMPLE}), api.post(json={"objectTypeProperty": EXAMPLE})
    assert (first.status_code, second.status_code) == (201, 201)
    created = first.get_json()
    assert created["version"] == 1
    assert created["objectTypeProperty"] == EXAMPLE
    assert created["id"] != second.get_json()["id"]
    assert first.headers["Location"] == f"/{api.project}/resource/{created['id']}"
    assert first.headers["ETag"] == '"1"'


@pytest.mark.clause("2.2-13", "4.6-4")
def test_a_created_resource_equals_the_one_read_by_id_and_by_key(api: Api) -> None:
    created = api.create(key="a-key")
    assert api.get(f"/{created['id']}").get_json() == created
    assert api.get("/key=a-key").get_json() == created


@pytest.mark.clause("4.6-5", "4.6-6")
def test_post_by_key_replaces_the_fields_of_the_body_and_keeps_the_others(api: Api) -> None:
    created = api.create(key="a-key")
    body = {"key": "a-key", "objectTypeProperty": {"arrayOfIntExample": [9], "arrayOfStringExample": []}}
    answer = api.post(json=body)
    assert answer.status_code == 200
    updated = answer.get_json()
    assert updated["objectTypeProperty"] == EXAMPLE | body["objectTypeProperty"]
    assert updated["version"] == 2
    assert updated["id"] == created["id"]


@pytest.mark.clause("9-4")
def test_post_without_a_change_keeps_version_and_time(api: Api) -> None:
    created = api.create(key="a-key")
    for part in ({}, EXAMPLE, {"arrayOfFloatExample": [0.82]}):
        assert api.post(json={"key": "a-key", "objectTypeProperty": part}).get_json() == created


@pytest.mark.clause("4.6-5", "4.6-8")
def test_post_with_id_and_key_sets_the_key(api: Api) -> None:
    created = api.create()
    answer = api.post(json={"id": created["id"], "key": "new-key", "objectTypeProperty": {}})
    assert answer.status_code == 200
    assert answer.get_json()["key"] == "new-key"
    assert answer.get_json()["version"] == 2
    without_key = api.post(json={"id": created["id"], "objectTypeProperty": {}})
    assert without_key.get_json()["key"] == "new-key"


@pytest.mark.clause("2.2-11", "E-12")
def test_post_with_a_key_in_use_is_400_duplicate_field(api: Api) -> None:
    api.create(key="taken")
    other = api.create()
    answer = api.post(json={"id": other["id"], "key": "taken", "objectTypeProperty": {}})
    assert answer.status_code == 400
    assert answer.get_json()["errors"] == [
        {
            "code": "DuplicateField",
            "message": "A duplicate value '\"taken\"' exists for field 'key'.",
            "field": "key",
            "duplicateValue": "taken",
        }
    ]
    assert api.get(f"/{other['id']}").get_json() == other


@pytest.mark.clause("4.6-7")
def test_post_with_an_unknown_id_is_404_and_creates_nothing(api: Api) -> None:
    for unknown in (UNKNOWN_ID, "no-uuid", ""):
        answer = api.post(json={"id": unknown, "objectTypeProperty": {}})
        assert answer.status_code == 404
        assert codes(answer) == ["ResourceNotFound"]
        assert details(answer) == [f"The Resource with ID '{unknown}' was not found."]
    assert api.get().get_json()["total"] == 0


@pytest.mark.clause("4.6-4", "9-9", "9-12", "9-13")
def test_post_compares_the_version_only_if_the_resource_exists(api: Api) -> None:
    assert api.post(json={"key": "a-key", "version": 7, "objectTypeProperty": {}}).status_code == 201
    stale = api.post(json={"key": "a-key", "version": 7, "objectTypeProperty": {"arrayOfIntExample": [1]}})
    assert stale.status_code == 409
    assert stale.get_json()["errors"][0]["currentVersion"] == 1
    right = api.post(json={"key": "a-key", "version": 1.0, "objectTypeProperty": {"arrayOfIntExample": [1]}})
    assert right.status_code == 200


@pytest.mark.clause("4.6-10")
def test_post_accepts_the_body_of_a_get_unchanged(api: Api) -> None:
    resource = api.update(api.create(key="a-key"), {"action": "changeSomeProperty", "someProperty": "x"})
    answer = api.post(json=resource)
    assert answer.status_code == 200
    assert answer.get_json() == resource


@pytest.mark.clause("9-17")
def test_concurrent_posts_with_one_key_lose_no_field(api: Api) -> None:
    names = ("arrayOfIntExample", "arrayOfUniqueIntExample", "arrayOfFloatExample", "arrayOfStringExample")
    parts = [{name: EXAMPLE[name]} for name in names]
    answers = send_concurrently(4, lambda number: api.post(json={"key": "a-key", "objectTypeProperty": parts[number]}))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 201]
    resource = api.get("/key=a-key").get_json()
    assert resource["objectTypeProperty"] == {name: EXAMPLE[name] for name in names}
    assert resource["version"] == 4


@pytest.mark.clause("2.1-5", "2.2-11")
def test_post_with_an_id_of_another_project_is_404(api: Api, other_project: Api) -> None:
    created = api.create(key="a-key")
    assert other_project.post(json={"id": created["id"], "objectTypeProperty": {}}).status_code == 404
    assert other_project.post(json={"key": "a-key", "objectTypeProperty": {}}).status_code == 201
    assert api.get("/key=a-key").get_json() == created


@pytest.mark.clause("A-10", "A-14")
def test_post_requires_scope_manage_test(app: Flask, api: Api, token_for: TokenFor) -> None:
    for token, status in ((token_for(f"view_test:{api.project}"), 403), (None, 401)):
        assert Api(app, api.project, token).post(json={"objectTypeProperty": {}}).status_code == status
    assert api.get().get_json()["total"] == 0
