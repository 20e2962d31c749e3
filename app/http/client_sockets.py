"""A client's connection as the worker holds it: what the worker waits for, since when, and for how long it may.

The worker waits for a client in three phases: for the head of the next request, for its body, and for the client to
take the answer. Whatever the phase, a connection that the worker waits for can be given up to make room for others; one
whose request is worked on cannot.
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
"""Longest wait for the next bytes of a body, or for a client to take the next bytes of an answer."""

GRACE_S = 20.0
RATE_AT_LEAST = 500
"""All waits for a body together may take :data:`GRACE_S`, and a second for each 500 bytes that have come; so may those
for a client to take an answer. These are the values of Apache's mod_reqtimeout, which tell slow clients from clients
that only hold a connection."""

UNSENT_AT_MOST = 64 * 1024 * 1024
"""Bytes of the answers that a worker holds for clients which take them slowly: two of the largest pages. An answer is
held whole until its last byte was taken."""

RESERVE = 100
"""Connections of a worker that are kept free of ordinary requests, for probes and for new clients, for which others
make room."""


class Phase(Enum):
    """What the worker waits for, or that it waits for nothing."""

    HEAD = "head"
    WORK = "work"
    BODY = "body"
    ANSWER = "answer"


class Client:
    """The socket of a client, for gunicorn, which reads and writes by it.

    :param connection: the cooperative socket.
    :param holders: knows all clients of the worker.
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
        """When the phase began, by the monotonic clock."""
        self.has_token = False
        """Whether the current request, or the last one, had a valid token."""
        self.unsent = 0
        """Bytes of the answer that is held since the client has not taken all of it at once."""

    @property
    def rate(self) -> float:
        """Bytes a second that have moved since the phase began."""
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
        """Note that the head of a request has been read, which has shown no token yet."""
        self.phase = Phase.WORK
        self.has_token = False

    def recv(self, size: int) -> bytes:
        """Receive; nothing once the client was disconnected. Raises TimeoutError if a body comes too slowly."""
        try:
            if self.phase is Phase.HEAD:
                data = self._connection.recv(size)  # noted by the worker, which bounds this wait
            else:
                if self.phase is not Phase.BODY:
                    self.begin(Phase.BODY)
                data = self._timed(self._connection.recv, size)
                self._moved += len(data)
        except OSError:
            if self._is_ended:  # gevent says that the descriptor was closed
                return b""
            raise
        # If a thousand clients send or hang up at once, the loop would go through all of that before it looks at any
        # other connection, such as a probe's. What waits for its turn here, it does in slices of some milliseconds.
        sleep(0)
        return data

    def sendall(self, data: bytes) -> None:
        """Send; raises TimeoutError if the client takes an answer too slowly, BrokenPipeError if it was given up."""
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
        """Move bytes within the rest of this phase's time."""
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
    """The clients of a worker, and which of them are given up if there are too many.

    :param connections: how many the worker accepts. All but :data:`RESERVE` serve requests of all kinds.
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
        """Note a connection that was accepted."""
        self._open.add(client)

    def remove(self, client: Client) -> None:
        """Forget a connection that was closed."""
        self._open.discard(client)
        self._waiting.pop(client, None)
        self._given_up.discard(client)

    def begin_wait(self, client: Client) -> None:
        """Note that the worker waits for a client."""
        self._waiting[client] = None

    def end_wait(self, client: Client) -> None:
        """Note that it does not any more."""
        self._waiting.pop(client, None)

    def idle(self, since_before: float) -> list[Client]:
        """Clients that have not sent the head of their next request, and were to since a time or longer."""
        return [one for one in self._waiting if one.phase is Phase.HEAD and one.since <= since_before]

    def make_room(self) -> bool:
        """Give up clients until there is room for another ordinary request; False if none can be given up.

        The one for which the worker has waited longest goes first, whatever for. Clients that have shown no valid token
        go before all others while they are more than half.
        """
        while len(self._open) - len(self._given_up) > self._ordinary:
            strangers = [one for one in self._waiting if not one.has_token]
            found = strangers if len(strangers) > self._without_token else list(self._waiting)
            if not found:
                return False
            self._give_up(min(found, key=lambda one: one.since))
        return True

    def hold(self, client: Client, size: int) -> None:
        """Note the answer of a client that has not taken all of it at once; :meth:`release` has to follow.

        If unsent answers have too many bytes together, give up the slowest other clients first.
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
        """Note that the answer of a client is held no longer."""
        self._unsent -= client.unsent
        client.unsent = 0

    def _give_up(self, client: Client) -> None:
        self._given_up.add(client)
        del self._waiting[client]
        metrics.connections_ended.labels("for_others").inc()
        client.disconnect()


def note_token(request: Request) -> None:
    """Note that the current request has a valid token."""
    client = request.environ.get("gunicorn.socket")
    if isinstance(client, Client):
        client.has_token = True
