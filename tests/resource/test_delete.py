"""DELETE of a resource (interface 4.11)."""

import pytest
from flask import Flask

from tests.conftest import TokenFor
from tests.support.api import UNKNOWN_ID, Api, codes, send_concurrently


@pytest.mark.clause("4.11-1", "4.11-2", "4.11-4")
def test_delete_returns_the_resource_and_removes_it(api: Api) -> None:
    kept = api.create()
    created = api.update(api.create(key="a-key"), {"action": "changeSomeProperty", "someProperty": "x"})
    answer = api.delete(f"/{created['id']}")
    assert answer.status_code == 200
    assert answer.get_json() == created
    assert answer.headers["ETag"] == '"2"'
    assert api.get(f"/{created['id']}").status_code == 404
    assert api.get("/key=a-key").status_code == 404
    assert [result["id"] for result in api.get().get_json()["results"]] == [kept["id"]]


@pytest.mark.clause("4.11-3")
def test_a_second_delete_is_404(api: Api) -> None:
    created = api.create()
    assert api.delete(f"/{created['id']}").status_code == 200
    answer = api.delete(f"/{created['id']}")
    assert answer.status_code == 404
    assert codes(answer) == ["ResourceNotFound"]


@pytest.mark.clause("4.11-7")
def test_a_key_can_be_used_again_after_delete(api: Api) -> None:
    created = api.create(key="a-key")
    api.delete(f"/{created['id']}")
    assert api.create(key="a-key")["id"] != created["id"]


@pytest.mark.clause("4.11-6")
@pytest.mark.parametrize("version", ["2", "2.0", "2e0"])
def test_delete_with_the_current_version_is_200(api: Api, version: str) -> None:
    created = api.update(api.create(), {"action": "doSomeThing"})
    assert api.delete(f"/{created['id']}", query_string={"version": version}).status_code == 200


@pytest.mark.clause("4.11-5", "4.11-6", "9-7")
@pytest.mark.parametrize("version", ["1", "3", "2.5", "-2", "0", "99999999999999999999999", "1e300"])
def test_delete_with_another_version_is_409(api: Api, version: str) -> None:
    created = api.update(api.create(), {"action": "doSomeThing"})
    answer = api.delete(f"/{created['id']}", query_string={"version": version})
    assert answer.status_code == 409
    assert codes(answer) == ["ConcurrentModification"]
    assert answer.get_json()["errors"][0]["currentVersion"] == 2
    assert api.get(f"/{created['id']}").get_json() == created


@pytest.mark.clause("4.11-6")
@pytest.mark.parametrize(
    "query",
    ["version=abc", "version=", "version=true", "version=1e400", "version=1&version=1", "vesrion=1", "staged=true"],
)
def test_delete_with_a_malformed_query_is_400_and_deletes_nothing(api: Api, query: str) -> None:
    created = api.create()
    answer = api.delete(f"/{created['id']}?{query}")
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]
    assert api.get(f"/{created['id']}").status_code == 200
    assert api.delete(f"/{UNKNOWN_ID}?{query}").status_code == 400


@pytest.mark.clause("4.11-3")
@pytest.mark.parametrize("resource_id", [UNKNOWN_ID, "no-uuid", "a%2Fb", "%00"])
def test_delete_of_an_unknown_id_is_404_with_and_without_a_version(api: Api, resource_id: str) -> None:
    for query in ("", "?version=1"):
        answer = api.delete(f"/{resource_id}{query}")
        assert answer.status_code == 404
        assert codes(answer) == ["ResourceNotFound"]


@pytest.mark.clause("2.1-5")
def test_delete_of_a_resource_of_another_project_is_404(api: Api, other_project: Api) -> None:
    created = api.create()
    assert other_project.delete(f"/{created['id']}").status_code == 404
    assert api.get(f"/{created['id']}").get_json() == created


@pytest.mark.clause("9-21")
def test_of_concurrent_deletes_one_is_200_and_the_others_are_404(api: Api) -> None:
    created = api.create()
    answers = send_concurrently(8, lambda _: api.delete(f"/{created['id']}?version=1"))
    assert sorted(answer.status_code for answer in answers) == [200] + [404] * 7


@pytest.mark.clause("A-2", "A-10", "A-14")
def test_delete_requires_scope_manage_test(app: Flask, api: Api, token_for: TokenFor) -> None:
    created = api.create()
    for token, status in ((token_for(f"view_test:{api.project}"), 403), (None, 401)):
        assert Api(app, api.project, token).delete(f"/{created['id']}").status_code == status
    assert api.get(f"/{created['id']}").status_code == 200
