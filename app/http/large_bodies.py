"""Large bodies: decoded and checked in threads of their own, so that the other requests of the process go on.

A body of 2 MiB can hold a million numbers, which take a quarter of a second. In the worker's one thread, all other
requests of the process would wait as long. Beside another thread they wait for Python's interpreter lock only, some
milliseconds each time. There are few threads, since all of them share that lock with the requests, in equal parts.

Projects share the threads as they share the connections of the database: the next thread that is free goes to the
project that uses the fewest, and one is kept for projects that use none.
"""

from collections.abc import Callable
from contextvars import copy_context
from functools import cache
from typing import TypeVar, cast

from flask import current_app
from gevent import get_hub, monkey
from gevent.threadpool import ThreadPool

from app import errors
from app.database.admission import Admission, Lane, QueueFull, QueueTimeout

LARGE_FROM = 32 * 1024
"""Bytes of a JSON text or form that is large: a smaller one takes less than ten milliseconds, whatever it holds."""

_THREADS = 2

Result = TypeVar("Result")


@cache
def _threads() -> tuple[ThreadPool, Admission]:
    """Made for the first large body: a pool of threads cannot be made before gunicorn forks."""
    return ThreadPool(_THREADS), Admission(_THREADS, slow=1)


def beside_other_requests(work: Callable[[], Result], project: str = "", timeout_s: float | None = None) -> Result:
    """Do work of the current request that only computes, and let other requests of this process go on meanwhile.

    Without gevent's greenlets each request has a thread anyway, which does the work itself.

    :param work: sees the request as the caller does; sends and receives nothing.
    :param project: whose work it is; empty for the service itself, which shares as one more project.
    :param timeout_s: how long it may wait for a thread; by default ``QUEUE_TIMEOUT_MS``.
    :raises ApiError: 503 if no thread is free in time, or as many bodies of the project wait as may.
    """
    if not monkey.is_module_patched("socket"):
        return work()
    threads, admission = _threads()
    if get_hub() is not threads.hub:  # in one of the threads already: part of other work
        return work()
    if timeout_s is None:
        timeout_s = float(current_app.config["QUEUE_TIMEOUT_S"])
    try:
        admission.enter(project, Lane.FAST, timeout_s)
    except QueueFull:
        raise errors.over_capacity("Too many large bodies of this project are waiting.") from None
    except QueueTimeout:
        raise errors.over_capacity("The service is busy: it had no time for a body as large as this.") from None
    try:
        return cast("Result", threads.apply(copy_context().run, (work,)))
    finally:
        admission.leave(project, Lane.FAST)
