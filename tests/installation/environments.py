"""Environments with the wheel installed, and the service as its users start it there."""

import contextlib
import os
import pwd
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from app.serving import processes
from app.serving.processes import Account
from tests.support.ports import free_port
from tests.support.waiting import wait_until


@dataclass
class Installation:
    """An environment with the command ``sample-resource``.

    :param command: how to start it; further arguments follow.
    :param account: the account that uses it; None is that of the tests.
    :param home: its home folder.
    """

    command: Sequence[str]
    home: Path
    account: Account | None = None
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def variables(self, extra: dict[str, str]) -> dict[str, str]:
        """The whole environment of the command: nothing of that of the tests."""
        return {"PATH": os.defpath, "HOME": str(self.home), **self.environment, **extra}

    def run(self, folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command in a folder to its end."""
        uid, gid = self.account or (None, None)
        return subprocess.run(
            [*self.command, *arguments],
            cwd=folder,
            env=self.variables(variables),
            user=uid,
            group=gid,
            extra_groups=None if uid is None else [],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def done(self, folder: Path, *arguments: str, **variables: str) -> str:
        """What a command prints, which has to succeed."""
        ended = self.run(folder, *arguments, **variables)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    @contextmanager
    def serving(self, folder: Path, **variables: str) -> Iterator["Service"]:
        """Run ``serve`` in a folder until the end of the context, which is a Ctrl-C."""
        port = free_port()
        uid, gid = self.account or (None, None)
        log = self.home.with_name(f"serve-{port}.log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*self.command, "serve"],
                cwd=folder,
                env=self.variables({"PORT": str(port), "WORKERS": "1", **variables}),
                user=uid,
                group=gid,
                extra_groups=None if uid is None else [],
                stdout=output,
                stderr=output,
            )
        try:
            wait_until(
                lambda: "curl -H" in log.read_text() or process.poll() is not None, 60, report=lambda: log.read_text()
            )
            assert process.poll() is None, log.read_text()
            yield Service(port, log)
        finally:
            process.send_signal(signal.SIGINT)
            status = process.wait(30)
        assert status == 0, log.read_text()


@dataclass
class Service:
    """A running service."""

    port: int
    log: Path

    def printed_command(self) -> str:
        """What the command prints that ``serve`` gives to copy."""
        found = re.search("^curl -H .*$", self.log.read_text(), re.MULTILINE)
        assert found is not None
        return subprocess.run(
            ["bash", "-c", found[0].replace("curl ", "curl -sSf ", 1)], capture_output=True, text=True, check=True
        ).stdout


def make_environment(wheel: Path, folder: Path, extra: str = "") -> Installation:
    """Install the wheel into a new environment, whose other packages are those of this one that it requires.

    They are linked, so nothing is downloaded or copied, and a package that the wheel does not require is missing.

    :param folder: where all accounts may read.
    """
    account, interpreter = ordinary_user()
    installer = str(Path(sys.executable).with_name("uv"))
    environment = folder / "environment"
    offline = {"UV_OFFLINE": "1", "UV_NO_CONFIG": "1", "UV_CACHE_DIR": str(folder / "cache"), "PATH": os.defpath}
    subprocess.run([installer, "venv", "-q", "--python", interpreter, str(environment)], env=offline, check=True)
    python = str(environment / "bin/python")
    install = [installer, "pip", "install", "-q", "--python", python, "--no-deps", "--compile-bytecode", str(wheel)]
    subprocess.run(install, env=offline, check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    for path in required_files(extra):
        if not (packages / path.name).exists():
            (packages / path.name).symlink_to(path)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    # Only root may be able to reach the linked packages.
    if account is not None and processes.run_as(account, [python, "-c", "import flask, gevent"]).returncode != 0:
        account = None
    installation = Installation([str(environment / "bin/sample-resource")], home, account)
    own(installation, home)
    return installation


def own(installation: Installation, folder: Path) -> None:
    """Make the account of an installation the owner of a folder."""
    if installation.account is not None:
        os.chown(folder, *installation.account)


def ordinary_user() -> tuple[Account | None, str]:
    """An account without privileges, and an interpreter of this version that it can run.

    The account is None if the tests do not run as root, or if only root can reach such an interpreter.
    """
    if os.geteuid() == 0:
        with contextlib.suppress(KeyError):
            nobody = pwd.getpwnam("nobody")
            account = (nobody.pw_uid, nobody.pw_gid)
            version = f"import sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]!r})"
            for interpreter in (os.path.realpath(sys.executable), "/usr/bin/python3"):
                if processes.run_as(account, [interpreter, "-c", version]).returncode == 0:
                    return account, interpreter
    return None, sys.executable


def required_files(extra: str) -> set[Path]:
    """The files and folders in site-packages of all distributions that the wheel requires, directly or not."""
    found: set[Path] = set()
    for required in closure("sample-resource", extra):
        for file in required.files or []:
            if file.parts[0] not in ("..", "__pycache__") and file.suffix != ".pth":
                found.add(Path(str(required.locate_file(file.parts[0]))))
    return found


def closure(name: str, *extras: str) -> list[Distribution]:
    """The installed distributions that a distribution requires on this machine, directly or not, without itself."""
    wanted, seen, found = [(name, frozenset(extras))], set[tuple[str, frozenset[str]]](), dict[str, Distribution]()
    while wanted:
        entry = wanted.pop()
        if entry in seen:
            continue
        seen.add(entry)
        known = distribution(entry[0])
        found[canonicalize_name(entry[0])] = known
        for text in known.requires or []:
            requirement = Requirement(text)
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in entry[1] | {""}):
                wanted.append((requirement.name, frozenset(requirement.extras)))
    del found[canonicalize_name(name)]
    return [found[key] for key in sorted(found)]
