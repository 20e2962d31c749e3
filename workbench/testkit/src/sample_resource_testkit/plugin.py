"""The pytest plugin: a sandbox for the tests of clients.

``sample_resource`` is a running server, ``sample_project`` a throwaway project on it. Nothing is started unless a test
asks for one of them. All projects of a pytest session belong to one run, which ``--sample-verdict`` judges.
"""

import argparse
import os
import re
import secrets
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sample_resource_testkit import local_service
from sample_resource_testkit.sandbox import SandboxError, SandboxProject, SandboxServer

URL_VARIABLE = "SAMPLE_RESOURCE_URL"
"""The variable with the URL of a server whose sandbox is on. Without it a server is started."""

RUN_VARIABLE = "SAMPLE_RESOURCE_RUN"
"""The variable with the name of the run, for ``--sample-run``."""

TOKEN_VARIABLE = "SANDBOX_TOKEN"  # noqa: S105 -- the name of a variable
"""The variable with the SANDBOX_TOKEN of the server at SAMPLE_RESOURCE_URL."""

_FOLDER = pytest.StashKey[Path]()
_WORKER_INPUT = "sample_resource_folder"
_PROJECT = pytest.StashKey[SandboxProject]()
_RUN = pytest.StashKey[str]()
_RUN_INPUT = "sample_resource_run"
_PROPERTY = "sample_project"
"""The name of the property with which the report of a test names its project."""

_KEPT_PROJECTS = 50
"""How many projects of finished tests a process leaves on a server that the run started and removes at its end."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options for a session as a whole."""
    add = parser.getgroup("sample-resource", "what the clients under test have sent to sample-resource").addoption
    add("--sample-verdict", action="store_true", help="fail the session if the sandbox finds a mistake of a client")
    add(
        "--sample-allow", metavar="A,B", type=_names_in, default=[],
        help="the ids of findings that are expected",
    )  # fmt: skip
    run = os.environ.get(RUN_VARIABLE) or None
    made_up = f"of the run; by default {RUN_VARIABLE}, else made up"
    add("--sample-run", metavar="NAME", type=run_name_of, default=run, help=made_up)


def _names_in(text: str) -> list[str]:
    return [each.strip() for each in text.split(",")]


def run_name_of(text: str) -> str:
    """Read the value of ``--sample-run``.

    :raises ArgumentTypeError: if no run can have this name.
    """
    if re.fullmatch("[A-Za-z0-9_.-]{1,64}", text) is None:
        raise argparse.ArgumentTypeError(
            f"1 to 64 letters, digits, underscores, dots and hyphens are expected, and not {text!r}"
        )
    return text


def run_name(config: pytest.Config) -> str:
    """The name of this session's run, which all workers of pytest-xdist share."""
    given = getattr(config, "workerinput", {}).get(_RUN_INPUT) or config.getoption("--sample-run")
    if _RUN not in config.stash:
        config.stash[_RUN] = given or f"pytest-{secrets.token_hex(8)}"
    return config.stash[_RUN]


