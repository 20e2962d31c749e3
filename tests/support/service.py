"""Starts the service by its command on a free port."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.ports import free_port
from tests.support.server import PATIENT, start_server
from tests.support.server import ROOT as ROOT

SERVE = [sys.executable, "-m", "app.cli", "serve"]


@contextmanager
def running_service(log: Path, **environment: str) -> Iterator[int]:
    """Run ``sample-resource serve`` and yield its port.

    :param log: a file for the output.
    :param environment: settings. Without a ``DATABASE_URL`` the service starts a PostgreSQL of its own in ``DATA_DIR``.
    """
    port = free_port()
    process = start_server(SERVE, port, os.environ | {"PORT": str(port), "WORKERS": "1", **PATIENT} | environment, log)
    try:
        yield port
    finally:
        process.send_signal(signal.SIGINT)
        status = process.wait(30)
    assert status == 0, log.read_text()
