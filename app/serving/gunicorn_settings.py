"""The settings with which gunicorn runs the service, each with its reason. Other settings keep gunicorn's defaults.

``serve`` uses this file through ``supervised_settings``. To start gunicorn without ``serve``, run ``gunicorn -c
python:app.serving.gunicorn_settings 'app:create_app()'``, or in a checkout ``gunicorn wsgi:app``.
"""

import gc
import logging
import sys
from types import TracebackType
from typing import Any

from gevent import monkey

# Patch before all other imports, because modules take their locks and sockets when they are imported. Left out is what
# gunicorn's master needs as it is: it forks, handles signals, and waits for them in a queue. Nothing uses subprocess.
monkey.patch_all(os=False, signal=False, subprocess=False, queue=False)

from app.config import InvalidSetting, Settings  # noqa: E402 -- after the patch
from app.extension import adapted_to_extension  # noqa: E402 -- after the patch
from app.serving import stopping  # noqa: E402 -- after the patch
from app.telemetry.shared_folder import memory_folder, share_between_processes  # noqa: E402 -- after the patch

try:
    settings = adapted_to_extension(Settings.from_environment())
except InvalidSetting as invalid:
    # gunicorn prints some other exceptions with a traceback, in which the reason is hard to find.
    sys.exit(f"error: {invalid}")


def _print_invalid_settings_in_one_line(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    if isinstance(error, InvalidSetting):
        sys.stderr.write(f"error: {error}\n")
    else:
        sys.__excepthook__(kind, error, trace)


# Some faults, such as a missing DATABASE_URL, are raised only when gunicorn loads the application. Then gunicorn ends
# with exit code 1, and this hook prints the error.
sys.excepthook = _print_invalid_settings_in_one_line

# The workers share their metrics in files. Without METRICS_TOKEN nobody can read metrics, and no files are made, unless
# the environment has PROMETHEUS_MULTIPROC_DIR. This comes before the import of metrics, which loads prometheus_client.
# If that is loaded already, as when a test imports this module, its mode cannot be changed any more.
if settings.metrics_token is not None and "prometheus_client" not in sys.modules:
    try:
        share_between_processes()
    except OSError as error:
        sys.exit(f"error: the folder for metrics cannot be made: {error}")

from app.telemetry.metrics import metrics  # noqa: E402 -- after the folder is shared

bind = [settings.listen_address]

workers = settings.workers

# A greenlet for each connection, so that a client that sends or reads slowly holds no thread (docs/decisions.md has
# the figures). Requests that cannot be parsed get errors in JSON. CONNECTIONS, the size of the pool, limits how many
# requests use the database at once.
worker_class = "app.serving.worker.Worker"

# The most connections of each process, including idle ones. With files and up to a hundred database connections they
# stay below 1024, the usual limit of open files. Further connections wait in the listen queue of the kernel.
worker_connections = 900

# The application is made once, before the fork, and the workers share its memory, which saves 10 MiB for each worker.
# The application opens no connection before the fork: a pool opens on its first use, and threads start in the workers.
# New code needs a restart.
preload_app = True

# The seconds for which a connection stays open while its client sends or reads nothing. They are more than the 60 s
# that are common for load balancers, so that the balancer closes first: a server that closes first may do so while a
# request is on its way. An idle connection costs 12 to 30 KiB.
keepalive = 75

# The seconds that requests in flight get when the service stops. Without ``serve``, readiness fails first
# (app/serving/stopping.py).
graceful_timeout = settings.graceful_timeout_s

# The longest request line to which gunicorn can limit, because URLs contain expressions of the query language. A longer
# search can be sent by POST.
limit_request_line = 8190

# The most bytes of a header line, and the most header lines: gunicorn's defaults, which docs/robustness.md promises.
# app/serving/worker.py limits all header lines together.
limit_request_field_size = 8190
limit_request_fields = 100

# Off, because with sendfile a client that did not read the script of the documentation page blocked its whole worker.
# The service has few files; that script is the largest, with 1.7 MB.
sendfile = False

# The folder of the files whose times tell the master that a worker is alive. It is in memory if possible, because on a
# disk that syncs slowly, touching a file can block for longer than the timeout, and the master would kill a healthy
# worker.
_memory = memory_folder()
worker_tmp_dir = None if _memory is None else str(_memory)

# No control socket, because it would be a second way to control gunicorn, with a file of its own. Signals suffice.
control_socket_disable = True

# Gunicorn's own messages are warnings and errors only. ``serve`` prints a banner, and the application logs requests.
loglevel = "warning"

# The application reads the headers of proxies, as TRUSTED_PROXIES allows. By default gunicorn would accept another
# scheme and even another path from any client on this machine.
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
forwarder_headers = ""

# Python's parser and not the one in C, even if that is installed: the worker overrides it (app/serving/worker.py).
http_parser = "python"

# Drop a header with an underscore in its name, because WSGI cannot distinguish `X_Forwarded_For` and `X-Forwarded-For`.
header_map = "drop"


def on_starting(server: Any) -> None:
    """If ``--workers`` has changed the number of workers, check the settings with this number before gunicorn listens:
    an extension may refuse it (gunicorn's hook)."""
    if server.cfg.workers != settings.workers:
        changed = {**settings.environment, "WORKERS": str(server.cfg.workers)}
        try:
            # Called for its error only.
            adapted_to_extension(Settings.from_environment(changed))
        except InvalidSetting as error:
            sys.exit(f"error: gunicorn's --workers: {error}")


def when_ready(server: Any) -> None:
    """Before gunicorn forks its workers, prepare the master for the fork, and replace its handler of SIGTERM: the new
    one makes readiness fail at once, and stops gunicorn some seconds later (gunicorn's hook)."""
    prepare_to_fork(server)
    stopping.fail_readiness_first(server)


def prepare_to_fork(server: Any) -> None:
    """Log the warning of the application's extension, and exclude all loaded objects from garbage collection.

    Loaded modules are never freed, but collections would examine them again and again. A request that creates a
    resource would spend 4 % of its time on that, and memory that is shared with the master would be copied. The garbage
    of loading is not collected first: it is about a hundred objects, and finding them would take some 40 ms of the
    start.
    """
    # Another application than this service's has no such entry.
    extension = getattr(server.app.wsgi(), "extensions", {}).get("extension")
    if extension is not None and extension.warning is not None:
        logging.getLogger("app.serving").warning(extension.warning)
    gc.freeze()


def post_worker_init(worker: Any) -> None:
    """Prepare a worker for its first request: open its connections, make readiness fail as soon as a stop has begun,
    and start the extension (gunicorn's hook)."""
    extensions = getattr(worker.wsgi, "extensions", {})
    if "readiness" in extensions:  # the application is that of this service
        extensions["database"].open_ahead()
        extensions["readiness"].is_stopping = stopping.has_begun
        extensions["extension"].start()
    # The objects that a worker makes at its start stay until its end, so collections need not examine them, either.
    gc.collect()
    gc.freeze()


def worker_exit(_server: Any, worker: Any) -> None:
    """Stop the extension of a worker that is about to end, bring the metrics of its pool up to date, and close its
    database connections (gunicorn's hook)."""
    extensions = getattr(getattr(worker, "wsgi", None), "extensions", {})  # a worker that could not start has no wsgi
    if "readiness" in extensions:
        extensions["extension"].stop()
        metrics.sample_pools()
        extensions["database"].close()


def child_exit(_server: Any, worker: Any) -> None:
    """Keep the counts of a worker that has ended, and remove its gauges (gunicorn's hook)."""
    metrics.mark_ended(worker.pid)
