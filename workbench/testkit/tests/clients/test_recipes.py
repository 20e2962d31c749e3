"""What starts the image for tests: it needs a container engine, and ``make image`` before."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import uuid4

import pytest
from sample_resource_testkit.sandbox import SandboxServer

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
