"""Starts threads that live as long as their process: an error in a thread is logged and counted, and the thread goes
on."""

import logging
import threading
import time
from collections.abc import Callable

from app.telemetry.metrics import metrics

_PAUSE_S = 1.0
"""The pause between an error and the next attempt, so that a permanent error does not use up a core."""

_log = logging.getLogger("app.telemetry")


def keep_running(name: str, work: Callable[[], object], *, pause_s: float = _PAUSE_S) -> threading.Thread:
    """Start a thread that does work until the work returns. An exception is logged and counted, and the work begins
    again.

    :param name: the name of the thread, also in the log and in ``sample_resource_thread_failures_total``.
    :param work: a function that returns when the process is about to stop, or never.
    """

    def run() -> None:
        while True:
            try:
                work()
            except Exception:  # noqa: BLE001 -- the thread has to survive any error
                metrics.thread_failures.labels(name).inc()
                _log.exception("a thread failed and begins anew", extra={"fields": {"thread": name}})
                time.sleep(pause_s)
            else:
                return

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread
