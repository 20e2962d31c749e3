"""The pytest plugin: a sandbox for the tests of clients.

``sample_resource`` is a running server, ``sample_project`` a throwaway project on it. Nothing is started unless a test
asks for one of them.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import pytest

from sample_resource_testkit import keeper
from sample_resource_testkit.sandbox import SandboxError, SandboxProject, SandboxServer, told

URL_VARIABLE = "SAMPLE_RESOURCE_URL"
"""Names a server whose sandbox is on, instead of one that is started."""

TOKEN_VARIABLE = "SANDBOX_TOKEN"  # noqa: S105 -- the name of a variable
"""That server's SANDBOX_TOKEN, if it has one."""

_STARTED_WITHIN_S = 200.0

_MEMORY = "/dev/shm"  # noqa: S108 -- a folder of its own is made there, as tempfile does

_ROOM_BYTES = 2 << 30
"""A database of tests needs some hundred megabytes. Containers often have 64 MB there, which is too little."""

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
    lock.close()
    if not (folder / keeper.LOG).exists() and not (folder / keeper.STATE).exists():
        shutil.rmtree(folder, ignore_errors=True)


def run_folder(config: pytest.Config) -> Path:
    """The folder of this run: made, and locked as long as this process lives, unless pytest-xdist named one."""
    given = getattr(config, "workerinput", {}).get(_WORKER_INPUT)
    if given is not None:
        return Path(given)
    if _FOLDER not in config.stash:
        folder = Path(tempfile.mkdtemp(prefix="sample-resource-testkit-", dir=_fast_place()))
        # PostgreSQL does not run as root; the account that it runs with then has to reach its data.
        folder.chmod(0o711)
        lock = (folder / keeper.ALIVE).open("w")
        fcntl.lockf(lock, fcntl.LOCK_EX)
        config.stash[_FOLDER], config.stash[_LOCK] = folder, lock
    return config.stash[_FOLDER]


def _fast_place() -> str | None:
    """The folder of Linux that lies in memory, if there is room; else None, which is the folder for temporary files.

    A new database is made of a thousand files, each of which PostgreSQL waits for until it is on the disk.
    """
    if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK):
        return None
    return _MEMORY if shutil.disk_usage(_MEMORY).free >= _ROOM_BYTES else None


def _started(folder: Path) -> str:
    """The URL of the server of this run; the first process that asks starts it.

    :raises SandboxError: if it does not start.
    """
    with (folder / "starting").open("w") as starting:
        fcntl.lockf(starting, fcntl.LOCK_EX)
        state = folder / keeper.STATE
        if not state.exists():
            _wait_for(
                state,
                subprocess.Popen(  # noqa: S603 -- this interpreter and a file of this package
                    [sys.executable, "-P", str(keeper.__file__), str(folder)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                ),
            )
    told_state = json.loads(state.read_text())
    if "error" in told_state:
        raise SandboxError(told_state["error"])
    return told_state["url"]


def _wait_for(state: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _STARTED_WITHIN_S
    while not state.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise SandboxError(f"the process that keeps the server has ended, or takes too long ({process.poll()})")
        time.sleep(0.01)
    # It outlives this run, so it is not waited for.
    process.returncode = 0


@pytest.fixture(scope="session")
def sample_resource(request: pytest.FixtureRequest) -> SandboxServer:
    """A server whose sandbox is on: the one that SAMPLE_RESOURCE_URL names, or one that is started for this run.

    It is started once, also for all workers of pytest-xdist, and stopped at the end of the run, with its data removed.
    """
    url = os.environ.get(URL_VARIABLE, "")
    if url:
        return SandboxServer(url, os.environ.get(TOKEN_VARIABLE, ""))
    try:
        return SandboxServer(_started(run_folder(request.config)))
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
