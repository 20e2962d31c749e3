"""``ops/deploy`` beside clients that keep their connections: no request fails, and the proxy reads its files anew.

Needs Compose 2, as ``ops/deploy`` does. The stack runs from a copy of the repository, whose files the tests change.
"""

import json
import os
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from uuid import uuid4

import pytest

from tests.compose.engine import ANY, PROJECT, ROOT, Stack, docker

pytestmark = [pytest.mark.slow, pytest.mark.compose]

RESOURCES = f"/{PROJECT}/resource"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy") / "repository"
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def stack(compose: list[str], copy: Path) -> Iterator[Stack]:
    if compose != ["docker", "compose"]:
        pytest.skip("ops/deploy needs Compose 2")
    with Stack(compose, files=(str(copy / "docker-compose.yml"),)).up() as stack:
        yield stack


def deploy(stack: Stack, copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", copy / "ops/deploy", *arguments],
        env=stack.environment | {"COMPOSE_PROJECT_NAME": stack.name},
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_request_fails_while_instances_take_each_others_place(stack: Stack, copy: Path) -> None:
    docker("tag", "sample-resource:local", "sample-resource:previous")
    stop = threading.Event()
    named = json.dumps(ANY | {"key": "one"})

    def send(method: str, target: Callable[[], str], body: str | None = None) -> Counter[str]:
        seen = Counter[str]()
        headers = {"Authorization": f"Bearer {stack.token}", "Content-Type": "application/json"}
        with closing(HTTPConnection("127.0.0.1", stack.port, timeout=30)) as connection:
            while not stop.wait(0.02):
                try:
                    connection.request(method, target(), body, headers)
                    with connection.getresponse() as response:
                        response.read()
                        seen[f"{method} {response.status}"] += 1
                except (OSError, HTTPException) as error:
                    connection.close()
                    seen[f"{method} {type(error).__name__}"] += 1
        return seen

    sent = [
        ("DELETE", lambda: f"{RESOURCES}/{uuid4()}?version=1", None),
        ("DELETE", lambda: f"{RESOURCES}/{uuid4()}?version=1", None),
        ("PUT", lambda: RESOURCES, named),
        ("POST", lambda: RESOURCES, json.dumps(ANY)),
        ("GET", lambda: f"{RESOURCES}?limit=1", None),
    ]
    before = stack.container("app")
    with ThreadPoolExecutor(len(sent)) as threads:
        work = [threads.submit(send, *arguments) for arguments in sent]
        try:
            done = [deploy(stack, copy, "--back") for _ in range(2)]
        finally:
            stop.set()
        seen = sum((each.result() for each in work), Counter[str]())
    print(dict(seen))  # noqa: T201 -- shown by pytest -s
    for each in done:
        assert each.returncode == 0, each.stdout + each.stderr
    assert set(seen) <= {"DELETE 404", "PUT 201", "PUT 200", "POST 201", "GET 200"}, seen
    assert stack.container("app") != before


def test_a_changed_configuration_of_the_proxy_arrives_with_a_deployment(stack: Stack, copy: Path) -> None:
    file = copy / "ops/proxy/nginx.conf"
    changed = copy / "ops/proxy/changed"
    changed.write_text(file.read_text().replace("Content too large.", "Too much content."))
    os.replace(changed, file)  # noqa: PTH105 -- as git and editors do: another file of the same name
    done = deploy(stack, copy, "--back")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "with ops/proxy/nginx.conf as it is now" in done.stdout
    refused = stack.send("POST", "", None, **{"Content-Length": "65537"})
    assert (refused.status, refused.json["message"]) == (413, "Too much content.")


def test_a_wrong_configuration_of_the_proxy_ends_a_deployment_before_it_starts_anything(
    stack: Stack, copy: Path
) -> None:
    file = copy / "ops/proxy/nginx.conf"
    right = file.read_text()
    before = stack.container("app")
    try:
        file.write_text(right + "no directive\n")
        done = deploy(stack, copy, "--back")
    finally:
        file.write_text(right)
    assert done.returncode == 1
    assert 'unexpected end of file, expecting ";" or "}"' in done.stderr
    assert stack.container("app") == before
    assert stack.is_ready()
