"""Writes beside a reset, a restore and a removal: what was acknowledged before is gone, what comes after stays."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from threading import Event

import pytest
from flask import Flask
from rows import rows_of
from sample_resource_sandbox.projects import lifecycle
from sample_resource_sandbox.projects.lifecycle import NewProject
from tester import Service, wait_for, with_sandbox

from app import create_app
from app.config import Settings
from app.database.connection import Connection
from app.errors import ApiError


@pytest.fixture(scope="module")
def sandbox_app(settings: Settings) -> Iterator[Flask]:
    """An application with the sandbox, without its threads."""
    app = create_app(replace(with_sandbox(settings), queue_timeout_ms=300))
    with closing(app.extensions["database"]):
        yield app
        app.extensions["extension"].stop()


@pytest.fixture
def key(sandbox_app: Flask) -> Iterator[str]:
    """The key of a project with three resources."""
    projects = sandbox_app.extensions["extension"].projects
    made: str = projects.make(NewProject(resources=3))["projectKey"]
    yield made
    projects.remove(made)


def test_a_write_waits_for_the_reset_without_a_connection_and_stays(sandbox_app: Flask, key: str) -> None:
    projects, database = sandbox_app.extensions["extension"].projects, sandbox_app.extensions["database"]
    held, written = Event(), Event()

    def write() -> None:
        held.set()
        with database.writing(key):
            written.set()

    with ThreadPoolExecutor(1) as pool:
        with projects.get(key).lock.alone():
            writing = pool.submit(write)
            assert held.wait(20)
            assert not written.is_set()
        writing.result(20)
    assert written.is_set()


def test_a_write_gives_up_while_a_project_is_replaced_and_a_reset_while_it_is_written(
    sandbox_app: Flask, key: str
) -> None:
    projects, database = sandbox_app.extensions["extension"].projects, sandbox_app.extensions["database"]
    with projects.get(key).lock.alone(), pytest.raises(ApiError) as refused, database.writing(key):
        pytest.fail("the project is being replaced")
    assert (refused.value.status, bool(refused.value.headers["Retry-After"])) == (503, True)
    with database.writing(key), pytest.raises(ApiError) as refused:
        projects.reset(key, keep_rules=False, keep_requests=False)
    assert refused.value.status == 503
    with suppress(ZeroDivisionError), database.writing(key):
        raise ZeroDivisionError
    projects.reset(key, keep_rules=False, keep_requests=False)


def test_nothing_is_written_for_a_request_that_outlives_its_project(sandbox_app: Flask, connection: Connection) -> None:
    projects, database = sandbox_app.extensions["extension"].projects, sandbox_app.extensions["database"]
    made = projects.make(NewProject(resources=2))
    key: str = made["projectKey"]
    headers = {"Authorization": f"Bearer {made['accessToken']}"}
    with sandbox_app.test_request_context(f"/{key}/resource", method="POST", headers=headers):
        sandbox_app.preprocess_request()
        projects.remove(key)
        for again in (False, True):
            if again:
                projects.make(NewProject(project_key=key))
            with pytest.raises(ApiError) as refused, database.writing(key):
                pytest.fail("the project is gone")
            assert refused.value.status == 401, "as for any token of a project that is gone"
    projects.remove(key)
    assert rows_of(connection, key) == {}


def test_a_delayed_write_finds_its_project_removed(sandbox: Service, connection: Connection) -> None:
    project = sandbox.make()
    project.rules({"match": {"method": "POST"}, "delayMs": 60_000})
    with ThreadPoolExecutor(3) as pool:
        sent = [pool.submit(project.send, "POST", "", {"objectTypeProperty": {}}) for _ in range(3)]
        assert wait_for(lambda: project.counts()[0][0] == 3)
        assert project.order("DELETE").status == 204
        assert {each.result(30).status for each in sent} == {401}
    assert rows_of(connection, project.key) == {}


@pytest.mark.parametrize(
    ("bound", "value", "told"),
    [
        ("COPIED_AT_MOST", 2, "At most 2 resources"),
        ("COPIED_BYTES_AT_MOST", 20, "with 20 bytes can be copied"),
        ("PROJECTS_AT_MOST", 0, "at most 0 projects"),
    ],
)
def test_projects_are_bounded(
    sandbox_app: Flask, key: str, monkeypatch: pytest.MonkeyPatch, bound: str, value: int, told: str
) -> None:
    monkeypatch.setattr(lifecycle, bound, value)
    with pytest.raises(ApiError, match=told) as refused:
        sandbox_app.extensions["extension"].projects.make(NewProject(copy_of=key))
    assert refused.value.status == 400


def test_two_projects_are_filled_or_reset_at_once(
    sandbox_app: Flask, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = sandbox_app.extensions["extension"].projects
    monkeypatch.setattr(lifecycle, "_TURN_WITHIN_S", 0.01)
    with made._turn(), made._turn():
        for attempt in (
            lambda: made.make(NewProject(resources=1)),
            lambda: made.make(NewProject(copy_of=key)),
            lambda: made.reset(key, keep_rules=False, keep_requests=False),
        ):
            with pytest.raises(ApiError) as refused:
                attempt()
            assert refused.value.status == 503
        made.remove(made.make(NewProject())["projectKey"])
    made.reset(key, keep_rules=False, keep_requests=False)
