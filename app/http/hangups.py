"""Clients that hang up: noticed before a request is parsed, before it is worked on and where it has waited.

A client that has closed only its sending half counts, too: the kernel cannot tell it from a closed connection.
Other servers that look, such as nginx and Go's, decide the same.
"""

import select
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from flask import has_request_context, request
from gevent import get_hub, monkey

# The poll of the system and not gevent's: it returns at once, and knows the half that the client has closed.
_poll = monkey.get_original("select", "poll")

_HUNG_UP = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)


def client_is_gone() -> bool:
    """Whether the client of the current request has closed its connection, or its sending half."""
    return has_request_context() and has_hung_up(request.environ.get("gunicorn.socket"))


def has_hung_up(client: Any) -> bool:
    """Whether the other end of a connection has closed it, or its sending half; False without a connection.

    :param client: a socket, or what has its descriptor.
    """
    descriptor = -1 if client is None else client.fileno()
    if descriptor < 0:
        return False
    waiting = _poll()
    waiting.register(descriptor, _HUNG_UP)
    return bool(waiting.poll(0))


_READABLE = 1
"""What gevent's event loop calls a descriptor that can be read; the end of a connection can."""


@contextmanager
def watched(client: Any, wake: Callable[[], object]) -> Generator[None]:
    """Within the block, have a function called once if the client sends something or closes its connection.

    :param client: a cooperative socket, or what has its descriptor; None: there is nothing to watch.
    :param wake: called by the event loop, so it must not block. :func:`has_hung_up` tells what has happened.
    """
    if client is None or client.fileno() < 0:
        yield
        return
    watcher: Any = get_hub().loop.io(client.fileno(), _READABLE)

    def ready() -> None:
        watcher.stop()  # or it would be called as long as something is there to be read
        wake()

    watcher.start(ready)
    try:
        yield
    finally:
        watcher.stop()
        watcher.close()
