"""Runs of wrk: what is sent, and what came of it."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_SCRIPT = Path(__file__).with_name("load.lua")

_TIMEOUT_S = 30
"""Longest wait for an answer; a run in which one is not answered by then does not count."""


class InvalidRun(Exception):
    """A run that says nothing: something in it was refused or went wrong."""


class MissingTool(Exception):
    """A program that has to be installed; the message says how."""


@dataclass(frozen=True, slots=True)
class Load:
    """Requests that do not depend on each other.

    :param paths: sent in turn.
    """

    method: str
    paths: Sequence[str]
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def as_lua(self) -> str:
        """The argument of load.lua."""
        body = "nil" if self.body is None else _quoted(self.body)
        paths = ",\n".join(_quoted(path) for path in self.paths)
        return (
            f"return {{method={_quoted(self.method)}, headers={_table(self.headers)}, body={body}, paths={{{paths}}}}}"
        )


@dataclass(frozen=True, slots=True)
class Updates:
    """Requests that each need the version that the one before on the same resource has made.

    :param items: resources by id and version; more than there are connections, as each is used by one at a time.
    :param path: with ``@id``; headers and body may have ``@version`` too.
    :param id: a Lua pattern that finds the id in an answer.
    :param version: and one that finds the new version.
    """

    method: str
    items: Sequence[tuple[str, str]]
    path: str
    body: str
    headers: Mapping[str, str]
    id: str = '"id":%s*"([^"]+)"'
    version: str = '"version":%s*(%d+)'

    def as_lua(self) -> str:
        """The argument of load.lua."""
        items = ",\n".join(f"{{{_quoted(id_)}, {_quoted(version)}}}" for id_, version in self.items)
        return (
            f"return {{method={_quoted(self.method)}, path={_quoted(self.path)}, body={_quoted(self.body)},"
            f" headers={_table(self.headers)}, id={_quoted(self.id)}, version={_quoted(self.version)},"
            f" items={{{items}}}}}"
        )


def _table(values: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"[ {_quoted(name)} ]={_quoted(value)}" for name, value in values.items()) + "}"


def _quoted(text: str) -> str:
    """A Lua string: brackets of a level that the text does not have."""
    level = ""
    while f"]{level}]" in f"{text}]":
        level += "="
    return f"[{level}[{text}]{level}]"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What wrk measured in one run; latencies in microseconds."""

    requests: int
    seconds: float
    p50_us: int
    p99_us: int


def find_wrk() -> str:
    """The path of wrk.

    :raises MissingTool: if it is not installed.
    """
    found = shutil.which("wrk")
    if found is None:
        raise MissingTool(
            "wrk is not installed. Debian and Ubuntu: apt install wrk. Fedora: dnf install wrk. Arch: pacman -S wrk."
        )
    return found


def run(url: str, load: Load | Updates, connections: int, seconds: float, folder: Path) -> Outcome:
    """Keep so many connections busy for so long, each sending its next request when the one before is answered.

    :param folder: where the requests are written down for wrk.
    :raises InvalidRun: if any answer is not 2xx, or does not come.
    """
    threads = 1 if connections < 32 else 2
    file = folder / "load.lua"
    file.write_text(load.as_lua())
    command = [
        find_wrk(),
        f"--threads={threads}",
        f"--connections={connections}",
        f"--duration={max(1, round(seconds))}s",
        f"--timeout={_TIMEOUT_S}s",
        f"--script={_SCRIPT}",
        url,
        "--",
        str(file),
        str(threads),
    ]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 -- wrk
    found = re.search(r"^RESULT (.*)$", finished.stdout, re.MULTILINE)
    if found is None:
        raise InvalidRun(f"wrk failed: {finished.stdout}{finished.stderr}")
    values = json.loads(found.group(1))
    if values["refused"] or values["faults"] or not values["requests"]:
        raise InvalidRun(
            f"{values['refused']} of {values['requests']} requests were refused, {values['faults']} went unanswered"
        )
    return Outcome(values["requests"], values["microseconds"] / 1e6, values["p50_us"], values["p99_us"])
