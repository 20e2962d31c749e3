"""The private folder with the socket of the embedded PostgreSQL, which listens on nothing else."""

import contextlib
import hashlib
import os
import re
import stat
import tempfile
from pathlib import Path

from app.serving.data_folder import DataFolder, can_enter
from app.serving.errors import EmbeddedError

PORT = 5432
"""Part of the socket's file name; the server opens no TCP port."""

_LONGEST = 80
"""Bytes. A socket's path has at most 107 on Linux and 103 elsewhere, with the file name; the rest is a margin."""


def make_socket_folder(folder: DataFolder) -> Path:
    """Make the folder for the socket, with a short path, and remove from it what a killed server left.

    :raises EmbeddedError: if no temporary folder has a path that is short and plain enough.
    """
    # The inode distinguishes the same path in two containers that share a temporary folder.
    home = folder.home.stat()
    digest = hashlib.sha256(b"%s:%d:%d" % (os.fsencode(folder.home), home.st_dev, home.st_ino)).hexdigest()[:12]
    owner = os.geteuid() if folder.account is None else folder.account.pw_uid
    for base in (tempfile.gettempdir(), "/tmp", "/var/tmp"):  # noqa: S108 -- made private below
        # libpq and PostgreSQL give a meaning to commas, quotes and spaces in this path.
        if not re.fullmatch(r"[\w./+-]+", base, re.ASCII) or not can_enter(folder.user, Path(base)):
            continue
        for number in range(10):
            path = Path(base) / f"sample-resource-{owner}-{digest}{f'-{number}' if number else ''}"
            if len(os.fsencode(path)) > _LONGEST:
                break
            with contextlib.suppress(FileExistsError):
                path.mkdir(mode=0o700)
                folder.hand_over(path)
            # Anybody can make a folder or a link of this name in advance; then the next name is tried.
            state = path.lstat()
            if stat.S_ISDIR(state.st_mode) and state.st_uid == owner and not state.st_mode & 0o077:
                # No server of this data folder runs. PostgreSQL would not start if the process id in a lock file that
                # was left here belonged to another process by now.
                _remove_sockets(path)
                return path
    raise EmbeddedError("There is no temporary folder for PostgreSQL's socket; set TMPDIR to one with a short path.")


def remove_socket_folder(path: Path) -> None:
    """Remove the folder and the files of a server, unless there are others in it."""
    _remove_sockets(path)
    with contextlib.suppress(OSError):
        path.rmdir()


def _remove_sockets(path: Path) -> None:
    """Remove the files that a server which was killed could not remove itself."""
    for name in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
        with contextlib.suppress(OSError):
            (path / name).unlink()
