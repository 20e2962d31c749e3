"""What the service counts of itself, for Prometheus; ``docs/observability.md`` says what each metric means.

Under gunicorn every process writes its numbers into files of its own in one folder, and whoever is asked adds them up
(prometheus_client's multi-process mode). What a process counted stays counted when it ends: its numbers move into
files for all that have ended, so that the folder does not grow with every worker that is replaced.

Labels have few values: route templates and not paths, known methods, codes of the catalogue. All metrics have labels,
since one without would be stored where :func:`share_between_processes`, which is called after this module is loaded,
does not reach it.
"""

import atexit
import contextlib
import fcntl
import os
import shutil
import tempfile
import threading
import time
from collections import Counter as Totals
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast
from weakref import ref

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, values
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

Noted = TypeVar("Noted")

CONTENT_TYPE = prometheus_client.CONTENT_TYPE_LATEST

# When a series began, beside each: noise that the shared files do not have either.
prometheus_client.disable_created_metrics()

_REGISTRY = CollectorRegistry()
_COMMON: dict[str, Any] = {"namespace": "sample_resource", "registry": _REGISTRY}

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Around a get (some ms), around the goal of a slow query (1 s), up to the statement timeout and beyond."""

_REQUESTS = Counter("http_requests", "Requests answered.", ("method", "route", "status"), **_COMMON)
_DURATIONS = Histogram(
    "http_request_duration_seconds",
    "Time from the request's arrival in the application to its answer.",
    ("method", "route"),
    buckets=_SECONDS,
    **_COMMON,
)
_SQL = Histogram(
    "http_request_sql_seconds",
    "SQL time of the requests that sent any.",
    ("method", "route"),
    buckets=_SECONDS,
    **_COMMON,
)
REFUSALS = Counter("refusals", "Errors answered, by the code of their first fault.", ("code",), **_COMMON)
DATABASE_REFUSALS = Counter(
    "database_refusals", "Work that the database did not do: 503, unless tried elsewhere.", ("reason",), **_COMMON
)
REPLICA_READS = Counter(
    "replica_reads", "Reads that a replica may answer, by the database that did.", ("source",), **_COMMON
)
REPLICA_READ_SOURCES = ("replica", "primary")
TOKEN_CHECKS = Counter("token_checks", "Access tokens checked.", ("result",), **_COMMON)
TOKEN_CHECK_RESULTS = ("cached", "verified", "refused")
"""Remembered as valid, verified by its signature, or not valid."""
READY = Gauge(
    "ready",
    "Whether a condition of readiness held when last asked.",
    ("check",),
    multiprocess_mode="livemostrecent",
    **_COMMON,
)
_OF_ALL: dict[str, Any] = {"multiprocess_mode": "livesum", **_COMMON}
_POOL_CONNECTIONS = Gauge("pool_connections", "Database connections.", ("pool", "state"), **_OF_ALL)
_POOL_LIMIT = Gauge("pool_connections_max", "Database connections that there may be.", ("pool",), **_OF_ALL)
_POOL_WAITING = Gauge("pool_waiting", "Requests that wait for a database connection.", ("pool",), **_OF_ALL)
_POOL_COUNTERS = {
    "requests_num": (Counter("pool_requests", "Connections asked for.", ("pool",), **_COMMON), 1.0),
    "requests_queued": (Counter("pool_waits", "Connections that had to be waited for.", ("pool",), **_COMMON), 1.0),
    "requests_wait_ms": (Counter("pool_wait_seconds", "Time of these waits.", ("pool",), **_COMMON), 0.001),
    "requests_errors": (Counter("pool_timeouts", "Waits that were in vain.", ("pool",), **_COMMON), 1.0),
    "connections_errors": (
        Counter("pool_connection_errors", "Attempts to connect that failed.", ("pool",), **_COMMON),
        1.0,
    ),
    "connections_lost": (Counter("pool_connections_lost", "Connections found broken.", ("pool",), **_COMMON), 1.0),
}
"""What psycopg's pool counts (``get_stats``), and the factor to Prometheus' base units."""

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))

UNKNOWN_URL, UNPARSED = "(unknown)", "(unparsed)"
"""Instead of a route: no endpoint has the URL; what came was no request at all."""

_Event = tuple[str, str, int, float, float | None]
_events: deque[_Event] = deque()
_token_events: deque[str] = deque()
_EVENTS_AT_MOST = 1000
_ENTERED_EVERY_S = 0.5


def count_request(method: str, route: str, status: int, seconds: float, sql_seconds: float | None = None) -> None:
    """Count a request that was answered.

    It is only noted here, and entered with many others by :func:`enter`: that costs a get about 4 µs of processor time,
    entering it at once cost 28.

    :param route: its template, or :data:`UNKNOWN_URL`.
    :param sql_seconds: None if it sent no SQL.
    """
    _events.append((method, route, status, seconds, sql_seconds))
    if len(_events) > _EVENTS_AT_MOST:
        enter()


def count_unparsed(status: int) -> None:
    """Count what gunicorn refused before it was a request."""
    _REQUESTS.labels("(other)", UNPARSED, status).inc()


def count_token_check(result: str) -> None:
    """Count a check of an access token: one of :data:`TOKEN_CHECK_RESULTS`."""
    _token_events.append(result)
    if len(_token_events) > _EVENTS_AT_MOST:
        enter()


def enter() -> None:
    """Enter into the metrics what has been noted."""
    requests = Totals[tuple[str, str, int]]()
    for method, route, status, seconds, sql_seconds in _taken(_events):
        known = method if method in _METHODS else "(other)"
        requests[known, route, status] += 1
        _durations_of(known, route).observe(seconds)
        if sql_seconds is not None:
            _sql_of(known, route).observe(sql_seconds)
    for labels, number in requests.items():
        _REQUESTS.labels(*labels).inc(number)
    for result, number in Totals(_taken(_token_events)).items():
        TOKEN_CHECKS.labels(result).inc(number)


_durations_of = cache(_DURATIONS.labels)
_sql_of = cache(_SQL.labels)


def _taken(events: deque[Noted]) -> Generator[Noted]:
    """What is in a queue, out of it; several threads may do this at once."""
    with contextlib.suppress(IndexError):
        while True:
            yield events.popleft()


def enter_regularly() -> None:
    """Enter twice a second, from a thread of this process, so that others find it in the shared files."""

    def enter_for_ever() -> None:
        while True:
            time.sleep(_ENTERED_EVERY_S)
            keep_place()
            enter()

    threading.Thread(target=enter_for_ever, name="metrics-entries", daemon=True).start()


# Pools


class Pool(Protocol):
    """What is needed of psycopg's pool."""

    @property
    def closed(self) -> bool:
        """Whether it lends no connections any more."""
        ...

    def get_stats(self) -> dict[str, int]:
        """Its statistics, by psycopg's names."""
        ...


