"""What the authors of clients wait for: the server of a test run, a project for a test, a reset. And what it takes.

Run it with ``python -m benchmarks.for_clients`` in the repository's folder. It starts the service as the pytest plugin
does, and mock servers that clients are often tested with, in turn. ``--save`` writes ``docs/benchmarks.md``.

Linux only: memory is read from /proc.
"""

import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import click
from sample_resource_testkit import keeper
from sample_resource_testkit.local_service import fast_place
from sample_resource_testkit.sandbox import SandboxServer

from benchmarks import report, usage
from benchmarks.markdown import table
from benchmarks.servers import PEERS, ROOT, installed_by_npm
from tests.support.ports import free_port

GOALS = {"first start": 2.0, "start on kept data": 0.8, "project": 0.015, "reset of 100": 0.015, "memory": 150.0}
"""Seconds, and MiB."""

IDLE_S = 5.0
"""A server that has nothing to do for so long counts as idle."""

PROJECTS = 30


@dataclass(slots=True)
class Measured:
    """What one server took: seconds, and MiB. A list has a value for each round."""

    title: str
    seconds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    memory: list[float] = field(default_factory=list[float])

    def note(self, what: str, began: float) -> None:
        self.seconds.setdefault(what, []).append(time.monotonic() - began)

    def median(self, what: str) -> float | None:
        values = self.memory if what == "memory" else self.seconds.get(what)
        return statistics.median(values) if values else None


def service(measured: Measured) -> None:
    """Start it twice on one folder, as the plugin does: PostgreSQL included, data in memory if there is room."""
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir=fast_place()) as at:
        folder = Path(at)
        folder.chmod(0o711)
        for start in ("first start", "start on kept data"):
            began = time.monotonic()
            process, state = keeper.start(folder)
            measured.note(start, began)
            if process is None:
                raise click.ClickException(state["error"])
            try:
                if start == "first start":
                    continue
                time.sleep(IDLE_S)
                measured.memory.append(usage.memory(usage.tree(process.pid)).distinct / 2**20)
                projects(measured, SandboxServer(state["url"]))
            finally:
                keeper.stop(process)


def projects(measured: Measured, server: SandboxServer) -> None:
    """Projects for tests, and resets of one that holds 100 resources, of which a test has changed some."""
    for _ in range(PROJECTS):
        began = time.monotonic()
        server.make_project()
        measured.note("project", began)
    project = server.make_project(resources=100)
    for number in range(PROJECTS):
        for resource in range(5):
            body = {"key": f"test-{number}-{resource}", "objectTypeProperty": {"arrayOfIntExample": [number]}}
            headers = {"Authorization": f"Bearer {project.token}", "Content-Type": "application/json"}
            server.send("POST", f"/{project.key}/resource", json.dumps(body).encode(), headers)
        began = time.monotonic()
        project.reset()
        measured.note("reset of 100", began)


def mock(measured: Measured, command: Callable[[str, Path, Path, int], Sequence[str]]) -> None:
    """Start a mock server, twice."""
    node, packages = installed_by_npm("mock" if measured.title == MOCK else "for_clients")
    with tempfile.TemporaryDirectory(prefix="benchmark-") as at:
        for start in ("first start", "start on kept data"):
            port = free_port()
            with (Path(at) / "log").open("wb") as output:
                began = time.monotonic()
                process = subprocess.Popen(  # noqa: S603 -- what installed_by_npm installed
                    command(node, packages, Path(at), port), cwd=at, stdout=output, stderr=output
                )
                try:
                    _wait_for_an_answer(port, process)
                    measured.note(start, began)
                    if start != "first start":
                        time.sleep(IDLE_S)
                        measured.memory.append(usage.memory(usage.tree(process.pid)).distinct / 2**20)
                finally:
                    process.terminate()
                    process.wait(30)


MOCK = "commercetools-mock"


def _wait_for_an_answer(port: int, process: subprocess.Popen[bytes]) -> None:
    """Return at the first answer, whatever it says."""
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        with closing(connection), suppress(OSError, HTTPException):
            connection.request("GET", "/")
            connection.getresponse()
            return
        time.sleep(0.01)
    raise click.ClickException(f"no answer on port {port}")


def _of_mock(node: str, packages: Path, scratch: Path, port: int) -> Sequence[str]:
    (scratch / "none.json").write_text("[]")
    return [node, str(packages / "server.mjs"), str(port), str(scratch / "none.json")]


def _of_prism(node: str, packages: Path, _scratch: Path, port: int) -> Sequence[str]:
    program = packages / "node_modules/@stoplight/prism-cli/dist/index.js"
    return [node, str(program), "mock", str(ROOT / "docs" / "openapi.json"), "--port", str(port), "--host", "127.0.0.1"]


def _of_json_server(node: str, packages: Path, scratch: Path, port: int) -> Sequence[str]:
    (scratch / "db.json").write_text('{"resource": []}')
    program = packages / "node_modules/json-server/lib/cli/bin.js"
    return [node, str(program), "--port", str(port), "--host", "127.0.0.1", str(scratch / "db.json")]


def _of_mockoon(node: str, packages: Path, scratch: Path, port: int) -> Sequence[str]:
    (scratch / "mockoon.json").write_text((PEERS / "for_clients" / "mockoon.json").read_text())
    program = packages / "node_modules/@mockoon/cli/bin/run.js"
    return [node, str(program), "start", "--data", str(scratch / "mockoon.json"), "--port", str(port)]


MOCKS = {MOCK: _of_mock, "Prism": _of_prism, "json-server": _of_json_server, "Mockoon": _of_mockoon}


def as_table(all_measured: Sequence[Measured]) -> str:
    """Medians; a dash where a server has nothing of the kind."""
    rows: list[list[str]] = []
    for what, goal in GOALS.items():
        own = all_measured[0].median(what)
        verdict = "–" if own is None else "met" if own <= goal else "**not met**"
        rows.append([what, *(_shown(what, each.median(what)) for each in all_measured), _shown(what, goal), verdict])
    return table(["", *(each.title for each in all_measured), "goal", ""], rows)


def _shown(what: str, value: float | None) -> str:
    if value is None:
        return "–"
    if what == "memory":
        return f"{value:.0f} MiB"
    return f"{value:.2f} s" if what.endswith(("start", "data")) else f"{value * 1000:.1f} ms"


@click.command(help=__doc__)
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True, help="Turns of each server.")
@click.option("--save/--no-save", default=False, help="Write docs/benchmarks.md; else only print.")
def main(rounds: int, save: bool) -> None:
    own = Measured("this service")
    mocks = {title: Measured(title) for title in MOCKS}
    for _ in range(rounds):
        service(own)
        for title, command in MOCKS.items():
            mock(mocks[title], command)
    everybody = [own, *mocks.values()]
    text = as_table(everybody)
    click.echo(text)
    click.echo(json.dumps({each.title: each.seconds | {"memory": each.memory} for each in everybody}), err=True)
    if save:
        report.replace_part("for-clients", text)


if __name__ == "__main__":
    main()
