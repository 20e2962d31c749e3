"""What the service counts, for Prometheus; ``docs/observability.md`` says what each metric means.

:data:`metrics` is the one instance of a process. Under gunicorn the processes share their numbers in a folder (see
``shared_folder.py``), and any of them answers for all. A process that ends leaves its files there: they are merged into
one file for all exited processes, so that counts are kept and the folder does not grow with every worker.

Labels have few values: route templates instead of paths, known methods, codes of the error catalogue.
"""

import contextlib
import struct
import threading
import time
from collections import Counter as Totals
from collections import deque
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast
from weakref import ref

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from app.telemetry.shared_folder import SharedFolder, shared_folder

Noted = TypeVar("Noted")

CONTENT_TYPE = prometheus_client.CONTENT_TYPE_LATEST

NOTED_AT_MOST = 1000
"""Requests, or token checks, that are kept in memory before they are added to the metrics."""

TOKEN_CHECK_RESULTS = ("cached", "verified", "refused")
"""Remembered as valid, verified by its signature, or not valid."""

LASTING_THREADS = ("metrics", "metrics-flush", "replica")
"""Threads that live as long as their process."""

CONNECTION_ENDS = ("hung_up_before_parsing", "hung_up_before_work", "too_slow", "for_others", "no_room")
"""The client had hung up; it sent a body or took an answer too slowly; it made room for others; all others worked."""

REPLICA_READ_SOURCES = ("replica", "primary")

UNKNOWN_URL, UNPARSED = "(unknown)", "(unparsed)"
"""Instead of a route: no endpoint has the URL; gunicorn could not parse the request."""

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Around a get (some ms), around the limit for a slow query (1 s), up to the statement timeout and beyond."""

_FLUSH_INTERVAL_S = 0.5

# Prometheus does not need the time at which a series began, and the shared files do not hold it.
prometheus_client.disable_created_metrics()


class Pool(Protocol):
    """What is needed of psycopg's pool."""

    @property
    def closed(self) -> bool:
        """Whether it hands out no more connections."""
        ...

    def get_stats(self) -> dict[str, int]:
        """Its statistics, by psycopg's names."""
        ...


