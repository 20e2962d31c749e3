"""Measures what overrides of libraries save: ``python -m benchmarks.overrides``.

One process calls the application without HTTP, in turns with an override and without it, ten requests at a time, so
that other work on the machine slows down both alike. The figures are of processor time, which does not include waits.
A whole request takes about half as much again, for gunicorn and PostgreSQL, so its share is smaller than the ratio
says. ``docs/architecture.md`` has the results. To judge a further override, add its variant to :data:`VARIANTS`.
"""

# ruff: noqa: E402 -- gevent patches modules before they are imported, as app/serving/gunicorn_settings.py does
from gevent import monkey

monkey.patch_all(os=False, signal=False, subprocess=False, queue=False)

import gc
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from unittest.mock import patch

import click
import psycopg
from flask import Flask

from app.config import Settings
from app.database import migrate
from app.database.connection import LimitedConnection
from app.database.pooled_connection import PooledConnection
from app.identity import clients, tokens
from app.serving.embedded import EmbeddedPostgres
from benchmarks.in_process import application, caller
from benchmarks.load import Load
from benchmarks.operations import EXAMPLE

REQUESTS_AT_ONCE = 10
"""Requests between two changes of the variant: few, since the speed of a shared machine changes within a second."""

Variant = Callable[[Flask], AbstractContextManager[object]]


def _without_wait(_: Flask) -> AbstractContextManager[object]:
    """With psycopg's own wait, to which the limit can be passed, but which costs a poll() object and a timer."""
    return patch.object(PooledConnection, "wait_within", LimitedConnection.wait_within)


def _nothing(_: Flask) -> AbstractContextManager[object]:
    """The same code twice: how far the ratio lies from 1 is the error of the measurement."""
    return nullcontext()


VARIANTS: dict[str, Variant] = {
    "nothing changed": _nothing,
    "without the own wait in a greenlet": _without_wait,
}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rounds", type=click.IntRange(3), default=5, show_default=True)
@click.option("--seconds", type=click.IntRange(1), default=4, show_default=True, help="Of each round and variant.")
def main(rounds: int, seconds: int) -> None:
    """Measure what overrides of libraries save."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        Path(folder).chmod(0o755)
        with EmbeddedPostgres(Path(folder) / "data", {"fsync": "off"}) as server:
            measure(server.conninfo(), rounds, seconds)


def measure(url: str, rounds: int, seconds: int) -> None:
    """Print one line for each variant and operation: the processor time of both, and the ratio."""
    migrate.upgrade(url)
    settings = Settings(database_url=url, log_format="json")
    with psycopg.connect(url, autocommit=True) as database:
        client = clients.create_client(database, "benchmark", ("manage_test:p",))
        token = tokens.issue_token(database, client.client_id, client.scopes)
    headers = {"Authorization": f"Bearer {token}"}
    with application(settings) as app:
        gc.collect()
        gc.freeze()
        body = json.dumps({"objectTypeProperty": EXAMPLE})
        creates = Load("POST", ["/p/resource"], body, {**headers, "Content-Type": "application/json"})
        create = caller(app, creates, expected="201 CREATED")
        gets = Load("GET", [f"/p/resource/{json.loads(create())['id']}"], headers=headers)
        operations = {"get by id": caller(app, gets), "create": create}
        for title, variant in VARIANTS.items():
            for name, call in operations.items():
                click.echo(_line(title, name, [compare(app, variant, call, seconds) for _ in range(rounds)]))


def compare(app: Flask, variant: Variant, call: Callable[[], object], seconds: int) -> tuple[float, float]:
    """The processor time of a call as the service is and in the variant, in microseconds: medians of the turns."""
    plain: list[float] = []
    changed: list[float] = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:  # each follows the other as often as itself
        plain.append(_processor_us(call))
        with variant(app):
            changed.append(_processor_us(call))
            changed.append(_processor_us(call))
        plain.append(_processor_us(call))
    return statistics.median(plain), statistics.median(changed)


def _processor_us(call: Callable[[], object]) -> float:
    began = time.thread_time()
    for _ in range(REQUESTS_AT_ONCE):
        call()
    return (time.thread_time() - began) / REQUESTS_AT_ONCE * 1e6


def _line(title: str, operation: str, rounds: list[tuple[float, float]]) -> str:
    ratios = sorted(changed / plain for plain, changed in rounds)
    plain_us, changed_us = (statistics.median(times) for times in zip(*rounds, strict=True))
    return (
        f"{title:<38} {operation:<10} {plain_us:6.0f} µs, so {changed_us:6.0f} µs:"
        f" {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})"
    )


if __name__ == "__main__":
    main()
