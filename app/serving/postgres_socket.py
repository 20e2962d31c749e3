"""The private folder with the socket of the embedded PostgreSQL, which listens on nothing else.

It is below a folder for temporary files, since a socket's path has to be short. Every account can write there, so its
name cannot be known beforehand. A file in the data folder names it, so that the next start removes what a killed one
left.
"""

import contextlib
import os
import re
import stat
import tempfile
from pathlib import Path

from app.serving import EmbeddedError
from app.serving.data_folder import DataFolder, can_enter

PORT = 5432
"""Part of the socket's file name; the server opens no TCP port."""

_LONGEST = 80
"""Bytes. A socket's path has at most 107 on Linux and 103 elsewhere, with the file name; the rest is a margin."""

_PREFIX = "sample-resource-"

_NOTE = "postgresql-sockets"
"""The file in the data folder that names the folder."""


def make_socket_folder(folder: DataFolder, again: Path | None = None) -> Path:
    """Make the folder for the socket, with a short path, after removing the folder of a killed server.

    :param again: the folder of a server that has ended, which clients know: it is used again, and made again if
        something that cleans temporary files has removed it.
    :raises EmbeddedError: if no temporary folder can be used; the message has the reason for each.
    """
    if again is not None:
        return _renewed(folder, again)
    left = folder.read_note(_NOTE)
    if left is not None and _is_ours(folder, left):
        remove_socket_folder(left)
    unfit: list[str] = []
    for base in _bases():
        try:
            path = _made_in(folder, base)
        except OSError as error:
            unfit.append(f"{base}: {error.strerror or error}")
            continue
        folder.write_note(_NOTE, path)
        return path
    raise EmbeddedError(
        f"There is no temporary folder for PostgreSQL's socket ({'; '.join(unfit)}): set TMPDIR to one that is fit, or "
        "start the container with --tmpfs /tmp."
    )


def remove_socket_folder(path: Path) -> None:
    """Remove the folder and the files of a server, unless there are others in it."""
    _remove_sockets(path)
    with contextlib.suppress(OSError):
        path.rmdir()


def _bases() -> list[str]:
    """Folders for temporary files, the preferred one first."""
    with contextlib.suppress(FileNotFoundError):  # none of those that Python knows can be written to
        return list(dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp")))  # noqa: S108 -- the name is random
    return ["/tmp", "/var/tmp"]  # noqa: S108 -- to say why they cannot be used


def _made_in(folder: DataFolder, base: str) -> Path:
    """A new private folder of the server's account. Raises OSError if the base cannot be used."""
    # libpq and PostgreSQL give a meaning to commas, quotes and spaces in this path.
    if not re.fullmatch(r"[\w./+-]+", base, re.ASCII):
        raise OSError("its path has characters that a connection string does not take")
    if len(os.fsencode(base)) + len(f"/{_PREFIX}12345678") > _LONGEST:
        raise OSError("its path is too long for a socket")
    if not can_enter(folder.user, Path(base)):
        raise OSError("the server's account cannot enter it")
    path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
    try:
        folder.hand_over(path)
    except OSError:
        path.rmdir()
        raise
    return path


def _renewed(folder: DataFolder, path: Path) -> Path:
    try:
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
            folder.hand_over(path)
    except OSError as error:
        raise EmbeddedError(f"{path}, the folder of PostgreSQL's socket, cannot be made again: {error}.") from error
    if not _is_ours(folder, path):
        raise EmbeddedError(
            f"{path}, the folder of PostgreSQL's socket, was removed, and another account has taken its name. "
            "Start the service anew."
        )
    # No server of this data folder runs. PostgreSQL would not start if the process id in a lock file that was left here
    # belonged to another process by now.
    _remove_sockets(path)
    return path


def _is_ours(folder: DataFolder, path: Path) -> bool:
    """Whether this is a folder, and no link to one, that only the server's account can use."""
    try:
        state = path.lstat()
    except OSError:
        return False
    private = stat.S_ISDIR(state.st_mode) and state.st_uid == folder.account.pw_uid and not state.st_mode & 0o077
    return private and path.name.startswith(_PREFIX)


def _remove_sockets(path: Path) -> None:
    """Remove the files that a server which was killed could not remove itself."""
    for name in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
        with contextlib.suppress(OSError):
            (path / name).unlink()