class _Judge:
    """Asks for the verdict when all tests have ended. It works in the controller of pytest-xdist."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._tests: dict[str, str] = {}
        self._lines: list[str] = []
        self._passed = True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep which test had which project."""
        for name, key in report.user_properties:
            if name == _PROPERTY:
                self._tests[str(key)] = report.nodeid

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the session if its run does not pass."""
        if self._config.option.collectonly:
            return
        try:
            self._passed, told = self._server().verdict(allow=self._config.option.sample_allow)
        except SandboxError as error:
            self._passed, told = False, f"no verdict on the clients: {error.refusal or error}"
        mine = [f"{key} was of {test}" for key, test in self._tests.items() if key in told]
        self._lines = [*told.splitlines(), *([] if self._passed else mine)]
        if not self._passed and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the verdict."""
        if self._lines:
            terminalreporter.section("sample-resource")
            for line in self._lines:
                terminalreporter.write_line(line)
        if not self._passed:
            passed = len(terminalreporter.stats.get("passed", ()))
            terminalreporter.write_line(
                f"the verdict on the clients fails the run, in which {passed} tests passed", red=True
            )

    def _server(self) -> SandboxServer:
        """The server that tests have used.

        :raises SandboxError: if none has used one.
        """
        url, run = os.environ.get(URL_VARIABLE, ""), run_name(self._config)
        if url:
            return SandboxServer(url, os.environ.get(TOKEN_VARIABLE, ""), run)
        folder = self._config.stash.get(_FOLDER, None)
        if folder is None or not (folder / local_service.STATE).exists():
            raise SandboxError("no test has used a project of the sandbox")
        return SandboxServer(local_service.started(folder, os.getpid()), run=run)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and register the judge if it is asked for."""
    option = config.option
    if option.sample_allow and not option.sample_verdict:
        raise pytest.UsageError("--sample-allow needs --sample-verdict")
    if option.sample_verdict and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Judge(config), "sample-resource-judge")
    config.addinivalue_line(
        "markers",
        "sample_project(**order): what the project of the fixture sample_project is made with, as resources=100 or"
        " allow=['staleVersionRepeated'] for findings that are expected",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give a worker of pytest-xdist the folder and the name of the run, so that all workers share server and run."""
    folder, pid = run_folder(node.config)
    node.workerinput[_WORKER_INPUT] = (str(folder), pid)
    node.workerinput[_RUN_INPUT] = run_name(node.config)


def run_folder(config: pytest.Config) -> tuple[Path, int]:
    """The folder of this run, and the id of the process at whose end the service ends.

    Workers of pytest-xdist get those of its controller.
    """
    given = getattr(config, "workerinput", {}).get(_WORKER_INPUT)
    if given is not None:
        return Path(given[0]), given[1]
    if _FOLDER not in config.stash:
        config.stash[_FOLDER] = local_service.new_folder()
    return config.stash[_FOLDER], os.getpid()


@pytest.fixture(scope="session")
def sample_resource(request: pytest.FixtureRequest) -> SandboxServer:
    """A server whose sandbox is on: the one at SAMPLE_RESOURCE_URL, or one that is started for this run.

    It is started once for all workers of pytest-xdist. At the end of the run it is stopped, and its data are removed.
    """
    url, run = os.environ.get(URL_VARIABLE, ""), run_name(request.config)
    if url:
        return SandboxServer(url, os.environ.get(TOKEN_VARIABLE, ""), run)
    try:
        return SandboxServer(local_service.started(*run_folder(request.config)), run=run)
    except SandboxError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def _give_back() -> Iterator[Callable[[SandboxProject], None]]:
    """Takes back a used project, and removes the oldest one in the background if too many are kept."""
    kept = 0 if os.environ.get(URL_VARIABLE) else _KEPT_PROJECTS
    used: deque[SandboxProject] = deque()
    with ThreadPoolExecutor(1, thread_name_prefix="sample-projects") as threads:

        def give_back(project: SandboxProject) -> None:
            used.append(project)
            if len(used) > kept:
                threads.submit(used.popleft().remove)

        yield give_back


@pytest.fixture
def sample_project(
    request: pytest.FixtureRequest, sample_resource: SandboxServer, _give_back: Callable[[SandboxProject], None]
) -> Iterator[SandboxProject]:
    """A throwaway project for one test, with URL, credentials, a token, and orders to the sandbox.

    The marker ``sample_project`` sets options of the project: ``@pytest.mark.sample_project(resources=100)``.
    """
    marker = request.node.get_closest_marker("sample_project") or pytest.mark.sample_project.mark
    if marker.args:
        told = f"sample_project takes options by name, such as resources=100, and not {marker.args[0]!r}"
        pytest.fail(told, pytrace=False)
    try:
        project = sample_resource.make_project(**marker.kwargs)
    except SandboxError as error:
        pytest.fail(str(error), pytrace=False)
    request.node.stash[_PROJECT] = project
    request.node.user_properties.append((_PROPERTY, project.key))
    yield project
    _give_back(project)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Add the requests of the client to the report of a test that failed, or whose fixture failed."""
    report = yield
    if report.when != "teardown" and report.failed and _PROJECT in item.stash:
        project = item.stash[_PROJECT]
        try:
            journal = project.told()
        except SandboxError as error:
            journal = str(error)
        report.sections.append((f"requests to {project.url}", journal))
    return report
