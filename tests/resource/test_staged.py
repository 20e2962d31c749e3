"""The two projections of a resource: what stages, publishes and reverts, and that answers show the current one."""

from typing import Any

import pytest

from tests.support.api import EXAMPLE, Api

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


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_staged_write_that_changes_nothing_keeps_the_version(api: Api, method: str) -> None:
    created = api.create(key="a-key")
    assert staged_write(api, method, {"key": "a-key", "version": 1, "objectTypeProperty": EXAMPLE}) == created
    body = {"key": "a-key", "objectTypeProperty": EXAMPLE | NEW}
    staged = staged_write(api, method, body | {"version": 1})
    assert staged_write(api, method, body | {"version": 2}) == staged


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


def test_staging_back_to_the_current_value_leaves_nothing_to_publish(api: Api) -> None:
    resource = api.update(api.create(), change("a", staged=False))
    staged = api.update(resource, change("b", staged=True))
    back = api.update(staged, change("a", staged=True))
    assert back["version"] == staged["version"] + 1
    assert api.update(back, PUBLISH) == back


def test_a_change_of_one_value_keeps_the_staged_change_of_the_other(api: Api) -> None:
    api.create(key="a-key")
    staged = staged_write(api, "PUT", {"key": "a-key", "objectTypeProperty": NEW})
    resource = api.update(staged, change("both", staged=False))
    assert (resource["objectTypeProperty"], resource["someProperty"]) == (EXAMPLE, "both")
    updated = api.update(resource, PUBLISH)
    assert (updated["objectTypeProperty"], updated["someProperty"]) == (NEW, "both")


def test_a_delete_answers_the_current_projection(api: Api) -> None:
    api.create(key="a-key")
    staged = staged_write(api, "PUT", {"key": "a-key", "objectTypeProperty": NEW})
    assert api.delete(f"/{staged['id']}").get_json() == staged


def test_a_key_is_never_staged(api: Api) -> None:
    created = api.create()
    staged = staged_write(api, "PUT", {"id": created["id"], "key": "a-key", "objectTypeProperty": NEW})
    assert staged["key"] == "a-key"
    assert api.get("/key=a-key").get_json()["objectTypeProperty"] == EXAMPLE
