"""The fixtures, in runs of pytest of their own. One server serves most of these runs."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_resource_testkit.journal import JournalEntry
from sample_resource_testkit.sandbox import SandboxError, SandboxProject, SandboxServer

README = Path(__file__).parents[1] / "README.md"
Inner = Callable[..., pytest.RunResult]
PROGRAM = [sys.executable, "-c", "from sample_resource_testkit.cli import main; main()"]


def within(condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether something comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def is_listening(url: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(url.rpartition(":")[2]))) == 0


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Inner:
    """Run pytest in a folder with the tests that were written there."""
    # Only what the plugin needs: the other plugins of this environment take seconds to load.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest_subprocess("-p", "sample_resource_testkit.plugin", *arguments, timeout=120)

    return run


@pytest.fixture
def on_server(inner: Inner, sample_resource: SandboxServer, monkeypatch: pytest.MonkeyPatch) -> Inner:
    """The same, with the server of this session."""
    monkeypatch.setenv("SAMPLE_RESOURCE_URL", sample_resource.url)
    return inner


def test_the_example_of_readme_passes(pytester: pytest.Pytester, on_server: Inner) -> None:
    (example,) = re.findall(r"<!-- example -->\n```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    (line,) = re.findall(r"<!-- session -->\n```sh\npytest (.*?)\n```", README.read_text())
    pytester.makepyfile(example)
    result = on_server("-q", *line.split())
    result.assert_outcomes(passed=1)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["*sample-resource*", "PASSED. Run pytest-*: 2 requests of 1 projects.", "recovered: answer lost, once"]
    )


@pytest.fixture
def without_fcntl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every Python that is started lack what Windows lacks of the standard library, and the kit relies on."""
    (tmp_path / "sitecustomize.py").write_text("import os, sys\nsys.modules['fcntl'] = None\ndel os.killpg\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv("SAMPLE_RESOURCE_URL", raising=False)


@pytest.mark.usefixtures("without_fcntl")
def test_without_fcntl_a_named_server_is_used(pytester: pytest.Pytester, on_server: Inner) -> None:
    pytester.makepyfile("def test_of_a_client(sample_project):\n    assert sample_project.journal() == []")
    on_server("-p", "xdist", "-n", "2").assert_outcomes(passed=1)


@pytest.mark.usefixtures("without_fcntl")
def test_without_fcntl_clients_are_judged_on_a_named_server(sample_resource: SandboxServer) -> None:
    command = [*PROGRAM, "client", "--scenario", "C-req-1"]
    adapter = ["--", sys.executable, str(Path(__file__).parents[1] / "clients/httpx/adapter.py")]
    ran = subprocess.run(
        [*command, "--url", sample_resource.url, *adapter], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_a_test_that_fails_shows_the_requests_of_its_client(pytester: pytest.Pytester, on_server: Inner) -> None:
    pytester.makepyfile(
        """
        import pytest
        from urllib.error import HTTPError
        from urllib.request import Request, urlopen

        def test_fails(sample_project):
            sample_project.rules([{"name": "lost", "connection": "close", "match": {"path": "/resource/lost"}}])
            with pytest.raises(HTTPError):
                urlopen(sample_project.url + "/resource?limit=1")
            headers = {"Authorization": f"Bearer {sample_project.token}"}
            with pytest.raises(HTTPError):
                urlopen(Request(sample_project.url + "/resource?withTotal=True&limt=1", headers=headers))
            headers["Content-Type"] = "application/json"
            with pytest.raises(HTTPError):
                urlopen(Request(sample_project.url + "/resource", b"{}", headers))
            sample_project.expect("GET", "/resource", query={"limit": "2"})

        def test_fails_without_a_project():
            assert False
        """
    )
    result = on_server("-q")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            'E *GET /resource with query {"limit":"2"} was expected at least once, and was sent 0 times.',
            "E *The nearest request:",
            "E * 2: GET /resource?withTotal=True&limt=1 -> 400",
            'E *query -> limit: "2" was expected, and it is not there',
            "*requests to http://127.0.0.1:*",
            "1: GET /resource?limit=1 -> 401",
            "     invalid_token: *",
            "2: GET /resource?withTotal=True&limt=1 -> 400",
            "     InvalidInput: Malformed parameter: limt: Unknown parameter. Did you mean 'limit'?",
            "     finding: A boolean spelt as in Python (4-7): withTotal=True was sent. Send `true` or `false`.",
            "3: POST /resource -> 400",
            "     InvalidJsonInput: Request body does not contain valid JSON. objectTypeProperty: Missing required *",
            "gave up: 401, once",
        ]
    )
    assert "expect(" in result.stdout.str()
    assert "def expect" not in result.stdout.str()


