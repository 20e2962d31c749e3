"""Profiles the processor time of a get by id: ``python -m benchmarks.profile_get``.

There are three measurements. All are of processor time, which does not include waits:

- the service as ``make run`` starts it, under wrk: the cost of a request in its processes and PostgreSQL's backends;
- gunicorn with an application that answers constant bytes: the cost of HTTP;
- the application in one thread of this process, interrupted after each interval of used processor time: every sample
  counts for the stage of the request that its stack is in.

The first without the other two is what requests at the same time cost: gevent's loop, switches, colder caches.
"""

import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import ClassVar

import click

from app.config import Settings
from app.serving.embedded import EmbeddedPostgres
from benchmarks import data, load, report, usage
from benchmarks.bench import Bench, running
from benchmarks.in_process import application, caller
from benchmarks.load import Load
from benchmarks.operations import Operation
from benchmarks.servers import FOLDER, BareFlask, Server, Service, Setup

FLASK, ROUTING, AUTH, ARGUMENTS, SQL, ANSWER, LOG, OTHER = (
    "Flask: contexts, dispatch, response object",
    "routing: the path to a view",
    "auth: the gate and the remembered token",
    "arguments: flask-smorest, webargs, marshmallow",
    "SQL: pool, psycopg, cursor",
    "answer: conditions and headers",
    "correlation id, log line, metrics",
    "the rest",
)
STAGES = (FLASK, ROUTING, AUTH, ARGUMENTS, SQL, ANSWER, LOG, OTHER)

_OWN: Mapping[str, str] = {
    "database": SQL,
    "http": ANSWER,
    "http/arguments": ARGUMENTS,
    "http/bodies": ARGUMENTS,
    "http/hosts": LOG,
    "http/paths": ROUTING,
    "http/request_log": LOG,
    "identity": AUTH,
    "query": SQL,
    "resource/listing": SQL,
    "resource/params": ARGUMENTS,
    "resource/preconditions": ANSWER,
    "resource/schemas": ARGUMENTS,
    "resource/store": SQL,
    "routes": ANSWER,
    "telemetry": LOG,
    "values": ARGUMENTS,
}
"""The stage of each folder or module of ``app/``. A module's own entry takes precedence over that of its folder."""

_SAMPLED_EVERY_S = 0.001
"""The interval of processor time between samples; the kernel may round it up to its tick."""


def stage_of(frames: Sequence[tuple[str, str]]) -> str:
    """The stage that a stack is in: that of the innermost frame that begins one.

    Inside a stage of the service, frames of Flask and werkzeug begin no stage, since the service calls them.

    :param frames: file and function of each frame, the outermost first.
    """
    stage = OTHER
    for path, _ in frames:
        if "/psycopg" in path:
            stage = SQL
        elif "/app/" in path and "site-packages" not in path:
            module = path.rpartition("/app/")[2].removesuffix(".py")
            stage = _OWN.get(module) or _OWN.get(module.partition("/")[0], stage)
        elif stage in (FLASK, ROUTING, OTHER):
            if "/werkzeug/routing/" in path:
                stage = ROUTING
            elif "/flask/" in path or "/werkzeug/" in path:
                stage = FLASK
            elif "/webargs/" in path or "/flask_smorest/" in path or "/marshmallow/" in path:
                stage = ARGUMENTS
    return stage


@contextmanager
def sampled() -> Generator[Counter[str]]:
    """Count the stage that this thread is in after each :data:`_SAMPLED_EVERY_S` of processor time."""
    stages: Counter[str] = Counter()

    def take(_number: int, frame: FrameType | None) -> None:
        frames: list[tuple[str, str]] = []
        while frame is not None:
            frames.append((frame.f_code.co_filename, frame.f_code.co_name))
            frame = frame.f_back
        stages[stage_of(frames[::-1])] += 1

    before = signal.signal(signal.SIGPROF, take)
    signal.setitimer(signal.ITIMER_PROF, _SAMPLED_EVERY_S, _SAMPLED_EVERY_S)
    try:
        yield stages
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class BareGunicorn(BareFlask):
    """Gunicorn with the service's configuration and an application that answers constant bytes."""

    name = "bare-gunicorn"
    title = "gunicorn alone"
    uses_postgres: ClassVar[bool] = False
    ready_path = "/"

    def template(self) -> None:
        return None

    def command(self) -> Sequence[str]:
        return [*self.gunicorn(), "benchmarks.peers.bare_wsgi:app"]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--seconds", type=click.IntRange(2), default=10, show_default=True, help="Of each measurement.")
