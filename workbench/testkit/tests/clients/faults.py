"""What clients do when answers fail: each is run in a sandbox project of its own, and the journal tells what it sent.

``docs/workbench/sandbox-reference.md`` has the table, which ``test_contract.py`` compares with what it measures.
"""

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sample_resource_sandbox.projects.lifecycle import CLIENT_NAME
from tester import Project, Service

from tests.support.service import ROOT

PAGE = ROOT / "docs/workbench/sandbox-reference.md"
TABLE = re.compile(r"(?<=<!-- clients -->\n)(?:\|.*\n)+")


@dataclass(frozen=True, slots=True)
class Fault:
    """A row: what goes wrong, in a call that reads or writes."""

    title: str
    rule: Mapping[str, Any]
    writes: bool = False
    calls: int = 1


FAULTS = (
    Fault("503 twice, then fine", {"times": {"first": 2}, "status": 503}),
    Fault(
        "answer lost after the commit", {"times": {"first": 1}, "phase": "after", "connection": "close"}, writes=True
    ),
    Fault("503 after the commit, once", {"times": {"first": 1}, "phase": "after", "status": 503}, writes=True),
    Fault("connection reset before anything", {"times": {"first": 1}, "connection": "reset"}),
    Fault("1.5 s slow", {"delayMs": 1500}),
    Fault("the token expires", {"times": {"first": 1}, "expireTokens": True}),
    Fault("one request a second, two calls", {"limit": {"requests": 1, "perSeconds": 1}}, calls=2),
    Fault("body cut off once", {"times": {"first": 1}, "connection": "truncate"}),
    Fault("a proxy's page for a 502, once", {"times": {"first": 1}, "status": 502, "body": "html"}),
    Fault("fields that nobody knows", {"body": "unknownFields"}),
)


@dataclass(frozen=True, slots=True)
class Client:
    """A column: a client, and the command that makes the calls."""

    title: str
    command: Sequence[str | Path]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


def run(client: Client, project: Project, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the client's program in a project of the sandbox."""
    access = {
        "BASE_URL": f"http://127.0.0.1:{project.service.port}",
        "PROJECT": project.key,
        "CLIENT_ID": project.made["clientId"],
        "CLIENT_SECRET": project.made["clientSecret"],
        "CLIENT_NAME": CLIENT_NAME,
        "TOKEN": project.token,
    }
    return subprocess.run(
        [str(word) for word in client.command],
        cwd=Path(__file__).parent,
        env={**os.environ, **access, **environment, **client.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )


def measured(service: Service, clients: Sequence[Client]) -> str:
    """The table, as Markdown."""
    lines = ["| fault | " + " | ".join(client.title for client in clients) + " |", "|---" * (len(clients) + 1) + "|"]
    for fault in FAULTS:
        cells = [_outcome(service, client, fault) for client in clients]
        lines.append(f"| {fault.title} | " + " | ".join(cells) + " |")
    return "".join(f"{line}\n" for line in lines)


def _outcome(service: Service, client: Client, fault: Fault) -> str:
    project = service.make()
    match = {"operationId": "createOrUpdateResource" if fault.writes else "listResources"}
    project.rules({"match": match, **fault.rule})
    ran = run(client, project, CALLS=str(fault.calls), WRITES="1" if fault.writes else "")
    sent = len(project.entries(f"?operationId={match['operationId']}&limit=500"))
    tokens = len(project.entries("?operationId=getToken&limit=500"))
    done = "recovers" if ran.returncode == 0 else "error"
    parts = [done, f"{sent} request{'s' if sent != 1 else ''}"]
    if tokens > 1:
        parts.append(f"{tokens} tokens")
    if fault.writes:
        parts.append(f"version {_version(project)}")
    return ", ".join(parts)


def _version(project: Project) -> int:
    project.order("DELETE", "/rules")
    return json.loads(project.send("GET", "/key=faulty").text).get("version", 0)


def judge(service: Service, clients: Sequence[Client]) -> None:
    """Run each client in a run of its name, which passes.

    :raises AssertionError: if a program fails, or a client makes a mistake.
    """
    for client in clients:
        run_name = client.title.partition(" ")[0].lstrip("@").replace("/", "-")
        ran = run(client, service.make(run=run_name))
        assert ran.returncode == 0, ran.stdout
        verdict = service.send("GET", f"/sandbox/runs/{run_name}/verdict")
        assert verdict.status == 200, verdict.text
