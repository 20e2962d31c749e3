"""How gunicorn runs the service. Every value has its reason; what is not here is gunicorn's default."""

import gc
import os
import sys
from pathlib import Path
from typing import Any

from gevent import monkey

# Before anything of the service is imported, since that takes locks and waits as it finds them. Not the master's own
# business: it forks, handles signals, and waits in a queue for them.
monkey.patch_all(os=False, signal=False, subprocess=False, queue=False)

from app.config import Settings  # noqa: E402
from app.telemetry import metrics, metrics_server  # noqa: E402

_settings = Settings.from_environment()

# Where to listen. An IPv6 address needs its brackets before the port.
_host = _settings.bind.strip("[]")
bind = f"[{_host}]:{_settings.port}" if ":" in _host else f"{_host}:{_settings.port}"

workers = _settings.workers

# Greenlets, so that a client that is slow to send or to read holds no thread (docs/robustness.md has the figures);
# with the service's own answers to requests that cannot be parsed. How many requests use the database at once is
# THREADS, the size of the pool.
worker_class = "app.serving.worker.Worker"

# Connections of each process, idle ones included: with files and the database below 1024, the usual limit of open
# files. Beyond it, new clients replace those that have been idle for longest.
worker_connections = 900

# The application is made once, before the fork, and the workers share its memory: 10 MiB each. Nothing is opened before
# the fork: pools are by the first request that needs one, and threads begin in the workers. New code takes a restart.
preload_app = True

# Seconds that an idle connection stays open. Longer than the common 60 s of load balancers, which then are the ones
# to close it; a server that closes first meets a request under way. An idle connection costs some 30 KiB.
keepalive = 75

# Seconds for requests in flight when the service stops: more than the longest statement by default (4 s), and less
# than the 10 s after which Docker kills.
graceful_timeout = 8

# Seconds without a sign of life from a worker's main loop before the worker is replaced. Not a limit of requests:
# those have the database's statement timeout.
timeout = 30

# The largest values that gunicorn allows, since the query language travels in the URL. A longer search goes by POST.
limit_request_line = 8190
limit_request_field_size = 8190
limit_request_fields = 100

# Off: with it, clients that did not read the documentation page's script stopped their whole workers. The files that
# are served are few and small.
sendfile = False

# Workers are not recycled: no leak is known, and a new worker begins with a cold pool. If one becomes known, set
# both, so that not all workers restart together. No metric is lost by it: see child_exit.
max_requests = 0
max_requests_jitter = 0

# The file whose time is a worker's sign of life. On a disk that is slow to sync, touching it can block for longer
# than the timeout, and healthy workers die; so it is in memory where there is a place for it.
_memory = Path("/dev/shm")  # noqa: S108 -- gunicorn makes the file private and unlinks it
worker_tmp_dir = str(_memory) if _memory.is_dir() and os.access(_memory, os.W_OK) else None

# No control socket: it would be a second way in, with a file of its own in the home folder. Signals do all that is
# needed.
control_socket_disable = True

# The application writes one line a request itself, with what gunicorn cannot know: route, project, correlation id.
accesslog = None

# Gunicorn's own messages go to standard error, and only those that ask for attention: the supervisor tells the rest.
errorlog = "-"
loglevel = "warning"

# What `ps` would show, if setproctitle is installed.
proc_name = "sample-resource"

# What a proxy says is believed if TRUSTED_PROXIES says so, by the application. Gunicorn by itself would
# believe whoever comes from this machine: that the scheme is another one, and even that the path is.
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
forwarder_headers = ""

# A name with an underscore is dropped, as `X_Forwarded_For` and `X-Forwarded-For` become one in WSGI.
header_map = "drop"

# Metrics: numbers of all workers in files that they share. Nothing is written if nobody can ask for them.
if _settings.metrics_are_on:
    metrics.share_between_processes()


def on_starting(_server: Any) -> None:
    """Open the port for metrics in the master, whose life is the service's."""
    if _settings.metrics_address is not None:
        try:
            metrics_server.listen(*_settings.metrics_address)
        except OSError as error:
            sys.exit(f"METRICS_BIND={_settings.metrics_bind}: cannot listen: {error.strerror or error}")


def pre_fork(_server: Any, _worker: Any) -> None:
    """See that the worker finds a place for its numbers."""
    metrics.keep_place()


def when_ready(_server: Any) -> None:
    """Before the first fork."""
    _keep_for_good()


def _keep_for_good() -> None:
    """Let the collector leave alone what was loaded, which stays: it would look through all of it again and again.

    Doing so costs a create 4 % of its time, and writes to memory that the workers share with the master.
    """
    gc.collect()
    gc.freeze()


def post_worker_init(worker: Any) -> None:
    """Share what the worker counts, and answer on that port from every worker, each for all of them."""
    _keep_for_good()
    if _settings.metrics_are_on:
        metrics.enter_regularly()
    readiness = getattr(worker.wsgi, "extensions", {}).get("readiness")
    metrics_server.serve(readiness.faults if readiness is not None else lambda: None)


def worker_exit(_server: Any, worker: Any) -> None:
    """In the worker, which is about to end: close the pools, and share the last numbers.

    The interpreter waits for the pools' threads at its end, for five seconds.
    """
    extensions = getattr(worker.wsgi, "extensions", {})  # a worker that could not start has no wsgi
    for name in ("reading_database", "database"):
        if name in extensions:
            extensions[name].close()
    metrics.enter()


def child_exit(_server: Any, worker: Any) -> None:
    """Keep what a worker has counted."""
    metrics.bury(worker.pid)
