"""What the tests of ``docker-compose.yml`` share: the containers of a Compose project, and a client for the service."""

import json
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from tests.support.ports import free_port
from tests.support.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
PROJECT = "compose-test"

PASSWORD = "p@ss:w/or d'%\\#"
"""Contains the characters that need escaping in a URL, a connection string or a shell."""

ANY = {"objectTypeProperty": {"arrayOfStringExample": ["dog"]}}
"""A body that creates a resource."""

PATIENCE_S = 60.0


@dataclass
class Answer:
    """An HTTP answer with its body, and the seconds until it was complete."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def assert_unavailable(self) -> None:
        assert self.status == 503, self
        assert self.json["errors"][0]["code"] == "OverCapacity"
        assert int(self.headers["Retry-After"]) >= 1
        assert self.headers["X-Correlation-ID"]


@dataclass
class Stack:
    """The containers of a Compose project, and a client for the service in them."""

    compose: list[str]
    profile: str | None = None
    app: str = "app"
    """The service in whose container commands are run."""
    name: str = field(default_factory=lambda: f"sample-resource-test-{uuid4().hex[:8]}")
    port: int = field(default_factory=free_port)
    """The published port that requests are sent to."""
    ports: Mapping[str, int] = field(default_factory=dict[str, int])
    """Further published ports, by the names of their settings."""
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further variables, as in ``.env``."""
    files: tuple[str, ...] = ("docker-compose.yml",)
    """What Compose reads, relative to the repository."""
    token: str = ""

    @property
    def environment(self) -> dict[str, str]:
        ports = {"PORT": self.port} | dict(self.ports)
        settings = {"POSTGRES_PASSWORD": PASSWORD, "BIND": "127.0.0.1", "PUBLIC_URL": f"http://127.0.0.1:{self.port}"}
        return os.environ | settings | {k: str(v) for k, v in ports.items()} | dict(self.settings)

    def command(self, *arguments: str) -> list[str]:
        profile = [] if self.profile is None else ["--profile", self.profile]
        files = [option for name in self.files for option in ("-f", str(ROOT / name))]
        return [*self.compose, *profile, "-p", self.name, *files, *arguments]

    def run_documented(self, script: str, **variables: str) -> str:
        """Run shell commands of the documentation, in which ``docker compose`` is this stack's."""
        # `command`, or with Compose 2, whose first word is docker, the function would call itself.
        function = f'docker() {{ shift; command {shlex.join(self.command())} "$@"; }}'
        done = subprocess.run(
            ["bash", "-euc", f"{function}\n{script}"],
            env=self.environment | variables,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def run(self, *arguments: str, check: bool = True) -> str:
        """Run a command of Compose and return what it printed."""
        done = subprocess.run(
            self.command(*arguments), env=self.environment, cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0 or not check, f"{' '.join(arguments)}:\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def container(self, service: str) -> str:
        """The id of a service's container, running or not."""
        label = "label=com.docker.compose"
        ids = docker("ps", "-aq", "--filter", f"{label}.project={self.name}", "--filter", f"{label}.service={service}")
        (found,) = ids.split()
        return found

    def inspect(self, service: str) -> Any:
        """The answer of ``docker inspect`` for a service's container."""
        return json.loads(docker("inspect", self.container(service)))[0]

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Send a request to the published port.

        :param path: an absolute path, or one below ``/{projectKey}/resource`` if it does not begin with a slash.
        :param body: bytes are sent as a form, everything else as JSON.
        """
        target = path if path.startswith("/") else f"/{PROJECT}/resource{'' if path[:1] in ('', '?') else '/'}{path}"
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if content is not None:
            kind = "application/x-www-form-urlencoded" if isinstance(body, bytes) else "application/json"
            headers.setdefault("Content-Type", kind)
        began = time.monotonic()
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, target, content, headers)
            response = connection.getresponse()
            return Answer(response.status, dict(response.headers), response.read(), time.monotonic() - began)
        finally:
            connection.close()

    def create(self, **fields: Any) -> Any:
        answer = self.send("POST", "", ANY | fields)
        assert answer.status == 201, answer
        return answer.json

    def update(self, resource_id: str, version: int) -> Answer:
        return self.send("POST", resource_id, {"version": version, "actions": [{"action": "doSomeThing"}]})

    def wait_until(self, holds: Callable[[], bool], what: str, within_s: float = PATIENCE_S) -> float:
        """Wait until a condition holds, and return the seconds of the wait.

        :param what: the awaited event, for the message of the AssertionError after ``within_s``.
        """
        return wait_until(holds, within_s, lambda: f"{what}\n{self.run('logs', '--tail=40', check=False)}")

    def is_ready(self) -> bool:
        return self.send("GET", "/health/ready").status == 200

    def get_token(self) -> None:
        """Create a client, and send its token with all further requests."""
        scope = f"manage_test:{PROJECT} view_test:{PROJECT} view_products:{PROJECT}"
        made = self.run("exec", "-T", self.app, "sample-resource", "client", "create", "--name", "t", "--scope", scope)
        client = json.loads(made)
        granted = self.send(
            "POST",
            "/oauth/token",
            urlencode({name: client[name] for name in ("client_id", "client_secret")}).encode()
            + b"&grant_type=client_credentials",
        )
        assert granted.status == 200, granted
        self.token = granted.json["access_token"]

    @contextmanager
    def up(self, *services: str) -> Iterator["Stack"]:
        """Build and start services, or all, and get a token. At the end containers and volumes are removed."""
        try:
            try:
                self.run("up", "-d", "--build", *services)
            except AssertionError:
                print(self.run("logs", "--tail=40", check=False))  # noqa: T201 -- shows why the container failed
                raise
            self.wait_until(self.is_ready, "the first answer")
            self.get_token()
            yield self
        finally:
            self.run("down", "-v", "--remove-orphans", check=False)
        label = f"label=com.docker.compose.project={self.name}"
        assert docker("ps", "-aq", "--filter", label) == ""
        assert docker("volume", "ls", "-q", "--filter", label) == ""


def docker(*arguments: str) -> str:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=True).stdout.strip()


def find_compose() -> list[str]:
    """The command of Compose. Exits the test run with a message if there is none, or no container engine answers."""
    if shutil.which("docker") is None:
        pytest.exit("The tests of Compose need Docker, and there is no command docker.", returncode=1)
    engine = subprocess.run(
        ["docker", "version", "--format", "{{.Server.Version}}"], capture_output=True, text=True, check=False
    )
    if engine.returncode != 0:
        pytest.exit(f"The tests of Compose need Docker, and no engine answers: {engine.stderr.strip()}", returncode=1)
    chosen = os.environ.get("COMPOSE")
    for candidate in [shlex.split(chosen)] if chosen else [["docker", "compose"], ["docker-compose"]]:
        if shutil.which(candidate[0]) is None:
            continue
        if subprocess.run([*candidate, "version"], capture_output=True, check=False).returncode == 0:
            return candidate
    pytest.exit(
        "The tests of Compose need Docker Compose: neither 'docker compose' nor 'docker-compose'.", returncode=1
    )
