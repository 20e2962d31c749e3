"""Decodes and checks large bodies in threads, so that the other requests of the process go on.

A body of 2 MiB can contain a million numbers, which take a quarter of a second to decode. In the one thread of a
worker, all other requests would wait that long. With a second thread they only wait for Python's interpreter lock, some
milliseconds each time. There are few threads, because each of them takes as large a part of that lock as all requests
together.

Projects share the threads as they share the database connections: the next free thread goes to the project that uses
the fewest, and one thread is reserved for projects that use none.
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

_THREADS = 2

_SWITCH_S = 0.001
"""The time after which a thread has to release the interpreter lock if others wait for it.

A get by id waits for this lock some ten times, at its sends and receives, so that with Python's default of 5 ms it took
up to 100 ms.
"""

Result = TypeVar("Result")


@cache
def _threads() -> tuple[ThreadPool, Admission]:
    """The threads and their admission. They are made for the first large body, because threads do not survive the fork
    of gunicorn."""
    sys.setswitchinterval(_SWITCH_S)
    return ThreadPool(_THREADS), Admission(_THREADS, slow=1)


def run_in_thread(work: Callable[[], Result], project: str = "", timeout_s: float | None = None) -> Result:
    """Do work that only computes in a thread, so that other requests of this process go on, and return its result.

    Without gevent each request has its own thread, which then does the work.

    :param work: runs in the context of the current request; it must not send or receive.
    :param project: the project of the request; empty for the service itself, which shares the threads as one more
        project.
    :param timeout_s: the longest wait for a thread; by default the setting ``QUEUE_TIMEOUT_MS``.
    :raises ApiError: 503 if no thread becomes free in time, or if too many bodies of the project wait.
    """
    if not monkey.is_module_patched("socket"):
        return work()
    threads, admission = _threads()
    if get_hub() is not threads.hub:  # already in one of the threads, as part of other work
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
    """Do work, and return its result or its exception.

    The exception is returned and not raised, because gevent would print a traceback, even for a 400. Garbage collection
    is off meanwhile: it would go through all values of the body again and again while no other thread runs. 700,000
    empty arrays took 190 ms with it, and 46 ms without.
    """
    gc.disable()
    try:
        return work(), None
    except BaseException as error:  # noqa: BLE001 -- the caller raises it
        return None, error
    finally:
        gc.enable()
