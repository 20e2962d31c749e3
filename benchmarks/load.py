"""Runs of wrk: the requests of a run, and its results."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_SCRIPT = Path(__file__).with_name("load.lua")

_TIMEOUT_S = 30
"""The longest wait for an answer. A run with an unanswered request does not count."""


class InvalidRun(Exception):
    """A run that does not count, since a request was refused or unanswered."""


class MissingTool(Exception):
    """A program is not installed; the message says how to install it."""


@dataclass(frozen=True, slots=True)
class Load:
    """Requests that do not depend on each other.

    :param paths: requested in turn.
    :param body: ``@new`` in it stands for a word that no request before had.
    """

    method: str
    paths: Sequence[str]
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def as_lua(self) -> str:
        """The Lua file that load.lua reads."""
        body = "nil" if self.body is None else _quoted(self.body)
        paths = ",\n".join(_quoted(path) for path in self.paths)
        return (
            f"return {{method={_quoted(self.method)}, headers={_table(self.headers)}, body={body}, paths={{{paths}}}}}"
        )


@dataclass(frozen=True, slots=True)
class Updates:
    """Updates. Each needs the version from the answer to the previous update of the same resource.

    :param items: pairs of id and version; more than there are connections, since each is used by one request at a time.
    :param path: a path with the placeholder ``@id``; headers and body may contain ``@version`` too, a body ``@new``.
    :param id: a Lua pattern that finds the id in an answer.
    :param version: a Lua pattern that finds the new version in an answer.
    """

    method: str
    items: Sequence[tuple[str, str]]
    path: str
    body: str
    headers: Mapping[str, str]
    id: str = '"id":%s*"([^"]+)"'
    version: str = '"version":%s*(%d+)'

    def as_lua(self) -> str:
        """The Lua file that load.lua reads."""
        items = ",\n".join(f"{{{_quoted(id_)}, {_quoted(version)}}}" for id_, version in self.items)
        return (
            f"return {{method={_quoted(self.method)}, path={_quoted(self.path)}, body={_quoted(self.body)},"
            f" headers={_table(self.headers)}, id={_quoted(self.id)}, version={_quoted(self.version)},"
            f" items={{{items}}}}}"
        )


def _table(values: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"[ {_quoted(name)} ]={_quoted(value)}" for name, value in values.items()) + "}"


def _quoted(text: str) -> str:
    """A Lua string in long brackets, of a level that does not occur in the text."""
    level = ""
    while f"]{level}]" in f"{text}]":
        level += "="
    return f"[{level}[{text}]{level}]"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of one run; latencies are in microseconds."""

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
    """Send requests on these connections for this time; each connection sends its next request after an answer.

    :param folder: for the Lua file with the requests.
    :raises InvalidRun: if an answer is not 2xx, or there is none.
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
        f"{time.monotonic_ns():x}",
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