def test_a_session_is_one_run_that_is_judged(
    pytester: pytest.Pytester, on_server: Inner, sample_resource: SandboxServer
) -> None:
    """On two workers: the tests pass, and the session does not. The projects of its tests are removed."""
    pytester.makepyfile(
        """
        import pytest
        from urllib.request import Request, urlopen

        @pytest.mark.parametrize("number", range(6))
        def test_reads(sample_project, sample_resource, number):
            projects = [sample_project] + [sample_resource.make_project()] * (number == 5)
            for project in projects:
                headers = {"Authorization": f"Bearer {project.token}"}
                value = "True" if number == 3 else "true"
                urlopen(Request(f"{project.url}/resource?withTotal={value}", headers=headers)).close()
        """
    )
    run = f"judged-{time.time_ns()}"
    result = on_server("-q", "-p", "xdist", "-n", "2", "--sample-verdict", f"--sample-run={run}")
    result.assert_outcomes(passed=6)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*sample-resource*",
            f"FAILED. Run {run}: 7 requests of 7 projects.",
            "Carried out: listResources 7.",
            "booleanInOtherCase, once: A boolean spelt as in Python (4-7)",
            "  request 1 of *, GET /*/resource?withTotal=True: withTotal=True was sent.",
            "  Send `true` or `false`.",
            "* was of *::test_reads[[]3[]]",
            "the verdict on the clients fails the run, in which 6 tests passed",
        ]
    )
    assert SandboxServer(sample_resource.url, run=run).verdict()[0] is False
    left = [each for each in sample_resource.order("GET", "/sandbox/projects")["results"] if each["run"] == run]
    assert len(left) == 6, "those that tests have made themselves"


def test_what_is_expected_fails_no_session(pytester: pytest.Pytester, on_server: Inner) -> None:
    """A marker expects it of one test, an option of all; what it names wrongly is told."""
    pytester.makepyfile(
        """
        import pytest
        from urllib.request import Request, urlopen

        def read(project):
            headers = {"Authorization": f"Bearer {project.token}"}
            urlopen(Request(f"{project.url}/resource?withTotal=True", headers=headers)).close()

        @pytest.mark.sample_project(allow=["booleanInOtherCase"])
        def test_a_marker(sample_project):
            read(sample_project)

        def test_nothing(sample_project):
            read(sample_project)
        """
    )
    assert on_server("-q", "--sample-verdict", "-k", "marker").ret == 0
    result = on_server("-q", "--sample-verdict")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["booleanInOtherCase, once: *", "* was of *::test_nothing"])
    assert on_server("-q", "--sample-verdict", "--sample-allow=booleanInOtherCase,answerNotRead").ret == 0
    result = on_server("-q", "--sample-verdict", "--sample-allow=boolean")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["no verdict on the clients: *There is no finding 'boolean'*"])
    assert "{" not in result.stdout.str()
    assert on_server("-q", "--sample-allow=booleanInOtherCase").ret == pytest.ExitCode.USAGE_ERROR


def test_a_marker_with_a_positional_argument_is_told(pytester: pytest.Pytester, on_server: Inner) -> None:
    pytester.makepyfile(
        "import pytest\n\n@pytest.mark.sample_project(100)\ndef test_asks(sample_project): assert sample_project"
    )
    result = on_server("-q")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["sample_project takes options by name, such as resources=100, and not 100"])


SEES_ITS_SERVER = """
    import os, pytest, time

    @pytest.mark.parametrize("number", range(6))
    def test_there_is_a_server(sample_project, sample_resource, number):
        with open(os.environ["SEEN"], "a") as seen:
            print(sample_resource.url, sample_project.key, file=seen)
        {then}
"""