class Metrics:
    """The metrics of a process.

    :param folder: where the process shares its numbers with others; None if it does not. prometheus_client must have
        been imported in the mode that fits, which :func:`app.telemetry.shared_folder.shared_folder` tells.
    """

    def __init__(self, folder: SharedFolder | None = None) -> None:
        self.pool_sample_interval_s = 1.0
        self.registry = CollectorRegistry()
        """The metrics of this process; :meth:`exposition` has those of all processes."""
        self._folder = folder
        self._requests_noted: deque[tuple[str, str, int, float, float | None]] = deque()
        self._token_checks_noted: deque[str] = deque()

        common: dict[str, Any] = {"namespace": "sample_resource", "registry": self.registry}
        timed: dict[str, Any] = {"labelnames": ("method", "route"), "buckets": _SECONDS, **common}
        self._requests = Counter("http_requests", "Requests answered.", ("method", "route", "status"), **common)
        durations = Histogram(
            "http_request_duration_seconds",
            "Time from the request's arrival in the application to its answer.",
            **timed,
        )
        sql = Histogram("http_request_sql_seconds", "SQL time of the requests that sent any.", **timed)
        self._durations_of = cache(durations.labels)
        self._sql_of = cache(sql.labels)
        self.refusals = Counter("refusals", "Errors answered, by the code of their first fault.", ("code",), **common)
        self.database_refusals = Counter(
            "database_refusals",
            "Work that the database did not do: 503, unless tried elsewhere.",
            ("reason",),
            **common,
        )
        self.replica_reads = Counter(
            "replica_reads", "Reads that a replica may answer, by the database that did.", ("source",), **common
        )
        self.waits = Histogram(
            "admission_wait_seconds",
            "Time that requests waited for connections that others used, of those that waited.",
            ("lane",),
            buckets=_SECONDS,
            **common,
        )
        self._of_extensions: dict[str, Counter] = {}
        self.connections_ended = Counter(
            "connections_ended", "Connections that the service ended, by the reason.", ("reason",), **common
        )
        self.thread_failures = Counter(
            "thread_failures", "Errors that would have ended a thread which has to live.", ("thread",), **common
        )
        self.token_checks = Counter("token_checks", "Access tokens checked.", ("result",), **common)
        self.ready = Gauge(
            "ready",
            "Whether a condition of readiness held when last asked.",
            ("check",),
            multiprocess_mode="livemostrecent",
            **common,
        )
        self.warning = Gauge(
            "warning",
            "Whether something needed somebody when last asked, although requests are served.",
            ("check",),
            multiprocess_mode="livemostrecent",
            **common,
        )
        summed: dict[str, Any] = {"multiprocess_mode": "livesum", **common}
        self._pool_connections = Gauge("pool_connections", "Database connections.", ("pool", "state"), **summed)
        self._pool_limit = Gauge("pool_connections_max", "Database connections that there may be.", ("pool",), **summed)
        self._pool_waiting = Gauge("pool_waiting", "Requests that wait for a database connection.", ("pool",), **summed)
        self._pool_counters = {
            statistic: (Counter(name, meaning, ("pool",), **common), factor)
            for statistic, name, meaning, factor in _POOL_STATISTICS
        }

    # Requests and tokens

    def counter_of(self, name: str, meaning: str, label: str) -> Counter:
        """The counter of an extension."""
        if name not in self._of_extensions:
            self._of_extensions[name] = Counter(
                name, meaning, (label,), namespace="sample_resource", registry=self.registry
            )
        return self._of_extensions[name]

    def count_request(
        self, method: str, route: str, status: int, seconds: float, sql_seconds: float | None = None
    ) -> None:
        """Count a request that was answered.

        The request is noted, and :meth:`flush` adds it to the metrics together with many others: with shared metrics
        that takes about 7 µs of processor time a request, adding each at once takes 14.

        :param route: its template, or :data:`UNKNOWN_URL`.
        :param sql_seconds: None if it sent no SQL.
        """
        self._requests_noted.append((method, route, status, seconds, sql_seconds))
        if len(self._requests_noted) > NOTED_AT_MOST:
            self.flush()

    def count_unparsed(self, status: int) -> None:
        """Count a request that gunicorn refused because it could not parse it."""
        self._requests.labels("(other)", UNPARSED, status).inc()

    def count_token_check(self, result: str) -> None:
        """Count a check of an access token: one of :data:`TOKEN_CHECK_RESULTS`. It is noted as a request is."""
        self._token_checks_noted.append(result)
        if len(self._token_checks_noted) > NOTED_AT_MOST:
            self.flush()

    def flush(self) -> None:
        """Add to the metrics what has been noted. Several threads may do this at once."""
        requests = Totals[tuple[str, str, int]]()
        for method, route, status, seconds, sql_seconds in _drained(self._requests_noted):
            known = method if method in _METHODS else "(other)"
            requests[known, route, status] += 1
            self._durations_of(known, route).observe(seconds)
            if sql_seconds is not None:
                self._sql_of(known, route).observe(sql_seconds)
        for labels, number in requests.items():
            self._requests.labels(*labels).inc(number)
        for result, number in Totals(_drained(self._token_checks_noted)).items():
            self.token_checks.labels(result).inc(number)

    def flush_periodically(self) -> None:
        """Flush twice a second for ever, so that other processes find the numbers."""
        while True:
            time.sleep(_FLUSH_INTERVAL_S)
            self.ensure_folder()
            self.flush()

    # Pools

    def watch_pool(self, name: str, pool: Pool) -> None:
        """Report a pool as long as it is open, from a thread that reads its statistics once a second.

        This costs requests nothing, and the gauges stay true when no requests come.
        """
        # The thread does not keep alive a pool that is dropped without being closed.
        threading.Thread(target=self._watch, args=(name, ref(pool)), name=f"watch-{name}", daemon=True).start()

    def _watch(self, name: str, pool_reference: "ref[Pool]") -> None:
        before: dict[str, int] = {}
        while (pool := pool_reference()) is not None and not pool.closed:
            now = pool.get_stats()
            self.report_pool(name, now, before)
            before = now
            del pool
            time.sleep(self.pool_sample_interval_s)
        self.report_pool(name, {}, {})

    def report_pool(self, name: str, now: dict[str, int], before: dict[str, int]) -> None:
        """Set the gauges of a pool, and add to its counters how its statistics have grown.

        :param now: psycopg's statistics of the pool.
        :param before: those of the last report; empty for the first.
        """
        size, idle = now.get("pool_size", 0), now.get("pool_available", 0)
        self._pool_connections.labels(name, "idle").set(idle)
        self._pool_connections.labels(name, "in_use").set(max(0, size - idle))
        self._pool_limit.labels(name).set(now.get("pool_max", 0))
        self._pool_waiting.labels(name).set(now.get("requests_waiting", 0))
        for statistic, (counter, factor) in self._pool_counters.items():
            # psycopg leaves out statistics that are zero.
            counter.labels(name).inc(max(0, now.get(statistic, 0) - before.get(statistic, 0)) * factor)

    # Processes

    def ensure_folder(self) -> None:
        """Make the shared folder again, if there is one and it was removed: before each fork, and periodically."""
        if self._folder is not None:
            self._folder.ensure()

    def merge_exited(self, pid: int) -> None:
        """Keep the counts of a process that has ended, and remove its files and its gauges."""
        if self._folder is None:
            return
        with self._folder.locked() as folder:
            for kind in ("counter", "histogram"):
                of_process = folder / f"{kind}_{pid}.db"
                if of_process.exists():
                    _add_values(of_process, folder / f"{kind}_exited.db")
                    of_process.unlink()
            cast("Any", mark_process_dead)(pid, str(folder))  # declares no types

    def exposition(self) -> bytes:
        """All metrics of all processes in Prometheus' text format."""
        self.flush()
        if self._folder is None:
            return prometheus_client.generate_latest(self.registry)
        with self._folder.locked() as folder:
            registry = CollectorRegistry()
            MultiProcessCollector(registry, str(folder))
            for _ in range(_LOOKS_AT_NEW_FILES):
                # A process that begins makes its files and then gives them their size, without the lock.
                with contextlib.suppress(struct.error):
                    return prometheus_client.generate_latest(registry)
                time.sleep(_BETWEEN_LOOKS_S)
            return prometheus_client.generate_latest(registry)


