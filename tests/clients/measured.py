"""``make clients-table``: real clients and generators, held against the scenarios of the testkit.

Each has an adapter in ``testkit/clients/``. The versions are pinned: those in JavaScript in ``testkit/clients``, those
in Python in ``tests/clients/requirements/``. What is measured stands in ``docs/clients-table.md`` and ``.json``.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from sample_resource_testkit import local_service

from tests.clients import __main__ as contract
from tests.support.service import ROOT

CLIENTS = ROOT / "testkit" / "clients"
GENERATED = CLIENTS / "generated"
PAGE, DATA = ROOT / "docs" / "clients-table.md", ROOT / "docs" / "clients-table.json"
COMMAND = Path(sys.executable).with_name("sample-resource-conformance")

NODE = (contract.NODE, "--experimental-transform-types", "--no-warnings")
"""What is generated is TypeScript, which Node.js reads as it is."""

THEMES = ("requests", "answers", "errors", "behaviour")


@dataclass(frozen=True)
class Client:
    """A client that is measured.

    :param package: with its version.
    :param folder: of its adapter.
    """

    name: str
    package: str
    folder: str
    command: Sequence[str | Path]


def pinned(name: str) -> str:
    """The version of a package in JavaScript."""
    return json.loads((CLIENTS / "package.json").read_text())["dependencies"][name]


def generated_with_python() -> Path:
    """The interpreter that has openapi-python-client and what it generated."""
    python = contract.python_of("openapi-python-client")
    package = contract.GENERATED / "sample_resource_client"
    contract.GENERATED.mkdir(parents=True, exist_ok=True)
    contract.call(
        [
            *(python, "-m", "openapi_python_client", "generate", "--path", contract.DOCUMENT, "--output-path", package),
            *("--meta", "none", "--config", contract.HERE / "generator.yaml", "--overwrite"),
        ],
        {},
    )
    return python


def generate() -> None:
    """Install the packages in JavaScript, and run the generators."""
    lock = CLIENTS / "package-lock.json"
    install = [*contract.NPM, "--prefix", CLIENTS, "ci", "--no-progress"]
    contract.install_once(CLIENTS / "node_modules", contract.digest(lock), install)
    GENERATED.mkdir(exist_ok=True)
    binaries = CLIENTS / "node_modules" / ".bin"
    for command in (
        ("openapi-ts", "-f", "hey-api/openapi-ts.config.mjs"),
        ("oazapfts", contract.DOCUMENT, GENERATED / "oazapfts.ts"),
        (
            "swagger-typescript-api",
            "generate",
            "-p",
            contract.DOCUMENT,
            "-o",
            GENERATED / "swagger-typescript-api",
            "-n",
            "api.ts",
        ),
    ):
        words = [str(contract.NODE), str(binaries / str(command[0])), *map(str, command[1:])]
        subprocess.run(words, cwd=CLIENTS, check=True, stdout=subprocess.DEVNULL, timeout=300)


def clients(python: Path) -> list[Client]:
    """All that are measured."""
    javascript = {
        "openapi-fetch": "openapi-fetch",
        "@hey-api/openapi-ts": "hey-api",
        "oazapfts": "oazapfts",
        "swagger-typescript-api": "swagger-typescript-api",
        "@commercetools/ts-client": "ts-client",
    }
    made = [
        Client(name, f"{name} {pinned(name)}", folder, (*NODE, CLIENTS / folder / "adapter.mjs", pinned(name)))
        for name, folder in javascript.items()
    ]
    requirements = (contract.HERE / "requirements" / "openapi-python-client.txt").read_text().splitlines()
    version = next(line.partition("==")[2] for line in requirements if line.startswith("openapi-python-client=="))
    folder = "openapi-python-client"
    adapter = CLIENTS / folder / "adapter.py"
    return [*made, Client(folder, f"{folder} {version}", folder, (python, adapter, version))]


def measure(client: Client, url: str) -> dict[str, Any]:
    """The report of a client, as the kit writes it."""
    report = contract.WORK / f"{client.folder}.json"
    words = [COMMAND, "client", "--url", url, "--timeout", "5", "--json", report, "--", *client.command]
    environment = os.environ | {"PYTHONPATH": str(contract.GENERATED)}
    subprocess.run(list(map(str, words)), env=environment, stdout=subprocess.DEVNULL, timeout=1800, check=False)
    found = json.loads(report.read_text())
    return {"name": client.name, "package": client.package, **found}


def as_data(reports: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is published of the reports: nothing that differs from run to run."""
    return [
        {
            "name": report["name"],
            "package": report["package"],
            "features": report["features"],
            "summary": report["summary"],
            "fails": {each["number"]: each["reason"] for each in report["scenarios"] if each["outcome"] == "fail"},
            "unsupported": {
                each["number"]: each["reason"] for each in report["scenarios"] if each["outcome"] == "unsupported"
            },
            "notReachable": [each["number"] for each in report["scenarios"] if each["outcome"] == "notReachable"],
        }
        for report in reports
    ]


