"""The recipes of ``docs/workbench/clients.md`` for other languages, and those that use the image.

Java and Go are used if they are installed. The image needs a container engine, and ``make image`` before.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import uuid4

import pytest
from sample_resource_testkit.sandbox import SandboxServer

from clients.tools import HERE, NODE, install_node_packages
from tests.support.ports import free_port
from tests.support.service import ROOT
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.recipes]

IMAGE = "sample-resource:all-in-one"


def run(command: Sequence[str | Path], folder: Path, **variables: str) -> str:
    """Run a command in a folder, and return what it printed."""
    ran = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


def docker(*arguments: str) -> str:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def image() -> str:
    """The image, on a machine that has an engine."""
    try:
        docker("image", "inspect", IMAGE)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"there is no container engine with the image {IMAGE}")
    return IMAGE


@pytest.fixture
def project_folder(tmp_path: Path) -> Path:
    """A folder whose tests can import the npm package, and Testcontainers."""
    install_node_packages()
    modules = tmp_path / "node_modules"
    modules.mkdir()
    (modules / "testcontainers").symlink_to(HERE / "node_modules" / "testcontainers")
    (modules / "sample-resource-testkit").symlink_to(ROOT / "workbench/testkit-js")
    return tmp_path


@pytest.mark.skipif(shutil.which("java") is None, reason="there is no java")
def test_java(sample_resource: SandboxServer, tmp_path: Path) -> None:
    variables = {"SAMPLE_RESOURCE_URL": sample_resource.url, "SANDBOX_TOKEN": ""}
    assert run(["java", HERE / "SandboxRecipe.java"], tmp_path, **variables).endswith("ok\n")


@pytest.mark.skipif(shutil.which("go") is None, reason="there is no go")
def test_go(sample_resource: SandboxServer, tmp_path: Path) -> None:
    shutil.copy(HERE / "sandbox_recipe_test.go", tmp_path)
    run(["go", "mod", "init", "example.com/client"], tmp_path)
    variables = {"SAMPLE_RESOURCE_URL": sample_resource.url, "SANDBOX_TOKEN": "", "GOFLAGS": ""}
    assert run(["go", "test", "-v", "."], tmp_path, **variables).count("--- PASS") == 1
    assert run(["gofmt", "-l", "."], tmp_path) == ""


def test_testcontainers_in_python(image: str) -> None:
    # The container that removes forgotten containers comes from another image.
    command = [sys.executable, "-m", "pytest", "-q", HERE / "testcontainers_python.py"]
    assert "1 passed" in run(command, ROOT, TESTCONTAINERS_RYUK_DISABLED="true")


def test_testcontainers_in_javascript(image: str, project_folder: Path) -> None:
    shutil.copy(HERE / "testcontainers_node.test.mjs", project_folder)
    command = [NODE, "--test", "--test-reporter=tap", "testcontainers_node.test.mjs"]
    assert "# pass 1\n" in run(command, project_folder, TESTCONTAINERS_RYUK_DISABLED="true")


@pytest.fixture
def composed(image: str) -> Iterator[SandboxServer]:
    """What ``workbench/sandbox/docker-compose.yml`` starts."""
    new = subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0
    compose = ["docker", "compose"] if new else ["docker-compose"]
    if not new and shutil.which("docker-compose") is None:
        pytest.skip("there is no Compose")
    port = free_port()
    command = [*compose, "-p", f"sandbox-{uuid4().hex[:8]}", "-f", "workbench/sandbox/docker-compose.yml"]
    run([*command, "up", "--detach", "--no-build"], ROOT, PORT=str(port), SAMPLE_RESOURCE_IMAGE=image)
    try:
        (container,) = run([*command, "ps", "-q"], ROOT, PORT=str(port)).split()
        health = ["inspect", "--format", "{{.State.Health.Status}}", container]
        wait_until(lambda: docker(*health) == "healthy", 120, lambda: docker("logs", container))
        yield SandboxServer(f"http://127.0.0.1:{port}", "only-for-tests-on-this-machine")
    finally:
        run([*command, "down", "--volumes"], ROOT, PORT=str(port))


def test_the_compose_file_of_the_sandbox_is_all_that_tests_need(composed: SandboxServer) -> None:
    project = composed.make_project(resources=3)
    headers = {"Authorization": f"Bearer {project.token}"}
    assert composed.send("GET", f"/{project.key}/resource", None, headers)[0] == 200
    assert [entry.status for entry in project.journal()] == [200]
