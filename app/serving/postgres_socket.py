"""The private folder with the socket of the embedded PostgreSQL, which listens nowhere else.

The folder is in a folder for temporary files, because the path of a socket has to be short. Every account can write
there, so the folder has a random name. Only the account of the server, and root, can enter it, so PostgreSQL asks
nobody who connects for a password.
"""

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
file name needs fourteen of them."""

_PREFIX = "sample-resource-"

_OTHERS = ("/tmp", "/var/tmp")  # noqa: S108 -- the name of the folder in them is random
"""The folders for temporary files that are tried after ``TMPDIR``."""


def make_socket_folder(folder: DataFolder) -> Path:
    """Make the folder for the socket, with a short path.

    :raises EmbeddedError: if no temporary folder can be used; the message has the reason for each.
    """
    unfit: list[str] = []
    for base in (os.environ.get("TMPDIR"), *_OTHERS):
        if base:
            try:
                return _made_in(folder, str(Path(base).absolute()))
            except OSError as error:
                unfit.append(f"{base}: {error.strerror or error}")
    raise EmbeddedError(
        f"There is no temporary folder for PostgreSQL's socket ({'; '.join(unfit)}): set TMPDIR to one that is fit, or "
        "start the container with --tmpfs /tmp."
    )


def raise_if_not_private(folder: DataFolder, sockets: Path) -> None:
    """Refuse a socket folder that was removed or is no longer private. It is private if it is a folder, belongs to the
    server's account, and gives no right to others.

    Called before a restart of the server. The server keeps the path of its socket folder, because clients know the
    path. If the folder was removed, another account may have made a folder at this path. If nothing is there, another
    account may still make one before the server uses the path, so a missing folder is refused, too.

    :raises EmbeddedError: if ``sockets`` was removed or is not private.
    """
    try:
        state = sockets.lstat()
        own = os.geteuid() if folder.user is None else folder.user[0]
        is_private = stat.S_ISDIR(state.st_mode) and state.st_uid == own and not state.st_mode & 0o077
    except (FileNotFoundError, NotADirectoryError):
        is_private = False
    if not is_private:
        raise EmbeddedError(f"{sockets}, the folder of PostgreSQL's socket, was removed or opened. Start again.")


def _made_in(folder: DataFolder, base: str) -> Path:
    """Make the socket folder in ``base``, a folder for temporary files. Only the server's account, which owns the new
    folder, and root can enter it.

    :param folder: the data folder, which knows the server's account.
    :raises OSError: with the reason, if ``base`` cannot be used.
    :raises EmbeddedError: as :func:`~app.serving.data_folder.can_enter` does.
    """
    # Only these characters are accepted: others, such as commas, quotes and spaces, can have a special meaning to libpq
    # and PostgreSQL.
    if not re.fullmatch(r"[\w./+-]+", base, re.ASCII):
        raise OSError("its path has others than ASCII letters, digits and . / + - _")
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
