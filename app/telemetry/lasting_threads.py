"""Threads that live as long as their process: an error in one is told loudly, and it goes on."""

import logging
import threading
import time
from collections.abc import Callable

from app.telemetry.metrics import metrics

_PAUSE_S = 1.0
"""Between an error and the next try: an error that comes each time must not use up a core."""

_log = logging.getLogger("app.telemetry")


def keep_running(name: str, work: Callable[[], object], *, pause_s: float = _PAUSE_S) -> threading.Thread:
    """Start a thread that works until the work returns. If it raises, that is logged and counted, and it begins anew.

    :param name: of the thread, in the log and in ``sample_resource_thread_failures_total``.
    :param work: returns when the process is about to stop, or never.
    """

    def run() -> None:
        while True:
            try:
                work()
            except Exception:  # noqa: BLE001 -- whatever it is, the thread has to live
                metrics.thread_failures.labels(name).inc()
                _log.exception("a thread failed and begins anew", extra={"fields": {"thread": name}})
                time.sleep(pause_s)
            else:
                return

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread
