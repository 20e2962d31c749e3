"""The wheel installed with all its dependencies, by the tools that users have: ``make test-slow ARGS=-minstallers``.

It is not part of ``make test``, since it downloads everything that the service requires. The versions are those of
constraints.txt with pip, and the newest ones otherwise. ``PYTHON`` names another interpreter.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installation.archives import archives_in
from tests.installation.environments import Installation, ordinary_user, own
from tests.installation.walk import walk
from tests.support.built import build
from tests.support.folders import open_folder
from tests.support.server import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.installers]


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def archives(place: Path) -> tuple[Path, Path]:
    """The sdist and the wheel."""
    return archives_in(build("service", place / "archives"))


@pytest.fixture
def folder(place: Path) -> Iterator[Path]:
    with open_folder() as made:
        yield made


@pytest.fixture(params=["pip", "pip from the sdist", "pipx", "uvx"])
def installation(
    request: pytest.FixtureRequest, archives: tuple[Path, Path], place: Path, folder: Path
) -> Iterator[Installation]:
    sdist, wheel = archives
    account, found = ordinary_user()
    python = os.environ.get("PYTHON", found)
    tools = Path(sys.executable).parent
    home = folder.with_name(f"{folder.name}-home")
    environment = folder.with_name(f"{folder.name}-environment")
    home.mkdir(mode=0o755)
    # The settings of pip and uv for this machine, such as its certificates and its index.
    settings = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_"))}
    if request.param == "uvx":
        command = [str(tools / "uv"), "tool", "run", "--python", python, "--from", f"{wheel}[embedded]"]
        installation = Installation([*command, "sample-resource"], home, account, settings)
    elif request.param == "pipx":
        subprocess.run([str(tools / "uv"), "venv", "-q", "--python", python, str(environment)], check=True)
        install_pipx = [str(tools / "uv"), "pip", "install", "-q", "--python", str(environment / "bin/python"), "pipx"]
        subprocess.run(install_pipx, check=True)
        command = [str(environment / "bin/pipx"), "run", "--spec", f"{wheel}[embedded]", "sample-resource"]
        installation = Installation(command, home, account, settings)
    else:
        archive = wheel if request.param == "pip" else sdist
        subprocess.run([python, "-m", "venv", str(environment)], check=True)
        pip = [str(environment / "bin/python"), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt")]
        subprocess.run([*pip, f"{archive}[embedded]"], cwd="/", check=True)
        installation = Installation([str(environment / "bin/sample-resource")], home, account, settings)
    own(installation, home)
    own(installation, folder)
    # uvx and pipx install before they run the command for the first time.
    installation.done(folder, "--version")
    yield installation
    for used in (home, environment):
        shutil.rmtree(used, ignore_errors=True)


def test_the_service_runs_in_an_empty_folder_once_it_is_installed(installation: Installation, folder: Path) -> None:
    began = time.monotonic()

    def say_how_long() -> None:
        sys.stdout.write(f"\n  ready {time.monotonic() - began:.1f} s after the first 'serve'\n")

    walk(installation, folder, ready=say_how_long)
