"""What clients do when answers fail: each is run in a sandbox project of its own, and the journal tells what it sent.

``docs/sandbox-reference.md`` has the table; ``test_contract.py`` compares it with what it finds, and prints both if
they differ.
"""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.clients.tables import Table
from tests.support.sandbox import Project, Service
from tests.support.service import ROOT

TABLE = Table(ROOT / "docs" / "sandbox-reference.md", "<!-- clients -->\n")


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


def measured(service: Service, clients: Sequence[Client], recoveries: Mapping[str, Counter[str]]) -> str:
    """The table, as Markdown.

    :param recoveries: by the titles of the clients; here it is counted what the reports say of requests that failed.
    """
    lines = ["| fault | " + " | ".join(client.title for client in clients) + " |", "|---" * (len(clients) + 1) + "|"]
    for fault in FAULTS:
        cells = [_outcome(service, client, fault, recoveries[client.title]) for client in clients]
        lines.append(f"| {fault.title} | " + " | ".join(cells) + " |")
    return "".join(f"{line}\n" for line in lines)


def _outcome(service: Service, client: Client, fault: Fault, recovered: Counter[str]) -> str:
    project = service.make()
    match = {"operationId": "createOrUpdateResource" if fault.writes else "listResources"}
    project.rules({"match": match, **fault.rule})
    environment = {
        "BASE_URL": f"http://127.0.0.1:{service.port}",
        "PROJECT": project.key,
        "CLIENT_ID": project.made["clientId"],
        "CLIENT_SECRET": project.made["clientSecret"],
        "TOKEN": project.token,
        "CALLS": str(fault.calls),
        "WRITES": "1" if fault.writes else "",
    }
    ran = subprocess.run(
        [str(word) for word in client.command],
        cwd=Path(__file__).parent,
        env=os.environ | environment | dict(client.environment),
        capture_output=True,
        timeout=120,
        check=False,
    )
    for outcomes in project.order("GET", "/report").json["recovery"].values():
        recovered.update({name: outcomes[name] for name in ("recovered", "gaveUp", "madeWorse")})
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
