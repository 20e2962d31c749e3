"""PATCH on the collection (interface 4.7): overwrite a resource that exists."""

from typing import Any

import pytest
from flask import Flask

from tests.conftest import TokenFor
from tests.support.api import EXAMPLE, UNKNOWN_ID, Api, codes, details

NEW: dict[str, Any] = {"arrayOfIntExample": [5], "arrayOfStringExample": []}


@pytest.mark.clause("4.7-1", "4.7-2", "4.7-3")
def test_patch_without_id_and_key_overwrites_the_only_resource(api: Api) -> None:
    created = api.create()
    answer = api.patch({"version": 1, "objectTypeProperty": NEW})
    assert answer.status_code == 200
    assert answer.headers["ETag"] == '"2"'
    assert "Location" not in answer.headers
    overwritten = answer.get_json()
    assert overwritten["id"] == created["id"]
    assert overwritten["version"] == 2
    assert overwritten["objectTypeProperty"] == NEW
    assert overwritten["createdAt"] == created["createdAt"]
    assert api.get(f"/{created['id']}").get_json() == overwritten


@pytest.mark.clause("4.7-3")
def test_patch_by_id_or_key_overwrites_one_of_several_resources(api: Api) -> None:
    first, second = api.create(key="first"), api.create(key="second")
    by_key = api.patch({"key": "first", "version": 1, "objectTypeProperty": NEW})
    by_id = api.patch({"id": second["id"], "version": 1, "objectTypeProperty": {}})
    assert (by_key.status_code, by_id.status_code) == (200, 200)
    assert by_key.get_json()["id"] == first["id"]
    assert api.get("/key=first").get_json()["objectTypeProperty"] == NEW
    assert api.get("/key=second").get_json() == by_id.get_json()
    assert by_id.get_json()["objectTypeProperty"] == {}


@pytest.mark.clause("4.7-4")
def test_patch_without_id_and_key_is_400_if_the_project_has_several_resources(api: Api) -> None:
    resources = [api.create(), api.create()]
    answer = api.patch({"version": 1, "objectTypeProperty": NEW})
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]
    assert "id" in answer.get_json()["message"]
    assert "key" in answer.get_json()["message"]
    for resource in resources:
        assert api.get(f"/{resource['id']}").get_json() == resource


@pytest.mark.clause("4.6-7", "4.7-3", "4.7-5")
def test_patch_of_an_unknown_resource_is_404_and_creates_nothing(api: Api) -> None:
    for name in ({}, {"key": "unknown"}, {"id": UNKNOWN_ID}, {"id": "no-uuid"}, {"id": UNKNOWN_ID, "key": "unknown"}):
        answer = api.patch({**name, "version": 1, "objectTypeProperty": NEW})
        assert answer.status_code == 404
        assert codes(answer) == ["ResourceNotFound"]
    assert api.get().get_json()["total"] == 0


@pytest.mark.clause("2.1-5")
def test_patch_of_a_resource_of_another_project_is_404(api: Api, other_project: Api) -> None:
    created = api.create(key="a-key")
    for name in ({}, {"key": "a-key"}, {"id": created["id"]}):
        assert other_project.patch({**name, "version": 1, "objectTypeProperty": NEW}).status_code == 404
    assert api.get("/key=a-key").get_json() == created


@pytest.mark.clause("4.7-6")
def test_patch_without_a_version_is_400(api: Api) -> None:
    for _ in range(2):
        answer = api.patch({"objectTypeProperty": NEW})
        assert answer.status_code == 400
        assert codes(answer) == ["InvalidJsonInput"]
        assert details(answer) == ["version: Missing required value"]
        api.create()


@pytest.mark.clause("4.7-6", "H-6")
def test_patch_accepts_if_match_instead_of_a_version(api: Api) -> None:
    api.create()
    answer = api.patch({"objectTypeProperty": NEW}, headers={"If-Match": '"1"'})
    assert answer.status_code == 200
    assert answer.get_json()["version"] == 2
    assert api.patch({"objectTypeProperty": {}}, headers={"If-Match": '"1"'}).status_code == 412
    assert api.patch({"objectTypeProperty": {}}, headers={"If-Match": "*"}).get_json()["version"] == 3


