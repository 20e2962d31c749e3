"""README and docs/tour.md print what they say; the map of docs/architecture.md shows every folder."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator

import pytest

from tests.support.pages import ROOT, Page
from tests.support.server import NOT_MEASURED
from tests.support.service import running_service

README = Page("README.md")
ARCHITECTURE = Page("docs/architecture.md")
TOUR = Page("docs/tour.md")


def rows_of_the_map() -> Iterator[tuple[str, str]]:
    """Each folder in the map, with its description."""
    for cell, meaning, *_ in ARCHITECTURE.rows("Folders"):
        for folder in re.findall(r"([.a-z_/]+/)(?![.a-z_])", cell):
            yield folder, meaning


def test_the_map_shows_every_folder() -> None:
    shown = [folder for folder, _ in rows_of_the_map()]
    folders = {f"app/{path.parent.name}/" for path in (ROOT / "app").glob("*/__init__.py")}
    assert folders | {"app/", "migrations/", "ops/", "tests/", "benchmarks/"} <= set(shown)


def test_the_picture_of_the_service_has_the_layers_of_the_import_contract() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = [each["layers"] for each in tools if each.get("containers") == ["app"]]
    picture = ARCHITECTURE.text.partition("## Picture")[2].partition("## Folders")[0]
    depth = {name: number for number, layer in enumerate(layers) for name in re.findall("[a-z_]+", layer)}
    drawn = re.findall(r"app/([a-z_]+)", picture)
    assert (sorted(drawn), sorted(drawn, key=depth.__getitem__)) == (sorted(depth), drawn)


def test_the_package_says_what_the_service_is_as_readme_does() -> None:
    package = Page("docs/package.md").text
    first, bullets = (paragraph for paragraph in package.split("\n\n")[1:3])
    assert first in README.text
    assert bullets.splitlines()[0] in README.text


@pytest.fixture(scope="module")
def port(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of the service, started by its command."""
    with running_service(
        tmp_path_factory.mktemp("serve") / "log", DATABASE_URL=database_url, **NOT_MEASURED
    ) as started:
        yield started


def test_the_tour_prints_the_expected_answers(port: int, database_url: str) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```", TOUR.text, re.MULTILINE | re.DOTALL)
    script = "\n".join(blocks).replace("127.0.0.1:8000", f"127.0.0.1:{port}")
    script = script.replace(".venv/bin/sample-resource", f"'{sys.executable}' -m app.cli")
    walked = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": database_url},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert walked.returncode == 0, walked.stderr
    answers = [line.strip() for line in walked.stdout.splitlines() if line.strip()]
    shown = "\n".join(answers)
    for expected in (
        '"objectTypeProperty":{"arrayOfIntExample":[3],"arrayOfStringExample":["dog","cat"]}',
        '"total":1',
        "HTTP/1.1 200 OK",
        '"someProperty":"any string"',
        "Expected: 2 - Actual: 3.",
        '"version":5',
        "HTTP/1.1 304 NOT MODIFIED",
        '"arrayOfStringExample":["a/b","two","true"]',
        '"active": true',
        '"count":1,"results"',
        "objectTypeProperty -> arrayOfIntExample -> 1: JSON Number without a fraction expected.",
    ):
        assert expected in shown, shown
    refused = [line for line in answers if '"statusCode":' in line]
    assert [re.findall(r'"statusCode":(\d+)', line) for line in refused] == [["409"], ["400"]]


def test_the_first_requests_are_answered_as_readme_shows(port: int, database_url: str) -> None:
    script = README.text.partition("with curl 7.82 or newer:\n\n```sh\n")[2].partition("```")[0]
    script = (
        script.replace("127.0.0.1:8000", f"127.0.0.1:{port}").replace("curl ", "curl -s ").replace("/demo/", "/readme/")
    )
    script = script.replace(".venv/bin/sample-resource", f"'{sys.executable}' -m app.cli").replace(":demo", ":readme")
    ran = subprocess.run(
        ["bash", "-euc", script],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": database_url},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    shown = README.text.partition("They answer, shortened:\n\n```text\n")[2].partition("```")[0].splitlines()
    answered = ran.stdout.splitlines()
    assert len(answered) == len(shown) == 3
    for line, answer in zip(shown, answered, strict=True):
        assert re.fullmatch(re.escape(line).replace("…", ".*"), answer), answer
