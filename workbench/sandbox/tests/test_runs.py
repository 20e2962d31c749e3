"""Runs: what the projects of one run of tests have exercised, counted together and kept after them."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from flask.testing import FlaskClient
from sample_resource_sandbox.analysis.report import as_text
from sample_resource_sandbox.projects.orders import NewProject
from steady_client import steady_client
from tester import Project, Service, with_sandbox

from app.config import Settings
from app.errors import ApiError
from tests.support.applications import open_app


@pytest.fixture
def run() -> str:
    return f"ci-{uuid4().hex}"


def report_of(service: Service, run: str) -> dict[str, Any]:
    answer = service.send("GET", f"/sandbox/runs/{run}/report")
    assert answer.status == 200, answer.text
    return answer.json


def alike(report: dict[str, Any]) -> dict[str, Any]:
    """What the reports on a project and on a run with this project alone have in common."""
    return {name: value for name, value in report.items() if name not in ("projectKey", "run", "projects")}


def use(project: Project) -> None:
    """Meet notations, a fault and a finding, what single requests show and what their order does."""
    project.rules({"match": {"method": "POST"}, "times": {"first": 1}, "status": 503})
    with steady_client(project) as client:
        client.send("GET", "/sorted-query-parameters?withTotal=True&where=key%3D%3Ak&var.k=one")
        body = {"key": "one", "objectTypeProperty": {"arrayOfStringExample": ["a"]}}
        for _ in range(2):
            client.send("POST", "", body)
        made = client.send("GET", "/key=one").json
        client.send("GET", "/key=one", None, **{"If-None-Match": '"1"'})
        for number in range(2):
            change = {"version": 1 + number, "actions": [{"action": "changeSomeProperty", "someProperty": "x"}]}
            client.send("POST", f"/{made['id']}", change)


def test_a_run_says_what_its_project_says(sandbox: Service, run: str) -> None:
    project = sandbox.make(run=run)
    assert project.order("GET").json["run"] == run
    use(project)
    expected = project.order("GET", "/report").json
    report = report_of(sandbox, run)
    assert report["gate"] == {"passed": True, "told": ""}
    assert (report["run"], report["projects"]) == (run, 1)
    assert report["requests"] == {"total": 7}
    assert alike(report) == alike(expected)
    assert {"booleanInOtherCase"} == {each["id"] for each in report["findings"]}
    assert report["recovery"]["503"]["recovered"] == 1
    (example,) = report["findings"][0]["examples"]
    assert (example["projectKey"], example["request"], example["method"]) == (project.key, 1, "GET")
    # It stays what it was when the project is reset, and when it is gone.
    for method, path in (("POST", "/reset"), ("DELETE", "")):
        assert project.order(method, path).status == 204
        assert alike(report_of(sandbox, run)) == alike(expected), path


def test_projects_are_added_up_also_if_they_have_the_same_key(sandbox: Service, run: str) -> None:
    key = f"again-{uuid4().hex}"
    for _ in range(2):
        project = sandbox.make(run=run, projectKey=key)
        project.send("GET", "?withTotal=True")
        assert project.order("DELETE").status == 204
    other = sandbox.make(run=run)
    other.send("GET", "/key=one")
    report = report_of(sandbox, run)
    assert report["projects"] == 3
    assert report["exercised"]["operations"]["met"] == [
        {"name": "listResources", "times": 2},
        {"name": "getResourceByKey", "times": 1},
    ]
    assert [(each["id"], each["count"]) for each in report["findings"]] == [("booleanInOtherCase", 2)]
    assert [each["projectKey"] for each in report["findings"][0]["examples"]] == [key, key]
    assert report["requests"] == {"total": 3}


def test_a_project_that_had_no_requests_does_not_count(sandbox: Service, run: str) -> None:
    used, spare, _ = (sandbox.make(run=run) for _ in range(3))
    used.send("GET", "?limit=0")
    assert spare.order("DELETE").status == 204
    assert report_of(sandbox, run)["projects"] == 1
    assert used.order("POST", "/reset").status == 204
    used.send("GET", "?limit=0")
    assert report_of(sandbox, run)["projects"] == 1, "it is one project before and after its reset"


def test_requests_are_counted_beyond_those_that_are_kept(sandbox: Service, run: str) -> None:
    project = sandbox.make(run=run)
    with steady_client(project) as client:
        for _ in range(1003):
            client.send("HEAD")
    assert report_of(sandbox, run)["requests"] == {"total": 1003}
    assert project.order("GET", "/requests?limit=0").json["total"] == 1000


def test_the_report_as_a_page(sandbox: Service, run: str) -> None:
    project = sandbox.make(run=run)
    use(project)
    project.order("DELETE")
    page = sandbox.send("GET", f"/sandbox/runs/{run}/report", headers={"Accept": "text/html"})
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert f"Report on {run}" in page.text
    assert f"{project.key}: 1" in page.text
    assert "getResourceByKey" in page.text


def test_what_is_no_run_is_404(sandbox: Service, run: str) -> None:
    for method, path in (("GET", "/report"), ("DELETE", "")):
        answer = sandbox.send(method, f"/sandbox/runs/{run}{path}")
        assert (answer.status, answer.json["errors"][0]["code"]) == (404, "ResourceNotFound")


@pytest.mark.parametrize("name", ["", "a b", "ü", "a" * 65, 5, "a/b"])
def test_a_name_that_no_run_can_have_is_refused(sandbox: Service, name: Any) -> None:
    answer = sandbox.send("POST", "/sandbox/projects", {"run": name})
    assert answer.status == 400
    assert "run" in answer.json["errors"][0].get("field", answer.json["errors"][0].get("detailedErrorMessage", ""))


def test_a_run_that_is_removed_counts_its_projects_no_more(sandbox: Service, run: str) -> None:
    project = sandbox.make(run=run)
    project.send("GET", "?limit=0")
    assert sandbox.send("DELETE", f"/sandbox/runs/{run}").status == 204
    project.send("GET", "?limit=0")
    assert sandbox.send("GET", f"/sandbox/runs/{run}/report").status == 404
    another = sandbox.make(run=run)
    another.send("GET", "?limit=0")
    project.order("DELETE")
    assert report_of(sandbox, run)["requests"]["total"] == 1


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


def got(api: FlaskClient, path: str) -> Any:
    return api.get(path).json


def test_a_run_that_a_restart_has_cut_is_incomplete(settings: Settings, run: str) -> None:
    """Also if none of its projects is left, and if the first request to the new process asks for it."""
    gone = f"{run}-gone"
    with open_app(with_sandbox(settings)) as app:
        projects = app.extensions["extension"].projects
        key = projects.make(NewProject(run=run, allow=("bodyOnGet",)))["projectKey"]
        projects.remove(projects.make(NewProject(run=gone))["projectKey"])
        api = app.test_client()
        assert [got(api, f"/sandbox/runs/{each}/report")["incomplete"] for each in (run, gone)] == [False] * 2
    with open_app(with_sandbox(settings)) as app:
        api = app.test_client()
        assert [got(api, f"/sandbox/runs/{each}/report")["incomplete"] for each in (run, gone)] == [True] * 2
        report = got(api, f"/sandbox/projects/{key}/report")
        assert report["incomplete"] is True
        assert report["gate"]["passed"] is False
        assert "It is incomplete" in report["gate"]["told"]
        assert "It is incomplete" in as_text(report)
        assert "It is incomplete" in api.get(f"/sandbox/runs/{run}/report", headers={"Accept": "text/html"}).text
        assert got(api, f"/sandbox/projects/{key}")["allow"] == ["bodyOnGet"]
        assert api.post(f"/sandbox/projects/{key}/reset").status_code == 204
        assert got(api, f"/sandbox/projects/{key}/report")["incomplete"] is False
        assert got(api, f"/sandbox/runs/{run}/report")["incomplete"] is True
        # It can be removed, stays so after the next start, and may begin anew.
        assert [api.delete(f"/sandbox/runs/{each}").status_code for each in (run, gone)] == [204, 204]
        assert api.post(f"/sandbox/projects/{key}/reset").status_code == 204
        assert api.get(f"/sandbox/runs/{run}/report").status_code == 404
    with open_app(with_sandbox(settings)) as app:
        api = app.test_client()
        assert api.get(f"/sandbox/runs/{run}/report").status_code == 404
        assert got(api, f"/sandbox/projects/{key}")["run"] is None
        projects = app.extensions["extension"].projects
        projects.make(NewProject(run=run))
        assert got(api, f"/sandbox/runs/{run}/report")["incomplete"] is False


def test_what_is_expected_is_no_finding(sandbox: Service, run: str) -> None:
    """What a project allows stands nowhere, what a report allows in none of its forms."""
    expected, other = sandbox.make(run=run, allow=["booleanInOtherCase", "staleVersionRepeated"]), sandbox.make(run=run)
    for project in (expected, other):
        path = f"/{project.create()['id']}?version=7"
        with steady_client(project) as client:
            client.send("GET", "?withTotal=True")
            assert [client.send("DELETE", path).status for _ in range(2)] == [409, 409]
    report = report_of(sandbox, run)
    assert [(each["id"], each["count"]) for each in report["findings"]] == [
        ("staleVersionRepeated", 1),
        ("booleanInOtherCase", 1),
    ]
    assert not any(entry["findings"] for entry in expected.entries())
    assert expected.order("GET", "/report").json["recovery"]["409"] | {"episodes": []} == {
        "recovered": 0, "gaveUp": 1, "madeWorse": 0, "notJudged": 0, "episodes": [],
    }  # fmt: skip
    assert (report["recovery"]["409"]["madeWorse"], report["recovery"]["409"]["gaveUp"]) == (1, 1)
    path = f"/sandbox/runs/{run}/report?allow=staleVersionRepeated&allow=booleanInOtherCase"
    allowing = sandbox.send("GET", path).json
    assert (allowing["findings"], allowing["recovery"]["409"]["madeWorse"]) == ([], 0)
    assert "spelt as in Python" not in sandbox.send("GET", path, headers={"Accept": "text/html"}).text
    refused = sandbox.send("GET", f"{path}&allow=staleVersion")
    assert refused.status == 400
    assert "There is no finding 'staleVersion'. Did you mean 'staleVersionRepeated'?" in refused.text
    assert sandbox.send("POST", "/sandbox/projects", {"allow": ["staleVersion"]}).status == 400
