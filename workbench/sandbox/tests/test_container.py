"""The Compose file of the sandbox, without a container engine; test_compose_file.py of the testkit starts it."""

import re

import yaml
from sample_resource_sandbox.package import SandboxPackage
from sample_resource_sandbox.settings import SandboxSettings

from app.config import Settings
from app.extension import package_of
from tests.support.service import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()
SANDBOX_FILE = (ROOT / "workbench/sandbox/docker-compose.yml").read_text()
(SERVICE,) = yaml.safe_load(SANDBOX_FILE)["services"].values()


def default(value: str) -> str:
    """A value of a Compose file in an environment without any variables."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)


def test_the_sandbox_has_the_settings_that_the_documents_name() -> None:
    environment: dict[str, str] = SERVICE["environment"]
    (documented,) = re.findall(
        r"^docker run .*\\\n.*all-in-one$", (ROOT / "docs/workbench/clients.md").read_text(), re.MULTILINE
    )
    assert set(environment) == set(re.findall(r"-e (\w+)=", documented))
    settings = Settings.from_environment({name: default(value) for name, value in environment.items()})
    assert type(package_of(settings)) is SandboxPackage
    # The head of the file says what tests need.
    (url, token) = re.findall(r"^#   SAMPLE_RESOURCE_URL=(\S+) SANDBOX_TOKEN=(\S+)$", SANDBOX_FILE, re.MULTILINE)[0]
    assert token == default(environment["SANDBOX_TOKEN"])
    assert token == SandboxSettings.of(settings).token
    host, port = url.removeprefix("http://").split(":")
    (published,) = SERVICE["ports"]
    assert default(published) == f"{host}:{port}:{re.findall('PORT=([0-9]+)', DOCKERFILE)[0]}"
