"""Handles the remains of a killed owner of a data folder: running server processes, and a pid file that blocks a start.

Two servers on the same files would destroy them, so no server is started before the old processes have ended.
"""

import contextlib
import logging
import os
import signal
import time
from pathlib import Path

from app.serving import EmbeddedError, processes
from app.serving.data_folder import DataFolder

logger = logging.getLogger(__name__)


def stop_leftovers(folder: DataFolder, cluster: Path) -> None:
    """Stop the PostgreSQL processes that a crash or a killed process has left on a cluster: by a fast shutdown if the
    postmaster still runs, then by SIGQUIT, then by SIGKILL.

    The caller must hold the lock of the folder, and must not itself run a server on the cluster.

    :param cluster: the cluster of the folder, or the unfinished cluster that a killed initdb has left.
    :raises EmbeddedError: if processes remain after a wait of at most half a minute, or if they cannot be listed.
    """
    if not cluster.exists():
        return
    running = server_processes(folder, cluster)
    if not running:
        return
    postmaster = _postmaster(cluster)
    if postmaster in running:
        # SIGINT means a fast shutdown only to a postmaster, which stops the other processes itself.
        logger.warning("A PostgreSQL without owner (pid %s) is stopped first.", postmaster)
        _send([postmaster], signal.SIGINT)
        running = _wait_until_gone(folder, cluster, 20.0)
    for number in (signal.SIGQUIT, signal.SIGKILL):
        _send(running, number)
        running = _wait_until_gone(folder, cluster, 5.0)
    if running:
        raise EmbeddedError(f"Old PostgreSQL processes cannot be stopped: {', '.join(map(str, running))}.")


def environment_despite_pid_file(folder: DataFolder) -> dict[str, str]:
    """The environment variables with which PostgreSQL starts although a killed server left its pid file. To be called
    after :func:`stop_leftovers`, when the killed server has ended.

    PostgreSQL does not start if a process of its account has the id in the pid file, and by now an unrelated process
    may have this id. PostgreSQL makes an exception for the id in ``PG_GRANDPARENT_PID``, so this variable gets the id
    in the pid file. (pg_ctl sets the variable to the id of its shell.)

    The pid file stays, because it also names the shared memory of the killed server: PostgreSQL refuses to start if a
    process that :func:`stop_leftovers` has missed still uses this memory.

    The result is empty in two cases: there is no pid file, or a crash has cut it short, so that it has no process id.
    In the second case the file is removed, because PostgreSQL would not start with it.
    """
    pid = _postmaster(folder.cluster)
    if pid is None:
        (folder.cluster / "postmaster.pid").unlink(missing_ok=True)
        return {}
    return {"PG_GRANDPARENT_PID": str(abs(pid))}


def server_processes(folder: DataFolder, cluster: Path) -> list[int]:
    """The ids of the server processes that run on a cluster.

    :raises EmbeddedError: if processes cannot be listed.
    """
    # Without root, folder.user is None, so there is one search, as the account of this process. Under root there are
    # two:
    # - As the server's account. It finds the server even in a container in which root may not inspect the processes of
    #   other accounts.
    # - As root (None). Where root may inspect all processes, it also finds a server of another account, to which the
    #   folder belonged before.
    # The result of a search is None if the system has no /proc.
    found = [processes.postgres_working_in(cluster, user) for user in {folder.user, None}]
    if None not in found:
        return sorted({pid for pids in found for pid in pids or ()})
    # Without /proc only the postmaster can be found. By now its id may be another process's, so the command line has to
    # name this cluster.
    postmaster = _postmaster(cluster)
    if postmaster is None:
        return []
    listing = processes.run_as(None, ["/bin/ps", "-ww", "-o", "args=", "-p", str(abs(postmaster))])
    if listing.returncode > 1:  # 1: there is no such process
        raise EmbeddedError(f"Nobody can tell whether a PostgreSQL still runs in {cluster}: {listing.stderr.strip()}")
    return [abs(postmaster)] if f"-D {cluster} " in f"{listing.stdout.strip()} " else []


def _postmaster(cluster: Path) -> int | None:
    """The process id in the pid file of a cluster, negative if it is that of ``postgres --single``; None if there is
    none. The server may have ended, and by now another process may have this id."""
    try:
        return int((cluster / "postmaster.pid").read_bytes().partition(b"\n")[0])
    except (OSError, ValueError):
        return None


def _send(pids: list[int], number: signal.Signals) -> None:
    """Send a signal to processes, of which some may have ended."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _wait_until_gone(folder: DataFolder, cluster: Path, patience_s: float) -> list[int]:
    """Wait for the server processes of a cluster to end, and return the ids of those that still run."""
    deadline = time.monotonic() + patience_s
    while (pids := server_processes(folder, cluster)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return pids
