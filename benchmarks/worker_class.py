"""Compares two worker classes of gunicorn, the service's own and gthread, in turns on one database.

Run it with ``python -m benchmarks.worker_class`` in the repository's folder; it needs wrk. Each runs two workers with
eight database connections per worker. The first table has throughput and processor time, the second the latency of an
ordinary client while others are slow.
"""

import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import click
import psutil
import psycopg

from app.config import Settings
from app.database import migrate
from app.identity import issued_tokens, signing_keys
from app.serving.embedded import EmbeddedPostgres
from tests.faults.attackers import Attackers, kinds, ordinary_client
from tests.support.api import EXAMPLE
from tests.support.ports import free_port
from tests.support.server import NotReady, start_server

GUNICORN = [sys.executable, "-m", "gunicorn"]
CLASSES = {
    # As many threads as the pool has connections; the other settings as in app/serving/gunicorn_settings.py.
    "threads": [
        "-c",
        os.devnull,
        "-w2",
        "-k",
        "gthread",
        "--threads=8",
        "--keep-alive=75",
        "--log-level=warning",
        "wsgi:app",
    ],
    "greenlets": ["-c", "gunicorn.conf.py", "wsgi:app"],
}


class _Server:
    def __init__(self, name: str, url: str) -> None:
        self.port = free_port()
        environment = {**os.environ, "DATABASE_URL": url, "PORT": str(self.port), "WORKERS": "2", "THREADS": "8"}
        listen = ["-b", f"127.0.0.1:{self.port}"]
        try:
            self.process = start_server([*GUNICORN, *listen, *CLASSES[name]], self.port, environment)
        except NotReady as error:
            raise click.ClickException(f"{name}: {error}") from None

    def family(self) -> list[psutil.Process]:
        master = psutil.Process(self.process.pid)
        return [master, *master.children()]

    def cpu_s(self) -> float:
        return sum(sum(process.cpu_times()[:2]) for process in self.family())


def _wrk(server: _Server, path: str, connections: int, seconds: int, options: list[str]) -> tuple[float, float, float]:
    """Requests per second, p99 in milliseconds, and processor microseconds of the workers per request."""
    before = server.cpu_s()
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", *options]
    target = f"http://127.0.0.1:{server.port}{path}"
    shown = subprocess.run([*command, target], capture_output=True, text=True, check=True).stdout  # noqa: S603 -- wrk
    used = server.cpu_s() - before
    if "Non-2xx" in shown or "timeout" in shown:
        return float("nan"), float("nan"), float("nan")
    count = int(re.findall(r"(\d+) requests in", shown)[0])
    value, unit = re.findall(r"99%\s+([\d.]+)(us|ms|s)", shown)[0]
    return count / seconds, float(value) * {"us": 0.001, "ms": 1.0, "s": 1000.0}[unit], used / count * 1e6


def _median(values: list[float]) -> float:
    valid = [value for value in values if value == value]  # NaN, a run with refused requests, differs from itself
    return statistics.median(valid) if valid else float("nan")


@click.command(help=__doc__)
@click.option("--rounds", default=5, show_default=True)
@click.option("--seconds", default=3, show_default=True)
@click.option("--slow", default=200, show_default=True, help="Slow clients.")
def main(rounds: int, seconds: int, slow: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="sample-resource-worker-class-"))
    folder.chmod(0o755)
    servers: dict[str, _Server] = {}
    try:
        with EmbeddedPostgres(folder / "data") as postgres:
            url = postgres.conninfo()
            migrate.upgrade(url)
            with psycopg.connect(url, autocommit=True) as connection:
                signing_keys.ensure_signing_key(connection)
                scopes = ("manage_test:bench",)
                token = issued_tokens.issue_token(connection, Settings().issuer, "bench", scopes, 86400)
            try:
                for name in CLASSES:
                    servers[name] = _Server(name, url)
                _measure(servers, token, folder, rounds, seconds, slow)
            finally:
                for server in servers.values():
                    server.process.send_signal(signal.SIGTERM)
                for server in servers.values():
                    server.process.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measure(servers: dict[str, _Server], token: str, folder: Path, rounds: int, seconds: int, slow: int) -> None:
    body = json.dumps({"objectTypeProperty": EXAMPLE})
    script = folder / "create.lua"
    script.write_text(f'wrk.method="POST"\nwrk.headers["Content-Type"]="application/json"\nwrk.body=[[{body}]]\n')
    bearer = f"Authorization: Bearer {token}"
    any_server = next(iter(servers.values()))
    create = urllib.request.Request(
        f"http://127.0.0.1:{any_server.port}/bench/resource",
        body.encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    resource: dict[str, str] = {}
    for _ in range(40):
        with urllib.request.urlopen(create) as answer:  # noqa: S310 -- the server started above
            resource = json.load(answer)
    paths = {
        "get by id": (f"/bench/resource/{resource['id']}", ["-H", bearer]),
        "page of 20": ("/bench/resource/sorted-query-parameters?withTotal=false", ["-H", bearer]),
        "create": ("/bench/resource", ["-H", bearer, "-s", str(script)]),
    }
    click.echo("| request | connections | greenlets to threads, requests/s | CPU us a request | p99 ms |")
    click.echo("|---|---|---|---|---|")
    for what, (path, options) in paths.items():
        for connections in (8, 64):
            runs: dict[str, list[tuple[float, float, float]]] = {name: [] for name in servers}
            for _ in range(rounds):
                for name, server in servers.items():
                    runs[name].append(_wrk(server, path, connections, seconds, options))
            ratio = _median(
                [ours[0] / theirs[0] for ours, theirs in zip(runs["greenlets"], runs["threads"], strict=True)]
            )
            cpu = [f"{_median([run[2] for run in runs[name]]):.0f}" for name in ("greenlets", "threads")]
            p99 = [f"{_median([run[1] for run in runs[name]]):.0f}" for name in ("greenlets", "threads")]
            click.echo(f"| {what} | {connections} | {ratio:.2f} | {' to '.join(cpu)} | {' to '.join(p99)} |")
    click.echo(f"\n| {slow} slow clients | worker | answered | failed | median ms | p99 ms |")
    click.echo("|---|---|---|---|---|---|")
    for kind in kinds(token, "bench"):
        for name, server in servers.items():
            with Attackers(server.port, kind, slow):
                seen = ordinary_client(server.port, paths["get by id"][0], token, 6.0)
            click.echo(
                f"| {kind.name} | {name} | {seen.count - seen.failed} | {seen.failed}"
                f" | {seen.median * 1000:.0f} | {seen.p99 * 1000:.0f} |"
            )


if __name__ == "__main__":
    main()
