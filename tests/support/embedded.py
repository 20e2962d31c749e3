"""Helpers for tests of the embedded PostgreSQL."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest

from app.serving import processes
from app.serving.data_folder import find_data_folder
from app.serving.postgres_programs import SERVER_ENVIRONMENT
from tests.support.waiting import wait_until

ROOT = os.geteuid() == 0
FAST = {"fsync": "off"}

as_root = pytest.mark.skipif(not ROOT, reason="needs root to be another user")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc and signals at a parent's death")


def ask(conninfo: str, query: str) -> object:
    """The first value in the first row of a query's result; None if there is no row."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        cursor = connection.execute(query.encode())
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def start_owner(data_dir: Path) -> subprocess.Popen[bytes]:
    """Start a process that starts a server, prints its process id and waits until it is killed."""
    code = (
        "import sys, pathlib; from app.serving.embedded import EmbeddedPostgres as E;"
        "s = E(pathlib.Path(sys.argv[1]), {'fsync': 'off'}); s.start(); print(s.pid, flush=True); sys.stdin.read()"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, str(data_dir)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )


def start_orphan(folder: Path) -> subprocess.Popen[bytes]:
    """Start a server on the folder ``data`` in a folder, without a process that owns the server."""
    data = find_data_folder(folder / "data")
    sockets = folder / "sockets"
    sockets.mkdir()
    data.hand_over(sockets)
    settings = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={sockets}"]
    orphan = processes.spawn(
        [data.program("postgres"), "-D", str(data.cluster), *settings],
        environment=SERVER_ENVIRONMENT,
        folder=Path("/"),
        output=subprocess.DEVNULL,
        user=data.user,
    )
    wait_until(lambda: "ready" in (data.cluster / "postmaster.pid").read_text())
    return orphan


def is_running(pid: int) -> bool:
    """Whether a process runs; one whose parent has yet to wait for it does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
