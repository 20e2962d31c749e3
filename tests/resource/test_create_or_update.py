"""POST on the collection (interface 4.6)."""

from flask import Flask

from tests.conftest import TokenFor
from tests.support.api import EXAMPLE, Api, at_once, codes, details


def test_a_body_without_id_and_key_creates_each_time(api: Api) -> None:
    first, second = api.post(json={"objectTypeProperty": EXAMPLE}), api.post(json={"objectTypeProperty": EXAMPLE})
    assert (first.status_code, second.status_code) == (201, 201)
    created = first.get_json()
    assert created["version"] == 1
    assert created["objectTypeProperty"] == EXAMPLE
    assert created["id"] != second.get_json()["id"]
    assert first.headers["Location"] == f"/{api.project}/resource/{created['id']}"
    assert first.headers["ETag"] == '"1"'


def test_a_created_resource_is_what_a_read_brings(api: Api) -> None:
    created = api.create(key="a-key")
    assert api.get(f"/{created['id']}").get_json() == created
    assert api.get("/key=a-key").get_json() == created


def test_fields_that_are_sent_replace_the_stored_ones_and_the_others_stay(api: Api) -> None:
    created = api.create(key="a-key")
    body = {"key": "a-key", "objectTypeProperty": {"arrayOfIntExample": [9], "arrayOfStringExample": []}}
    answer = api.post(json=body)
    assert answer.status_code == 200
    updated = answer.get_json()
    assert updated["objectTypeProperty"] == EXAMPLE | body["objectTypeProperty"]
    assert updated["version"] == 2
    assert updated["id"] == created["id"]


def test_an_update_that_changes_nothing_keeps_version_and_time(api: Api) -> None:
    created = api.create(key="a-key")
    for part in ({}, EXAMPLE, {"arrayOfFloatExample": [0.82]}):
        assert api.post(json={"key": "a-key", "objectTypeProperty": part}).get_json() == created


def test_id_finds_and_key_is_set(api: Api) -> None:
    created = api.create()
    answer = api.post(json={"id": created["id"], "key": "new-key", "objectTypeProperty": {}})
    assert answer.status_code == 200
    assert answer.get_json()["key"] == "new-key"
    assert answer.get_json()["version"] == 2
    without_key = api.post(json={"id": created["id"], "objectTypeProperty": {}})
    assert without_key.get_json()["key"] == "new-key"


def test_a_key_in_use_is_a_duplicate(api: Api) -> None:
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


def test_an_unknown_id_is_not_found_and_nothing_is_made(api: Api) -> None:
    for unknown in ("01890000-0000-7000-8000-000000000000", "no-uuid", ""):
        answer = api.post(json={"id": unknown, "objectTypeProperty": {}})
        assert answer.status_code == 404
        assert codes(answer) == ["ResourceNotFound"]
        assert details(answer) == [f"The Resource with ID '{unknown}' was not found."]
    assert api.get().get_json()["total"] == 0


def test_a_version_is_compared_where_a_resource_is_found_only(api: Api) -> None:
    assert api.post(json={"key": "a-key", "version": 7, "objectTypeProperty": {}}).status_code == 201
    stale = api.post(json={"key": "a-key", "version": 7, "objectTypeProperty": {"arrayOfIntExample": [1]}})
    assert stale.status_code == 409
    assert stale.get_json()["errors"][0]["currentVersion"] == 1
    right = api.post(json={"key": "a-key", "version": 1.0, "objectTypeProperty": {"arrayOfIntExample": [1]}})
    assert right.status_code == 200


def test_a_read_body_can_be_sent_back(api: Api) -> None:
    resource = api.update(api.create(key="a-key"), {"action": "changeSomeProperty", "someProperty": "x"})
    answer = api.post(json=resource)
    assert answer.status_code == 200
    assert answer.get_json() == resource


def test_racing_updates_of_one_key_lose_no_field(api: Api) -> None:
    names = ("arrayOfIntExample", "arrayOfUniqueIntExample", "arrayOfFloatExample", "arrayOfStringExample")
    parts = [{name: EXAMPLE[name]} for name in names]
    answers = at_once(4, lambda number: api.post(json={"key": "a-key", "objectTypeProperty": parts[number]}))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 201]
    resource = api.get("/key=a-key").get_json()
    assert resource["objectTypeProperty"] == {name: EXAMPLE[name] for name in names}
    assert resource["version"] == 4


def test_a_resource_of_another_project_is_not_found(app: Flask, api: Api, token_for: TokenFor) -> None:
    created = api.create(key="a-key")
    other = Api(app, f"{api.project}-2", token_for(f"manage_test:{api.project}-2"))
    assert other.post(json={"id": created["id"], "objectTypeProperty": {}}).status_code == 404
    assert other.post(json={"key": "a-key", "objectTypeProperty": {}}).status_code == 201
    assert api.get("/key=a-key").get_json() == created


def test_only_the_scope_to_manage_suffices(app: Flask, api: Api, token_for: TokenFor) -> None:
    for token, status in ((token_for(f"view_test:{api.project}"), 403), (None, 401)):
        assert Api(app, api.project, token).post(json={"objectTypeProperty": {}}).status_code == status
    assert api.get().get_json()["total"] == 0
