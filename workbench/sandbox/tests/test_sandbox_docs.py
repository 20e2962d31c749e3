"""The quick start and every command of the recipes are tried, and every rule that the pages show is taken."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tester import Service

from tests.support.applications import own_database
from tests.support.cluster import Cluster
from tests.support.gunicorn_server import Gunicorn
from tests.support.pages import ROOT

QUICK_START = (ROOT / "docs/workbench/sandbox.md").read_text()
README = (ROOT / "README.md").read_text()
RECIPES = (ROOT / "docs/workbench/sandbox-recipes.md").read_text()
REFERENCE = (ROOT / "docs/workbench/sandbox-reference.md").read_text()
TOUR = re.findall(r"^<!-- try -->\n```sh\n(.*?)^```$", RECIPES, re.MULTILINE | re.DOTALL)
GATE = re.findall(r"^<!-- gate -->\n```sh\n(.*?)^```$", REFERENCE, re.MULTILINE | re.DOTALL)
PIPELINES = (ROOT / "docs/workbench/ci.md").read_text()
IN_PIPELINES = re.findall(r"^ +(curl .*/verdict\")$", PIPELINES, re.MULTILINE)
SHOWN_RULES = re.findall(r"^\| [^|]+ \| `(\{.*?\})` \|$", RECIPES + REFERENCE, re.MULTILINE)

EXPECTED = (
    "",
    "X-Sandbox-Rule: 503 twice",
    r'curl ended with 52\n.*"key":"my-pet"',
    '"error":"invalid_token"',
    r'"code":"ConcurrentModification".*"currentVersion":2.*"version":4',
    r'"number":.*\{"requests": \[[0-9]+\]\}.*key: \\\\?"my-dog\\\\?" was expected',
    r'"operations": \[\{.*"lostUpdate"',
    '"projectKey": "sb-',
)
"""What each step of the tour prints."""


@pytest.fixture(scope="module")
def server(cluster: Cluster) -> Iterator[Service]:
    started = Gunicorn("wsgi:app", DATABASE_URL=own_database(cluster), SANDBOX="on")
    yield Service(started.port)
    assert started.stop() == 0


def run(command: list[str], server: Service, folder: Path, failed: int = 0, **variables: str) -> str:
    """What a command of the pages prints in a folder."""
    url = f"http://127.0.0.1:{server.port}"
    variables |= {"PATH": os.environ["PATH"], "URL": url, "SAMPLE_RESOURCE_URL": url}
    done = subprocess.run(command, env=variables, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == failed, done.stdout + done.stderr
    return done.stdout


def test_the_tour_does_what_the_page_says(server: Service, tmp_path: Path) -> None:
    assert len(TOUR) == len(EXPECTED)
    mark = "end of a step"
    script = "".join(f"{commands}\necho; echo '{mark}'\n" for commands in TOUR)
    printed = run(["bash", "-c", script], server, tmp_path).split(f"{mark}\n")
    for commands, expected, output in zip(TOUR, EXPECTED, printed, strict=False):
        assert re.search(expected, output, re.DOTALL), f"{commands}\n{output}"
    assert json.loads((tmp_path / "requests.har").read_text())["log"]["entries"]


def test_a_service_with_another_host_name_has_its_public_url() -> None:
    """Else the URLs in the answers of the sandbox, such as tokenUrl, name the loopback address of the job."""
    urls = set(re.findall("SAMPLE_RESOURCE_URL: (.*)", PIPELINES))
    assert urls - {"http://127.0.0.1:8000"} == set(re.findall("PUBLIC_URL: (.*)", PIPELINES)) != set()


def _block(mark: str, page: str = QUICK_START) -> str:
    found = re.search(rf"^<!-- {mark} -->\n```[a-z]+\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


CLIENT = """
import json
from http.client import RemoteDisconnected
from urllib.request import Request, urlopen


def create(url, token):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    for _ in range(2):
        try:
            return json.load(urlopen(Request(f"{url}/resource", json.dumps(BODY).encode(), headers)))
        except RemoteDisconnected:
            pass
"""


@pytest.mark.parametrize(
    ("body", "failed"), [({"objectTypeProperty": {}}, 1), ({"key": "a1", "objectTypeProperty": {}}, 0)]
)
def test_the_quick_start_prints_what_the_page_shows(server: Service, tmp_path: Path, body: object, failed: int) -> None:
    (tmp_path / "my_client.py").write_text(f"{CLIENT}\n\nBODY = {body!r}\n")
    (tmp_path / "test_quick.py").write_text(_block("quick start: test"))
    printed = run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider"], server, tmp_path, failed)
    assert not failed or set(_block("quick start: output").splitlines()) <= set(printed.splitlines())


def test_the_gates_that_the_pages_show_let_a_good_run_pass(server: Service, tmp_path: Path) -> None:
    """Those of pipelines too."""
    assert len(IN_PIPELINES) == 2
    gates = ["bash", "-e", "-c", "\n".join([*GATE, *IN_PIPELINES])]
    printed = run(gates, server, tmp_path, SAMPLE_RESOURCE_RUN="ci-4711", SANDBOX_TOKEN="")
    assert printed.count("PASSED. Run ci-4711: 1 requests of 1 projects.") == len(IN_PIPELINES) + 1


def test_the_rules_that_the_page_shows_are_taken(server: Service) -> None:
    assert len(SHOWN_RULES) >= 11
    server.make().rules(*map(json.loads, SHOWN_RULES))


def test_the_failing_test_prints_what_readme_shows(server: Service, tmp_path: Path) -> None:
    (tmp_path / "test_my_client.py").write_text(_block("a failing test", README))
    printed = run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider"], server, tmp_path, failed=1)
    assert set(_block("what it prints", README).splitlines()) <= set(printed.splitlines())
