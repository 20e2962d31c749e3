"""Runs: the projects of one run of tests are judged together, also after they are gone."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from flask.testing import FlaskClient
from sample_resource_sandbox.projects.lifecycle import NewProject
from steady_client import steady_client
from tester import Project, Service, with_sandbox

from app.config import Settings
from app.errors import ApiError
from tests.support.applications import open_app


@pytest.fixture
def run() -> str:
    return f"ci-{uuid4().hex}"


def verdict_on(service: Service, run: str, query: str = "") -> tuple[int, list[str]]:
    answer = service.send("GET", f"/sandbox/runs/{run}/verdict{query}")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    return answer.status, answer.text.splitlines()


def use(project: Project) -> None:
    """Meet a fault and a mistake, what single requests show and what their order does."""
    project.rules({"match": {"method": "POST"}, "times": {"first": 1}, "status": 503})
    with steady_client(project) as client:
        client.send("GET", "/sorted-query-parameters?withTotal=True&where=key%3D%3Ak&var.k=one")
        for _ in range(2):
            client.send("POST", "", {"key": "one", "objectTypeProperty": {"arrayOfStringExample": ["a"]}})


def test_a_run_says_what_its_project_says_also_when_that_is_gone(sandbox: Service, run: str) -> None:
    project = sandbox.make(run=run)
    assert project.order("GET").json["run"] == run
    use(project)
    expected = project.order("GET", "/report").json["told"].splitlines()
    status, told = verdict_on(sandbox, run)
    assert (status, told[0]) == (409, f"FAILED. Run {run}: 3 requests of 1 projects.")
    assert told[1:] == expected[1:]
    assert "recovered: 503, once" in told
    assert any(f"request 1 of {project.key}, GET" in line for line in told)
    for method, path in (("POST", "/reset"), ("DELETE", "")):
        assert project.order(method, path).status == 204
        assert verdict_on(sandbox, run) == (status, told), path


def test_projects_are_added_up_also_if_they_have_the_same_key(sandbox: Service, run: str) -> None:
    key = f"again-{uuid4().hex}"
    for _ in range(2):
        project = sandbox.make(run=run, projectKey=key)
        project.send("GET", "?withTotal=true")
        assert project.order("DELETE").status == 204
    used, spare, _ = (sandbox.make(run=run) for _ in range(3))
    used.send("GET", "/key=one")
    assert spare.order("DELETE").status == 204
    for _ in range(2):
        status, told = verdict_on(sandbox, run)
        assert status == 200
        assert told[0] == f"PASSED. Run {run}: 3 requests of 3 projects.", "those that had requests, each once"
        assert told[1] == "Carried out: getResourceByKey 1, listResources 2."
        assert used.order("POST", "/reset").status == 204


def test_requests_are_counted_beyond_those_that_are_kept(sandbox: Service, run: str) -> None:
    project = sandbox.make(run=run)
    with steady_client(project) as client:
        for _ in range(1003):
            client.send("HEAD")
    assert "1003 requests" in verdict_on(sandbox, run)[1][0]
    assert project.order("GET", "/requests?limit=0").json["total"] == 1000


def test_what_is_no_run_is_404_and_one_without_requests_does_not_pass(sandbox: Service, run: str) -> None:
    for method, path in (("GET", "/verdict"), ("DELETE", "")):
        assert sandbox.send(method, f"/sandbox/runs/{run}{path}").status == 404
    sandbox.make(run=run)
    assert verdict_on(sandbox, run)[0] == 409


@pytest.mark.parametrize("name", ["", "a b", "ü", "a" * 65, 5, "a/b"])
def test_a_name_that_no_run_can_have_is_refused(sandbox: Service, name: Any) -> None:
    answer = sandbox.send("POST", "/sandbox/projects", {"run": name})
    assert (answer.status, '"run' in answer.text) == (400, True)


def test_a_run_that_is_removed_counts_its_projects_no_more(sandbox: Service, run: str) -> None:
    project = sandbox.make(run=run)
    project.send("GET", "?limit=0")
    assert sandbox.send("DELETE", f"/sandbox/runs/{run}").status == 204
    project.send("GET", "?limit=0")
    assert sandbox.send("GET", f"/sandbox/runs/{run}/verdict").status == 404
    another = sandbox.make(run=run)
    another.send("GET", "?limit=0")
    project.order("DELETE")
    assert "1 requests" in verdict_on(sandbox, run)[1][0]


def test_old_runs_are_removed_once_their_projects_are_gone(settings: Settings, run: str) -> None:
    with open_app(with_sandbox(settings)) as app:
        sandbox = app.extensions["extension"]
        key = sandbox.projects.make(NewProject(run=run))["projectKey"]
        found = sandbox.runs.find(run)
        sandbox.projects.remove_expired()
        assert sandbox.runs.find(run) is found, "one of its projects is left"
        sandbox.projects.remove(key)
        sandbox.projects.remove_expired()
        assert found.kept_until > datetime.now(UTC)
        assert sandbox.runs.find(run) is found, "it is kept for a day from now on"
        found.kept_until = datetime.now(UTC)
        sandbox.projects.remove_expired()
        with pytest.raises(ApiError):
            sandbox.runs.find(run)


def test_a_run_that_a_restart_has_cut_is_incomplete(settings: Settings, run: str) -> None:
    """Also if none of its projects is left, and if the first request to the new process asks for it."""
    gone = f"{run}-gone"
    told = "It is incomplete: the service was started again"

    def is_incomplete(api: FlaskClient, path: str) -> bool:
        return told in api.get(f"/sandbox/{path}").text

    with open_app(with_sandbox(settings)) as app:
        projects = app.extensions["extension"].projects
        key = projects.make(NewProject(run=run, allow=("answerNotRead",)))["projectKey"]
        projects.remove(projects.make(NewProject(run=gone))["projectKey"])
        assert not any(is_incomplete(app.test_client(), f"runs/{each}/verdict") for each in (run, gone))
    with open_app(with_sandbox(settings)) as app:
        api = app.test_client()
        assert all(is_incomplete(api, f"runs/{each}/verdict") for each in (run, gone))
        assert api.get(f"/sandbox/runs/{run}/verdict").status_code == 409
        assert is_incomplete(api, f"projects/{key}/report")
        assert '"allow": ["answerNotRead"]' in api.get(f"/sandbox/projects/{key}").text
        assert api.post(f"/sandbox/projects/{key}/reset").status_code == 204
        assert not is_incomplete(api, f"projects/{key}/report")
        assert is_incomplete(api, f"runs/{run}/verdict")
        # It can be removed, and stays so after the next start.
        assert [api.delete(f"/sandbox/runs/{each}").status_code for each in (run, gone)] == [204, 204]
        assert api.get(f"/sandbox/runs/{run}/verdict").status_code == 404
    with open_app(with_sandbox(settings)) as app:
        assert app.test_client().get(f"/sandbox/runs/{run}/verdict").status_code == 404


def test_what_is_expected_is_no_finding(sandbox: Service, run: str) -> None:
    """What a project allows stands nowhere, what a verdict allows not in its text."""
    expected, other = sandbox.make(run=run, allow=["booleanInOtherCase", "staleVersionRepeated"]), sandbox.make(run=run)
    for project in (expected, other):
        path = f"/{project.create()['id']}?version=7"
        with steady_client(project) as client:
            client.send("GET", "?withTotal=True")
            assert [client.send("DELETE", path).status for _ in range(2)] == [409, 409]
    _, told = verdict_on(sandbox, run)
    assert [line.partition(":")[0] for line in told if ", once: " in line and not line.startswith(" ")] == [
        "made it worse",
        "staleVersionRepeated, once",
        "booleanInOtherCase, once",
    ]
    assert not any(entry["findings"] for entry in expected.entries())
    status, told = verdict_on(sandbox, run, "?allow=staleVersionRepeated&allow=booleanInOtherCase")
    assert (status, told[-2:]) == (200, ["gave up: 409, twice", "Findings: none."])
    allowing = other.order("GET", "/report?allow=staleVersionRepeated&allow=booleanInOtherCase").json
    assert (allowing["findings"], allowing["stories"][0]["outcome"]) == ([], "gaveUp")
    refused = sandbox.send("GET", f"/sandbox/runs/{run}/verdict?allow=staleVersion")
    assert refused.status == 400
    assert "There is no finding 'staleVersion'. Did you mean 'staleVersionRepeated'?" in refused.text
    assert sandbox.send("POST", "/sandbox/projects", {"allow": ["staleVersion"]}).status == 400
