"""Turns: a client that sends much at once does not keep the worker from looking at its other connections."""

import http.client
import signal
import socket
from collections.abc import Iterator

import pytest

from app.serving.turns import in_turns
from tests.support.gunicorn_server import Gunicorn, StartGunicorn

_SENT = 2000

_NOTED = b"GET /noted HTTP/1.1\r\nHost: x\r\n\r\n"
_PIPELINED = b"GET /note HTTP/1.1\r\nHost: x\r\n\r\n" * _SENT
_HEAD = b"GET /note HTTP/1.1\r\nHost: x\r\nX-Fills: %b\r\n\r\n"
_OF_8192_BYTES = (_HEAD % (b"a" * (8192 - len(_HEAD % b"")))) * 200
_IN_CHUNKS = b"POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * _SENT


@pytest.mark.parametrize(
    ("data", "noted_at_most"),
    [(_PIPELINED, 20), (_OF_8192_BYTES, 20), (_IN_CHUNKS, 500)],
    ids=["pipelined requests", "requests that end where a read ends", "chunks of one byte"],
)
def test_another_client_is_served_in_between(start_gunicorn: StartGunicorn, data: bytes, noted_at_most: int) -> None:
    server = start_gunicorn()
    (worker,) = server.workers
    with _waiting(server) as before, _waiting(server) as eager, _waiting(server) as after:
        worker.send_signal(signal.SIGSTOP)  # all has arrived when it goes on, so nothing depends on time
        try:
            before.sendall(_NOTED)
            eager.setblocking(False)
            eager.send(data)
            after.sendall(_NOTED)
        finally:
            worker.send_signal(signal.SIGCONT)
        # In whichever order the event loop looks at the connections, one of the two is behind the eager one.
        noted = [int(_answer(other)) for other in (before, after)]
    assert max(noted) <= noted_at_most


def _waiting(server: Gunicorn) -> socket.socket:
    """A connection whose greenlet waits for its second request."""
    connection = server.connect(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    _answer(connection)
    return connection


def _answer(connection: socket.socket) -> bytes:
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    return answer.read()


def test_a_body_whose_chunks_take_long_to_parse_gives_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk of one byte may have an extension of 8 KiB."""
    now, turns = [0.0], list[float]()
    monkeypatch.setattr("app.serving.turns.monotonic", lambda: now[0])
    monkeypatch.setattr("app.serving.turns.let_others_go", lambda _: turns.append(now[0]))

    def pieces() -> Iterator[bytes]:
        for _ in range(100):
            now[0] += 0.0006
            yield b"x"

    assert (b"".join(in_turns(pieces(), None)), len(turns)) == (b"x" * 100, 50)
