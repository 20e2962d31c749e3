"""Runs: what the projects of one run of tests have exercised, counted together and kept after them."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from app import create_app
from app.config import Settings
from app.database.connection import connect
from app.sandbox.journal.exchange import HttpMessage
from app.sandbox.journal.store import KEPT
from app.sandbox.projects import runs
from app.sandbox.projects.model import SandboxProject
from app.sandbox.projects.orders import NewProject
from tests.support.journals import exchange
from tests.support.sandbox import Project, Service
from tests.support.steady_client import steady_client


@pytest.fixture
def run() -> str:
    return f"ci-{uuid4().hex}"


def report_of(service: Service, run: str) -> dict[str, Any]:
    answer = service.send("GET", f"/sandbox/runs/{run}/report")
    assert answer.status == 200, answer.text
    return answer.json


def alike(report: dict[str, Any]) -> dict[str, Any]:
    """What the reports on a project and on a run with this project alone have in common."""
    return {
        "specification": {
            **report["specification"],
            "clauses": [(each["number"], each["state"]) for each in report["specification"]["clauses"]],
        },
        "notations": {each["id"]: each["count"] for each in report["notations"]},
        "operations": report["operations"],
        "statuses": report["statuses"],
        "recovery": {
            trouble: [(each["requests"], each["outcome"], each["reason"]) for each in outcomes["episodes"]]
            for trouble, outcomes in report["recovery"].items()
        },
        "findings": [
            {name: each[name] for name in ("id", "title", "detail", "instead", "clauses", "count")}
            for each in report["findings"]
        ],
    }


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
    assert (report["run"], report["projects"]) == (run, 1)
    assert report["requests"] == {"total": 7, "kept": 7, "underWay": 0}
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
    assert report["operations"] == [
        {"operationId": "getResourceByKey", "count": 1},
        {"operationId": "listResources", "count": 2},
    ]
    assert [(each["id"], each["count"]) for each in report["findings"]] == [("booleanInOtherCase", 2)]
    assert [each["projectKey"] for each in report["findings"][0]["examples"]] == [key, key]
    (listed,) = [each for each in sandbox.send("GET", "/sandbox/runs").json["results"] if each["run"] == run]
    assert (listed["projects"], listed["requests"]) == (3, 3)


# Journals that overflow, written by two workers


class Workers:
    """Two workers that have nothing in common but the database; their requests are made up."""

    def __init__(self, settings: Settings) -> None:
        self.apps = [create_app(settings) for _ in range(2)]
        self.sandboxes = [app.extensions["sandbox"] for app in self.apps]
        for sandbox in self.sandboxes:
            sandbox.bus.start()  # otherwise each change waits for confirmations that it does not hear

    def make(self, run: str) -> SandboxProject:
        key = self.sandboxes[0].projects.make(NewProject(run=run))["projectKey"]
        found = self.sandboxes[0].registry.find(key)
        assert found is not None
        return found

    def note(self, project: SandboxProject, at: int, worker: int, **members: Any) -> None:
        """Note a request that has ended, in the second that its number says, as one of the workers does."""
        ended = exchange(
            project_key=project.key,
            owner=project.client_id,
            run_id=project.run_id,
            arrived_at=float(at),
            answer=HttpMessage((), b"", 0),
            **members,
        )
        self.sandboxes[worker].journal.end(ended)

    def flush(self) -> None:
        for sandbox in self.sandboxes:
            sandbox.journal.flush()

    def report(self, run: str) -> dict[str, Any]:
        return self.sandboxes[0].runs.report(run)


@pytest.fixture
def workers(database_url: str) -> Iterator[Workers]:
    made = Workers(Settings.from_environment({"DATABASE_URL": database_url, "SANDBOX": "on"}))
    yield made
    for app in made.apps:
        app.extensions["sandbox"].stop()
        app.extensions["database"].close()


def test_requests_are_counted_beyond_those_that_are_kept_each_once(workers: Workers, run: str) -> None:
    """A request fails, and is sent again around the place at which the journal is judged for the first time."""
    project = workers.make(run)
    for number in range(1, KEPT + 1000):
        target = f"/{project.key}/resource"
        if number in (1, 2, 3, KEPT + 900):
            target += "/sorted-query-parameters?withTotal=True"
        failing = number in (190, 240, 260, 300, 340)
        method, status = ("DELETE", 503 if number < 340 else 200) if failing else ("GET", 200)
        workers.note(project, number, number % 2, target=target, method=method, status=status)
        if not number % 50:
            workers.flush()
    for step in ("full", "removed"):
        report = workers.report(run)
        assert report["requests"]["total"] == KEPT + 999
        assert {each["id"]: each["count"] for each in report["findings"]} == {"booleanInOtherCase": 4}
        assert [each["request"] for each in report["findings"][0]["examples"]] == [1, 2, 3, KEPT + 900]
        assert report["statuses"] == [{"status": "200", "count": KEPT + 995}, {"status": "503", "count": 4}]
        recovery = report["recovery"]["503"]
        assert (recovery["recovered"], recovery["gaveUp"], recovery["madeWorse"]) == (1, 0, 0)
        assert recovery["episodes"][0]["requests"] == [190, 240, 260, 300, 340]
        if step == "full":
            workers.sandboxes[1].projects.remove(project.key)


def test_a_request_that_ends_while_it_is_written_is_counted_once(workers: Workers, run: str) -> None:
    project = workers.make(run)
    journal = workers.sandboxes[0].journal
    ended = exchange(
        project_key=project.key, owner=project.client_id, run_id=project.run_id, ended_s=None, answer=None, status=None
    )
    journal.begin(ended, 0.0)
    journal.flush()
    assert workers.report(run)["requests"] == {"total": 0, "kept": 0, "underWay": 1}
    ended.ended_s = 1.0
    journal.change(ended)
    journal.flush()  # before the journal has heard of the end
    journal.end(ended)
    assert workers.report(run)["requests"] == {"total": 1, "kept": 1, "underWay": 0}


def test_the_forms_of_the_report(sandbox: Service, run: str) -> None:
    project = sandbox.make(run=run)
    use(project)
    project.order("DELETE")
    page = sandbox.send("GET", f"/sandbox/runs/{run}/report", headers={"Accept": "text/html,application/xml;q=0.9"})
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert f"Report on {run}" in page.text
    assert f"{project.key}: 1" in page.text
    assert "<td>core</td>" in page.text or ">core<" in page.text
    for path in (f"/sandbox/runs/{run}/report", None):
        if path is None:
            other = sandbox.make()
            use(other)
            path = f"/sandbox/projects/{other.key}/report"
        answer = sandbox.send("GET", path, headers={"Accept": "application/xml"})
        assert answer.headers["Content-Type"] == "application/xml; charset=utf-8"
        suites = {each.get("name"): each for each in ElementTree.fromstring(answer.text)}  # noqa: S314 -- of this service
        assert {"specification.core", "specification.search", "findings", "recovery"} <= suites.keys()
        assert suites["findings"].get("failures") == "1"
        (failed,) = suites["findings"].findall("testcase/failure")
        assert "request" in (failed.text or "")
        cases = {case.get("name", "").split()[0]: case for case in suites["specification.core"]}
        assert cases["4.3-1"].find("skipped") is None
        assert suites["recovery"].get("failures") == "0"


def test_profiles_add_up_to_the_whole(sandbox: Service, run: str) -> None:
    project = sandbox.make(run=run)
    use(project)
    for report in (report_of(sandbox, run), project.order("GET", "/report").json):
        specification = report["specification"]
        for name in ("exercised", "observable", "notObservable"):
            assert specification[name] == sum(each[name] for each in specification["profiles"])
        percents = {each["profile"]: each["percent"] for each in specification["profiles"]}
        assert percents["search"] == 0
        assert percents["core"] > specification["percent"]


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
    assert project.order("GET").json["run"] is None
    assert sandbox.send("GET", f"/sandbox/runs/{run}/report").status == 404
    another = sandbox.make(run=run)
    another.send("GET", "?limit=0")
    project.order("DELETE")
    assert report_of(sandbox, run)["requests"]["total"] == 1


def test_old_runs_are_removed_once_their_projects_are_gone(sandbox: Service, run: str, database_url: str) -> None:
    project = sandbox.make(run=run)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE sandbox_run SET kept_until = now() - interval '1 s' WHERE run = %s", [run])
        settings = Settings.from_environment({"DATABASE_URL": database_url})
        with closing(connect(database_url, settings)) as own:
            assert run not in runs.expired(own)
            project.order("DELETE")
            assert run not in runs.expired(own)  # it is kept for a day from now on
            connection.execute("UPDATE sandbox_run SET kept_until = now() - interval '1 s' WHERE run = %s", [run])
            assert run in runs.expired(own)
            assert runs.remove(own, run)
        rows = connection.execute(
            "SELECT count(*) FROM sandbox_run_count c JOIN sandbox_run r ON r.id = c.run_id WHERE r.run = %s", [run]
        )
        assert rows.fetchone() == (0,)
