"""``make generate ARGS=clients-table``: real clients and generators, held against the scenarios of the testkit.

Each has an adapter in ``workbench/testkit/clients/``. The versions are pinned: those in JavaScript there, those in
Python in ``requirements/`` beside this file. The figures are in ``docs/workbench/clients-table.md``, and all
that was measured in ``clients-table.json`` beside it, which is not committed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from sample_resource_testkit import local_service
from sample_resource_testkit.clauses import LEVELS
from sample_resource_testkit.client.registry import THEMES

from clients import tools as contract
from tests.support.service import ROOT

CLIENTS = ROOT / "workbench/testkit/clients"
GENERATED = CLIENTS / "generated"
PAGE, DATA = (ROOT / f"docs/workbench/clients-table.{name}" for name in ("md", "json"))
COMMAND = Path(sys.executable).with_name("sample-resource-conformance")

NODE = (contract.NODE, "--experimental-transform-types", "--no-warnings")
"""What is generated is TypeScript, which Node.js reads as it is."""

GENERATOR = "openapi-generator"
"""Its generators are Java, in a package for Python."""

OF_GENERATOR: Mapping[str, Sequence[str]] = {
    "python": (),
    "typescript-fetch": ("--additional-properties", "importFileExtension=.ts"),
    "typescript-axios": ("--additional-properties", "importFileExtension=.ts,useSingleRequestParameter=true"),
}
"""Its generators, with options."""


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


def pinned_in_python(requirements: str, name: str) -> str:
    """The version of a package in Python."""
    lines = (contract.HERE / "requirements" / f"{requirements}.txt").read_text().splitlines()
    return next(line.partition("==")[2] for line in lines if line.startswith(f"{name}=="))


def install() -> None:
    """Install the packages in JavaScript. Those in Python are installed when they are asked for."""
    lock = CLIENTS / "package-lock.json"
    words = [*contract.NPM, "--prefix", CLIENTS, "ci", "--no-progress"]
    contract.install_once(CLIENTS / "node_modules", contract.digest(lock), words)


def generate() -> None:
    """Run the generators."""
    GENERATED.mkdir(exist_ok=True)
    openapi_python_client, openapi_generator = map(contract.python_of, ("openapi-python-client", GENERATOR))
    package = contract.GENERATED / "sample_resource_client"
    contract.GENERATED.mkdir(parents=True, exist_ok=True)
    contract.call(
        [
            *(openapi_python_client, "-m", "openapi_python_client", "generate", "--overwrite", "--meta", "none"),
            *("--path", contract.DOCUMENT, "--output-path", package, "--config", contract.HERE / "generator.yaml"),
        ],
        {},
    )
    for command in (
        ("openapi-ts", "-f", CLIENTS / "hey-api/openapi-ts.config.mjs"),
        ("orval", "--config", CLIENTS / "orval/orval.config.mjs"),
        ("oazapfts", contract.DOCUMENT, GENERATED / "oazapfts.ts"),
        (
            *("swagger-typescript-api", "generate", "-p", contract.DOCUMENT),
            *("-o", GENERATED / "swagger-typescript-api", "-n", "api.ts"),
        ),
    ):
        binary = CLIENTS / "node_modules" / ".bin" / command[0]
        contract.call([contract.NODE, binary, *command[1:]], {}, CLIENTS)
    for name, options in OF_GENERATOR.items():
        shutil.rmtree(GENERATED / f"{GENERATOR}-{name}", ignore_errors=True)
        contract.call(
            [
                *(openapi_generator.with_name("openapi-generator-cli"), "generate", "-g", name),
                *("-i", contract.DOCUMENT, "-o", GENERATED / f"{GENERATOR}-{name}", *options),
            ],
            {},
        )


def clients() -> list[Client]:
    """All that are measured."""
    javascript = {
        "openapi-client-axios": "openapi-client-axios",
        "openapi-fetch": "openapi-fetch",
        "@hey-api/openapi-ts": "hey-api",
        "oazapfts": "oazapfts",
        "orval": "orval",
        "swagger-typescript-api": "swagger-typescript-api",
        "@commercetools/ts-client": "ts-client",
    }
    made = [
        Client(name, f"{name} {pinned(name)}", folder, (*NODE, CLIENTS / folder / "adapter.mjs", pinned(name)))
        for name, folder in javascript.items()
    ]
    version = pinned_in_python(GENERATOR, "openapi-generator-cli")
    for name in ("typescript-fetch", "typescript-axios"):
        folder = f"{GENERATOR}-{name}"
        command = (*NODE, CLIENTS / folder / "adapter.mjs", version)
        made.append(Client(f"{GENERATOR} {name}", f"{GENERATOR} {version} {name}", folder, command))
    made.append(
        in_python(f"{GENERATOR}-python", f"{GENERATOR} {version} python", contract.python_of(GENERATOR), version)
    )
    for name in ("openapi-python-client", "aiopenapi3", "commercetools"):
        version = pinned_in_python(name, name)
        made.append(in_python(name, f"{name} {version}", contract.python_of(name), version))
    return made


def in_python(folder: str, package: str, python: Path, version: str) -> Client:
    """A client that an interpreter of its own runs."""
    return Client(
        package.replace(f" {version}", ""), package, folder, (python, CLIENTS / folder / "adapter.py", version)
    )


def measure(client: Client, url: str) -> dict[str, Any]:
    """The report of a client, as the kit writes it."""
    report = contract.WORK / f"{client.folder}.json"
    words = [COMMAND, "client", "--url", url, "--timeout", "15", "--json", report, "--", *client.command]
    generated = (contract.GENERATED, GENERATED / f"{GENERATOR}-python")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, generated))}
    subprocess.run(list(map(str, words)), env=environment, stdout=subprocess.DEVNULL, timeout=1800, check=False)
    found = json.loads(steady(report.read_text()))
    if mistakes := _reasons(found, "error"):
        raise click.ClickException(f"The kit made mistakes: {mistakes}")
    return {"name": client.name, "package": client.package, **found}


VARYING = {
    r"sb-[a-z]{12}|(?<=/)scripted(?=/resource)": "{projectKey}",
    r"(?!01a2032c-47e7-7238-9557-4a15aa7b8370)[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}": "{id}",
    r"20(?!16|17|99)[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z": "{time}",
    r"\bcall [0-9]+": "a call",
    r'(?<=\\"api-client\\", \\"id\\": \\")[\w-]{24}(?=\\")': "{clientId}",
}
"""What differs from run to run: projects, clients, ids and times that the service makes, numbers of calls."""


def steady(text: str) -> str:
    """A report in which nothing differs from run to run."""
    for pattern, shown in VARYING.items():
        text = re.sub(pattern, shown, text)
    return text


def as_data(reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What is published of the reports: the scenarios, and what each client comes to."""
    return {
        "scenarios": {
            each["number"]: {"theme": each["theme"], "level": each["level"], "text": each["text"]}
            for each in reports[0]["scenarios"]
        },
        "clients": [
            {
                "name": report["name"],
                "package": report["package"],
                "features": report["features"],
                "summary": report["summary"],
                "causes": report["causes"],
                "fails": {
                    each["number"]: {
                        "reason": each["reason"],
                        "cause": each["cause"],
                        "call": each["call"],
                        "request": _short(each["sent"].partition("\n")[0]),
                    }
                    for each in report["scenarios"]
                    if each["outcome"] == "fail"
                },
                "unsupported": _reasons(report, "unsupported"),
                "notReachable": _reasons(report, "notReachable"),
            }
            for report in reports
        ],
    }


