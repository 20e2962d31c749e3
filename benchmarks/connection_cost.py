"""Measures what the worker's care for connections costs a get by id: limits of time, looks for clients that hung up.

Run it with ``python -m benchmarks.connection_cost`` in the repository's folder. It starts an embedded PostgreSQL, and
on it gunicorn once for each variant, with one worker. The variants take turns, some hundred requests each on one
connection; what is compared is the processor time of the worker. A variant stands there twice: the ratio of the two
says how exact the others are.
"""

import contextlib
import http.client
import os
import signal
import statistics
import sys
import tempfile
from pathlib import Path

import click
import psutil
import psycopg
from flask import Flask, Response

from app import create_app
from app.config import Settings
from app.database import migrate
from app.http.clients import Client
from app.identity import issued_tokens, signing_keys
from app.serving.embedded import EmbeddedPostgres
from tests.support.api import EXAMPLE
from tests.support.ports import free_port
from tests.support.server import start_server

ROUNDS = 40
REQUESTS = 250

AS_IT_IS = "as it is"
VARIANTS = {
    AS_IT_IS: [],
    "as it is, again": [],
    "with a third look, before the answer": [],
    "without looks": [],
    "without taking turns": [],
    "without looks and limits": [],
    "gunicorn's own gevent worker": ["-k", "gevent"],
}


class _Unlimited(Client):
    """Moves bytes without limits of time."""

    __slots__ = ()

    def recv(self, size: int) -> bytes:
        return self._connection.recv(size)

    def sendall(self, data: bytes) -> None:
        self._connection.sendall(data)


def _never(_: object) -> bool:
    return False


def application() -> Flask:
    """The application, in gunicorn's master, with the worker changed as ``VARIANT`` says."""
    from app.http import clients
    from app.http.hangups import client_is_gone
    from app.serving import worker

    made = create_app()
    variant = os.environ["VARIANT"]
    if variant == "without taking turns":
        clients.__dict__["sleep"] = _never
    elif variant.startswith("without"):
        worker.has_hung_up = _never
    if variant.endswith("limits"):
        worker.Client = _Unlimited
    if variant.startswith("with a third"):

        @made.after_request
        def look(response: Response) -> Response:
            client_is_gone()
            return response

    return made


class _Server:
    """A variant, and a connection to it."""

    def __init__(self, variant: str, url: str, path: str, token: str) -> None:
        port = free_port()
        settings = {"DATABASE_URL": url, "PORT": str(port), "WORKERS": "1", "VARIANT": variant}
        gunicorn = [str(Path(sys.executable).with_name("gunicorn")), "-c", "gunicorn.conf.py"]
        command = [*gunicorn, *VARIANTS[variant], "benchmarks.connection_cost:application()"]
        self.process = start_server(command, port, {"PATH": os.defpath, **settings})
        (self.worker,) = psutil.Process(self.process.pid).children()
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=15)
        self.path = path
        self.bearer = {"Authorization": f"Bearer {token}"}

    def cpu_us(self) -> float:
        """The worker's processor time of a request."""
        began = self._cpu_ns()
        for _ in range(REQUESTS):
            self.connection.request("GET", self.path, headers=self.bearer)
            answer = self.connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise click.ClickException(f"status {answer.status}")
        return (self._cpu_ns() - began) / REQUESTS / 1000

    def _cpu_ns(self) -> int:
        return sum(
            int(thread.read_text().split()[0]) for thread in Path(f"/proc/{self.worker.pid}/task").glob("*/schedstat")
        )

    def stop(self) -> None:
        self.connection.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder, contextlib.ExitStack() as running:
        Path(folder).chmod(0o755)
        url = running.enter_context(EmbeddedPostgres(Path(folder) / "data", {"fsync": "off"})).conninfo()
        migrate.upgrade(url)
        with psycopg.connect(url, autocommit=True) as connection:
            signing_keys.ensure_signing_key(connection)
            settings = Settings(database_url=url)
            token = issued_tokens.issue_token(connection, settings.issuer, "benchmark", ("manage_test:demo",), 3600)
        bearer = {"Authorization": f"Bearer {token}"}
        body = {"objectTypeProperty": EXAMPLE}
        made = create_app(settings).test_client().post("/demo/resource", json=body, headers=bearer)
        path = made.headers["Location"]
        servers: dict[str, _Server] = {}
        for variant in VARIANTS:
            servers[variant] = _Server(variant, url, path, token)
            running.callback(servers[variant].stop)
            servers[variant].cpu_us()
        rounds = [{variant: server.cpu_us() for variant, server in servers.items()} for _ in range(ROUNDS)]
        click.echo("| the worker | a get takes, us | ratio to the worker as it is (half of the rounds) |")
        click.echo("|---|---|---|")
        for variant in VARIANTS:
            low, middle, high = statistics.quantiles([each[variant] / each[AS_IT_IS] for each in rounds], n=4)
            median = statistics.median(each[variant] for each in rounds)
            click.echo(f"| {variant} | {median:.0f} | {middle:.3f} ({low:.3f} to {high:.3f}) |")


if __name__ == "__main__":
    main()
