"""The metrics of the service for Prometheus. ``docs/observability.md`` says what each of them means.

:data:`metrics` is the only instance in a process. Under gunicorn, with METRICS_TOKEN, the processes share their metrics
    in a folder (see ``shared_folder.py``) by prometheus_client's multi-process mode: each process writes its own files,
    and each can answer with the metrics of all processes. The files of an ended worker keep its counts.

Labels have few values: route templates instead of paths, known methods, codes of the error catalogue.
"""

import struct
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from app.telemetry.shared_folder import shared_folder

CONTENT_TYPE = prometheus_client.CONTENT_TYPE_LATEST

TOKEN_CHECK_RESULTS = ("cached", "verified", "refused")
"""The results of checking a token: remembered as valid, found valid in the database, or not valid."""

UNKNOWN_URL, UNPARSED = "(unknown)", "(unparsed)"
"""Values of the label ``route`` for a request to an unknown URL or with a method that the URL does not have, and for a
request that gunicorn could not parse, or that failed outside of the application."""

OTHER_METHOD = "(other)"
"""The value of the label ``method`` for a method that the service does not have, or that is not known."""

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The buckets of durations: fine around a get (some ms) and around a slow query (1 s), up to beyond the default of
the statement timeout."""

# Prometheus does not need the time at which a series began, and the shared files do not contain it.
prometheus_client.disable_created_metrics()


PoolStatistics = Callable[[], dict[str, int] | None]
"""Returns the statistics of a pool, by psycopg's names; None if the pool is closed."""


