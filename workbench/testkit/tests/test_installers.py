"""The testkit installed with all that it draws, by the lines of README: ``make test-slow ARGS=-minstallers``."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installation.environments import Installation, ordinary_user, own
from tests.support.built import build
from tests.support.folders import open_folder
from tests.support.server import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.installers]

README = (ROOT / "README.md").read_text()
KIT = (ROOT / "workbench/testkit/README.md").read_text()


def block(mark: str, page: str) -> str:
    """The block of a page behind this comment."""
    (found,) = re.findall(rf"^<!-- {mark} -->\n```\w+\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return found


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as made:
        yield made


def test_it_runs_in_an_empty_folder_once_it_is_installed(folder: Path) -> None:
    """The examples of both READMEs under pytest, the command against the service, and the sandbox beside it."""
    account, python = ordinary_user()
    home = folder / "home"
    home.mkdir(mode=0o755)
    (folder / "dist").mkdir()
    for of in ("service", "sandbox", "testkit"):  # what make dist does, which has its own test
        for wheel in build(of, folder / of).glob("*.whl"):
            shutil.copy(wheel, folder / "dist")
    lines = block("install", README).removeprefix("make dist\n").replace("python3 ", f"{python} ")
    # pip takes a path with a blank for two, and this checkout may have one.
    settings = {"PIP_CONSTRAINT": str(shutil.copy(ROOT / "constraints.txt", folder))}
    subprocess.run(["bash", "-ec", lines], cwd=folder, env=os.environ | settings, check=True)
    programs = folder / "clients/bin"
    used = folder / "used"
    used.mkdir()
    (used / "test_client.py").write_text(block("example", KIT))
    (used / "test_my_client.py").write_text(block("a failing test", README))
    service = Installation([str(programs / "sample-resource")], home, account)
    for place in (used, home):
        own(service, place)
    tests = Installation([str(programs / "python"), "-m", "pytest", "-q"], home, account)
    assert "1 failed, 1 passed" in tests.run(used, PATH=f"{programs}:{os.defpath}").stdout
    kit = Installation([str(programs / "sample-resource-conformance")], home, account)
    with service.serving(used, SANDBOX="on") as running:
        url = f"http://127.0.0.1:{running.port}"
        assert "No clause fails." in kit.done(used, "--url", url, "--sandbox", "--profile", "core")
    subprocess.run([programs / "pip", "uninstall", "--yes", "sample-resource-sandbox"], check=True)
    refused = service.run(used, "serve", SANDBOX="on")
    assert refused.returncode != 0
    assert "needs the package sample-resource-sandbox, which is not installed" in refused.stderr
    assert "sample-resource-sandbox" in service.run(used, "report").stderr
    with service.serving(used) as running:
        assert running.port
