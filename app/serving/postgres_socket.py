"""The private folder with the socket of the embedded PostgreSQL, which listens nowhere else.

The folder is in a folder for temporary files, because the path of a socket has to be short. Every account can write
there, so the folder has a random name. A file in the data folder names it, so that the next start can remove the folder
of a killed server.
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
"""The port number in the file name of the socket. The server opens no TCP port."""

_LONGEST = 80
"""The most bytes of the folder's path. The path of a socket has at most 107 bytes on Linux and 103 elsewhere, and the
file name needs some of them."""

_PREFIX = "sample-resource-"

_NOTE = "postgresql-sockets"
"""The name of the file in the data folder that names the folder of the socket."""


def make_socket_folder(folder: DataFolder, again: Path | None = None) -> Path:
    """Make the folder for the socket, with a short path, after removing the folder of a killed server.

    :param again: the folder of a server that has ended, whose path clients know. It is used again. If a cleaner of
        temporary files has removed it, it is made again.
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
    """Remove the socket files of a server and their folder. The folder stays if it has other files."""
    _remove_sockets(path)
    with contextlib.suppress(OSError):
        path.rmdir()


def _bases() -> list[str]:
    """Folders for temporary files, the preferred one first."""
    with contextlib.suppress(FileNotFoundError):  # raised if no folder that Python knows is writable
        return list(dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp")))  # noqa: S108 -- the name is random
    return ["/tmp", "/var/tmp"]  # noqa: S108 -- so that the error says why they cannot be used


def _made_in(folder: DataFolder, base: str) -> Path:
    """Make a new private folder of the server's account in a folder. Raises OSError if that folder cannot be used."""
    # Commas, quotes and spaces in this path have a special meaning to libpq and PostgreSQL.
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
    # No server of this data folder runs. PostgreSQL would not start if another process had by now the process id in a
    # lock file that was left here.
    _remove_sockets(path)
    return path


def _is_ours(folder: DataFolder, path: Path) -> bool:
    """Whether a path is a folder of the socket, no link, that only the server's account can use."""
    try:
        state = path.lstat()
    except OSError:
        return False
    private = stat.S_ISDIR(state.st_mode) and state.st_uid == folder.account.pw_uid and not state.st_mode & 0o077
    return private and path.name.startswith(_PREFIX)


def _remove_sockets(path: Path) -> None:
    """Remove the socket and its lock file, which a killed server has left."""
    for name in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
        with contextlib.suppress(OSError):
            (path / name).unlink()
