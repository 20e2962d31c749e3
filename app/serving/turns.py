"""Turns: a connection whose client sends much at once lets the event loop look at the others in between.

gevent runs other greenlets only when one has to wait. A connection whose next bytes have always arrived never waits.
"""

import select
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Any

import gevent
from gevent import monkey
from gevent import socket as cooperative
from gunicorn.http.errors import ParseException

_CHUNKS_IN_TURN = 100
"""The chunks of a body that are read before other connections get their turn: less than a millisecond."""

_DISCARDED_AT_MOST = 8 * 1024 * 1024
_DISCARDED_WITHIN_S = 5.0
"""The limits for reading what a client still sends after its answer. A client that is still sending would otherwise
not read the answer, and bytes that nobody has read make the kernel reset the connection, with the answer in it."""

# The poll of the operating system, which returns at once with a timeout of 0. gevent's poll does not.
_poll = monkey.get_original("select", "poll")


def is_readable(sock: Any) -> bool:
    """Whether bytes have arrived on a connection, or its end."""
    poll = _poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


def let_others_go(sock: Any) -> None:
    """Let the event loop look at all connections before this one goes on.

    ``sleep(0)`` would not do so: the event loop runs up to fifty waiting greenlets before it looks. It looks when it
    waits for a socket. This one is ready to be written to, unless its client does not read its answers.

    :raises TimeoutError: if it cannot be written to within the socket's time limit.
    """
    cooperative.wait_write(sock.fileno(), sock.gettimeout())


def in_turns(chunks: Iterator[bytes] | None, sock: Any) -> Generator[bytes]:
    """The chunks of a body, with a turn for other connections every :data:`_CHUNKS_IN_TURN` chunks."""
    for number, chunk in enumerate(chunks or ()):
        if number % _CHUNKS_IN_TURN == _CHUNKS_IN_TURN - 1:
            let_others_go(sock)
        yield chunk


def reads_to_end(read: Callable[[int], bytes], sock: Any) -> bool:
    """Read and discard bytes up to the end, with a turn for other connections after each read.

    :return: False if they are too many, too slow or malformed.
    """
    left = _DISCARDED_AT_MOST
    with suppress(OSError, ParseException), gevent.Timeout(_DISCARDED_WITHIN_S, TimeoutError):
        while left > 0:
            data = read(min(left, 65536))
            if not data:
                return True
            left -= len(data)
            let_others_go(sock)
    return False