_POOL_SAMPLED_EVERY_S = 1.0


def watch_pool(name: str, pool: Pool) -> None:
    """Report a pool as long as it is open: a thread of its own reads the pool's statistics now and then.

    Requests pay nothing for that, and a gauge does not keep its last value when the requests cease.
    """
    # A pool that is forgotten without being closed is not kept alive by its being watched.
    threading.Thread(target=_watch, args=(name, ref(pool)), name=f"watch-{name}", daemon=True).start()


def _watch(name: str, pool_reference: "ref[Pool]") -> None:
    before: dict[str, int] = {}
    while (pool := pool_reference()) is not None and not pool.closed:
        now = pool.get_stats()
        report_pool(name, now, before)
        before = now
        del pool
        time.sleep(_POOL_SAMPLED_EVERY_S)
    report_pool(name, {}, {})


def report_pool(name: str, now: dict[str, int], before: dict[str, int]) -> None:
    """Set the gauges of a pool, and add to its counters what has happened since before."""
    size, idle = now.get("pool_size", 0), now.get("pool_available", 0)
    _POOL_CONNECTIONS.labels(name, "idle").set(idle)
    _POOL_CONNECTIONS.labels(name, "in_use").set(max(0, size - idle))
    _POOL_LIMIT.labels(name).set(now.get("pool_max", 0))
    _POOL_WAITING.labels(name).set(now.get("requests_waiting", 0))
    for statistic, (counter, factor) in _POOL_COUNTERS.items():
        # psycopg leaves out what never happened.
        counter.labels(name).inc(max(0, now.get(statistic, 0) - before.get(statistic, 0)) * factor)


