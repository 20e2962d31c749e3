"""Throwaway projects: making, describing, resetting and removing them, clock and ids."""

import re
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread, current_thread
from typing import Any

import pytest
from rows import TABLES, rows_of
from sample_resource_sandbox.projects.lifecycle import NewProject
from sample_resource_sandbox.rules.rules import Rule
from tester import Answer, Project, Service, wait_for, with_sandbox

from app.config import Settings
from app.database.connection import Connection
from app.identity import clients
from app.resource import bulk_store
from tests.support.applications import open_app


def details(answer: Answer) -> list[str]:
    assert answer.status == 400, answer.text
    return [each.get("detailedErrorMessage") or each.get("field") or each["message"] for each in answer.json["errors"]]


def test_a_project_comes_with_a_client_and_a_token(sandbox: Service) -> None:
    answer = sandbox.send("POST", "/sandbox/projects")
    assert answer.status == 201
    made = answer.json
    key = made["projectKey"]
    assert re.fullmatch("sb-[a-z]{12}", key)
    assert made["scope"] == " ".join(
        f"{name}:{key}" for name in ("manage_test", "view_test", "view_products", "view_published_products")
    )
    assert made["tokenUrl"].endswith("/oauth/token")
    assert answer.headers["Location"] == f"/sandbox/projects/{key}"
    project = Project(sandbox, made)
    assert project.create()["version"] == 1
    assert project.grant().status == 200


def test_the_body_says_what_it_shall_be(sandbox: Service) -> None:
    made = sandbox.make(scope="view_test", ttlSeconds=60, resources=3)
    assert made.made["scope"] == f"view_test:{made.key}"
    assert made.send("POST", "", {"objectTypeProperty": {}}).status == 403
    assert len(made.listing()) == 3
    described = made.order("GET").json
    assert (described["resources"], described["requests"]) == (3, 2)
    named = sandbox.make(projectKey=f"{made.key}-2", scope=f"manage_test:{made.key}-2")
    assert named.made["scope"] == f"manage_test:{made.key}-2"
    listed = {each["projectKey"] for each in sandbox.send("GET", "/sandbox/projects").json["results"]}
    assert {made.key, named.key} <= listed


def test_made_up_resources_are_the_same_in_all_projects(sandbox: Service) -> None:
    assert sandbox.make(resources=20).listing() == sandbox.make(resources=20).listing()


def test_a_key_that_was_used_is_refused(sandbox: Service, throwaway: Project, connection: Connection) -> None:
    clients.create_client(connection, "a client", (f"view_test:{throwaway.key}-3",))
    for key in (throwaway.key, f"{throwaway.key}-3"):
        answer = sandbox.send("POST", "/sandbox/projects", {"projectKey": key})
        assert details(answer) == ["projectKey"]
        assert answer.json["errors"][0]["code"] == "DuplicateField"


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"projectKey": "a b"}, "projectKey"),
        ({"scope": "manage"}, "scope"),
        ({"scope": "manage_test:demo"}, "scope: manage_test:demo is for another project than this one."),
        ({"ttlSeconds": 59}, "ttlSeconds"),
        ({"resources": 10_001}, "resources"),
        ({"copyOf": "demo"}, "copyOf"),
        ({"resources": 1, "copyOf": "x"}, "resources: Either resources or copyOf is expected, not both."),
        ({"clock": {"now": "tomorrow"}}, "clock -> now"),
        ({"clock": {"now": "2030-01-01T00:00:00Z", "offsetSeconds": 1}}, ""),
        ({"ids": {"seed": "7"}}, "ids -> seed: JSON Number without a fraction expected."),
        ({"projectkey": "x"}, "projectkey: Unknown field. Did you mean 'projectKey'?"),
    ],
)
def test_an_order_that_cannot_be_says_where(sandbox: Service, body: Any, where: str) -> None:
    found = details(sandbox.send("POST", "/sandbox/projects", body))
    assert not where or found == [where]


