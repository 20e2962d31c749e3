"""Clients that hang up: noticed where a request has waited, so that nobody works for them."""

import select
import socket

from flask import has_request_context, request
from gevent import monkey

# The poll of the system and not gevent's: it returns at once, and knows the half that the client has closed.
_poll = monkey.get_original("select", "poll")

_HUNG_UP = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)


def client_is_gone() -> bool:
    """Whether the client of the current request has closed its connection, or its sending half."""
    return has_request_context() and has_hung_up(request.environ.get("gunicorn.socket"))


def has_hung_up(client: socket.socket | None) -> bool:
    """Whether the other end of a connection has closed it, or its sending half; False without a connection."""
    if client is None or client.fileno() < 0:
        return False
    waiting = _poll()
    waiting.register(client.fileno(), _HUNG_UP)
    return bool(waiting.poll(0))
