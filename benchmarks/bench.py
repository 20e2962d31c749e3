"""Compares the service with its peers on this machine: ``make bench``, or ``python -m benchmarks.bench --help``.

Each operation is measured in rounds. In a round every server has one turn, and the report shows the medians of the
rounds and the ratios between servers, which depend less on the machine than absolute figures do. A run with a refused
or unanswered request does not count; it is reported and repeated. Linux only: processor time and memory are read from
/proc.
"""

import json
import os
import platform
import resource
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from types import FrameType

import click
import psycopg

from benchmarks import data, load, report, usage
from benchmarks.operations import GOALS, Operation
from benchmarks.results import Results, Run
from benchmarks.servers import FOLDER, SERVERS, Server, ServerFailed, Setup
from tests.support.cluster import Cluster

WARM_UP_S = 1.0
ATTEMPTS = 3
"""Attempts of a run, until one counts."""

PAUSE_S = 0.2
"""The pause between two runs."""

IDLE_FOR_S, IDLE_WITHIN_S = 0.3, 60.0
"""A server's turn ends when the server was idle for the first time, at the latest after the second."""


def compared(operations: Sequence[Operation]) -> list[list[Operation]]:
    """The operations in their order, those that a goal compares with one another together."""
    groups: list[list[Operation]] = []
    for operation in operations:
        own = GOALS[operation].against_own
        group = next((group for group in groups if own is not None and own[0] in group), None)
        if group is None:
            groups.append([operation])
        else:
            group.append(operation)
    return groups


class Bench:
    """Servers that all run during the benchmark and are measured in turn."""

    def __init__(self, servers: Sequence[Server], setup: Setup) -> None:
        self._servers = servers
        self._setup = setup
        self.invalid: list[str] = []
        self._maintenance = psycopg.connect(setup.postgres.conninfo_of("postgres", superuser=True), autocommit=True)

    def close(self) -> None:
        self._maintenance.close()

    def _backends(self) -> dict[str, set[int]]:
        """The process ids of PostgreSQL's backends, by database."""
        found: defaultdict[str, set[int]] = defaultdict(set)
        for pid, database in self._maintenance.execute(
            "SELECT pid, datname FROM pg_stat_activity WHERE datname IS NOT NULL"
        ):
            found[database].add(pid)
        return found

    def processes_of(self, server: Server) -> tuple[set[int], set[int]]:
        """The process ids of a server, and of the PostgreSQL backends that work for it."""
        return server.processes(), self._backends().get(server.database, set())

    def memory_of(self, server: Server) -> usage.Memory:
        """The memory of a server's processes, and of PostgreSQL without the backends of other servers."""
        own, backends = self.processes_of(server)
        others = set[int]().union(*self._backends().values()) - backends
        return usage.memory(own | (usage.tree(self._setup.postgres.pid or 0) - others))

    def _processor_seconds(self, server: Server) -> tuple[dict[int, float], dict[int, float]]:
        own, backends = self.processes_of(server)
        return usage.processor_seconds(own), usage.processor_seconds(backends)

    def run(self, server: Server, operation: Operation, connections: int, seconds: float, round_: int) -> Run | None:
        """Measure one turn of a server; None if it does not have the operation.

        :raises InvalidRun: if an answer is not 2xx.
        """
        requests = server.load(operation)
        if requests is None:
            return None
        time.sleep(PAUSE_S)
        machine_before, wrk_before = usage.Machine.now(), _seconds_of_children()
        own_before, backends_before = self._processor_seconds(server)
        outcome = load.run(server.url, requests, connections, seconds, self._setup.folder)
        own_after, backends_after = self._processor_seconds(server)
        by_own = usage.used_between(own_before, own_after)
        by_backends = usage.used_between(backends_before, backends_after)
        by_wrk = _seconds_of_children() - wrk_before
        others = usage.Machine.now().others_since(machine_before, by_own + by_backends + by_wrk)
        memory = self.memory_of(server)
        self._wait_until_idle(server)
        return Run(
            server=server.name,
            operation=operation.value,
            connections=connections,
            round=round_,
            requests_per_s=outcome.requests / outcome.seconds,
            p50_ms=outcome.p50_us / 1000,
            p99_ms=outcome.p99_us / 1000,
            processor_s_per_1000=(by_own + by_backends) / outcome.requests * 1000,
            postgres_s_per_1000=by_backends / outcome.requests * 1000,
            others=others,
            memory_distinct=memory.distinct,
            memory_resident=memory.resident,
        )

    def _wait_until_idle(self, server: Server) -> None:
        """Wait until a server has finished the requests that it was working on when wrk ended.

        If an answer takes 40 ms, 64 connections leave seconds of work, which would slow down the next server.
        """
        deadline = time.monotonic() + IDLE_WITHIN_S
        own, backends = self._processor_seconds(server)
        while time.monotonic() < deadline:
            time.sleep(IDLE_FOR_S)
            before, (own, backends) = {**own, **backends}, self._processor_seconds(server)
            if usage.used_between(before, {**own, **backends}) <= IDLE_FOR_S * 0.1:
                return

    def run_that_counts(
        self, server: Server, operation: Operation, connections: int, seconds: float, round_: int
    ) -> Run | None:
        """As :meth:`run`, with up to :data:`ATTEMPTS` attempts; None if no attempt counts."""
        for _ in range(ATTEMPTS):
            try:
                return self.run(server, operation, connections, seconds, round_)
            except load.InvalidRun as error:
                self.invalid.append(f"{server.title}, {operation.title}, {connections} connections: {error}")
                click.echo(f"This run does not count: {self.invalid[-1]}", err=True)
        return None

    def runs(
        self, operations: Sequence[Operation], connection_counts: Sequence[int], rounds: int, seconds: float
    ) -> Iterator[Run]:
        """All runs. In each round every server has one turn, and each round begins with another server.

        Operations that a goal compares with one another follow one another in each turn.
        """
        for group in compared(operations):
            for server, operation in product(self._servers, group):
                server.check(operation)
            for connections in connection_counts:
                for server, operation in product(self._servers, group):
                    warm_up = self.run_that_counts(server, operation, connections, min(WARM_UP_S, seconds), 0)
                    self._tell(warm_up, "warm-up")
                for round_ in range(rounds):
                    first = round_ % len(self._servers)
                    for server, operation in product([*self._servers[first:], *self._servers[:first]], group):
                        run = self.run_that_counts(server, operation, connections, seconds, round_)
                        self._tell(run, f"round {round_ + 1} of {rounds}")
                        if run is not None:
                            yield run

    @staticmethod
    def _tell(run: Run | None, what: str) -> None:
        if run is not None:
            click.echo(
                f"{run.operation:<11} {run.connections:>3} connections  {what:<13} {run.server:<11}"
                f" {run.requests_per_s:>8.0f}/s  p50 {run.p50_ms:>8.2f} ms  p99 {run.p99_ms:>8.2f} ms"
                f"  {run.processor_s_per_1000:>7.3f} s/1000"
                f" (PostgreSQL {run.postgres_s_per_1000:.3f})  others {run.others:.0%}",
                err=True,
            )


