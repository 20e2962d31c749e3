"""``sample-resource report``: what it prints, and by which exit codes a build is judged."""

import json
import re
import shlex
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
from click.testing import CliRunner, Result
from steady_client import steady_client
from tester import Project, Service

from app.cli import main

TOKEN = "a-token-of-the-sandbox"


def command(*words: str, **variables: str) -> Result:
    return CliRunner().invoke(main, ["report", *words], env={"DATABASE_URL": None, "SANDBOX_TOKEN": None, **variables})


def test_it_reports_on_what_was_just_sent(throwaway: Project) -> None:
    throwaway.send("GET", "/key=one")
    ran = command("--url", f"http://127.0.0.1:{throwaway.service.port}", "--project", throwaway.key)
    assert ran.exit_code == 0, ran.output
    assert f"Project {throwaway.key}: 1 requests." in ran.stdout
    assert re.search(r"^ +[0-9]+ %  operations: 1 met, [0-9]+ not", ran.stdout, re.MULTILINE)


@pytest.fixture(scope="module")
def judged(sandbox: Service) -> tuple[str, str]:
    """The address of the service and a run whose client has two kinds of findings; its project is gone."""
    run = f"build-{uuid4().hex}"
    project = sandbox.make(run=run)
    with steady_client(project) as client:
        client.send("GET", "/key=one")
        client.send("GET", "?withTotal=True&limit=1")
        client.send("PATCH", "", {"version": "1", "objectTypeProperty": {}})
    project.order("DELETE")
    return f"http://127.0.0.1:{sandbox.port}", run


ALLOWED = {
    "both": "# what we know\nbooleanInOtherCase  # the library does it\n\nnumberAsText\n",
    "one": "numberAsText\n",
    "unknown": "numberAsText\nboleanInOtherCase\n",
}


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("", 0, ""),
        ("--min 1", 0, ""),
        (
            "--min 60",
            1,
            r"Exercised \d+ % of what can be exercised \(\d+ of \d+\); at least 60 % were wanted. Missing: ",
        ),
        ("--min 10 --of operations", 0, ""),
        ("--min 100 --of 'listResources, getResourceByKey,listResources.limit'", 0, ""),
        (
            "--min 100 --of listResources,recovered:lost",
            1,
            r"Exercised 50 % of listResources, recovered:lost \(1 of 2\).* Missing: recovered:lost",
        ),
        ("--min 1 --of serch", 2, "of: Nothing that can be exercised is called 'serch'"),
        ("--of operations", 2, "of: It needs min"),
        ("--findings none", 1, "^Finding numberAsText, once: .*\nFinding booleanInOtherCase, once"),
        ("--findings both", 0, ""),
        ("--findings one", 1, "^Finding booleanInOtherCase"),
        (
            "--findings unknown",
            2,
            "There is no finding 'boleanInOtherCase'. Did you mean 'booleanInOtherCase'",
        ),
        ("--findings missing", 2, "'none' or a file is expected"),
        ("--findings both --min 60", 1, "at least 60 %"),
        ("--min 101", 2, "101"),
    ],
)
def test_a_build_is_judged_by_a_run(
    judged: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, code: int, told: str
) -> None:
    for name, text in ALLOWED.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    url, run = judged
    ran = command("--url", url, "--run", run, *shlex.split(words))
    assert (ran.exit_code, bool(ran.stderr)) == (code, bool(told)), ran.output
    assert re.search(told, ran.stderr, re.DOTALL)
    assert (f"Run {run}: 3 requests of 1 projects." in ran.stdout) == (code != 2)


@pytest.mark.parametrize(("format_", "begin"), [("json", "{"), ("html", "<!doctype html>")])
def test_it_prints_other_formats(judged: tuple[str, str], throwaway: Project, format_: str, begin: str) -> None:
    url, run = judged
    for words in (["--run", run], ["--project", throwaway.key]):
        ran = command("--url", f"{url}/", *words, "--format", format_)
        assert ran.exit_code == 0, ran.output
        assert ran.stdout.startswith(begin)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--url {url} --project nobody", r"was answered 404\. The sandbox has no project 'nobody'\."),
        ("--url {url} --run nobody", r"was answered 404\. The sandbox has no run 'nobody'\."),
        ("--url {url}", "Either --project or --run is needed"),
        ("--url {url} --project a --run b", "Either --project or --run is needed"),
        ("--run a", "Missing option '--url'"),
        ("--url ftp://a --run a", "is no URL of a service"),
        ("--url http://127.0.0.1:1 --run a", "was not answered: .*refused"),
    ],
)
def test_no_report_is_no_judgement(judged: tuple[str, str], words: str, told: str) -> None:
    ran = command("--min", "0", *words.format(url=judged[0]).split())
    assert ran.exit_code == 2
    assert re.search(told, ran.stderr)


@pytest.fixture
def answers_nothing() -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """A server that answers each request with an empty object, and what it has received.

    From ``/moved/STATUS/...`` it redirects to another name of its machine.
    """
    received: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            received.append((self.path, self.headers.get("Authorization")))
            if self.path.startswith("/moved/"):
                _, _, status, *others = self.path.split("/")
                self.send_response(int(status))
                self.send_header("Location", f"http://localhost:{server.server_port}/{'/'.join(others)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            body = json.dumps({}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", received
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_token_of_the_sandbox_is_sent_and_other_answers_are_no_reports(
    answers_nothing: tuple[str, list[tuple[str, str | None]]],
) -> None:
    url, received = answers_nothing
    ran = command("--url", url, "--run", "a", SANDBOX_TOKEN=TOKEN)
    assert ran.exit_code == 2
    assert "answered no report of this version" in ran.stderr
    assert received == [("/sandbox/runs/a/report?", f"Bearer {TOKEN}")]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_since_the_token_would_go_along(
    answers_nothing: tuple[str, list[tuple[str, str | None]]], status: int
) -> None:
    url, received = answers_nothing
    ran = command("--url", f"{url}/moved/{status}", "--run", "a", SANDBOX_TOKEN=TOKEN)
    assert ran.exit_code == 2
    assert received == [(f"/moved/{status}/sandbox/runs/a/report?", f"Bearer {TOKEN}")]
    elsewhere = f"{url.replace('127.0.0.1', 'localhost')}/sandbox/runs/a/report?"
    assert f"was answered {status}. It redirects to '{elsewhere}', and no redirect is followed" in ran.stderr
