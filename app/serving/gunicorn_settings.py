"""How gunicorn runs the service. Each value has its reason beside it; other settings keep gunicorn's defaults.

``serve`` names this file to gunicorn; who starts gunicorn without ``serve`` writes
``gunicorn -c python:app.serving.gunicorn_settings 'app:create_app()'``, or in a checkout ``gunicorn wsgi:app``.

The service speaks HTTP only. ``certfile`` and the other settings for TLS are refused at the start, by the worker class.
"""

import gc
import logging
import os
import sys
from types import TracebackType
from typing import Any

from gevent import monkey

# First of all, since modules take their locks and sockets when they are imported. Left out is what gunicorn's master
# needs as it is: it forks, handles signals, and waits for them in a queue.
monkey.patch_all(os=False, signal=False, subprocess=False, queue=False)

from app.config import InvalidSetting, Settings  # noqa: E402 -- after the patch
from app.extension import settled  # noqa: E402 -- after the patch
from app.serving import ServeError, ports, private_ports, stopping  # noqa: E402 -- after the patch
from app.telemetry.shared_folder import memory_folder, share_between_processes  # noqa: E402 -- after the patch

try:
    _settings = settled(Settings.from_environment())
except InvalidSetting as invalid:
    # Any other exception would be shown by gunicorn with a traceback, in which the reason is hard to find.
    sys.exit(f"error: {invalid}")


