"""The service as ``make run`` starts it, on a data folder of its own, and a client that measures time."""

import http.client
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.support.oauth import issue
from tests.support.ports import free_port
from tests.support.samples import samples, value
from tests.support.server import start_server
from tests.support.service import SERVE
from tests.support.waiting import wait_until

METRICS_TOKEN = "faults-metrics-token"

HANGS_AFTER_S = 15.0
"""A request that takes longer counts as a hang."""


class Service:
    """``sample-resource serve`` with an embedded, durable PostgreSQL."""

    def __init__(self, **environment: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sample-resource-faults-"))
        self.folder.chmod(0o755)  # PostgreSQL's account has to reach it
        self.port = free_port()
        self.log = self.folder / "log"
        self._environment = {
            "PATH": os.defpath,
            "PORT": str(self.port),
            "DATA_DIR": str(self.folder / "data"),
            "WORKERS": "2",
            "CONNECTIONS": "8",
            "METRICS_TOKEN": METRICS_TOKEN,
            **environment,
        }
        self.start()

    def start(self) -> None:
        """Start it, and return when it answers."""
        self.process = start_server(SERVE, self.port, self._environment, self.log)

    def stop(self) -> None:
        """Stop it, and the processes that it started."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)

    def remove(self) -> None:
        """Stop it and delete its data."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _children(self, *, of_postgres: bool) -> psutil.Process:
        for child in psutil.Process(self.process.pid).children():
            if (child.name() == "postgres") is of_postgres and child.status() != psutil.STATUS_ZOMBIE:
                return child
        raise psutil.NoSuchProcess(self.process.pid)

    @property
    def master(self) -> psutil.Process:
        """Gunicorn's master."""
        return self._children(of_postgres=False)

    @property
    def workers(self) -> list[psutil.Process]:
        """Gunicorn's workers."""
        return [worker for worker in self.master.children() if worker.status() != psutil.STATUS_ZOMBIE]

    @property
    def postmaster(self) -> psutil.Process:
        """The main process of PostgreSQL."""
        return self._children(of_postgres=True)

    def database(self) -> psycopg.Connection[Any]:
        """A connection to the service's database."""
        return psycopg.connect(self.master.environ()["DATABASE_URL"], autocommit=True)

    def token(self, *scopes: str) -> str:
        """An access token."""
        with self.database() as connection:
            return issue(connection, *scopes, client_id="faults")

    def metric(self, name: str, **labels: str) -> float:
        """The value of a metric of the service, summed over the labels that are not given."""
        return value(samples(self.request("GET", "/metrics", token=METRICS_TOKEN).body.decode()), name, **labels)

    def probe(self, which: str) -> "Answer":
        """Ask for liveness or readiness, as an orchestrator does."""
        return self.request("GET", f"/health/{which}")

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> "Answer":
        """Send a request on a new connection."""
        with_token = {} if token is None else {"Authorization": f"Bearer {token}"}
        data = None if body is None else json.dumps(body).encode()
        with_type = {} if data is None else {"Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANGS_AFTER_S)
        began = time.monotonic()
        sent = False
        try:
            connection.connect()
            sent = True
            connection.request(method, path, data, {**with_token, **with_type, **(headers or {})})
            answer = connection.getresponse()
            text = answer.read()
            received = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, text, received, time.monotonic() - began)
        except TimeoutError:
            return Answer(None, b"it hangs", {}, time.monotonic() - began)
        except (OSError, http.client.HTTPException) as error:
            return Answer(None, repr(error).encode(), {}, time.monotonic() - began, refused=not sent)
        finally:
            connection.close()

    def wait_until(self, holds: Callable[[], bool], within_s: float = 10) -> float:
        """Seconds until a condition holds; if it does not in time, the AssertionError shows :meth:`complaints`."""
        return wait_until(holds, within_s, self.complaints)

    def complaints(self) -> str:
        """Warnings and errors in the log, at most the last 5,000 characters."""
        lines = self.log.read_text(errors="replace").splitlines()
        marks = ('"level": "warning"', '"level": "error"', "[WARNING]", "[ERROR]", "[CRITICAL]", "Error", "error:")
        return "\n".join(line for line in lines if any(mark in line for mark in marks))[-5000:]


@dataclass(frozen=True)
class Answer:
    """The answer that a client received."""

    status: int | None
    """None: the connection was refused, or ended without an answer."""
    body: bytes
    headers: dict[str, str] = field(repr=False)
    seconds: float
    refused: bool = False
    """The connection was refused, so nothing was sent."""

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def is_unavailable(self) -> bool:
        """Whether it is the 503 of the error catalogue, with ``Retry-After``."""
        return (
            self.status == 503
            and self.headers["content-type"].startswith("application/json")
            and int(self.headers["retry-after"]) >= 1
            and self.json()["errors"][0]["code"] == "OverCapacity"
        )
