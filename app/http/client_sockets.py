"""The connections of clients in a worker: the phase of each, and the time limits of the waits for clients.

The worker waits for a client in three phases: for the header section of the next request, for its body, and for the
client to read the answer. A connection in one of these phases can be closed to make room for others. A connection whose
request is being worked on cannot.
"""

import socket
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from errno import EPIPE
from time import monotonic
from typing import Any

from flask import Request
from gevent import sleep

from app.telemetry.metrics import metrics

STALLED_S = 20.0
"""The longest wait for the next bytes of a body, or for a client to read the next bytes of an answer."""

GRACE_S = 20.0
RATE_AT_LEAST = 500
"""The least bytes a second of a body or an answer: all waits of a phase together may take :data:`GRACE_S`, plus one
second for every 500 bytes that have been transferred. These two values are the defaults of Apache's mod_reqtimeout.
They distinguish slow clients from clients that only hold a connection."""

UNSENT_AT_MOST = 64 * 1024 * 1024
"""The most bytes of all answers that a worker holds for slow clients: the size of two of the largest pages. The worker
holds a whole answer until the client has read its last byte."""

RESERVE = 100
"""The connections of a worker that are reserved for probes, and for new clients until older connections are closed for
them."""


class Phase(Enum):
    """The phase of a connection: HEAD, BODY and ANSWER are waits for the client; in WORK the worker does not wait."""

    HEAD = "head"
    WORK = "work"
    BODY = "body"
    ANSWER = "answer"


class Client:
    """The socket of a client, as gunicorn uses it to receive and send.

    :param connection: the cooperative socket of gevent.
    :param holders: all clients of the worker.
    """

    __slots__ = ("_connection", "_holders", "_is_ended", "_moved", "_waited_s", "has_token", "phase", "since", "unsent")

    def __init__(self, connection: socket.socket, holders: "Clients") -> None:
        self._connection = connection
        self._holders = holders
        self._is_ended = False
        self._moved = 0
        self._waited_s = 0.0
        self.phase = Phase.WORK
        self.since = 0.0
        """The time when the phase began, by the monotonic clock."""
        self.has_token = False
        """Whether the current request, or the last one, had a valid token."""
        self.unsent = 0
        """The size of the answer that the worker holds for this client; 0 if the worker holds none."""

    @property
    def rate(self) -> float:
        """The bytes a second that have been received or sent since the phase began."""
        return self._moved / max(monotonic() - self.since, 1e-3)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def begin(self, phase: Phase) -> None:
        """Begin a phase."""
        self.phase = phase
        self.since = monotonic()
        self._moved = 0
        self._waited_s = 0.0

    def begin_request(self) -> None:
        """Begin the phase WORK after the header section of a request has been read. Its token is not yet verified."""
        self.phase = Phase.WORK
        self.has_token = False

    def recv(self, size: int) -> bytes:
        """Receive bytes; none after :meth:`disconnect`. Raises TimeoutError if a body arrives too slowly."""
        try:
            if self.phase is Phase.HEAD:
                data = self._connection.recv(size)  # the worker limits this wait
            else:
                if self.phase is not Phase.BODY:
                    self.begin(Phase.BODY)
                data = self._timed(self._connection.recv, size)
                self._moved += len(data)
        except OSError:
            if self._is_ended:  # gevent reports that the descriptor was closed
                return b""
            raise
        # If a thousand clients send or hang up at once, the event loop would handle all of them before it looks at any
        # other connection, such as that of a probe. With this yield it handles them in slices of some milliseconds.
        sleep(0)
        return data

    def sendall(self, data: bytes) -> None:
        """Send bytes. Raises TimeoutError if the client reads too slowly, BrokenPipeError after :meth:`disconnect`."""
        if self._connection.gettimeout() == 0.0:
            self._connection.sendall(data)
            return
        if self.phase is not Phase.ANSWER:
            self.begin(Phase.ANSWER)
        left = memoryview(data)
        try:
            while left:
                sent = self._timed(self._connection.send, left)
                self._moved += sent
                left = left[sent:]
                if left and not self.unsent:
                    self._holders.hold(self, len(data))
        finally:
            if self.unsent:
                self._holders.release(self)

    def _timed(self, move: Callable[..., Any], what: Any) -> Any:
        """Receive or send bytes within the rest of the time limit of this phase."""
        left_s = GRACE_S + self._moved / RATE_AT_LEAST - self._waited_s
        began = monotonic()
        self._holders.begin_wait(self)
        try:
            if left_s <= 0:
                raise TimeoutError
            self._connection.settimeout(min(left_s, STALLED_S))
            return move(what)
        except TimeoutError:
            metrics.connections_ended.labels("too_slow").inc()
            raise
        except OSError:
            if self._is_ended:
                raise BrokenPipeError(EPIPE, "disconnected") from None
            raise
        finally:
            self._waited_s += monotonic() - began
            self._holders.end_wait(self)

    def disconnect(self) -> None:
        """End the current wait for the client, as if it had closed the connection."""
        self._is_ended = True
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR if self.phase is Phase.ANSWER else socket.SHUT_RD)


