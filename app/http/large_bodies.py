"""Large bodies: decoded and checked in threads of their own, so that the other requests of the process go on.

A body of 2 MiB can hold a million numbers, which take a quarter of a second. In the worker's one thread, all other
requests of the process would wait as long. Beside another thread they wait for Python's interpreter lock only, some
milliseconds each time. There are few threads, because all of them share that lock with the requests, in equal parts.

Projects share the threads as they share the connections of the database: the next thread that is free goes to the
project that uses the fewest, and one is kept for projects that use none.
"""

import gc
import sys
from collections.abc import Callable
from contextvars import copy_context
from functools import cache
from typing import Any, TypeVar, cast

from flask import current_app
from gevent import get_hub, monkey
from gevent.threadpool import ThreadPool

from app import errors
from app.database.admission import Admission, Lane, QueueFull, QueueTimeout
from app.values.strict_json import LARGE_FROM

_THREADS = 2

_SWITCH_S = 0.001
"""How long a thread computes on while requests wait for the interpreter's lock. A get by id waits for it at some ten
sends and receives, so that by Python's 5 ms it took up to 100 ms.
"""

Result = TypeVar("Result")


@cache
def _threads() -> tuple[ThreadPool, Admission]:
    """Made for the first large body: a pool of threads cannot be made before gunicorn forks."""
    sys.setswitchinterval(_SWITCH_S)
    return ThreadPool(_THREADS), Admission(_THREADS, slow=1)


def run_in_thread(work: Callable[[], Result], project: str = "", timeout_s: float | None = None) -> Result:
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
        outcome = cast("tuple[Any, BaseException | None]", threads.apply(copy_context().run, (_outcome, work)))
    finally:
        admission.leave(project, Lane.FAST)
    done, refused = outcome
    if refused is not None:
        raise refused
    return cast("Result", done)


def _outcome(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """The result, or what was raised: gevent prints the traceback of whatever a thread raises, a 400 among them.

    Collections of garbage would look at all that a body holds again and again, while no other thread runs: 700,000
    empty arrays took 190 ms, and 46 without.
    """
    gc.disable()
    try:
        return work(), None
    except BaseException as error:  # noqa: BLE001 -- the caller raises it
        return None, error
    finally:
        gc.enable()


def by_size(size: int, work: Callable[[], Result], project: str) -> Result:
    """Do work on a body: beside other requests if it is large."""
    return work() if size < LARGE_FROM else run_in_thread(work, project)
