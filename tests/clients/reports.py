"""What the sandbox reports on the clients: each uses a project of its own, and then meets the faults.

``docs/clients.md`` has the table; ``test_contract.py`` compares it with what it finds, and prints both if they differ.
"""

import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.sandbox.projects.lifecycle import CLIENT_NAME
from tests.clients.faults import Client
from tests.clients.tables import Table
from tests.support.sandbox import Project, Service
from tests.support.service import ROOT

PAGE = ROOT / "docs" / "clients.md"
TABLE = Table(PAGE, "<!-- reports -->\n")

"""The notations in the words of the table."""


def measured(service: Service, clients: Sequence[Client], recoveries: Mapping[str, Counter[str]]) -> str:
    """The table, as Markdown.

    :param clients: with the programs of ``docs/clients.md``.
    :param recoveries: by the titles of the clients, what became of the requests that failed by faults.
    """
    columns = [_column(_report(service, client), recoveries[client.title]) for client in clients]
    lines = ["| | " + " | ".join(client.title for client in clients) + " |", "|---" * (len(clients) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(column[name] for column in columns) + " |" for name in columns[0]]
    return "".join(f"{line}\n" for line in lines)


def judge(service: Service) -> None:
    """Judge the clients by the gates that the page shows; each has a run with its name.

    :raises AssertionError: if one does not let its client pass.
    """
    gates = re.findall(r"^<!-- gate -->\n```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert gates
    for line in "".join(gates).splitlines():
        command, *words = shlex.split(line.replace("$URL", f"http://127.0.0.1:{service.port}"))
        assert command == "sample-resource"
        ran = subprocess.run(
            [sys.executable, "-m", "app.cli", *words],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ran.returncode == 0, f"{line}\n{ran.stdout}{ran.stderr}"


def environment_of(project: Project) -> dict[str, str]:
    """The variables that the programs read."""
    return {
        "BASE_URL": f"http://127.0.0.1:{project.service.port}",
        "PROJECT": project.key,
        "CLIENT_ID": project.made["clientId"],
        "CLIENT_SECRET": project.made["clientSecret"],
        "CLIENT_NAME": CLIENT_NAME,
        "TOKEN": project.token,
    }


def _report(service: Service, client: Client) -> dict[str, Any]:
    project = service.make(run=client.title.partition(" ")[0].lstrip("@").replace("/", "-"))
    ran = subprocess.run(
        [str(word) for word in client.command],
        cwd=Path(__file__).parent,
        env=os.environ | environment_of(project) | dict(client.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    return project.order("GET", "/report").json


def _column(report: Mapping[str, Any], recovered: Counter[str]) -> dict[str, str]:
    met = {kind: [each["name"] for each in found["met"]] for kind, found in report["exercised"].items()}
    findings = [each["title"][0].lower() + each["title"][1:] for each in report["findings"]]
    return {
        "exercised": f"{report['percent']} %",
        **{
            kind: ", ".join(f"`{name}`" if kind == "notations" else name for name in met[kind]) or "none"
            for kind in ("statuses", "notations", "operators")
        },
        "operations": str(len(met["operations"])),
        "parameters": str(len(met["parameters"])),
        "findings": "; ".join(findings) or "none",
        "of requests that failed: recovered": str(recovered["recovered"]),
        "gave up": str(recovered["gaveUp"]),
        "made it worse": str(recovered["madeWorse"]),
        "not judged": str(recovered["notJudged"]),
    }