def _print_invalid_settings_in_one_line(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    if isinstance(error, InvalidSetting):
        sys.stderr.write(f"error: {error}\n")
    else:
        sys.__excepthook__(kind, error, trace)


# What only the application finds wrong, such as a missing DATABASE_URL, it raises where gunicorn loads it, and gunicorn
# lets that end the process with exit code 1.
sys.excepthook = _print_invalid_settings_in_one_line

# Metrics: the numbers of all workers, in files that they share. Without METRICS_BIND and METRICS_TOKEN nobody can ask
# for them, and no files are made. Before the import of metrics, which loads prometheus_client.
if _settings.metrics_are_on:
    try:
        share_between_processes()
    except OSError as error:
        sys.exit(f"error: no folder for metrics can be made in TMPDIR, /dev/shm or /tmp: {error}")

from app.telemetry.lasting_threads import keep_running  # noqa: E402 -- it imports metrics
from app.telemetry.metrics import metrics  # noqa: E402 -- after the folder is shared

try:
    _private = private_ports.addresses_of(_settings)
except ServeError as unusable:
    sys.exit(f"error: {unusable}")

# The public port, and those of HEALTH_BIND and METRICS_BIND.
bind = [_settings.listen_address, *_private]

workers = _settings.workers

# A greenlet for each connection, so that a client that sends or reads slowly holds no thread (docs/robustness.md has
# the figures), and errors in JSON for requests that cannot be parsed. How many requests use the database at once is
# THREADS, the size of the pool.
worker_class = "app.serving.worker.Worker"

# Connections of each process, idle ones included: together with files and the database below 1024, the usual limit of
# open files. 800 of them serve requests of all kinds; see app/http/client_sockets.py for what happens beyond.
worker_connections = 900

# The application is made once, before the fork, and the workers share its memory, which saves 10 MiB for each worker.
# It opens nothing before the fork: a pool opens with the first request that needs it, and threads start in the workers.
# New code needs a restart.
preload_app = True

# Seconds that an idle connection stays open. Longer than the 60 s that are common for load balancers, so that the
# balancer closes first: a server that does may close while a request is on its way. An idle connection costs 30 KiB.
keepalive = 75

# Seconds for requests in flight when the service stops. Before that, readiness fails (app/serving/stopping.py).
graceful_timeout = _settings.longest_request_s

# Seconds after which a worker is replaced if its main loop has not reported to the master. It does not limit requests:
# the database's statement timeout does.
timeout = 30

# The largest values that gunicorn allows, since the query language travels in the URL. A longer search goes by POST.
# All header lines together have a limit in app/serving/worker.py.
limit_request_line = 8190
limit_request_field_size = 8190
limit_request_fields = 100

# Off: with it, clients that did not read the script of the documentation page blocked their whole workers. The service
# has few files, and they are small.
sendfile = False

# Workers are not replaced after a number of requests: no leak is known, and a new worker starts with an empty pool. If
# you need it, set both, so that workers do not restart together. Their metrics are kept: see child_exit.
max_requests = 0
max_requests_jitter = 0

# The folder of the file whose time tells the master that a worker is alive. On a disk that is slow to sync, touching
# it can block for longer than the timeout, and healthy workers are killed; so it is in memory if possible.
_memory = memory_folder()
worker_tmp_dir = None if _memory is None else str(_memory)

# No control socket: it would be a second way in, with a file in the home folder. Signals do all that is needed.
control_socket_disable = True

# The application writes one line for each request, with what gunicorn does not know: route, project, correlation id.
accesslog = None

# Gunicorn's own messages go to standard error, warnings and errors only: the supervisor reports starts and stops.
errorlog = "-"
loglevel = "warning"

# The name in the output of `ps`, if setproctitle is installed.
proc_name = "sample-resource"

# The application reads the headers of proxies, as TRUSTED_PROXIES allows. Gunicorn by itself would accept from any
# client on this machine another scheme and even another path.
forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
forwarder_headers = ""

# Python's parser and not the one in C, even if that is installed: the worker overrides it (app/serving/worker.py).
http_parser = "python"

# A header with an underscore in its name is dropped: `X_Forwarded_For` and `X-Forwarded-For` are the same in WSGI.
header_map = "drop"


def on_starting(server: Any) -> None:
    """Check the settings before anything listens."""
    _check_signing_key()
    prepare_to_listen(server)


def _check_signing_key() -> None:
    """End the start if no token could be signed with this ``KEY_ENCRYPTION_KEY``.

    A database that is away, or not migrated yet, does not end it: the service starts without one, and readiness tells.
    """
    if _settings.database_url is None:
        return  # another application is served
    from psycopg import Error

    from app.database.connection import connect
    from app.identity.signing_keys import KeyEncryption, KeyUnreadable, check_signing_key

    try:
        with connect(_settings.database_url, _settings) as connection:
            check_signing_key(connection, KeyEncryption(_settings.key_encryption_keys))
    except KeyUnreadable as error:
        sys.exit(f"error: KEY_ENCRYPTION_KEY: {error}")
    except Error:
        return


def prepare_to_listen(server: Any) -> None:
    """Check the number of workers, the worker class and the private ports."""
    if server.cfg.workers != _settings.workers:  # by --workers; an extension may need another number
        try:
            settled(Settings.from_environment({**_settings.environment, "WORKERS": str(server.cfg.workers)}))
        except InvalidSetting as error:
            sys.exit(f"error: gunicorn's --workers: {error}")
    # gunicorn would do this later, after it has complained about a certificate that does not exist.
    if hasattr(server.worker_class, "check_config"):
        server.worker_class.check_config(server.cfg, server.log)
    given = {str(address) for address in server.cfg.settings["bind"].get()}
    for address, variables in _private.items():
        if address not in given:
            sys.exit(f"error: gunicorn's --bind leaves out {', '.join(variables)}: set BIND and PORT instead")
        if "GUNICORN_FD" in os.environ:
            continue  # this master takes the place of another one, and has its ports
        host, _, port = address.rpartition(":")
        try:
            ports.wait_until_free(host.strip("[]"), int(port), " and ".join(sorted(variables)))
        except ServeError as error:
            sys.exit(f"error: {error}")


def pre_fork(_server: Any, worker: Any) -> None:
    """Make sure that the worker finds the folder for its metrics, and give it the counts of a worker that has ended."""
    metrics.ensure_folder()
    worker.predecessor = metrics.next_ended()


def post_fork(_server: Any, worker: Any) -> None:
    """Go on with those counts."""
    if worker.predecessor is not None:
        metrics.take_over(worker.predecessor)


def when_ready(server: Any) -> None:
    """Get ready for requests, and for a stop."""
    begin_to_serve(server)
    stopping.fail_readiness_first(server)


def begin_to_serve(server: Any) -> None:
    """Log the warnings of an extension; exclude loaded modules, which are never freed, from garbage collection.

    Collections would examine all of it again and again. That costs a create 4 % of its time, and writes to memory
    that the workers share with the master. Nothing is collected before: loading leaves three thousand objects of
    garbage, and to find them takes 60 ms of the start.
    """
    extension = getattr(server.app.wsgi(), "extensions", {}).get("extension")
    if extension is not None and extension.warning is not None:
        logging.getLogger("app.serving").warning(extension.warning)
    gc.freeze()


def post_worker_init(worker: Any) -> None:
    """Open the connections before the first request is accepted, and start the threads that share metrics."""
    extensions = getattr(worker.wsgi, "extensions", {})
    if "tracing" in extensions:
        extensions["tracing"].start()  # before connections are opened
    if "database" in extensions:
        # First the connection by which tokens are verified: without it the others are of no use. Where the account's
        # limit leaves too few, a pool does with one less.
        extensions["authorization_server"].load_ahead()
        extensions["database"].open_ahead()
    if "readiness" in extensions:
        extensions["readiness"].is_stopping = stopping.has_begun
    if "extension" in extensions:
        extensions["extension"].start()
    # As in the master: what the worker made at its start is used until its end.
    gc.collect()
    gc.freeze()
    if _settings.metrics_are_on:
        keep_running("pool-metrics", metrics.sample_pools_periodically)
    if _private:
        from app.database.readiness import Health
        from app.routes.health import private_routes

        readiness = extensions.get("readiness")  # another application may be served
        routes = private_routes(readiness.health if readiness is not None else Health)
        worker.private_servers = private_ports.start(worker.sockets, _private, routes)


def worker_exit(_server: Any, worker: Any) -> None:
    """Close the pools of a worker that is about to end, and share its last counts.

    The interpreter would wait five seconds for the threads of an open pool.
    """
    for server in getattr(worker, "private_servers", ()):
        server.stop(timeout=1)  # requests under way end themselves; readiness takes at most half a second
    extensions = getattr(worker.wsgi, "extensions", {})  # a worker that could not start has no wsgi
    if "extension" in extensions:
        extensions["extension"].stop()
    metrics.sample_pools()
    for name in ("reading_database", "database"):
        if name in extensions:
            extensions[name].close()
    if "tracing" in extensions:
        extensions["tracing"].stop()


def child_exit(_server: Any, worker: Any) -> None:
    """Keep the counts of a worker that has ended, and forget its gauges."""
    metrics.mark_ended(worker.pid)