def as_page(reports: Sequence[dict[str, Any]]) -> str:
    """The page."""
    lines = [
        "# Clients and generators, measured",
        "",
        "How many scenarios for clients each of these passes, by theme and level, as `make clients-table` measured it:",
        "facts about these versions. [How an adapter is written](../testkit/docs/adapters.md) explains themes, levels",
        "and outcomes.",
        "Adapters are in `testkit/clients`, the same figures as data in [clients-table.json](clients-table.json).",
        "",
        "| client | "
        + " | ".join(f"{theme} ({level})" for theme, level in _columns(reports))
        + " | fails | unsupported | not reachable |",
        "|---|" + "---:|" * (len(_columns(reports)) + 3),
    ]
    for report in reports:
        by_group = {(row["theme"], row["level"]): row for row in report["summary"]}
        cells = [_cell(by_group.get(column)) for column in _columns(reports)]
        sums = [str(sum(row[name] for row in report["summary"])) for name in ("fail", "unsupported", "notReachable")]
        lines.append(f"| {report['package']} | " + " | ".join([*cells, *sums]) + " |")
    for report in reports:
        lines += ["", f"## {report['package']}", ""]
        failing = [each for each in report["scenarios"] if each["outcome"] == "fail"]
        lines += (
            ["| scenario | level | of a right client | what is wrong | request |", "|---|---|---|---|---|"]
            if failing
            else []
        )
        for each in failing:
            sent = each["sent"].partition("\n")[0]
            told = [each["number"], each["level"], each["text"], each["reason"], sent and f"`{_short(sent)}`"]
            lines.append("| " + " | ".join(_cleaned(text) for text in told) + " |")
        reasons = sorted({each["reason"] for each in report["scenarios"] if each["outcome"] == "unsupported"})
        if reasons:
            lines += ["", f"Unsupported: {'; '.join(reasons)}."]
    return "\n".join(lines) + "\n"


def _columns(reports: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row["theme"], row["level"]) for report in reports for row in report["summary"]))


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return "-"
    return f"{row['pass']} of {sum(row[name] for name in ('pass', 'fail', 'unsupported', 'notReachable'))}"


def _short(text: str) -> str:
    # Projects are made for the run; their keys differ.
    target = text.split("/", 2)
    shown = f"{target[0]}/{{projectKey}}/{target[2]}" if len(target) == 3 else text
    return shown if len(shown) <= 160 else f"{shown[:160]}…"


def _cleaned(text: str) -> str:
    one_line = " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
    return one_line if len(one_line) <= 400 else f"{one_line[:400]}…"


@click.command(help=__doc__)
@click.option("--only", multiple=True, help="Measure only these, and write nothing.")
def main(only: tuple[str, ...]) -> None:
    generate()
    chosen = [each for each in clients(generated_with_python()) if not only or each.name in only]
    reports: list[dict[str, Any]] = []
    with local_service.running() as url:
        for client in chosen:
            reports.append(measure(client, url))
            counts = {
                name: sum(row[name] for row in reports[-1]["summary"]) for name in ("pass", "fail", "unsupported")
            }
            click.echo(f"{client.package}: {counts}")
    if not only:
        PAGE.write_text(as_page(reports))
        DATA.write_text(json.dumps(as_data(reports), ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
