"""Turns: a client that sends much at once does not keep the worker from looking at its other connections."""

import http.client
import signal

import pytest

from tests.support.gunicorn_server import StartGunicorn

_SENT = 2000

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
    worker.send_signal(signal.SIGSTOP)  # all has arrived when it goes on, so nothing depends on time
    try:
        eager, other = server.connect(), server.connect(b"GET /noted HTTP/1.1\r\nHost: x\r\n\r\n")
        eager.setblocking(False)
        eager.send(data)
    finally:
        worker.send_signal(signal.SIGCONT)
    with eager, other:
        answer = http.client.HTTPResponse(other)
        answer.begin()
        assert int(answer.read()) <= noted_at_most
