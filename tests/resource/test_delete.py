"""Deleting a resource (interface 4.11)."""

import pytest
from flask import Flask

from tests.conftest import TokenFor
from tests.support.api import Api, at_once, codes

UNKNOWN = "01890000-0000-7000-8000-000000000000"


def test_the_deleted_resource_is_answered_and_gone(api: Api) -> None:
    kept = api.create()
    created = api.update(api.create(key="a-key"), {"action": "changeSomeProperty", "someProperty": "x"})
    answer = api.delete(f"/{created['id']}")
    assert answer.status_code == 200
    assert answer.get_json() == created
    assert answer.headers["ETag"] == '"2"'
    assert api.get(f"/{created['id']}").status_code == 404
    assert api.get("/key=a-key").status_code == 404
    assert [result["id"] for result in api.get().get_json()["results"]] == [kept["id"]]


def test_a_second_deletion_is_not_found(api: Api) -> None:
    created = api.create()
    assert api.delete(f"/{created['id']}").status_code == 200
    answer = api.delete(f"/{created['id']}")
    assert answer.status_code == 404
    assert codes(answer) == ["ResourceNotFound"]


def test_the_key_is_free_again(api: Api) -> None:
    created = api.create(key="a-key")
    api.delete(f"/{created['id']}")
    assert api.create(key="a-key")["id"] != created["id"]


@pytest.mark.parametrize("version", ["2", "2.0", "2e0"])
def test_the_right_version_deletes(api: Api, version: str) -> None:
    created = api.update(api.create(), {"action": "doSomeThing"})
    assert api.delete(f"/{created['id']}", query_string={"version": version}).status_code == 200


@pytest.mark.parametrize("version", ["1", "3", "2.5", "-2", "0", "99999999999999999999999", "1e300"])
def test_a_version_that_differs_is_a_conflict(api: Api, version: str) -> None:
    created = api.update(api.create(), {"action": "doSomeThing"})
    answer = api.delete(f"/{created['id']}", query_string={"version": version})
    assert answer.status_code == 409
    assert codes(answer) == ["ConcurrentModification"]
    assert answer.get_json()["errors"][0]["currentVersion"] == 2
    assert api.get(f"/{created['id']}").get_json() == created


@pytest.mark.parametrize(
    "query",
    ["version=abc", "version=", "version=true", "version=1e400", "version=1&version=1", "vesrion=1", "staged=true"],
)
def test_a_malformed_query_is_refused_and_nothing_deleted(api: Api, query: str) -> None:
    created = api.create()
    answer = api.delete(f"/{created['id']}?{query}")
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]
    assert api.get(f"/{created['id']}").status_code == 200
    assert api.delete(f"/{UNKNOWN}?{query}").status_code == 400


@pytest.mark.parametrize("resource_id", [UNKNOWN, "no-uuid", "a%2Fb", "%00"])
def test_an_unknown_resource_is_not_found_whatever_the_version(api: Api, resource_id: str) -> None:
    for query in ("", "?version=1"):
        answer = api.delete(f"/{resource_id}{query}")
        assert answer.status_code == 404
        assert codes(answer) == ["ResourceNotFound"]


def test_a_resource_of_another_project_is_not_found(app: Flask, api: Api, token_for: TokenFor) -> None:
    created = api.create()
    other = Api(app, f"{api.project}-2", token_for(f"manage_test:{api.project}-2"))
    assert other.delete(f"/{created['id']}").status_code == 404
    assert api.get(f"/{created['id']}").get_json() == created


def test_of_racing_deletions_one_wins(api: Api) -> None:
    created = api.create()
    answers = at_once(8, lambda _: api.delete(f"/{created['id']}?version=1"))
    assert sorted(answer.status_code for answer in answers) == [200] + [404] * 7


def test_only_the_scope_to_manage_suffices(app: Flask, api: Api, token_for: TokenFor) -> None:
    created = api.create()
    for token, status in ((token_for(f"view_test:{api.project}"), 403), (None, 401)):
        assert Api(app, api.project, token).delete(f"/{created['id']}").status_code == status
    assert api.get(f"/{created['id']}").status_code == 200