def seen_by(path: Path) -> list[tuple[str, str]]:
    """URL of the server and key of the project of each test."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [(url, key) for url, _, key in (line.partition(" ") for line in lines)]


def test_workers_share_a_server_that_ends_with_the_run(
    pytester: pytest.Pytester, inner: Inner, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(SEES_ITS_SERVER.format(then="pass"))
    seen = pytester.path / "seen"
    monkeypatch.setenv("SEEN", str(seen))
    monkeypatch.setenv("TMPDIR", str(pytester.mkdir("temporary")))
    pytester.path.chmod(0o755)
    inner("-q", "-p", "xdist", "-n", "2").assert_outcomes(passed=6)
    ((url, *others), keys) = (sorted({url for url, _ in seen_by(seen)}), {key for _, key in seen_by(seen)})
    assert (others, len(keys)) == ([], 6)
    assert within(lambda: not is_listening(url))
    assert within(lambda: not list((pytester.path / "temporary").glob("sample-resource-testkit-*")))


def test_the_server_ends_when_pytest_is_killed(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(SEES_ITS_SERVER.format(then="time.sleep(600)"))
    seen, temporary = pytester.path / "seen", pytester.mkdir("temporary")
    environment = {**os.environ, "SEEN": str(seen), "TMPDIR": str(temporary), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("SAMPLE_RESOURCE_URL", None)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "sample_resource_testkit.plugin"]
    process = subprocess.Popen(command, cwd=pytester.path, env=environment, stdout=subprocess.DEVNULL)
    try:
        assert within(lambda: bool(seen_by(seen)))
        ((url, _),) = seen_by(seen)
        assert is_listening(url)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert within(lambda: not is_listening(url))
    assert within(lambda: not list(temporary.glob("sample-resource-testkit-*")))


@pytest.mark.parametrize("options", [(), ("-p", "xdist", "-n", "2")])
def test_without_the_service_the_test_says_what_to_install(
    pytester: pytest.Pytester,
    inner: Inner,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
) -> None:
    pytester.makepyfile("def test_of_something_else(): pass\n\ndef test_asks(sample_project): pass")
    pytester.makeconftest(
        """
        from types import SimpleNamespace
        from sample_resource_testkit import local_service

        local_service.sys = SimpleNamespace(executable="/nowhere/python")  # the command is beside no interpreter
        """
    )
    monkeypatch.delenv("SAMPLE_RESOURCE_URL", raising=False)
    monkeypatch.setenv("PATH", os.defpath)
    result = inner("-q", *options)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["*sample-resource is not installed: pip install 'sample-resource-testkit?server?'*SAMPLE_RESOURCE_URL*"]
    )


def test_a_run_that_asks_for_nothing_starts_nothing(
    pytester: pytest.Pytester, inner: Inner, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile("def test_nothing(): pass")
    temporary = pytester.mkdir("temporary")
    monkeypatch.setenv("TMPDIR", str(temporary))
    result = inner("-q", "-p", "xdist", "-n", "1", "--strict-markers", "--sample-verdict")
    result.assert_outcomes(passed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["no verdict on the clients: no test has used a project of the sandbox"])
    assert list(temporary.iterdir()) == []


def create(project: SandboxProject, key: str) -> int:
    """Create a resource as a client does, and return the status."""
    headers = {"Authorization": f"Bearer {project.token}", "Content-Type": "application/json"}
    body = json.dumps({"key": key, "objectTypeProperty": {}}).encode()
    server = SandboxServer(project.server_url)
    return server.send("POST", f"/{project.key}/resource?x", body, headers)[0]


@pytest.fixture
def project(sample_project: SandboxProject) -> SandboxProject:
    return sample_project


def test_rules_act_and_are_counted(project: SandboxProject) -> None:
    project.rules([{"times": {"first": 2}, "status": 503}])
    assert [create(project, f"key-{number}") for number in range(3)] == [503, 503, 400]
    assert project.rule_counts() == [{"matched": 3, "acted": 2}]
    project.rules([])
    assert project.rule_counts() == []


def test_a_rule_that_cannot_be_is_told(project: SandboxProject) -> None:
    with pytest.raises(SandboxError, match="rules -> 0 -> times"):
        project.rules([{"times": "often"}])


def test_the_journal_is_narrowed(project: SandboxProject) -> None:
    create(project, "one")
    token = project.new_token("view_test")
    server = SandboxServer(project.server_url)
    for path in ("/resource", "/resource/key=a%2Fb"):
        server.send("GET", f"/{project.key}{path}", None, {"Authorization": f"Bearer {token}"})
    entries = project.journal()
    assert [(entry.method, entry.path, entry.status) for entry in entries] == [
        ("GET", "/resource/key=a%2Fb", 404),
        ("GET", "/resource", 200),
        ("POST", "/oauth/token", 200),
        ("POST", "/resource", 400),
    ]
    created = entries[-1]
    assert (created.query, created.answered, created.rule) == ("x", True, None)
    assert json.loads(created.body or "") == {"key": "one", "objectTypeProperty": {}}
    assert dict(created.headers)["Content-Type"] == "application/json"
    assert "errors" in (created.response_body or "")
    assert [entry.number for entry in project.journal(method="GET")] == [4, 3]
    assert [entry.number for entry in project.journal(path="/resource")] == [3, 1]
    assert [entry.number for entry in project.journal(path="/resource/key=*")] == [4]
    assert [entry.number for entry in project.journal(status=400)] == [1]
    assert [entry.number for entry in project.journal(operation_id="createOrUpdateResource")] == [1]
    assert len(project.har()["log"]["entries"]) == 4


def test_a_lost_answer_has_the_status_that_was_withheld(project: SandboxProject) -> None:
    project.rules([{"name": "lost", "phase": "after", "connection": "close"}])
    with pytest.raises(SandboxError, match="was not answered"):
        create(project, "one")
    entry = project.journal()[0]
    assert (entry.status, entry.answered) == (400, False)
    assert str(entry) == "1: POST /resource?x -> no answer (400), connection closed by rule `lost`"


@pytest.mark.sample_project(resources=3, scope="view_test")
def test_the_marker_says_what_the_project_is_made_with(project: SandboxProject) -> None:
    assert project.scope == f"view_test:{project.key}"
    with pytest.raises(SandboxError, match="the token endpoint answered 400"):
        project.new_token("manage_test")


def test_an_entry_that_was_not_carried_out_has_no_status() -> None:
    data = {
        "number": 1,
        "request": {"method": "GET", "target": "/p/resource?a"},
        "response": None,
        "rule": {"number": 0},
        "outcome": "no answer (not carried out), connection reset by rule 0",
    }
    entry = JournalEntry.of(data, "p")
    assert (entry.status, entry.answered, entry.path, entry.query) == (None, False, "/resource", "a")
    assert str(entry) == "1: GET /resource?a -> no answer (not carried out), connection reset by rule 0"


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://a"])
def test_a_server_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="is no URL"):
        SandboxServer(url)
