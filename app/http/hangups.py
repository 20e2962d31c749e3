"""Detects clients that have hung up: before a request is parsed, before it is worked on, and after it has waited.

A client that has closed only its sending half counts as hung up, because the kernel cannot distinguish it from a closed
connection. nginx and the server of Go also decide so.
"""

import select
from typing import Any

from flask import has_request_context, request
from gevent import monkey

# The poll of the operating system and not gevent's, because it returns at once and reports a closed sending half.
_poll = monkey.get_original("select", "poll")

_HUNG_UP = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)


def client_is_gone() -> bool:
    """Whether the client of the current request has closed its connection, or its sending half."""
    return has_request_context() and has_hung_up(request.environ.get("gunicorn.socket"))


def has_hung_up(client: Any) -> bool:
    """Whether the other end of a connection has closed it, or its sending half; False without a connection.

    :param client: a socket, or an object with its ``fileno``.
    """
    descriptor = -1 if client is None else client.fileno()
    if descriptor < 0:
        return False
    waiting = _poll()
    waiting.register(descriptor, _HUNG_UP)
    return bool(waiting.poll(0))
