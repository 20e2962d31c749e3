"""The services that the clients use, and the projects in them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from pathlib import Path

import pytest
from tester import Service

from app.identity.scopes import SCOPE_NAMES
from clients import tools
from tests.support.folders import open_folder
from tests.support.service import ROOT, running_service

Access = Callable[[str], dict[str, str]]


@pytest.fixture(scope="session")
def data() -> Generator[Path]:
    """A folder for the data of services, whose databases they start themselves."""
    with open_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.delenv("DATABASE_URL", raising=False)
        yield folder


@pytest.fixture(scope="session")
def node_packages() -> None:
    """The packages in JavaScript."""
    tools.install_node_packages()


@pytest.fixture(scope="session")
def access(data: Path) -> Generator[Access]:
    """The service as ``make run`` starts it: gives what a client needs to know of a project, with credentials."""
    settings = {"DATA_DIR": str(data / "data")}

    def command(project: str, *words: str) -> str:
        scope = " ".join(f"{name}:{project}" for name in SCOPE_NAMES)
        words = (sys.executable, "-m", "app.cli", *words, "--scope", scope)
        return subprocess.check_output(words, cwd=ROOT, env=os.environ | settings, text=True)

    with running_service(data / "log", **settings) as port:

        def of(project: str) -> dict[str, str]:
            made = json.loads(command(project, "client", "create", "--name", "contract"))
            return {
                "BASE_URL": f"http://127.0.0.1:{port}",
                "PROJECT": project,
                "CLIENT_ID": made["client_id"],
                "CLIENT_SECRET": made["client_secret"],
                "CLIENT_NAME": "contract",
                "TOKEN": command(project, "token").strip(),
            }

        yield of


@pytest.fixture(scope="session")
def sandbox(data: Path) -> Generator[Service]:
    """A service whose sandbox is on."""
    with running_service(data / "sandbox-log", DATA_DIR=str(data / "sandbox"), SANDBOX="on") as port:
        yield Service(port)


Browse = Callable[[str, Mapping[str, str | None]], None]


@pytest.fixture(scope="session")
def browse(node_packages: None) -> Browse:
    """Runs a program that uses Chromium, with variables; those that are None are left out."""
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)

    def run(program: str, variables: Mapping[str, str | None]) -> None:
        assert chromium, "install Chromium (Debian: apt-get install chromium), or name one: CHROMIUM=..."
        given = {name: value for name, value in variables.items() if value}
        tools.call([tools.NODE, tools.HERE / program], {"CHROMIUM": chromium, **given})

    return run
