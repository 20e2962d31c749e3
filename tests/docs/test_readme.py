"""README is short and its map shows every folder; the commands of docs/tour.md print what the tour says."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.pages import ROOT, Page
from tests.support.server import NOT_MEASURED
from tests.support.service import running_service

README = Page("README.md")
TOUR = Page("docs/tour.md")


def rows_of_the_map() -> Iterator[tuple[str, str]]:
    """Each folder in the map, with its description."""
    for cell, meaning, *_ in README.rows("Where things are"):
        for folder in re.findall(r"([.a-z_/]+/)(?![.a-z_])", cell):
            yield folder, meaning


def test_the_map_of_readme_shows_every_folder() -> None:
    shown = [folder for folder, _ in rows_of_the_map()]
    folders = {f"app/{path.parent.name}/" for path in (ROOT / "app").glob("*/__init__.py")}
    assert folders | {"app/", "migrations/", "ops/", "tests/", "benchmarks/"} <= set(shown)


def test_files_named_in_the_map_of_readme_exist() -> None:
    named = [folder + name for folder, text in rows_of_the_map() for name in re.findall("`([a-z_]+(?:/|[.]py))`", text)]
    assert len(named) >= 10
    assert [path for path in named if not (ROOT / path).exists()] == []


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