def _seconds_of_children() -> float:
    """Processor seconds of child processes that have ended. Between two calls that is wrk."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def running(servers: Sequence[Server]) -> Generator[None]:
    """Start all servers, and stop them at the end, also after an exception."""
    try:
        for server in servers:
            click.echo(f"Starting {server.title} ...", err=True)
            server.start()
        yield
    finally:
        for server in servers:
            server.stop()


def machine() -> str:
    """A description of the machine: processor, cores, Linux and Python."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release()}, Python {platform.python_version()}"


_OPERATIONS = click.Choice([operation.value for operation in Operation])
_SERVERS = click.Choice([server.name for server in SERVERS])


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True, help="Turns of each server.")
@click.option("--seconds", type=click.FloatRange(1), default=3.0, show_default=True, help="Length of a turn.")
@click.option("--only", "only", type=_OPERATIONS, multiple=True, help="Measure this operation only; repeatable.")
@click.option("--peers", "peers", type=_SERVERS, multiple=True, help="Measure this server only; repeatable.")
@click.option("--connections", type=click.IntRange(1, 128), multiple=True, default=(8, 64), show_default=True)
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True, help="Processes of each server.")
@click.option("--threads", type=click.IntRange(1), default=8, show_default=True, help="Threads of each process.")
@click.option("--count", type=click.IntRange(1000), default=data.COUNT, show_default=True, help="Resources.")
@click.option("--save/--no-save", default=False, help="Write docs/benchmarks.md; else only print.")
def main(
    rounds: int,
    seconds: float,
    only: tuple[str, ...],
    peers: tuple[str, ...],
    connections: tuple[int, ...],
    workers: int,
    threads: int,
    count: int,
    save: bool,
) -> None:
    """Measure the service against its peers."""
    if not Path("/proc/self/smaps_rollup").exists():
        raise click.ClickException("This needs Linux: processor time and memory are read from /proc.")
    chosen = [server for server in SERVERS if not peers or server.name in peers]
    operations = [operation for operation in Operation if not only or operation.value in only]
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, _end)  # a shell starts background jobs with SIGINT ignored
    try:
        load.find_wrk()
        results = measure(chosen, operations, connections, rounds, seconds, workers, threads, count)
    except (load.MissingTool, ServerFailed) as error:
        raise click.ClickException(str(error)) from None
    report.LATEST.write_text(json.dumps(asdict(results), indent=1))
    click.echo(report.markdown(results))
    if save:
        report.save(results)


def measure(
    chosen: Sequence[type[Server]],
    operations: Sequence[Operation],
    connections: Sequence[int],
    rounds: int,
    seconds: float,
    workers: int,
    threads: int,
    count: int,
) -> Results:
    """Start PostgreSQL and the servers, measure all operations, and stop everything."""
    began = datetime.now(UTC)
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
        Cluster(FOLDER / "data", {"max_connections": str(100 + 3 * workers * threads * len(chosen))}) as postgres,
    ):
        setup = Setup(postgres, data.sample(count), count, workers, threads, Path(folder))
        servers = [server(setup) for server in chosen]
        with running(servers):
            bench = Bench(servers, setup)
            try:
                runs = list(bench.runs(operations, connections, rounds, seconds))
            finally:
                bench.close()
    return Results(
        command="make bench" + "".join(f" {argument}" for argument in _as_given()),
        began=began.isoformat(timespec="minutes"),
        machine=machine(),
        rounds=rounds,
        seconds=seconds,
        workers=workers,
        threads=threads,
        count=count,
        titles={server.name: server.title for server in chosen},
        runs=runs,
        invalid=bench.invalid,
    )


def _end(number: int, _frame: FrameType | None) -> None:
    """Exit by an exception, so that servers and databases that were started are stopped."""
    click.echo(f"Ended by {signal.Signals(number).name}.", err=True)
    sys.exit(1)


def _as_given() -> list[str]:
    arguments = " ".join(sys.argv[1:])
    return [f'ARGS="{arguments}"'] if arguments else []


if __name__ == "__main__":
    main()
