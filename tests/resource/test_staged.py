"""The two projections of a resource: what stages, publishes and reverts, and that answers show the current one."""

from typing import Any

import pytest

from tests.support.api import EXAMPLE, Api, codes

NEW: dict[str, Any] = {"arrayOfIntExample": [5], "arrayOfStringExample": ["cow"]}
PUBLISH = {"action": "publish"}
REVERT = {"action": "revertStagedChanges"}


def change(text: str, *, staged: bool) -> dict[str, Any]:
    """The action that sets someProperty."""
    return {"action": "changeSomeProperty", "someProperty": text, "staged": staged}


def staged_write(api: Api, method: str, body: dict[str, Any], staged: str = "true") -> dict[str, Any]:
    """Write a body to the staged projection; what is answered."""
    answer = api.request(method, query_string={"staged": staged}, json=body)
    assert answer.status_code == 200, answer.text
    assert answer.headers["ETag"] == f'"{answer.get_json()["version"]}"'
    return answer.get_json()


def published(api: Api, resource: dict[str, Any]) -> dict[str, Any]:
    """The ObjectType that a publication brings."""
    return api.update(resource, PUBLISH)["objectTypeProperty"]


@pytest.mark.clause("3-3", "3-6", "3-10")
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_what_is_created_staged_is_empty_until_it_is_published(api: Api, method: str) -> None:
    answer = api.request(method, query_string={"staged": "true"}, json={"key": "a-key", "objectTypeProperty": EXAMPLE})
    assert answer.status_code == 201
    created = answer.get_json()
    assert created["objectTypeProperty"] == {}
    assert created["version"] == 1
    assert api.get("/key=a-key").get_json() == created
    assert api.head("?stringParameter=dog").status_code == 404
    updated = api.update(created, PUBLISH)
    assert updated["version"] == 2
    assert updated["objectTypeProperty"] == EXAMPLE
    assert api.get("/key=a-key").get_json() == updated
    assert api.head("?stringParameter=dog").status_code == 200


def test_a_body_without_id_and_key_is_created_staged_too(api: Api) -> None:
    created = api.post("?staged=true", json={"objectTypeProperty": EXAMPLE}).get_json()
    assert created["objectTypeProperty"] == {}
    assert published(api, created) == EXAMPLE


@pytest.mark.clause("3-9")
def test_creating_an_empty_object_staged_leaves_nothing_to_publish(api: Api) -> None:
    created = api.post("?staged=true", json={"objectTypeProperty": {}}).get_json()
    assert api.update(created, PUBLISH) == created


@pytest.mark.clause("3-1", "3-2", "3-10", "3-11")
@pytest.mark.parametrize(("method", "expected"), [("POST", EXAMPLE | NEW), ("PUT", NEW), ("PATCH", NEW)])
def test_a_staged_write_changes_the_staged_projection_only(api: Api, method: str, expected: dict[str, Any]) -> None:
    created = api.create(key="a-key")
    staged = staged_write(api, method, {"key": "a-key", "version": 1, "objectTypeProperty": NEW})
    assert staged["version"] == 2
    assert staged["objectTypeProperty"] == EXAMPLE
    assert api.get(f"/{created['id']}").get_json() == staged
    [listed] = api.get().get_json()["results"]
    assert listed["arrayOfIntExample"] == EXAMPLE["arrayOfIntExample"]
    assert api.get("/sorted-query-parameters").get_json()["results"] == [staged]
    assert api.get("?stringParameter=cow").get_json()["total"] == 0
    updated = api.update(staged, PUBLISH)
    assert updated["version"] == 3
    assert updated["objectTypeProperty"] == expected
    assert api.update(updated, REVERT) == updated


