"""Turns: a connection whose client sends much at once lets the event loop look at the others in between.

gevent runs other greenlets only when one has to wait. A connection whose next bytes have always arrived never waits.
"""

import socket
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from time import monotonic
from typing import Any

import gevent
from gevent import socket as cooperative
from gunicorn.http.errors import ParseException

_TURN_S = 0.001
"""The time for which a connection reads pieces of a body that have arrived before other connections get their turn."""

_DISCARDED_AT_MOST = 8 * 1024 * 1024
_DISCARDED_WITHIN_S = 5.0
"""The limits for reading what a client still sends after its answer: bytes (of chunks their content), and time.
:func:`end_after_answer` applies them a second time if the rest of a body is malformed or takes too long, or if the
    connection ends. A client that is still sending would otherwise not read the answer, and bytes that nobody has read
    make the kernel reset the connection, with the answer in it."""


class _NotWritable(TimeoutError):
    """Raised by the time limit of :func:`let_others_go`, so that it does not catch its caller's timeout."""


def let_others_go(sock: Any) -> bool:
    """Let the event loop look at all connections. Those with something to read run before this call returns or, if the
    loop resumes this greenlet first, when it next has to wait.

    ``sleep(0)`` would not do so: the event loop looks only when no greenlet is ready, or after fifty switches if they
    took 5 ms, and a greenlet that calls ``sleep(0)`` is ready at once. Waiting for a socket makes it look. The socket
    can be written to at once, unless its client does not read its answers.

    :return: False if the client has read nothing, or not enough for the kernel to call the socket writable, within the
        socket's time limit.
    """
    try:
        cooperative.wait_write(sock.fileno(), sock.gettimeout(), timeout_exc=_NotWritable())
    except _NotWritable:
        return False
    return True


def in_turns(pieces: Iterator[bytes], sock: Any) -> Generator[bytes]:
    """Yield the pieces of a body in the chunked transfer coding, with a turn for other connections every millisecond.

    :param pieces: gunicorn's parser of the body.
    """
    began = monotonic()
    for piece in pieces:
        if monotonic() - began > _TURN_S:
            let_others_go(sock)  # False is ignored: if the client reads nothing, sending the answer fails
            began = monotonic()
        yield piece


def discard_rest(body: Any, sock: Any) -> bool:
    """Read and discard what is left of a request's body after the answer, and return whether the connection can go on.

    It cannot if it is closed, if its client reads nothing, or if nobody knows where the next request begins: the rest
    is malformed, or reaches a limit for what is discarded. If reading has failed, also because its time was over,
    :func:`end_after_answer` ends the connection, so that the client still gets the answer; not at the limit of bytes.

    :param body: gunicorn's ``Body``, whose ``failed`` says that reading it has failed.
    """
    if sock.fileno() < 0:  # gunicorn closes a connection whose answer fails halfway
        return False
    if getattr(body.reader, "length", None) == 0:  # a body with a length, of which nothing is left
        return True
    if not body.failed and _discard_to_end(body.read, sock):
        return True
    if body.failed:  # before, or just now: the client may still be sending
        end_after_answer(sock)
    # At the limit of bytes, or for a client that reads nothing, nobody reads on: the kernel may reset the connection.
    return False


def end_after_answer(sock: Any) -> None:
    """End a connection so that its client gets the last answer, even if it still sends, within the limits of what is
    discarded."""
    with suppress(OSError):  # the client may be gone
        sock.shutdown(socket.SHUT_WR)
        _discard_to_end(sock.recv, sock)


def _discard_to_end(read: Callable[[int], bytes], sock: Any) -> bool:
    """Read and discard bytes, with a turn for other connections after each read. Return whether the end was reached;
    False also for an error, and at a limit."""
    left = _DISCARDED_AT_MOST
    # The TimeoutError is an OSError, too.
    with suppress(OSError, ParseException), gevent.Timeout(_DISCARDED_WITHIN_S, TimeoutError):
        while left > 0:
            data = read(min(left, 65536))
            if not data:
                return True
            left -= len(data)
            # False: the client reads nothing. At the end of the block's time a TimeoutError is raised.
            if not let_others_go(sock):
                return False
    return False
