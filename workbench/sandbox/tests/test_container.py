"""The Compose file of the sandbox, without a container engine; test_compose_file.py of the testkit starts it."""

import re
import subprocess
from typing import Any

import yaml
from sample_resource_sandbox.package import SandboxPackage
from sample_resource_sandbox.settings import SandboxSettings

from app.config import Settings
from app.extension import package_of
from tests.support.service import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()
STACK: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SANDBOX_FILE = (ROOT / "workbench/sandbox/docker-compose.yml").read_text()
SANDBOX: dict[str, Any] = yaml.safe_load(SANDBOX_FILE)


def default(value: str) -> str:
    """A value of a Compose file in an environment without any variables."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)


def sandbox() -> dict[str, Any]:
    """The only service of the file, which has nothing else."""
    assert set(SANDBOX) == {"services"}
    (service,) = SANDBOX["services"].values()
    return service


def test_the_sandbox_is_the_all_in_one_image_as_make_image_names_it() -> None:
    done = subprocess.run(["make", "-n", "image"], cwd=ROOT, capture_output=True, text=True, check=True)
    target = sandbox()["build"]["target"]
    assert f"--target {target} --tag {default(sandbox()['image'])} " in done.stdout
    assert sandbox()["build"]["context"] == "../.."


def test_the_sandbox_has_the_settings_that_the_documents_name() -> None:
    environment: dict[str, str] = sandbox()["environment"]
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
    (published,) = sandbox()["ports"]
    assert default(published) == f"{host}:{port}:{re.findall('PORT=([0-9]+)', DOCKERFILE)[0]}"


def test_the_sandbox_is_as_hardened_as_the_stack() -> None:
    kept = set(STACK["x-hardened"]) - {"restart", "mem_limit"}
    assert {key: sandbox().get(key) for key in kept} == {key: STACK["x-hardened"][key] for key in kept}
    # There are a PostgreSQL and a service in it.
    assert sandbox()["mem_limit"] == "2g"
    (user,) = set(re.findall(r"^USER ([1-9]\d*):\1$", DOCKERFILE, re.MULTILINE))
    assert sandbox()["tmpfs"] == ["/tmp", f"/data:uid={user},gid={user},mode=0700"]  # noqa: S108 -- the container's own