@pytest.mark.clause("3-7")
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_staged_write_can_be_reverted(api: Api, method: str) -> None:
    api.create(key="a-key")
    staged = staged_write(api, method, {"key": "a-key", "version": 1, "objectTypeProperty": NEW})
    reverted = api.update(staged, REVERT)
    assert reverted["version"] == 3
    assert reverted["objectTypeProperty"] == EXAMPLE
    assert api.update(reverted, PUBLISH) == reverted


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_staged_write_that_changes_nothing_keeps_the_version(api: Api, method: str) -> None:
    created = api.create(key="a-key")
    assert staged_write(api, method, {"key": "a-key", "version": 1, "objectTypeProperty": EXAMPLE}) == created
    body = {"key": "a-key", "objectTypeProperty": EXAMPLE | NEW}
    staged = staged_write(api, method, body | {"version": 1})
    assert staged_write(api, method, body | {"version": 2}) == staged


@pytest.mark.clause("3-1")
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_write_without_staged_changes_both_projections(api: Api, method: str) -> None:
    api.create(key="a-key")
    staged_write(api, "PUT", {"key": "a-key", "objectTypeProperty": NEW})
    both = {"arrayOfFloatExample": [1.5]}
    for version, staged in ((2, "false"), (3, "FALSE")):
        written = staged_write(api, method, {"key": "a-key", "version": version, "objectTypeProperty": both}, staged)
        assert written["objectTypeProperty"] == both
        assert written["version"] == 3
    assert api.update(written, PUBLISH) == written


@pytest.mark.clause("3-11")
def test_a_merge_adds_the_sent_fields_to_each_projection(api: Api) -> None:
    api.create({"arrayOfIntExample": [1]}, key="a-key")
    staged_write(api, "POST", {"key": "a-key", "objectTypeProperty": {"arrayOfIntExample": [2]}})
    merged = api.post(json={"key": "a-key", "objectTypeProperty": {"arrayOfFloatExample": [0.5]}}).get_json()
    assert merged["objectTypeProperty"] == {"arrayOfIntExample": [1], "arrayOfFloatExample": [0.5]}
    staged_write(api, "POST", {"key": "a-key", "objectTypeProperty": {"arrayOfStringExample": ["x"]}})
    assert published(api, api.get("/key=a-key").get_json()) == {
        "arrayOfIntExample": [2],
        "arrayOfFloatExample": [0.5],
        "arrayOfStringExample": ["x"],
    }


def test_an_overwrite_of_a_staged_change_by_the_same_in_both_publishes_it(api: Api) -> None:
    api.create(key="a-key")
    staged_write(api, "PUT", {"key": "a-key", "objectTypeProperty": NEW})
    written = api.put({"key": "a-key", "objectTypeProperty": NEW}).get_json()
    assert (written["version"], written["objectTypeProperty"]) == (3, NEW)
    assert api.update(written, PUBLISH) == written


def test_a_merge_can_change_the_staged_projection_alone(api: Api) -> None:
    created = api.create({"arrayOfIntExample": [1]}, key="a-key")
    staged_write(api, "PUT", {"key": "a-key", "objectTypeProperty": {}})
    merged = api.post(json={"key": "a-key", "objectTypeProperty": {"arrayOfIntExample": [1]}}).get_json()
    assert merged["version"] == 3
    assert merged["objectTypeProperty"] == created["objectTypeProperty"]
    assert api.update(merged, PUBLISH) == merged


@pytest.mark.clause("3-6", "3-8")
def test_some_property_is_staged_and_published(api: Api) -> None:
    resource = api.update(api.create(), change("old", staged=False))
    staged = api.update(resource, change("new", staged=True))
    assert (staged["version"], staged["someProperty"]) == (3, "old")
    assert api.get(f"/{staged['id']}").get_json() == staged
    assert api.update(staged, change("new", staged=True)) == staged
    updated = api.update(staged, PUBLISH)
    assert (updated["version"], updated["someProperty"]) == (4, "new")