@click.option("--connections", type=click.IntRange(1, 128), default=8, show_default=True)
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True)
@click.option("--threads", type=click.IntRange(1), default=8, show_default=True)
@click.option("--count", type=click.IntRange(1000), default=data.COUNT, show_default=True, help="Resources.")
@click.option("--save/--no-save", default=False, help="Put the table into docs/benchmarks.md; else only print it.")
def main(seconds: int, connections: int, workers: int, threads: int, count: int, save: bool) -> None:
    """Profile a get by id under load."""
    with (
        tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
        EmbeddedPostgres(FOLDER / "data", {"max_connections": "200"}) as postgres,
    ):
        setup = Setup(postgres, data.sample(count), count, workers, threads, Path(folder))
        service, gunicorn = Service(setup), BareGunicorn(setup)
        with running([service, gunicorn]):
            bench = Bench([service, gunicorn], setup)
            try:
                text = profile(service, gunicorn, bench, seconds, connections)
            finally:
                bench.close()
    click.echo(text)
    if save:
        report.replace_part("profile", text)


def profile(service: Service, gunicorn: Server, bench: Bench, seconds: int, connections: int) -> str:
    """Measure, and return the table of stages."""
    requests = service.load(Operation.GET_BY_ID)
    assert isinstance(requests, Load)  # noqa: S101 -- only updates are not a Load
    whole: list[float] = []
    postgres: list[float] = []
    http: list[float] = []
    for part in (1, seconds / 2, seconds / 2):  # the first part is a warm-up
        for server, own_us, backends_us in ((service, whole, postgres), (gunicorn, http, list[float]())):
            own, backends = bench.processes_of(server)
            before, before_backends = usage.processor_seconds(own), usage.processor_seconds(backends)
            outcome = load.run(server.url, requests, connections, part, service.setup.folder)
            own_us.append(usage.used_between(before, usage.processor_seconds(own)) / outcome.requests * 1e6)
            used = usage.used_between(before_backends, usage.processor_seconds(backends))
            backends_us.append(used / outcome.requests * 1e6)
    calls, application_us, stages = in_process(service, requests, seconds)
    return table(
        stages,
        application_us,
        sum(whole[1:]) / 2,
        sum(http[1:]) / 2,
        sum(postgres[1:]) / 2,
        f"{calls:,} calls in one thread, {stages.total():,} samples; wrk with {connections} connections",
    )


def in_process(service: Service, requests: Load, seconds: float) -> tuple[int, float, Counter[str]]:
    """Call the application for some seconds; as :func:`timed`."""
    settings = Settings(database_url=service.conninfo, threads=service.setup.threads, log_format="json")
    with application(settings) as app:
        call = caller(app, requests, service.port)
        for _ in range(500):
            call()
        return timed(call, seconds)


def timed(call: Callable[[], object], seconds: float) -> tuple[int, float, Counter[str]]:
    """The number of calls, the microseconds of processor time of each, and the samples of as many further calls."""
    calls = 0
    deadline, began = time.monotonic() + seconds / 2, time.thread_time()
    while time.monotonic() < deadline:
        for _ in range(100):
            call()
        calls += 100
    each_us = (time.thread_time() - began) / calls * 1e6
    with sampled() as stages:
        for _ in range(calls):
            call()
    return calls, each_us, stages


def table(
    stages: Counter[str], application_us: float, whole_us: float, http_us: float, postgres_us: float, how: str
) -> str:
    """The table of stages, in Markdown."""
    total = stages.total()
    rows = [("HTTP: gunicorn alone, with constant bytes", http_us)]
    rows += [(stage, stages[stage] / total * application_us) for stage in STAGES if stages[stage]]
    rows += [
        ("requests at the same time: gevent's loop, switches, colder caches", whole_us - http_us - application_us),
        ("PostgreSQL's backend", postgres_us),
    ]
    together = whole_us + postgres_us
    lines = ["| where | µs | of all |", "|---|---:|---:|"]
    lines += [f"| {where} | {us:.0f} | {us / together:.0%} |" for where, us in rows]
    lines.append(f"| **processor time of a get by id** | **{together:.0f}** | |")
    lines.append(f"| of it, the application in one thread | {application_us:.0f} | {application_us / together:.0%} |")
    return f"Measured with `python -m benchmarks.profile_get`: {how}.\n\n" + "\n".join(lines)


if __name__ == "__main__":
    main()
