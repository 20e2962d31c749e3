"""README says what is: its tables match the code, and every command of its tour does what it shows."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields

import pytest

from app.config import Settings
from app.errors import CATALOGUE
from tests.support.service import ROOT, running_service

README = (ROOT / "README.md").read_text()


def section(title: str) -> str:
    found = re.search(rf"^## {title}$(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)
    assert found, f"README has no section {title}"
    return found.group(1)


def table(title: str) -> list[list[str]]:
    """The rows of a section's first table, without its head."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_settings_are_those_that_are_read() -> None:
    shown = {name.strip("`"): (default, meaning) for name, default, meaning in table("Settings")}
    settings = {item.metadata["variable"]: item for item in fields(Settings)}
    assert list(shown) == list(settings)
    for variable, (default, meaning) in shown.items():
        item = settings[variable]
        assert meaning == item.metadata["meaning"]
        if variable != "WORKERS":  # its default is the machine's
            assert default == ("" if item.default is None else str(item.default))


def test_the_errors_are_those_of_the_catalogue() -> None:
    shown = [(code.strip("`"), int(status), when) for code, status, when in table("Errors")]
    assert shown == [(kind.code, kind.status, kind.meaning) for kind in CATALOGUE.values()]


def test_every_module_has_its_place_on_the_map() -> None:
    shown = set(re.findall(r"`([a-z_/]+(?:\.py)?)`", section("Where things are").partition("| to add")[0]))
    modules = {path.name for path in (ROOT / "app").glob("*.py")} - {"__init__.py"}
    modules |= {f"{path.name}/" for path in (ROOT / "app").iterdir() if (path / "__init__.py").exists()}
    assert shown - {"app/"} == modules


@pytest.fixture(scope="module")
def port(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The service, started by its command, on a free port."""
    with running_service(tmp_path_factory.mktemp("serve") / "log", DATABASE_URL=database_url) as started:
        yield started


def test_the_tour_can_be_walked(port: int, database_url: str) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```", section("A tour"), re.MULTILINE | re.DOTALL)
    script = "\n".join(blocks).replace("127.0.0.1:8000", f"127.0.0.1:{port}")
    script = script.replace(".venv/bin/sample-resource", f"'{sys.executable}' -m app.cli")
    walked = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": database_url},
        capture_output=True,
        text=True,
        timeout=60,
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