class Clients:
    """The clients of a worker. It decides which of them are disconnected if there are too many.

    :param connections: the most connections of the worker. All but :data:`RESERVE` may have requests of any kind.
    """

    def __init__(self, connections: int) -> None:
        self._ordinary = max(1, connections - RESERVE)
        self._without_token = self._ordinary // 2
        self._open: set[Client] = set()
        self._waiting: dict[Client, None] = {}
        self._given_up: set[Client] = set()
        self._unsent = 0

    def __len__(self) -> int:
        return len(self._open)

    def add(self, client: Client) -> None:
        """Add the client of an accepted connection."""
        self._open.add(client)

    def remove(self, client: Client) -> None:
        """Remove the client of a closed connection."""
        self._open.discard(client)
        self._waiting.pop(client, None)
        self._given_up.discard(client)

    def begin_wait(self, client: Client) -> None:
        """Note that the worker waits for a client."""
        self._waiting[client] = None

    def end_wait(self, client: Client) -> None:
        """Note that the worker no longer waits for a client."""
        self._waiting.pop(client, None)

    def idle(self, since_before: float) -> list[Client]:
        """The clients for whose next request the worker has been waiting since a time, or longer."""
        return [one for one in self._waiting if one.phase is Phase.HEAD and one.since <= since_before]

    def make_room(self) -> bool:
        """Disconnect clients until there is room for another ordinary request. Return False if there is no room.

        The client for which the worker has waited longest is disconnected first, in whatever phase it is. As long as
        clients without a valid token are more than half of the ordinary connections, only they are disconnected.
        """
        while len(self._open) - len(self._given_up) > self._ordinary:
            strangers = [one for one in self._waiting if not one.has_token]
            found = strangers if len(strangers) > self._without_token else list(self._waiting)
            if not found:
                return False
            self._give_up(min(found, key=lambda one: one.since))
        return True

    def hold(self, client: Client, size: int) -> None:
        """Note that the worker holds an answer, because the client has not read all of it at once.

        The caller has to call :meth:`release` at the end. If the answers that the worker holds exceed
        :data:`UNSENT_AT_MOST` in total, other clients that are reading an answer are disconnected, the slowest first.
        """
        client.unsent = size
        self._unsent += size
        while self._unsent > UNSENT_AT_MOST:
            others = [one for one in self._waiting if one.unsent]
            if not others:
                return
            slowest = min(others, key=lambda one: one.rate)
            self.release(slowest)
            self._give_up(slowest)

    def release(self, client: Client) -> None:
        """Note that the worker no longer holds the answer of a client."""
        self._unsent -= client.unsent
        client.unsent = 0

    def _give_up(self, client: Client) -> None:
        self._given_up.add(client)
        del self._waiting[client]
        metrics.connections_ended.labels("for_others").inc()
        client.disconnect()


def note_token(request: Request) -> None:
    """Note for the client of the current request that it has a valid token."""
    client = request.environ.get("gunicorn.socket")
    if isinstance(client, Client):
        client.has_token = True