def _reasons(report: dict[str, Any], outcome: str) -> dict[str, str]:
    return {each["number"]: each["reason"] for each in report["scenarios"] if each["outcome"] == outcome}


HEAD = """\
# Clients and generators, measured

How many scenarios for clients each of these passes, by theme and level, as `make generate ARGS=clients-table` measured
it: facts about these versions. [How an adapter is written](../../workbench/testkit/docs/adapters.md) explains themes,
levels and outcomes. Adapters are in `workbench/testkit/clients`. The command also writes `clients-table.json` beside
this page, which has of each failure the scenario, the call, the request, what is wrong and its cause.
"""


def as_page(data: Mapping[str, Any]) -> str:
    """The page, made of what is published."""
    clients, columns = data["clients"], _columns(data["clients"])
    titles = ["client", *(f"{theme} ({level})" for theme, level in columns), "fails", "unsupported", "not reachable"]
    lines = [HEAD, f"| {' | '.join(titles)} |", "|---|" + "---:|" * (len(titles) - 1)]
    for client in clients:
        by_group = {(row["theme"], row["level"]): row for row in client["summary"]}
        cells = [client["package"], *(_cell(by_group.get(each)) for each in columns)]
        cells += [str(len(client[outcome])) for outcome in ("fails", "unsupported", "notReachable")]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "A scenario is *not reachable* if its own call needs what another scenario has shown to fail.",
        "",
        "## By cause",
        "",
        "What most scenarios of each client that do not pass have in common.",
        "",
        "| client | causes, with their scenarios |",
        "|---|---|",
    ]
    for client in clients:
        told = [f"{_cleaned(each['cause'])} ({len(each['scenarios'])})" for each in client["causes"][:6]]
        lines.append(f"| {client['package']} | {'; '.join(told) or 'none that is shared'} |")
    return "\n".join(lines) + "\n"


def _columns(clients: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    found = {(row["theme"], row["level"]) for client in clients for row in client["summary"]}
    return [(theme, level) for theme in THEMES for level in LEVELS if (theme, level) in found]


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "-"
    return f"{row['pass']} of {sum(row[name] for name in ('pass', 'fail', 'unsupported', 'notReachable'))}"


def _short(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:160]}…"


def _cleaned(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


@click.command(help=__doc__)
@click.option("--only", multiple=True, help="Measure only these, and write nothing.")
def main(only: tuple[str, ...]) -> None:
    if shutil.which("java") is None:
        raise click.ClickException("There is no Java, which openapi-generator needs (Debian: default-jre-headless).")
    install()
    generate()
    chosen = [each for each in clients() if not only or each.name in only]
    reports: list[dict[str, Any]] = []
    with local_service.running() as url:
        for client in chosen:
            reports.append(measure(client, url))
            counts = {
                name: sum(row[name] for row in reports[-1]["summary"]) for name in ("pass", "fail", "unsupported")
            }
            click.echo(f"{client.package}: {counts}")
    if not only:
        data = as_data(reports)
        PAGE.write_text(as_page(data))
        DATA.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