def test_a_copy_has_the_resources_as_they_are(sandbox: Service, throwaway: Project) -> None:
    one = throwaway.create(key="one", objectTypeProperty={"arrayOfStringExample": ["copied"]})
    throwaway.send("POST", "?staged=true", {"key": "two", "objectTypeProperty": {"arrayOfIntExample": [1]}})
    throwaway.create()
    copy = sandbox.make(copyOf=throwaway.key)
    assert copy.listing() == throwaway.listing()
    assert copy.send("GET", "/searchApiPattern?text.en=copied").json["total"] == 1
    throwaway.send("DELETE", f"/{one['id']}")
    assert len(copy.listing()) == 3
    copy.create()
    assert copy.order("POST", "/reset").status == 204
    assert len(copy.listing()) == 3


def test_nothing_is_left_of_a_removed_project(sandbox: Service, connection: Connection) -> None:
    project = sandbox.make(resources=5, ids={"seed": 1})
    project.create(objectTypeProperty={"arrayOfStringExample": ["word"]})
    project.rules({"times": {"first": 1}, "status": 503})
    project.send("GET")
    project.order("PUT", "/clock", {"offsetSeconds": 34_560_000})
    project.renew()
    of_client = "SELECT FROM api_client WHERE id = %s", (project.made["clientId"],)
    assert rows_of(connection, project.key).keys() >= set(TABLES)
    assert connection.execute(*of_client).fetchone() is not None
    assert project.order("DELETE").status == 204
    assert rows_of(connection, project.key).keys().isdisjoint(TABLES)
    assert connection.execute(*of_client).fetchone() is None
    assert [project.send("GET").json["errors"][0]["code"] for _ in range(2)] == ["invalid_token"] * 2
    assert [project.grant().status, project.order("GET").status, project.order("DELETE").status] == [401, 404, 404]
    again = sandbox.make(projectKey=project.key)
    assert (again.listing(), project.send("GET").status) == ([], 401)
    again.create(objectTypeProperty={"arrayOfStringExample": ["word"]})
    assert again.send("GET", "/searchApiPattern?text.en=word").json["total"] == 1


def test_an_expired_project_is_removed(settings: Settings, connection: Connection) -> None:
    with open_app(with_sandbox(settings)) as app:
        projects = app.extensions["extension"].projects
        old, young = (projects.make(NewProject(resources=1, ttl_s=ttl_s))["projectKey"] for ttl_s in (0, 60))
        projects.remove_expired()
        assert [each.key for each in projects.registry.all() if each.key in (old, young)] == [young]
        row = connection.execute("SELECT count(*) FROM resource WHERE project_key = %s", (old,)).fetchone()
        assert row == (0,)
        projects.remove(young)