@pytest.mark.clause("3-7", "3-8")
def test_some_property_staged_for_the_first_time_stays_absent_until_published(api: Api) -> None:
    staged = api.update(api.create(), change("new", staged=True))
    assert "someProperty" not in staged
    assert "someProperty" not in api.update(staged, REVERT)
    assert api.update(api.update(api.create(), change("new", staged=True)), PUBLISH)["someProperty"] == "new"


def test_staging_back_to_the_current_value_leaves_nothing_to_publish(api: Api) -> None:
    resource = api.update(api.create(), change("a", staged=False))
    staged = api.update(resource, change("b", staged=True))
    back = api.update(staged, change("a", staged=True))
    assert back["version"] == staged["version"] + 1
    assert api.update(back, PUBLISH) == back


@pytest.mark.clause("3-6")
def test_both_values_of_a_projection_are_published_together(api: Api) -> None:
    api.create(key="a-key")
    staged = staged_write(api, "PUT", {"key": "a-key", "objectTypeProperty": NEW})
    staged = api.update(staged, change("new", staged=True))
    assert staged["objectTypeProperty"] == EXAMPLE
    assert "someProperty" not in staged
    updated = api.update(staged, PUBLISH)
    assert (updated["objectTypeProperty"], updated["someProperty"]) == (NEW, "new")


def test_a_change_of_one_value_keeps_the_staged_change_of_the_other(api: Api) -> None:
    api.create(key="a-key")
    staged = staged_write(api, "PUT", {"key": "a-key", "objectTypeProperty": NEW})
    resource = api.update(staged, change("both", staged=False))
    assert (resource["objectTypeProperty"], resource["someProperty"]) == (EXAMPLE, "both")
    updated = api.update(resource, PUBLISH)
    assert (updated["objectTypeProperty"], updated["someProperty"]) == (NEW, "both")


def test_staged_actions_and_publications_take_turns_in_one_request(api: Api) -> None:
    resource = api.update(
        api.create(),
        change("a", staged=True),
        PUBLISH,
        change("b", staged=True),
        REVERT,
        change("c", staged=True),
    )
    assert (resource["version"], resource["someProperty"]) == (2, "a")
    assert api.update(resource, PUBLISH)["someProperty"] == "c"


def test_a_delete_answers_the_current_projection(api: Api) -> None:
    api.create(key="a-key")
    staged = staged_write(api, "PUT", {"key": "a-key", "objectTypeProperty": NEW})
    assert api.delete(f"/{staged['id']}").get_json() == staged


def test_a_key_is_never_staged(api: Api) -> None:
    created = api.create()
    staged = staged_write(api, "PUT", {"id": created["id"], "key": "a-key", "objectTypeProperty": NEW})
    assert staged["key"] == "a-key"
    assert api.get("/key=a-key").get_json()["objectTypeProperty"] == EXAMPLE


@pytest.mark.clause("4-8")
@pytest.mark.parametrize("staged", ["true", "True", "TRUE"])
def test_the_letter_case_of_the_parameter_does_not_matter(api: Api, staged: str) -> None:
    api.create(key="a-key")
    assert staged_write(api, "PUT", {"key": "a-key", "objectTypeProperty": {}}, staged)["objectTypeProperty"] == EXAMPLE


@pytest.mark.clause("4-8")
@pytest.mark.parametrize("query", ["staged=1", "staged=", "staged=yes", "staged=true&staged=true", "Staged=true"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_value_that_is_no_boolean_is_refused(api: Api, method: str, query: str) -> None:
    created = api.create()
    answer = api.request(method, f"?{query}", json={"id": created["id"], "version": 1, "objectTypeProperty": NEW})
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]
    assert api.get(f"/{created['id']}").get_json() == created


def test_reads_take_no_staged_parameter(api: Api) -> None:
    created = api.create(key="a-key")
    for path in ("", "/key=a-key", f"/{created['id']}", "/sorted-query-parameters"):
        assert api.get(f"{path}?staged=true").status_code == 400
