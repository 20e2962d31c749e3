"""This service, started in the ways in which the testkit is held against it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.folders import open_folder
from tests.support.server import NOT_MEASURED
from tests.support.service import ROOT, running_service

SCOPES = ("manage_test", "view_test", "view_products", "view_published_products")

OPTIONS = ("--jobs", "8")


@dataclass(frozen=True, slots=True)
class Running:
    """A running service, and the options with which the kit gets at it."""

    url: str
    options: tuple[str, ...]


@contextmanager
def embedded() -> Iterator[Running]:
    """With a PostgreSQL of its own and the sandbox, so that the kit makes its own projects: on one worker."""
    with (
        open_folder() as folder,
        running_service(folder / "log", DATA_DIR=str(folder / "data"), SANDBOX="on", **NOT_MEASURED) as port,
    ):
        url = f"http://127.0.0.1:{port}"
        yield Running(url, ("--url", url, "--sandbox"))


@contextmanager
def on_two_workers() -> Iterator[Running]:
    """With a PostgreSQL of its own, on two workers: without the sandbox, which has one."""
    with open_folder() as folder:
        settings = {"DATA_DIR": str(folder / "data"), "WORKERS": "2", **NOT_MEASURED}
        with running_service(folder / "log", **settings) as port:
            client = make_client(settings, "first", "second")
            address = f"http://127.0.0.1:{port}"
            projects = ("--project", "first", "--second-project", "second")
            credentials = ("--client-id", client["client_id"], "--client-secret", client["client_secret"])
            yield Running(address, ("--url", address, *credentials, *projects))


def make_client(settings: dict[str, str], *projects: str) -> dict[str, Any]:
    """A client that may ask for all scopes of some projects."""
    scope = " ".join(f"{name}:{project}" for project in projects for name in SCOPES)
    command = [sys.executable, "-m", "app.cli", "client", "create", "--name", "kit", "--scope", scope]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def check(service: Running, *options: str) -> subprocess.CompletedProcess[str]:
    """Hold the service against the specification."""
    command = [str(Path(sys.executable).with_name("sample-resource-conformance")), *service.options, *OPTIONS, *options]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=900)


def checked(name: str, service: Running, *options: str) -> int:
    """Do it, and print what the kit says and how long it took."""
    began = time.monotonic()
    sys.stdout.write(f"== {name} ==\n")
    sys.stdout.flush()
    done = check(service, *options)
    sys.stdout.write(f"{done.stdout}({time.monotonic() - began:.0f} s)\n\n")
    return done.returncode
