"""Measures what one busy project costs another: ``python -m benchmarks.fairness``.

wrk sends gets by id to one project, in turns while the service is quiet and while another project keeps sixteen slow,
legal searches under way: three facets over arrays, over all its resources. Then it opens many connections at once on a
service that has just started, beside other work on the machine.
"""

import http.client
import json
import multiprocessing
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click

from benchmarks import data, load
from benchmarks.bench import running
from benchmarks.load import InvalidRun, Load
from benchmarks.operations import EXAMPLE
from benchmarks.servers import FOLDER, Service, Setup
from tests.support.cluster import Cluster

SEARCHES = 16
SEARCH = "?facet=arrayOfStringExample&facet=arrayOfIntExample&facet=arrayOfUniqueIntExample"
CONNECTIONS = 8


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option("--seconds", type=click.IntRange(1), default=4, show_default=True, help="Of each turn.")
@click.option("--count", type=click.IntRange(1000), default=300_000, show_default=True, help="Resources.")
def main(rounds: int, seconds: int, count: int) -> None:
    """Measure what one busy project costs another, and what a burst of connections meets."""
    with (
        tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
        Cluster(FOLDER / "data", {"max_connections": "200"}) as postgres,
    ):
        setup = Setup(postgres, data.sample(count), count, 2, 8, Path(folder))
        service = Service(setup)
        with running([service]):
            tenants(service, rounds, seconds)
        for connections in (64, 256, 800):
            with running([service]), busy_machine():
                burst(service, connections)


def tenants(service: Service, rounds: int, seconds: int) -> None:
    """Print the gets of a project that is quiet, and the same beside the searches of another."""
    gets = Load("GET", [f"/{data.NEW_PROJECT}/resource/{_created(service)}"], headers=service.headers())
    load.run(service.url, gets, CONNECTIONS, 1, service.setup.folder)
    ratios: list[float] = []
    for _ in range(rounds):
        quiet = load.run(service.url, gets, CONNECTIONS, seconds, service.setup.folder)
        with searching(service) as statuses:
            beside = load.run(service.url, gets, CONNECTIONS, seconds, service.setup.folder)
        ratios.append(beside.requests / beside.seconds / (quiet.requests / quiet.seconds))
        click.echo(
            f"gets: quiet {quiet.requests / quiet.seconds:.0f}/s, p99 {quiet.p99_us / 1000:.1f} ms;"
            f" beside {beside.requests / beside.seconds:.0f}/s, p99 {beside.p99_us / 1000:.1f} ms;"
            f" ratio {ratios[-1]:.2f}; searches {dict(statuses)}"
        )
    click.echo(f"median ratio {statistics.median(ratios):.2f}")


def burst(service: Service, connections: int) -> None:
    """Print how many gets a burst of connections has had refused."""
    gets = Load(
        "GET", [f"/{data.PROJECT}/resource/{id_}" for id_ in service.setup.sample.ids], headers=service.headers()
    )
    try:
        done = load.run(service.url, gets, connections, 5, service.setup.folder)
    except InvalidRun as refused:
        click.echo(f"burst of {connections}: {refused}")
    else:
        click.echo(f"burst of {connections}: {done.requests} answered, none refused, p99 {done.p99_us / 1000:.0f} ms")


@contextmanager
def searching(service: Service) -> Generator[Counter[int]]:
    """Keep slow searches under way; gives how often each status was answered."""
    statuses: Counter[int] = Counter()
    stop = threading.Event()

    def search() -> None:
        while not stop.is_set():
            statuses[_send(service, "GET", f"/{data.PROJECT}/resource/searchApiPattern{SEARCH}")[0]] += 1

    threads = [threading.Thread(target=search) for _ in range(SEARCHES)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    try:
        yield statuses
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@contextmanager
def busy_machine() -> Generator[None]:
    """Keep one core busy with other work."""
    process = multiprocessing.get_context("spawn").Process(target=_compute, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def _compute() -> None:
    while True:
        sum(range(1000))


def _created(service: Service) -> str:
    body = json.dumps({"objectTypeProperty": EXAMPLE})
    status, text = _send(service, "POST", f"/{data.NEW_PROJECT}/resource", body)
    if status != 201:
        raise click.ClickException(text)
    return json.loads(text)["id"]


def _send(service: Service, method: str, path: str, body: str | None = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    try:
        connection.request(method, path, body, {**service.headers(), "Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


if __name__ == "__main__":
    main()