_LOOKS_AT_NEW_FILES, _BETWEEN_LOOKS_S = 50, 0.02

_POOL_STATISTICS = (
    ("requests_num", "pool_requests", "Connections asked for.", 1.0),
    ("requests_queued", "pool_waits", "Connections that had to be waited for.", 1.0),
    ("requests_wait_ms", "pool_wait_seconds", "Time of these waits.", 0.001),
    ("requests_errors", "pool_timeouts", "Waits that were in vain.", 1.0),
    ("connections_errors", "pool_connection_errors", "Attempts to connect that failed.", 1.0),
    ("connections_lost", "pool_connections_lost", "Connections found broken.", 1.0),
)
"""What psycopg's pool counts (``get_stats``), the metric, its help, and the factor to Prometheus' base units."""


def _drained(queue: deque[Noted]) -> Generator[Noted]:
    """Remove and give what is in a queue."""
    with contextlib.suppress(IndexError):
        while True:
            yield queue.popleft()


def _add_values(source: Path, target: Path) -> None:
    """Add the values of one file of prometheus_client to those of another, which is made if there is none.

    prometheus_client has no public function for it; ``tests/telemetry/test_upstream.py`` fails if the file format or
    the names of these files change.
    """
    sums: Any = MmapedDict(str(target))
    try:
        for key, value, timestamp, _ in cast("Any", MmapedDict).read_all_values_from_file(str(source)):
            sums.write_value(key, sums.read_value(key)[0] + value, timestamp)
    finally:
        sums.close()


metrics = Metrics(shared_folder())
"""The metrics of this process."""
