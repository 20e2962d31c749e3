"""The command that judges clients, with adapters that hang, die, babble, or are right."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree

import pytest
from sample_resource_testkit.client.registry import scenarios
from sample_resource_testkit.sandbox import SandboxServer

COMMAND = Path(sys.executable).with_name("sample-resource-conformance")
REFERENCE = (sys.executable, str(Path(__file__).parents[1] / "clients/httpx/adapter.py"))

GREETING = """
import json, sys, time
def say(**answer):
    print(json.dumps(answer), flush=True)
def messages():
    for line in sys.stdin:
        message = json.loads(line)
        if message["do"] == "hello":
            say(client="of a test", version="1")
        elif message["do"] != "call":
            say(session=message["session"], ok=True)
        else:
            yield message
"""

Judge = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def judge(sample_resource: SandboxServer) -> Judge:
    def run(program: tuple[str, ...], *options: str) -> subprocess.CompletedProcess[str]:
        command = [str(COMMAND), "client", "--url", sample_resource.url, *options, "--", *program]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)

    return run


def adapter(body: str, greeting: str = GREETING) -> tuple[str, ...]:
    # Without the packages of the environment, of which it needs none, it starts sooner.
    return sys.executable, "-S", "-c", greeting + dedent(body)


def outcomes(path: Path) -> dict[str, tuple[str, str]]:
    return {each["number"]: (each["outcome"], each["reason"]) for each in json.loads(path.read_text())["scenarios"]}


WRONG = {
    "dies": ("for message in messages():\n    sys.exit(3)", "the adapter ended with exit code 3"),
    "says no JSON": ("for message in messages():\n    print('hm', flush=True)", "a line that is no JSON: hm"),
    "answers another call": (
        "for message in messages():\n    say(id=77, result=None)",
        "answered call 77, which nobody waits for (twice, or an unknown id)",
    ),
    "answers neither": (
        "for message in messages():\n    say(id=message['id'])",
        "needs one of result, error and unsup",
    ),
    "raises what is no kind": (
        "for message in messages():\n    say(id=message['id'], error={'kind': 'bad'})",
        "an error needs a kind, one of http, network, timeout, decoding, other",
    ),
    "shows a location that is a list": (
        "for message in messages():\n    say(id=message['id'], result={}, meta={'location': []})",
        "location of meta has to be a text",
    ),
    "says nothing was sent": (
        "for message in messages():\n    say(id=message['id'], result={})",
        "no request was sent",
    ),
}


@pytest.mark.parametrize("body", WRONG)
def test_an_adapter_that_is_wrong_fails_what_it_is_asked_and_the_run_goes_on(
    body: str, judge: Judge, tmp_path: Path
) -> None:
    report = tmp_path / "report.json"
    program, told = WRONG[body]
    chosen = ("--scenario", "C-req-2,C-ans-9", "--jobs", "8", "--json", str(report))
    done = judge(adapter(program), *chosen)
    assert done.returncode == 1, done.stderr
    found = outcomes(report)
    assert found["C-req-2"][0] == "fail"
    assert told in found["C-req-2"][1]


def test_a_client_that_has_nothing_is_unsupported(judge: Judge, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    program = "for message in messages():\n    say(id=message['id'], unsupported='not yet')"
    done = judge(adapter(program), "--scenario", "C-req-2,C-do-15", "--json", str(report))
    assert done.returncode == 2
    assert "nothing was run" in done.stderr
    assert outcomes(report) == {
        "C-req-2": ("unsupported", "not yet"),
        "C-do-15": ("unsupported", "the client has no retries"),
    }


@pytest.mark.parametrize(
    ("program", "code", "told"),
    [
        (("/no/such/program",), 2, "/no/such/program cannot be started: No such file"),
        (adapter("", greeting=""), 1, "no hello from the adapter: the adapter ended with exit code 0"),
        (adapter("import time; time.sleep(600)", greeting=""), 1, "did not answer hello within 1 s"),
        (
            adapter("print('{\"client\": 7}', flush=True)\ninput()", greeting=""),
            1,
            "needs the texts client and version",
        ),
    ],
)
def test_an_adapter_that_does_not_begin_ends_the_run(
    program: tuple[str, ...], code: int, told: str, judge: Judge
) -> None:
    done = judge(program, "--start-timeout", "1")
    assert done.returncode == code
    assert told in done.stderr


def test_the_reports_agree(judge: Judge, tmp_path: Path) -> None:
    files = {name: tmp_path / f"report.{name}" for name in ("junit", "json")}
    known = tmp_path / "known.txt"
    known.write_text("C-req-2 it was never any good\nC-req-3\nC-req-10* it will be late\n")
    options = [text for name, path in files.items() for text in (f"--{name}", str(path))]
    program = (sys.executable, str(Path(__file__).with_name("planted_adapter.py")), "booleans are written as in Python")
    options += ["--expected-failures", str(known)]
    done = judge(program, "--scenario", "C-req-2,C-req-3,C-req-42,C-req-103", *options)
    assert done.returncode == 1
    told = json.loads(files["json"].read_text())
    assert (told["client"], told["asExpected"], told["unexpectedFailures"]) == ("httpx", False, ["C-req-42"])
    failing = next(each for each in told["scenarios"] if each["outcome"] == "fail")
    assert failing["call"] == "listResourcesSorted(withTotal=true)"
    assert "sorted-query-parameters?withTotal=True" in failing["sent"]
    assert "sorted-query-parameters?withTotal=true" in failing["expected"]
    assert failing["answer"].startswith("HTTP/1.1 200")
    assert failing["returned"].startswith('{"result": {"limit"')
    told_of = 'the query has withTotal with "True", and not "true"'
    assert failing["reason"] == f"{told_of} (and 2 more of its calls are wrong)"
    assert {row["theme"]: row["notReachable"] for row in told["summary"] if row["level"] == "must"}["requests"] == 1
    assert told["causes"] == [{"cause": "booleans in the query", "scenarios": ["C-req-42", "C-req-103"]}]
    assert told["unexpectedPasses"] == ["C-req-2", "C-req-3"]
    assert told["staleExpectations"] == ["C-req-2", "C-req-3", "C-req-10*"]
    assert "booleans in the query: 2 scenarios have this cause\n" in done.stdout
    assert "  not reachable: C-req-103\n" in done.stdout
    assert "C-req-10* is listed as an expected failure, and does not fail\n" in done.stdout
    root = ElementTree.parse(files["junit"]).getroot()  # noqa: S314 -- the report that was just written
    assert [suite.get("name") for suite in root] == ["requests", "expected failures"]
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("7", "4", "1")
    assert failing["reason"] in done.stdout


def test_the_scenarios_are_listed_without_a_program_and_without_a_service() -> None:
    done = subprocess.run([COMMAND, "client", "--list"], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == len(scenarios())
    assert "C-do-15    should " in done.stdout
    one = subprocess.run(
        [COMMAND, "client", "--list", "--scenario", "C-req-9"], capture_output=True, text=True, check=True
    )
    assert one.stdout.startswith("C-req-9    must   getResourceById sends one GET to /resource/{id}")


def test_help_names_a_document_and_an_option_that_exist() -> None:
    told = subprocess.run([COMMAND, "client", "--help"], capture_output=True, text=True, check=True).stdout
    assert "--init writes a whole adapter" in told
    (page,) = re.findall(r"\S+\.md", told)
    assert (Path(__file__).parents[3] / page).is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "the program of the adapter is missing: it comes after --"),
        (("--scenario", "C-req-0", "--", "x"), "there is no scenario 'C-req-0'"),
        (
            ("--profile", "core", "--", "x"),
            "there is no theme 'core': choose from requests, answers, errors, behaviour",
        ),
        (("--init", "cobol"), "invalid choice: 'cobol'"),
        (("--url", "http://127.0.0.1:1", "--", "x"), "was not answered"),
    ],
)
def test_wrong_options_are_told(arguments: tuple[str, ...], message: str) -> None:
    done = subprocess.run([COMMAND, "client", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert message in done.stderr


def test_messages_and_requests_are_traced(judge: Judge) -> None:
    done = judge(REFERENCE, "--scenario", "C-req-9", "--trace", "--jobs", "1")
    lines = [line for line in done.stderr.splitlines() if line.startswith("C-req-9  ")]
    assert any('-> {"do": "call"' in line for line in lines)
    assert any('<- {"id": ' in line for line in lines)
    assert any("  GET /sb-" in line for line in lines)


def test_an_adapter_is_checked_for_its_author(judge: Judge) -> None:
    done = judge(REFERENCE, "--check")
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith("It keeps to the protocol.\n")


def test_the_check_complains_precisely(judge: Judge) -> None:
    program = """
    for message in messages():
        if message["operation"] == "checkResources":
            say(id=message["id"], result=None)
        elif message["operation"] == "noSuchOperation":
            say(id=message["id"], error={"kind": "other"})
        else:
            say(id=message["id"], result={"objectTypeProperty": {}})
    time.sleep(600)
    """
    done = judge(adapter(program), "--check")
    assert done.returncode == 1
    assert "no   the result of HEAD is true or false: the result of HEAD is false for 404" in done.stdout
    assert "no   an operation that does not exist is unsupported: " in done.stdout
    assert "no   it ends when its input ends: it had to be killed" in done.stdout


def test_the_check_tells_the_faults_of_the_client_from_those_of_its_adapter(judge: Judge) -> None:
    planted = (sys.executable, str(Path(__file__).with_name("planted_adapter.py")))
    done = judge((*planted, "texts of bodies lose characters beyond the BMP"), "--check")
    assert done.returncode == 0, done.stdout
    assert "--   lines are UTF-8 in both directions: the request is another one than the call's" in done.stdout
    assert "lines about the client (--), not about its adapter: 1\n" in done.stdout


def test_the_log_of_an_adapter_is_that_of_its_scenario(judge: Judge, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    program = """
    for message in messages():
        print(f"{message['operation']} is called", file=sys.stderr, flush=True)
        time.sleep(0.1)
        say(id=message["id"], result={})
    """
    judge(adapter(program), "--scenario", "C-req-2,C-req-3", "--jobs", "1", "--json", str(report))
    logs = {each["number"]: each["log"] for each in json.loads(report.read_text())["scenarios"]}
    assert logs == {"C-req-2": "listResources is called", "C-req-3": "checkResources is called"}


def test_a_hanging_adapter_is_killed_with_what_it_started(judge: Judge, tmp_path: Path) -> None:
    mark, report = tmp_path / "child", tmp_path / "report.json"
    program = f"""
    import subprocess
    for message in messages():
        child = subprocess.Popen(["sleep", "600"])
        open({str(mark)!r}, "w").write(str(child.pid))
        time.sleep(600)
    """
    judge(adapter(program), "--scenario", "C-req-2", "--timeout", "1", "--jobs", "17", "--json", str(report))
    assert "did not answer" in outcomes(report)["C-req-2"][1]
    status = Path(f"/proc/{mark.read_text()}/stat")
    deadline = time.monotonic() + 60
    while status.exists() and status.read_text().split()[2] != "Z" and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not status.exists() or status.read_text().split()[2] == "Z"