def test_a_second_removal_spares_a_new_project_with_the_same_key(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_app(with_sandbox(settings)) as app:
        projects = app.extensions["extension"].projects
        key = projects.make(NewProject())["projectKey"]
        second, has_found, is_made = Thread(target=projects.remove_expired), Event(), Event()
        find, delete_in_parts = projects.registry.find, bulk_store.delete_in_parts

        def find_and_tell(key: str) -> Any:
            found = find(key)
            if current_thread() is second:
                has_found.set()
            return found

        def delete_late(*arguments: Any) -> None:
            if current_thread() is second:
                is_made.wait(20)
            else:
                second.start()
                has_found.wait(20)
            delete_in_parts(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(projects.registry, "find", find_and_tell)
            patch.setattr(bulk_store, "delete_in_parts", delete_late)
            projects.remove(key)
            projects.make(NewProject(project_key=key, resources=1))
            is_made.set()
            second.join()
        assert projects.described_one(key)["resources"] == 1
        projects.remove(key)


def test_what_lies_in_the_database_outlives_the_process(settings: Settings) -> None:
    with open_app(with_sandbox(settings)) as app:
        before = app.extensions["extension"].projects
        order = NewProject(resources=2, run="kept", ids={"seed": 3}, clock={"offsetSeconds": 3600})
        made = before.make(order)
        key, headers = made["projectKey"], {"Authorization": f"Bearer {made['accessToken']}"}
        before.expire_tokens(before.get(key))
        before.set_rules(key, [Rule(0, {"status": 503})])
        kept = before.described_one(key)
    with open_app(with_sandbox(settings)) as app:
        after = app.extensions["extension"].projects
        found = after.get(key)
        assert (found.seed, found.run, found.rules, found.journal.total) == (3, "kept", (), 0)
        assert {**after.described_one(key), "clock": None} == {**kept, "clock": None}
        answer = app.test_client().get(f"/{key}/resource", headers=headers)
        assert "revoked" in answer.get_json()["error_description"]
        after.remove(key)
    with open_app(with_sandbox(settings)) as app:
        assert app.extensions["extension"].projects.registry.find(key) is None


def test_a_reset_brings_back_the_beginning(sandbox: Service) -> None:
    project = sandbox.make(resources=4, clock={"now": "2030-01-01T00:00:00.000Z", "runs": False}, ids={"seed": 7})
    before = project.listing()
    first = project.create(key="mine")
    project.send("DELETE", f"/{before[0]['id']}")
    project.send(
        "POST", f"/{before[1]['id']}", {"version": before[1]["version"], "actions": [{"action": "doSomeThing"}]}
    )
    project.order("PUT", "/clock", {})
    project.order("PUT", "/ids", {})
    project.rules({"match": {"method": "PATCH"}, "status": 503})
    assert project.order("POST", "/reset", {"keep": ["rules", "requests"]}).status == 204
    assert project.listing() == before
    assert len(project.order("GET", "/rules").json["rules"]) == 1
    assert len(project.entries()) > 4
    assert project.create(key="mine") == first
    described = project.order("GET").json
    assert described["ids"] == {"seed": 7}
    assert project.order("POST", "/reset").status == 204
    assert project.listing() == before
    assert project.order("GET", "/rules").json == {"rules": []}
    assert [entry["number"] for entry in project.entries()] == [1]  # the list above
    assert details(project.order("POST", "/reset", {"keep": ["words"]})) == ["keep -> 0"]


@pytest.mark.parametrize(("path", "order"), [("/clock", {"offsetSeconds": 5}), ("/ids", {"seed": 1})])
def test_the_clock_and_the_ids_return_to_normal(throwaway: Project, path: str, order: dict[str, Any]) -> None:
    for method, body in (("PUT", {}), ("DELETE", None)):
        assert throwaway.order("PUT", path, order).status == 204
        assert throwaway.order("GET").json[path[1:]].items() >= order.items()
        assert throwaway.order(method, path, body).status == 204
        after = throwaway.order("GET").json
        assert (after["ids"], after["clock"]["runs"], after["clock"]["offsetSeconds"]) == ({}, True, 0)


def test_the_clock_dates_what_is_written(throwaway: Project) -> None:
    assert throwaway.order("PUT", "/clock", {"now": "2030-01-01T00:00:00.000Z", "runs": False}).status == 204
    throwaway.renew()
    one = throwaway.create()
    assert one["createdAt"] == one["lastModifiedAt"] == "2030-01-01T00:00:00.000Z"
    throwaway.order("PUT", "/clock", {"now": "2030-01-01T00:00:01.500Z", "runs": False})
    change = {"version": 1, "actions": [{"action": "doSomeThing"}]}
    changed = throwaway.send("POST", f"/{one['id']}", change).json
    assert changed["createdAt"] == "2030-01-01T00:00:00.000Z"
    assert changed["lastModifiedAt"] == "2030-01-01T00:00:01.500Z"
    throwaway.order("PUT", "/clock", {"now": "2031-01-01T00:00:00.000Z"})
    throwaway.renew()
    merged = throwaway.send("POST", "", {"id": one["id"], "objectTypeProperty": {"arrayOfIntExample": [1]}}).json
    assert merged["lastModifiedAt"].startswith("2031-01-01T00:00:")
    assert throwaway.order("PUT", "/clock", {"runs": False}).status == 204
    assert len({throwaway.order("GET").json["clock"]["now"] for _ in range(3)}) == 1


@pytest.mark.parametrize("order", [{}, {"offsetSeconds": 5}])
def test_a_running_clock_that_is_told_to_run_goes_on(throwaway: Project, order: dict[str, Any]) -> None:
    throwaway.order("PUT", "/clock", order)
    assert throwaway.order("PUT", "/clock", {"runs": True}).status == 204
    assert throwaway.order("GET").json["clock"]["offsetSeconds"] == order.get("offsetSeconds", 0)
    throwaway.send("GET")
    assert (throwaway.entries()[0]["projectTime"] is None) == (order == {}), "real time stays real time"


def test_the_clock_decides_whether_a_token_has_expired(sandbox: Service, throwaway: Project) -> None:
    assert throwaway.order("PUT", "/clock", {"offsetSeconds": 172_800 + 60}).status == 204
    assert 'error="invalid_token"' in throwaway.send("GET").headers["WWW-Authenticate"]
    throwaway.renew()
    assert [throwaway.send("GET").status for _ in range(4)] == [200] * 4
    # Issued in the future, and not expired: good when the clock is set back.
    assert throwaway.order("PUT", "/clock", {}).status == 204
    assert [throwaway.send("GET").status for _ in range(4)] == [200] * 4
    assert throwaway.order("PUT", "/clock", {"now": "2000-01-01T00:00:00Z", "runs": False}).status == 204
    throwaway.renew()
    assert [throwaway.send("GET").status for _ in range(4)] == [200] * 4
    assert throwaway.order("PUT", "/clock", {"now": "2000-01-03T00:00:01Z", "runs": False}).status == 204
    assert [throwaway.send("GET").status for _ in range(4)] == [401] * 4
    # The clock of one project is not that of another.
    assert sandbox.make().send("GET").status == 200


def test_a_token_that_was_revoked_stays_so_whatever_the_clock_says(throwaway: Project) -> None:
    throwaway.order("PUT", "/clock", {"now": "2000-01-01T00:00:00Z", "runs": False})
    throwaway.renew()
    assert throwaway.form("/oauth/revoke", f"token={throwaway.token}").status == 200
    assert wait_for(lambda: [throwaway.send("GET").status for _ in range(4)] == [401] * 4, within_s=10)


def test_the_same_seed_clock_and_requests_give_the_same_answers(sandbox: Service) -> None:
    def run() -> list[str]:
        project = sandbox.make(resources=3, ids={"seed": 42}, clock={"now": "2030-05-05T05:05:05.005Z", "runs": False})
        first = project.send("POST", "", {"key": "aa", "objectTypeProperty": {"arrayOfIntExample": [1]}})
        version = {"version": 1, "actions": [{"action": "changeSomeProperty", "someProperty": "x"}]}
        answers = [
            first,
            project.send("PUT", "", {"key": "bb", "objectTypeProperty": {}}),
            project.send("PUT", "", {"key": "aa", "objectTypeProperty": {}}),
            project.send("POST", f"/{first.json['id']}", version),
            project.send("POST", "", {"objectTypeProperty": {}}),
            project.send("POST", "", {"key": "aa", "id": "no", "objectTypeProperty": {}}),
            project.send("GET", "/sorted-query-parameters?sort=createdAt"),
            project.send("GET", "/searchApiPattern?facet=createdAt:range(* to *)".replace(" ", "%20")),
            project.send("DELETE", f"/{first.json['id']}?version=3"),
        ]
        same = [answer.text.replace(project.key, "P").replace(project.made["clientId"], "C") for answer in answers]
        assert project.order("DELETE").status == 204
        return same

    assert run() == run()


def test_parallel_test_processes_see_nothing_of_one_another(sandbox: Service) -> None:
    def run(number: int) -> tuple[list[str], int, list[int]]:
        project = sandbox.make(ids={"seed": 1})
        project.rules({"times": {"first": 1}, "status": 503})
        statuses = [project.send("GET", "?limit=0").status for _ in range(2)]
        project.create(key=f"only-{number}")
        keys = [each["key"] for each in project.listing()]
        entries = len(project.entries())
        assert project.order("DELETE").status == 204
        return keys, entries, statuses

    with ThreadPoolExecutor(64) as threads:
        found = list(threads.map(run, range(64)))
    assert found == [([f"only-{number}"], 4, [503, 200]) for number in range(64)]


def test_a_token_is_issued_without_the_secret(throwaway: Project) -> None:
    assert throwaway.order("POST", "/tokens", {"scope": "view_test"}).status == 400
    issued = throwaway.order("POST", "/tokens")
    assert issued.status == 201
    assert issued.json["clientId"] == throwaway.made["clientId"]
    assert issued.json["scope"] == throwaway.made["scope"]
    headers = {"Authorization": f"Bearer {issued.json['accessToken']}"}
    assert throwaway.service.send("GET", throwaway.resources, headers=headers).status == 200
    assert throwaway.send("GET").status == 200, "the former token stays valid"
    assert [entry["operationId"] for entry in throwaway.entries()] == ["listResources"] * 2
