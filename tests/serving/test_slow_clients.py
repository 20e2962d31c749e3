"""The worker with slow clients, when it stops, and while a request waits for the database.

With few connections and little time; ``make test-slow ARGS=-mfaults`` has more of both.
"""

import contextlib
import socket
import threading
import time
from contextlib import closing

import psycopg
import pytest

from app.config import Settings
from app.database.connection import LimitedConnection
from app.database.pool import Database
from tests.support.fixtures import TokenFor
from tests.support.gunicorn_server import Gunicorn, StartGunicorn


def _until_the_end(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    ],
    ids=["silence", "headers", "body", "chunks"],
)
def test_slow_clients_do_not_block_others(start_gunicorn: StartGunicorn, beginning: bytes) -> None:
    server = start_gunicorn()
    with contextlib.ExitStack() as slow:
        for _ in range(20):
            slow.enter_context(server.connect(beginning))
        assert server.get("/") == 200


@pytest.mark.parametrize(
    "beginning",
    [b"", b"GET / HTTP/1.1\r\nX-Dripped: ", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"],
    ids=["silence", "dripped header", "after a request"],
)
def test_the_wait_for_a_request_ends_after_keepalive(start_gunicorn: StartGunicorn, beginning: bytes) -> None:
    server = start_gunicorn(GUNICORN_CMD_ARGS="--keep-alive 1")
    with server.connect(beginning) as connection:
        began = time.monotonic()
        connection.settimeout(0.2)
        answer = b"something"
        while answer:
            assert time.monotonic() - began < 5
            try:
                answer = connection.recv(65536)
            except TimeoutError:
                pass
            except ConnectionResetError:  # the worker did not read what was sent last
                break
            if beginning.endswith(b"Dripped: "):
                with contextlib.suppress(OSError):
                    connection.sendall(b"x")
        assert time.monotonic() - began >= 0.9
    assert server.get("/") == 200


def test_without_keepalive_requests_and_bodies_are_waited_for(start_gunicorn: StartGunicorn) -> None:
    server = start_gunicorn(GUNICORN_CMD_ARGS="--keep-alive 0")
    with server.connect(b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n") as connection:
        connection.sendall(b"x")
        assert _until_the_end(connection).startswith(b"HTTP/1.1 200 ")


def _answer(server: Gunicorn, head: bytes) -> bytes:
    with server.connect() as connection:
        with contextlib.suppress(OSError):  # the worker may have refused it already
            connection.sendall(head)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("name", [b"X-Name", b"X_Dropped"])
def test_a_head_is_bounded_as_a_whole(start_gunicorn: StartGunicorn, name: bytes) -> None:
    server = start_gunicorn()
    begin = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    lines = [name + b": " + b"a" * 8000 + b"\r\n"] * 7
    assert _answer(server, begin + b"".join(lines) + b"\r\n").startswith(b"HTTP/1.1 200 ")
    for end in (b"\r\n", b""):  # it is refused without its end, too
        refused = _answer(server, begin + b"".join([*lines, lines[0]]) + end)
        assert refused.startswith(b"HTTP/1.1 431 ")
        assert b'"code":"RequestRejected"' in refused
    few, many = (begin + (name + b":\r\n") * count + b"\r\n" for count in (98, 99))
    assert _answer(server, few).startswith(b"HTTP/1.1 200 ")
    assert _answer(server, many).startswith(b"HTTP/1.1 431 ")
    assert server.get("/") == 200


def test_a_refused_body_that_is_too_long_ends_the_connection(start_gunicorn: StartGunicorn) -> None:
    server = start_gunicorn()
    with server.connect(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n") as connection:
        body = b" " * 50_000_000
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            connection.sendall(body)
    assert server.get("/") == 200


def test_a_stop_waits_for_requests_and_not_for_idle_connections(start_gunicorn: StartGunicorn) -> None:
    server = start_gunicorn(GUNICORN_CMD_ARGS="--graceful-timeout 60")
    request = b"GET /slow?seconds=2 HTTP/1.1\r\nHost: x\r\n\r\n"
    with server.connect(request) as busy, server.connect(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") as idle:
        assert idle.recv(65536).startswith(b"HTTP/1.1 200 OK")
        time.sleep(0.3)
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 40
        answer = _until_the_end(busy)
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert answer.endswith(b"slow and done")
        assert _until_the_end(idle) in (b"", b"alive")


def test_a_request_that_waits_for_the_database_does_not_block_others(
    start_gunicorn: StartGunicorn, database_url: str, token_for: TokenFor, project: str
) -> None:
    server = start_gunicorn("wsgi:app", DATABASE_URL=database_url, CONNECTIONS="3")  # one is kept for other projects
    token = token_for(f"manage_test:{project}")
    body = '{"key": "locked", "objectTypeProperty": {}}'
    assert server.request("POST", f"/{project}/resource", token, body) == 201
    waiting: list[int] = []
    with psycopg.connect(database_url) as other:
        other.execute("SELECT FROM resource WHERE project_key = %s FOR UPDATE", (project,))
        write = '{"key": "locked", "objectTypeProperty": {"arrayOfIntExample": [1]}}'
        writer = threading.Thread(
            target=lambda: waiting.append(server.request("PUT", f"/{project}/resource", token, write))
        )
        writer.start()
        time.sleep(0.3)
        assert server.get(f"/{project}/resource/key=locked", token) == 200
        assert waiting == []
    writer.join()
    assert waiting == [200]


@pytest.mark.parametrize("as_greenlet", [False, True])
def test_a_connection_to_a_silent_database_is_closed(
    database_url: str, monkeypatch: pytest.MonkeyPatch, as_greenlet: bool
) -> None:
    monkeypatch.setattr("app.database.pooled_connection.monkey.is_module_patched", lambda _: as_greenlet)
    with closing(Database(database_url, Settings(statement_timeout_ms=2000))) as database:
        with database.connection() as connection:
            assert isinstance(connection, LimitedConnection)
            assert connection.execute("SELECT 1").fetchone() == (1,)
            connection.statement_limit_s = 0.2  # less than the server's own limit for the statement
            with pytest.raises(psycopg.OperationalError) as raised:
                connection.execute("SELECT pg_sleep(30)")
            assert raised.value.sqlstate is None  # not the server's limit, which has one
            assert connection.closed
        with database.connection() as connection:
            assert connection.execute("SELECT 2").fetchone() == (2,)