# Sharing between processes

_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_FOLDER_PREFIX = "sample-resource-metrics-"
_folder: Path | None = None
_owner = 0


def share_between_processes() -> None:
    """Keep the numbers, from now on, in a new folder that this process's children share.

    To be called by gunicorn's master before anything is counted; again, it does nothing. The folder is where ``TMPDIR``
    says, else in memory, else in the usual place for temporary files; it needs some hundred kilobytes and goes when the
    process ends. What a master that was killed has left behind is removed by the next one.

    :raises OSError: if there is no place to write to.
    """
    global _folder, _owner
    if _owner == os.getpid():
        return
    memory = Path("/dev/shm")  # noqa: S108 -- what is made there is private and has a random name
    in_memory = not os.environ.get("TMPDIR") and os.access(memory, os.W_OK | os.X_OK)
    parent = memory if in_memory else Path(tempfile.gettempdir())
    _remove_leftovers(parent)
    # Its final name, by which others find it, only when it is locked, by which they see that it is in use.
    made = Path(tempfile.mkdtemp(prefix=f".{_FOLDER_PREFIX}", dir=parent))
    _lock_of(made)
    _folder, _owner = made.rename(parent / made.name.removeprefix(".")), os.getpid()
    atexit.register(_remove, _folder, _owner)
    os.environ[_VARIABLE] = str(_folder)
    # prometheus_client decides when it is loaded, which is before the settings are known; it is told anew here. Its
    # own way to notice a fork is to ask the system for the process id at each step, a third of what it costs.
    os.register_at_fork(after_in_child=_note_process)
    _note_process()
    values.ValueClass = values.MultiProcessValue(lambda: _process)


_process = 0


def _note_process() -> None:
    global _process
    _process = os.getpid()
    _events.clear()
    _token_events.clear()


def _lock_of(folder: Path) -> int | None:
    """Lock a folder for the life of this process and its children, or until the descriptor that this returns is closed.

    None if others have it.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_leftovers(parent: Path) -> None:
    for folder in parent.glob(f"{_FOLDER_PREFIX}*"):
        with contextlib.suppress(OSError):  # somebody else's
            descriptor = _lock_of(folder)
            if descriptor is not None:
                try:
                    shutil.rmtree(folder)
                finally:
                    os.close(descriptor)


def _remove(folder: Path, owner: int) -> None:
    """At the end of the process; its children, which inherit the wish, leave the folder alone."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def keep_place() -> None:
    """Make the shared folder again if something that tidies up has removed it: before each fork, and regularly.

    A process that finds no folder could not count, nor answer any request.
    """
    if _folder is not None:
        _folder.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def _files() -> Generator[Path | None]:
    """The shared folder, with nobody moving numbers from file to file meanwhile; None if nothing is shared."""
    if _folder is None:
        yield None
        return
    keep_place()
    with (_folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield _folder


def bury(pid: int) -> None:
    """Keep what a process that has ended counted, and forget what it was doing."""
    with _files() as folder:
        if folder is None:
            return
        for kind in ("counter", "histogram"):
            of_process = folder / f"{kind}_{pid}.db"
            if of_process.exists():
                _add_up(of_process, folder / f"{kind}_ended.db")
                of_process.unlink()
        cast("Any", mark_process_dead)(pid, str(folder))


def _add_up(source: Path, target: Path) -> None:
    sums: Any = MmapedDict(str(target))
    try:
        for key, value, timestamp, _ in cast("Any", MmapedDict).read_all_values_from_file(str(source)):
            sums.write_value(key, sums.read_value(key)[0] + value, timestamp)
    finally:
        sums.close()


def exposition() -> bytes:
    """All metrics of all processes in Prometheus' text format."""
    enter()
    with _files() as folder:
        if folder is None:
            return prometheus_client.generate_latest(_REGISTRY)
        registry = CollectorRegistry()
        MultiProcessCollector(registry, str(folder))
        return prometheus_client.generate_latest(registry)