@pytest.mark.clause("9-7", "9-10", "9-12")
@pytest.mark.parametrize("version", [2, 0, -1, 1.5, 0.999, 10**30, 1e300, -(2**70), 2**63])
def test_patch_with_another_version_is_409(api: Api, version: float) -> None:
    created = api.create()
    answer = api.patch({"version": version, "objectTypeProperty": NEW})
    assert answer.status_code == 409
    assert codes(answer) == ["ConcurrentModification"]
    assert answer.get_json()["errors"][0]["currentVersion"] == 1
    assert answer.get_json()["message"].startswith(f"Object {created['id']} has a different version than expected.")
    assert api.get(f"/{created['id']}").get_json() == created


@pytest.mark.clause("9-9")
@pytest.mark.parametrize("literal", ["1", "1.0", "1e0", "10e-1", "0.1E+1"])
def test_patch_accepts_the_current_version_in_any_number_notation(api: Api, literal: str) -> None:
    api.create()
    body = f'{{"version": {literal}, "objectTypeProperty": {{}}}}'
    assert api.patch(data=body, content_type="application/json").status_code == 200


@pytest.mark.parametrize("literal", ['"1"', "true", "null", "[1]", "{}", "NaN", "1e400"])
def test_patch_with_a_version_that_is_not_a_number_is_400(api: Api, literal: str) -> None:
    api.create()
    body = f'{{"version": {literal}, "objectTypeProperty": {{}}}}'
    assert api.patch(data=body, content_type="application/json").status_code == 400


@pytest.mark.clause("9-4")
def test_patch_without_a_change_keeps_version_and_time(api: Api) -> None:
    created = api.create()
    body = {"version": 1, "objectTypeProperty": dict(reversed(EXAMPLE.items()))}
    for _ in range(2):
        assert api.patch(body).get_json() == created


def test_patch_with_a_stale_version_is_409_also_without_a_change(api: Api) -> None:
    api.create()
    assert api.patch({"version": 2, "objectTypeProperty": EXAMPLE}).status_code == 409


@pytest.mark.clause("2.2-11", "4.6-8", "4.7-7")
def test_patch_with_id_and_key_sets_the_key_and_a_key_in_use_is_400(api: Api) -> None:
    api.create(key="taken")
    created = api.create(key="old")
    body = {"id": created["id"], "version": 1, "objectTypeProperty": EXAMPLE}
    duplicate = api.patch({**body, "key": "taken"})
    assert duplicate.status_code == 400
    assert codes(duplicate) == ["DuplicateField"]
    assert api.patch({**body, "key": "old"}).get_json() == created
    renamed = api.patch({**body, "key": "new"}).get_json()
    assert (renamed["key"], renamed["version"]) == ("new", 2)
    assert api.get("/key=old").status_code == 404
    assert api.patch({"id": created["id"], "version": 2, "objectTypeProperty": {}}).get_json()["key"] == "new"


@pytest.mark.clause("4.6-10", "4.7-7")
def test_patch_accepts_the_body_of_a_get_and_ignores_read_only_fields(api: Api) -> None:
    resource = api.update(api.create(key="a-key"), {"action": "changeSomeProperty", "someProperty": "x"})
    changed = {**resource, "objectTypeProperty": NEW, "someProperty": "ignored", "createdAt": "ignored"}
    answer = api.patch(changed)
    assert answer.status_code == 200
    overwritten = answer.get_json()
    assert overwritten["objectTypeProperty"] == NEW
    assert overwritten["someProperty"] == "x"
    assert overwritten["createdAt"] == resource["createdAt"]


@pytest.mark.clause("A-8", "A-10", "A-14")
def test_patch_with_scope_view_test_is_403(app: Flask, api: Api, token_for: TokenFor) -> None:
    created = api.create()
    viewer = Api(app, api.project, token_for(f"view_test:{api.project}", f"manage_test:{api.project}-2"))
    answer = viewer.patch({"version": 1, "objectTypeProperty": NEW})
    assert answer.status_code == 403
    assert codes(answer) == ["insufficient_scope"]
    assert api.get(f"/{created['id']}").get_json() == created
