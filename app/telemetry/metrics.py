"""What the service counts, for Prometheus; ``docs/observability.md`` says what each metric means.

:data:`metrics` is the one instance of a process. Under gunicorn the processes share their numbers in a folder (see
``shared_folder.py``) by prometheus_client's multi-process mode: each counts in files of its own, and any of them
answers for all. The files of a worker that has ended keep its counts, and the next new worker goes on counting in them,
so that the folder does not grow with every worker.

Labels have few values: route templates instead of paths, known methods, codes of the error catalogue.
"""

import contextlib
import os
import struct
import time
from functools import cache
from typing import Any, Protocol, cast
from weakref import ref

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from app.telemetry.shared_folder import SharedFolder, shared_folder

CONTENT_TYPE = prometheus_client.CONTENT_TYPE_LATEST

TOKEN_CHECK_RESULTS = ("cached", "verified", "refused")
"""Remembered as valid, verified by its signature, or not valid."""

LASTING_THREADS = ("pool-metrics", "replica")
"""Threads that live as long as their process."""

CONNECTION_ENDS = ("hung_up_before_parsing", "hung_up_before_work", "too_slow", "for_others", "no_room")
"""The client had hung up; it sent a body or took an answer too slowly; it made room for others; all others worked."""

REPLICA_READ_SOURCES = ("replica", "primary")

UNKNOWN_URL, UNPARSED = "(unknown)", "(unparsed)"
"""Instead of a route: no endpoint has the URL; gunicorn could not parse the request."""

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Around a get (some ms), around the limit for a slow query (1 s), up to the statement timeout and beyond."""

_SAMPLE_INTERVAL_S = 1.0

# Prometheus does not need the time at which a series began, and the shared files do not hold it.
prometheus_client.disable_created_metrics()


class Pool(Protocol):
    """The part of psycopg's pool that the metrics need."""

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
        self.registry = CollectorRegistry()
        """The metrics of this process; :meth:`exposition` has those of all processes."""
        self._folder = folder
        self._pools: list[_WatchedPool] = []
        self._ended: list[int] = []
        """Ids of processes that have ended, in whose files none goes on yet."""

        common: dict[str, Any] = {"namespace": "sample_resource", "registry": self.registry}
        timed: dict[str, Any] = {"labelnames": ("method", "route"), "buckets": _SECONDS, **common}
        requests = Counter("http_requests", "Requests answered.", ("method", "route", "status"), **common)
        durations = Histogram(
            "http_request_duration_seconds",
            "Time from the request's arrival in the application to its answer.",
            **timed,
        )
        sql = Histogram("http_request_sql_seconds", "SQL time of the requests that sent any.", **timed)
        # A counter by its labels is looked up under a lock; a request finds it here without one.
        self._requests_of = cache(requests.labels)
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
        self.of_extensions: dict[str, Counter] = {}
        """By their names, without the prefix of all metrics."""
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
        if name not in self.of_extensions:
            self.of_extensions[name] = Counter(
                name, meaning, (label,), namespace="sample_resource", registry=self.registry
            )
        return self.of_extensions[name]

    def count_request(
        self, method: str, route: str, status: int, seconds: float, sql_seconds: float | None = None
    ) -> None:
        """Count a request that was answered.

        :param route: its template, or :data:`UNKNOWN_URL`.
        :param sql_seconds: None if it sent no SQL.
        """
        known = method if method in _METHODS else "(other)"
        self._requests_of(known, route, status).inc()
        self._durations_of(known, route).observe(seconds)
        if sql_seconds is not None:
            self._sql_of(known, route).observe(sql_seconds)

    def count_unparsed(self, status: int) -> None:
        """Count a request that gunicorn refused because it could not parse it."""
        self._requests_of("(other)", UNPARSED, status).inc()

    # Pools

    def watch_pool(self, name: str, pool: Pool) -> None:
        """Have :meth:`sample_pools` report a pool until it is closed, or dropped."""
        self._pools.append(_WatchedPool(name, pool))

    def sample_pools(self) -> None:
        """Report the pools as they are now."""
        for watched in list(self._pools):
            pool = watched.pool()
            if pool is None or pool.closed:
                self._pools.remove(watched)
                self.report_pool(watched.name, {}, {})
            else:
                now = pool.get_stats()
                self.report_pool(watched.name, now, watched.before)
                watched.before = now

    def sample_pools_periodically(self) -> None:
        """Report the pools once a second for ever: requests pay nothing, and the gauges are true when none come."""
        while True:
            self.sample_pools()
            time.sleep(_SAMPLE_INTERVAL_S)

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
        """Make the shared folder again, if there is one and it was removed: before each fork, and before it is read."""
        if self._folder is not None:
            self._folder.ensure()

    def mark_ended(self, pid: int) -> None:
        """Remove the gauges of a process that has ended, and keep its counts. In gunicorn's master."""
        if self._folder is not None:
            cast("Any", mark_process_dead)(pid, str(self._folder.path))  # declares no types
            self._ended.append(pid)

    def next_ended(self) -> int | None:
        """An ended process whose counts the next new one takes over; None if there is none. In gunicorn's master."""
        return self._ended.pop() if self._ended else None

    def take_over(self, ended: int) -> None:
        """Go on counting where a process has ended. In a new process, before it counts anything.

        Its files get the name of this process: prometheus_client goes on in files that are there.
        """
        if self._folder is None:
            return
        for kind in ("counter", "histogram"):
            own = self._folder.path / f"{kind}_{os.getpid()}.db"
            if not own.exists():  # numbers of processes come again
                with contextlib.suppress(FileNotFoundError):
                    (self._folder.path / f"{kind}_{ended}.db").rename(own)

    def exposition(self) -> bytes:
        """All metrics of all processes in Prometheus' text format."""
        if self._folder is None:
            return prometheus_client.generate_latest(self.registry)
        self.ensure_folder()
        registry = CollectorRegistry()
        MultiProcessCollector(registry, str(self._folder.path))
        for _ in range(_LOOKS_AT_NEW_FILES):
            # A process that begins makes its files and then gives them their size, or renames those of another one.
            with contextlib.suppress(struct.error, FileNotFoundError):
                return prometheus_client.generate_latest(registry)
            time.sleep(_BETWEEN_LOOKS_S)
        return prometheus_client.generate_latest(registry)


class _WatchedPool:
    """A pool and its statistics as they were last reported."""

    def __init__(self, name: str, pool: Pool) -> None:
        self.name = name
        self.pool = ref(pool)
        self.before: dict[str, int] = {}


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


metrics = Metrics(shared_folder())
"""The metrics of this process."""
