"""The pytest plugin: a sandbox for the tests of clients.

``sample_resource`` is a running server, ``sample_project`` a throwaway project on it. Nothing is started unless a test
asks for one of them.
"""

import os
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import pytest

from sample_resource_testkit import local_service
from sample_resource_testkit.sandbox import SandboxError, SandboxProject, SandboxServer, told

URL_VARIABLE = "SAMPLE_RESOURCE_URL"
"""Names a server whose sandbox is on, instead of one that is started."""

TOKEN_VARIABLE = "SANDBOX_TOKEN"  # noqa: S105 -- the name of a variable
"""That server's SANDBOX_TOKEN, if it has one."""

_FOLDER = pytest.StashKey[Path]()
_LOCK = pytest.StashKey[IO[str]]()
_WORKER_INPUT = "sample_resource_folder"
_PROJECT = pytest.StashKey[SandboxProject]()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        "sample_project(**order): what the project of the fixture sample_project is made with, as resources=100",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist the folder of the run, so that all workers use one server."""
    node.workerinput[_WORKER_INPUT] = str(run_folder(node.config))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Release the lock, for which the keeper waits; without a keeper remove the folder."""
    lock = config.stash.get(_LOCK, None)
    if lock is None:
        return
    folder = config.stash[_FOLDER]
    local_service.release(folder, lock)


def run_folder(config: pytest.Config) -> Path:
    """The folder of this run: made, and locked as long as this process lives, unless pytest-xdist named one."""
    given = getattr(config, "workerinput", {}).get(_WORKER_INPUT)
    if given is not None:
        return Path(given)
    if _FOLDER not in config.stash:
        config.stash[_FOLDER], config.stash[_LOCK] = local_service.make_folder()
    return config.stash[_FOLDER]


@pytest.fixture(scope="session")
def sample_resource(request: pytest.FixtureRequest) -> SandboxServer:
    """A server whose sandbox is on: the one that SAMPLE_RESOURCE_URL names, or one that is started for this run.

    It is started once, also for all workers of pytest-xdist, and stopped at the end of the run, with its data removed.
    """
    url = os.environ.get(URL_VARIABLE, "")
    if url:
        return SandboxServer(url, os.environ.get(TOKEN_VARIABLE, ""))
    try:
        return SandboxServer(local_service.started(run_folder(request.config)))
    except SandboxError as error:
        pytest.fail(str(error), pytrace=False)


class _Projects:
    """Makes each project while the test before runs, and removes used ones while others run."""

    def __init__(self, server: SandboxServer, *, removes: bool) -> None:
        self._server = server
        self._removes = removes
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="sample-projects")
        self._next: Future[SandboxProject] | None = None

    def take(self, order: dict[str, Any]) -> SandboxProject:
        """A project that no other test has."""
        if order:
            return self._server.make_project(**order)
        waiting, self._next = self._next, None
        made = self._server.make_project() if waiting is None else waiting.result()
        self._next = self._threads.submit(self._server.make_project)
        return made

    def give_back(self, project: SandboxProject) -> None:
        """Remove a project in the background; a server that was started for this run is removed as a whole instead."""
        if self._removes:
            self._threads.submit(project.remove)

    def close(self) -> None:
        """Wait until all is removed."""
        if self._next is not None:
            self._next.add_done_callback(lambda future: None if future.exception() else self.give_back(future.result()))
        self._threads.shutdown()


@pytest.fixture(scope="session")
def _sample_projects(sample_resource: SandboxServer) -> Iterator[_Projects]:
    projects = _Projects(sample_resource, removes=bool(os.environ.get(URL_VARIABLE)))
    yield projects
    projects.close()


@pytest.fixture
def sample_project(request: pytest.FixtureRequest, _sample_projects: _Projects) -> Iterator[SandboxProject]:
    """A throwaway project of its own for a test, with URL, credentials, token, and orders to the sandbox.

    The marker ``sample_project`` says what it is made with: ``@pytest.mark.sample_project(resources=100)``.
    """
    marker = request.node.get_closest_marker("sample_project")
    try:
        project = _sample_projects.take({} if marker is None else dict(marker.kwargs))
    except SandboxError as error:
        pytest.fail(str(error), pytrace=False)
    request.node.stash[_PROJECT] = project
    yield project
    _sample_projects.give_back(project)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Show with a test that failed what its client sent."""
    report = yield
    if report.when == "call" and report.failed and _PROJECT in item.stash:
        project = item.stash[_PROJECT]
        try:
            journal = told(project.journal())
        except SandboxError as error:
            journal = str(error)
        report.sections.append((f"requests to {project.url}", journal or "none"))
    return report
