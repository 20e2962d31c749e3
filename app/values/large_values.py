"""Large JSON: decoded, checked and made in a thread of its own.

A body of 2 MiB can hold a million numbers, which take half a second. In the worker's one thread, all other requests of
the process would wait as long. Beside another thread they wait for Python's interpreter lock only, some milliseconds
each time. One thread does it for all large bodies, one after the other: several would share the lock with the requests
in equal parts.
"""

from collections.abc import Callable
from contextvars import copy_context
from functools import cache
from typing import TypeVar, cast

from gevent import monkey
from gevent.threadpool import ThreadPool

LARGE_FROM = 32 * 1024
"""Bytes of JSON that is large: a smaller one takes less than ten milliseconds, whatever it holds."""

Result = TypeVar("Result")


@cache
def _thread() -> ThreadPool:
    """The one thread, made for the first large body: a pool cannot be made before gunicorn forks."""
    return ThreadPool(1)


def beside_other_requests(work: Callable[[], Result]) -> Result:
    """Do work of the current request that only computes, and let other requests of this process go on meanwhile.

    Without gevent's greenlets each request has a thread anyway, which does the work itself.

    :param work: sees the request as the caller does; sends and receives nothing.
    """
    if not monkey.is_module_patched("socket"):
        return work()
    return cast("Result", _thread().apply(copy_context().run, (work,)))


def computed(work: Callable[[], Result], size: int) -> Result:
    """The result of work that only computes, done beside other requests if it is large.

    :param size: characters of the JSON that it reads and makes.
    """
    return beside_other_requests(work) if size >= LARGE_FROM else work()