class Metrics:
    """The metrics of a process.

    :param folder: the folder in which the process shares its metrics with others; None if it does not share them. It
        has to be the result of :func:`app.telemetry.shared_folder.shared_folder`, because prometheus_client chooses its
        mode when it is imported.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.registry = CollectorRegistry()
        """The metrics of this process alone. :meth:`exposition` has those of all processes."""
        self._folder = folder
        self._pools: dict[PoolStatistics, dict[str, int]] = {}
        """The statistics of each watched pool at the last report."""

        # The arguments that all metrics have in common.
        common: dict[str, Any] = {"namespace": "sample_resource", "registry": self.registry}
        # prometheus_client adds _total to the name of a counter. The mode of a gauge says how the values of several
        # processes become one: "livesum" adds them up, and "livemostrecent" takes the value that was set last. Both
        # leave out processes that have ended.
        self._counter = counter = partial(Counter, **common)
        gauge = partial(Gauge, **common)
        seconds = partial(Histogram, buckets=_SECONDS, **common)
        route = ("method", "route")
        requests = counter("http_requests", "Requests answered.", (*route, "status"))
        durations = seconds(
            "http_request_duration_seconds", "Time from the request's arrival in the application to its answer.", route
        )
        sql = seconds("http_request_sql_seconds", "SQL time of the requests that sent any.", route)
        # prometheus_client looks a metric up by its labels under a lock. These caches spare a request the lock.
        self._requests_of = cache(requests.labels)
        self._durations_of = cache(durations.labels)
        self._sql_of = cache(sql.labels)
        self.refusals = counter("refusals", "Errors answered, by the code of their first fault.", ("code",))
        self.database_refusals = counter("database_refusals", "Work that the database did not do: 503.", ("reason",))
        self.waits = seconds(
            "admission_wait_seconds",
            "Time that requests waited until their lane and project could have a connection, if they waited.",
            ("lane",),
        )
        self.of_extensions: dict[str, Counter] = {}
        """The counters of extensions, by their names without the common prefix."""
        self.token_checks = counter("token_checks", "Access tokens checked.", ("result",))
        check_gauge = partial(gauge, labelnames=("check",), multiprocess_mode="livemostrecent")
        self.ready = check_gauge("ready", "Whether a condition of readiness held when last asked.")
        self.warning = check_gauge(
            "warning", "Whether a condition needed an operator when last asked, although requests are served."
        )
        summed = partial(gauge, multiprocess_mode="livesum")
        self._pool_connections = summed("pool_connections", "Database connections.", ("state",))
        self._pool_limit = summed("pool_connections_max", "Database connections for requests that there may be.")
        self._pool_waiting = summed("pool_waiting", "Requests that wait for a database connection.")
        self._pool_counters = {
            statistic: (counter(name, meaning), factor) for statistic, name, meaning, factor in _POOL_STATISTICS
        }
        """For each statistic of a pool, its counter and the factor that converts it to the counter's unit."""

    # Extensions and requests

    def counter_of(self, name: str, meaning: str, label: str) -> Counter:
        """The extension's counter with this name. The first call for a name makes the counter; later calls return it.

        :param label: the name of the counter's only label.
        """
        if name not in self.of_extensions:
            self.of_extensions[name] = self._counter(name, meaning, (label,))
        return self.of_extensions[name]

    def count_request(
        self, method: str, route: str, status: int, seconds: float | None = None, sql_seconds: float | None = None
    ) -> None:
        """Count an answered request.

        :param route: the template of its route, or :data:`UNKNOWN_URL` or :data:`UNPARSED`.
        :param seconds: the time until its answer; None if it never reached the application.
        :param sql_seconds: the time of its SQL statements; None if it had none.
        """
        known = method if method in _METHODS else OTHER_METHOD
        self._requests_of(known, route, status).inc()
        if seconds is not None:
            self._durations_of(known, route).observe(seconds)
        if sql_seconds is not None:
            self._sql_of(known, route).observe(sql_seconds)

    # Pools

    def watch_pool(self, statistics: PoolStatistics) -> None:
        """Make :meth:`sample_pools` report a pool until the pool is closed."""
        self._pools[statistics] = {}

    def sample_pools(self) -> None:
        """Update the metrics of all watched pools. Called once a second, so that requests need not update them."""
        for read, before in list(self._pools.items()):  # a copy, since another greenlet may add a pool
            now = read()
            self.report_pool(now or {}, before)  # a closed pool has no connections
            if now is None:
                self._pools.pop(read, None)
            else:
                self._pools[read] = now

    def report_pool(self, now: dict[str, int], before: dict[str, int]) -> None:
        """Add the growth of a pool's statistics to the counters, and set the gauges to the pool's current statistics.
        If a process has several pools, its gauges show the pool that was reported last.

        :param now: the statistics of the pool, under psycopg's names; empty for a closed pool.
        :param before: the statistics at the last report; empty for the first report.
        """
        size, idle = now.get("pool_size", 0), now.get("pool_available", 0)
        self._pool_connections.labels("idle").set(idle)
        # psycopg reads the two numbers one after the other, so ``idle`` can exceed ``size``.
        self._pool_connections.labels("in_use").set(max(0, size - idle))
        self._pool_limit.set(now.get("pool_max", 0))
        self._pool_waiting.set(now.get("requests_waiting", 0))
        for statistic, (counter, factor) in self._pool_counters.items():
            # psycopg leaves out statistics that are zero, and a closed pool has none. max: without statistics the
            # difference is negative, and a counter cannot fall.
            counter.inc(max(0, now.get(statistic, 0) - before.get(statistic, 0)) * factor)

    # Processes

    def mark_ended(self, pid: int) -> None:
        """Remove the gauges of an ended process, and keep its counts. To be called in gunicorn's master."""
        if self._folder is not None:
            cast("Any", mark_process_dead)(pid, str(self._folder))  # it has no type annotations

    def exposition(self) -> bytes:
        """The metrics of all processes in Prometheus' text format; without a shared folder, only those of this process.

        :raises struct.error: if a starting process has left its files without a size for more than a second.
        :raises ValueError: if somebody has removed the folder.
        """
        if self._folder is None:
            return prometheus_client.generate_latest(self.registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry, str(self._folder))
        for _ in range(_LOOKS_AT_NEW_FILES):
            with suppress(struct.error):  # a process that starts makes its files before it gives them a size
                return prometheus_client.generate_latest(registry)
            time.sleep(_BETWEEN_LOOKS_S)
        return prometheus_client.generate_latest(registry)


_LOOKS_AT_NEW_FILES, _BETWEEN_LOOKS_S = 50, 0.02
"""A second in all."""

_POOL_STATISTICS = (
    ("requests_num", "pool_requests", "Attempts to take a connection.", 1.0),
    ("requests_queued", "pool_waits", "Requests that waited for a connection that others used.", 1.0),
    ("requests_wait_ms", "pool_wait_seconds", "Time of these waits.", 0.001),
    ("requests_errors", "pool_timeouts", "Requests that waited for one in vain, or had no room to wait.", 1.0),
    ("connections_errors", "pool_connection_errors", "Attempts to connect that failed.", 1.0),
    ("connections_lost", "pool_connections_lost", "Connections found broken.", 1.0),
)
"""The counters of pools: the statistic of psycopg's pool, or of the admission under such a name, the metric, its help,
and the factor to Prometheus' base unit."""


metrics = Metrics(shared_folder())
"""The metrics of this process."""
