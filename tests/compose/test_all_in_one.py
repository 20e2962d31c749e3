"""The image with everything, ``sample-resource:all-in-one``, and what differs in the lean one.

The tests run in order. Those that share the fixture ``container`` leave it running with its data.
"""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.compose.engine import ROOT, docker, find_compose
from tests.support.ports import free_port
from tests.support.server import get
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.compose]

USER = "10001"


def built(target: str, *options: str, tag: str = "") -> str:
    """Build an image, and return its name."""
    name = f"sample-resource:{tag or target}"
    command = ["docker", "build", "-q", "--target", target, "-t", name, *options, str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return name


def end_of(*options_and_image: str) -> tuple[int, str]:
    """The exit code of a container, and what it printed."""
    command = ["docker", "run", "--rm", *options_and_image]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


class Container:
    """A container of the all-in-one image.

    :param volume: the volume with its data.
    """

    def __init__(self, image: str, volume: str, *options: str) -> None:
        self.port = free_port()
        publish = ("--publish", f"127.0.0.1:{self.port}:8000", "--volume", f"{volume}:/data")
        self.id = docker("run", "--detach", *publish, *options, image)

    def inspect(self, what: str) -> str:
        return docker("inspect", "--format", f"{{{{{what}}}}}", self.id)

    def run(self, *command: str) -> str:
        return docker("exec", self.id, *command)

    @property
    def log(self) -> str:
        done = subprocess.run(["docker", "logs", self.id], capture_output=True, text=True, check=True)
        return done.stdout + done.stderr

    def wait_until_healthy(self) -> float:
        """The seconds of the wait."""
        return wait_until(lambda: self.inspect(".State.Health.Status") == "healthy", 60, lambda: self.log)

    def stop(self) -> int:
        """Stop it by SIGTERM, and return its exit code."""
        docker("stop", "--time", "30", self.id)
        return int(self.inspect(".State.ExitCode"))


@pytest.fixture(scope="module")
def image() -> str:
    find_compose()
    return built("all-in-one")


@pytest.fixture(scope="module")
def volume() -> Iterator[str]:
    name = f"sample-resource-test-{uuid4().hex[:8]}"
    docker("volume", "create", name)
    yield name
    for container in docker("ps", "-aq", "--filter", f"volume={name}").split():
        docker("rm", "--force", "--volumes", container)
    docker("volume", "rm", name)


@pytest.fixture(scope="module")
def container(image: str, volume: str) -> Container:
    began = time.monotonic()
    started = Container(image, volume)
    started.wait_until_healthy()
    print(f"\nhealthy {time.monotonic() - began:.1f} s after docker run, with a new volume")  # noqa: T201 -- a figure for the reader
    return started


def test_the_printed_command_works_once_the_container_is_healthy(container: Container) -> None:
    assert get(container.port, "/health/ready")[0] == 200
    assert get(container.port, "/docs")[0] == 200
    found = re.search("^curl -H .*$", container.log, re.MULTILINE)
    assert found is not None
    command = found[0].replace(":8000", f":{container.port}").replace("curl ", "curl -sSf ", 1)
    answer = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout)["count"] == 0


def test_nothing_runs_as_root(container: Container) -> None:
    processes = docker("top", container.id, "-eo", "uid,pid,comm").splitlines()[1:]
    assert {"postgres", "sample-resource"} <= {line.split()[2] for line in processes}
    assert {line.split()[0] for line in processes} == {USER}


def test_sigterm_ends_it_cleanly_and_the_next_start_finds_the_data(container: Container) -> None:
    container.run("sample-resource", "seed", "--project", "kept", "--count", "7")
    assert container.stop() == 0
    assert "shut down" in docker("run", "--rm", "--volumes-from", container.id, "sample-resource:all-in-one",
                                 "tail", "-n", "3", "/data/postgresql.log")  # fmt: skip
    docker("start", container.id)
    container.wait_until_healthy()
    assert "kept\t7" in container.run("sample-resource", "db", "projects").splitlines()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--user", "12345"), "DATA_DIR: /data belongs to user id 10001; user id 12345 cannot write in it. "),
        (("--user", "1"), "DATA_DIR: /data belongs to user id 10001; user id 1 cannot write in it. "),
        (("--read-only",), "There is no temporary folder for PostgreSQL's socket (/tmp: Read-only file system; "),
        (("-e", "WORKERS=many"), "WORKERS='many': a whole number from 1 to 256 is expected"),
    ],
    ids=["no-name", "another", "read-only", "setting"],
)
def test_what_cannot_start_says_why_in_a_line(image: str, options: tuple[str, ...], said: str) -> None:
    code, printed = end_of(*options, image)
    assert (code, printed.count("\n")) == (1, 1), printed
    assert printed.startswith(f"error: {said}")
    if options == ("--read-only",):
        assert "--tmpfs /tmp" in printed


def test_the_lean_image_runs_as_any_user_on_a_read_only_root(image: str) -> None:
    """Its database is another container's, which it cannot reach here: it is alive, and not ready."""
    lean, database = built("lean"), "postgresql://nobody@127.0.0.1/nothing"
    container = docker("run", "--detach", "--user", "12345", "--read-only", "-e", f"DATABASE_URL={database}", lean)
    try:
        wait_until(
            lambda: docker("inspect", "--format", "{{.State.Health.Status}}", container) == "healthy",
            60,
            lambda: docker("logs", container),
        )
    finally:
        docker("rm", "--force", container)


def test_two_builds_of_a_commit_make_the_same_layers(image: str) -> None:
    """At different times and without a cache, which would ignore the times of files."""
    options = ("--no-cache", "--build-arg", "SOURCE_DATE_EPOCH=1750000000")
    layers = [
        docker("inspect", "--format", "{{json .RootFS.Layers}}", built(image.partition(":")[2], *options, tag=tag))
        for tag in ("first-build", "second-build")
    ]
    assert len(json.loads(layers[0])) >= 5
    assert layers[0] == layers[1]


def test_the_bill_of_materials_lists_what_the_image_installs() -> None:
    bill = json.loads(docker("run", "--rm", built("sbom")))
    assert bill["bomFormat"] == "CycloneDX"
    listed = {component["name"].lower().replace("_", "-").replace(".", "-") for component in bill["components"]}
    versions = Path(ROOT / "ops/image/all-in-one.txt").read_text()
    locked = re.findall("^([a-z0-9-]+)==(?!.* sys_platform == 'win32')", versions, re.MULTILINE)
    assert len(locked) > 20
    assert {"sample-resource", *locked} <= listed
    assert not {"cyclonedx-bom", "debsbom", "pip"} & listed
    installed = end_of(built("all-in-one"), "dpkg-query", "--show", "--showformat", "${Package} ${Version}\\n")[1]
    debian = {
        (component["name"], component["version"])
        for component in bill["components"]
        if component.get("purl", "").startswith("pkg:deb/debian/")
    }
    assert {tuple(line.split()) for line in installed.splitlines()} <= debian
