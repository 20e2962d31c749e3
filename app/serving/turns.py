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
    """Give the other connections their turn: make the event loop poll all sockets. The poll wakes every greenlet whose
    awaited data have arrived.

    The function waits until ``sock`` is writable. This wait forces a poll, because the loop learns only from a poll
    that a socket is writable. Usually the socket is writable already, so the wait ends with this poll. The wait lasts
    longer only if the client does not read its answers.

    The caller may be resumed before some of the other woken greenlets. These greenlets then run when the caller waits
    again.

    ``sleep(0)`` does not force a poll. It makes the caller ready again at once, and as long as a greenlet is ready, the
    loop goes on switching without a poll. Only after every fifty switches the loop checks whether 5 ms have passed, and
    polls if they have.

    :return: False if the socket did not become writable within its time limit, because the client has read nothing or
        too little.
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
    """Read and discard what is left of a request's body after the answer. Return whether the connection can have
    another request.

    It cannot in these cases:

    - The connection is closed.
    - The client does not read its answers.
    - The rest of the body reaches the limit of bytes.
    - Reading the body has failed, here or before: the body is malformed, took too long, or was cut off. Only in this
      case does :func:`end_after_answer` end the connection, so that the client still gets the answer.

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
    """Shut down the sending side of a connection, and discard what the client still sends. Then gunicorn can close the
    connection, and the client still gets the last answer.

    Without this, bytes that nobody has read would make the kernel reset the connection, and the answer could be lost.
    That can still happen to a client that sends more than :data:`_DISCARDED_AT_MOST` bytes, or for longer than
    :data:`_DISCARDED_WITHIN_S`.
    """
    with suppress(OSError):  # the client may be gone
        sock.shutdown(socket.SHUT_WR)
        _discard_to_end(sock.recv, sock)


def _discard_to_end(read: Callable[[int], bytes], sock: Any) -> bool:
    """Read and discard bytes, with a turn for other connections after each read.

    :param read: reads a body, or a socket, and returns nothing at its end.
    :return: whether the end was reached. False after an error, at the limit of bytes or of time, and if the client does
        not read its answers.
    """
    left = _DISCARDED_AT_MOST
    # A TimeoutError is an OSError. So suppress() also ends the block at the time limit, and the result is False.
    with suppress(OSError, ParseException), gevent.Timeout(_DISCARDED_WITHIN_S, TimeoutError):
        while left > 0:
            data = read(min(left, 65536))
            if not data:
                return True
            left -= len(data)
            # The gevent.Timeout above limits this wait, too.
            if not let_others_go(sock):
                return False
    return False
