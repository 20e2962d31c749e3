"""The worker with slow clients, when it stops, and while a request waits for the database.

With few connections and little time; ``make test-slow ARGS=-mfaults`` has more of both.
"""

import contextlib
import signal
import socket
import threading
import time
from contextlib import closing
from itertools import repeat, takewhile
from pathlib import Path

import psycopg
import pytest

from app.config import Settings
from app.database.connection import LimitedConnection
from app.database.pool import Database
from tests.support.fixtures import TokenFor
from tests.support.gunicorn_server import Gunicorn, StartGunicorn
from tests.support.waiting import wait_until


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
    large = begin + b"".join([*lines, lines[0]])
    for head in (large + b"\r\n", large + lines[0]):  # it is refused without its end, too
        refused = _answer(server, head)
        assert refused.startswith(b"HTTP/1.1 431 ")
        assert b'"code":"RequestRejected"' in refused
    few, many = (begin + (name + b":\r\n") * count + b"\r\n" for count in (98, 99))
    assert _answer(server, few).startswith(b"HTTP/1.1 200 ")
    assert _answer(server, many).startswith(b"HTTP/1.1 431 ")
    assert server.get("/") == 200


def test_a_body_behind_a_head_does_not_count_as_head(start_gunicorn: StartGunicorn) -> None:
    lines = b"".join([b"X-Name: " + b"a" * 7960 + b"\r\n"] * 7)
    head = b"POST /read HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4000\r\n" + lines + b"\r\n"
    with start_gunicorn().connect() as connection:
        connection.sendall(head[:4000])
        time.sleep(0.1)  # the worker reads the rest in pieces that do not end where the head ends
        connection.sendall(head[4000:] + b"x" * 4000)
        assert _until_the_end(connection).startswith(b"HTTP/1.1 200 ")


def test_a_client_that_reads_no_answers_is_disconnected_without_an_error(
    start_gunicorn: StartGunicorn, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    server = start_gunicorn(log=log, GUNICORN_CMD_ARGS="--keep-alive 1")
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", server.port))
        deaf.settimeout(0.5)
        with pytest.raises(OSError, match=r"timed out|reset|Broken pipe"):
            deaf.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 1_000_000)
        (worker,) = server.workers
        wait_until(lambda: not [each for each in worker.net_connections() if each.status == "ESTABLISHED"])
    assert "Socket error" not in log.read_text()


def test_the_next_request_is_not_answered_in_place_of_one_that_was_killed(start_gunicorn: StartGunicorn) -> None:
    server = start_gunicorn(GUNICORN_CMD_ARGS="--graceful-timeout 1")
    both = b"GET /slow?seconds=60 HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"
    with server.connect(both) as connection:
        time.sleep(0.3)
        server.process.send_signal(signal.SIGHUP)
        assert _until_the_end(connection) == b""


def test_an_answer_that_fails_halfway_ends_its_connection_and_is_no_other_error(
    start_gunicorn: StartGunicorn, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    server = start_gunicorn(log=log)
    with server.connect(b"POST /breaks HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody") as connection:
        assert _until_the_end(connection).endswith(b"\r\n\r\nhalf")
    assert server.get("/") == 200
    assert "refused a request that could not be parsed" not in log.read_text()


def test_a_last_answer_arrives_whole_although_its_client_has_sent_more(start_gunicorn: StartGunicorn) -> None:
    request = b"GET /large?bytes=3000000 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with start_gunicorn().connect(request + b"x" * 40_000) as connection:
        time.sleep(0.3)  # a part of the answer waits in the kernel
        assert _until_the_end(connection).endswith(b"x" * 1000)


@pytest.mark.parametrize(
    ("framing", "part", "count"),  # chunks with a byte of content each: only the limit of time ends them
    [
        (b"Content-Length: 100000000", b" " * 50_000, 1000),
        (b"Transfer-Encoding: chunked", b"1;%b\r\nx\r\n" % (b"a" * 8000), 10**9),
    ],
)
def test_a_refused_body_that_is_too_long_ends_the_connection(
    start_gunicorn: StartGunicorn, framing: bytes, part: bytes, count: int
) -> None:
    server = start_gunicorn()
    with server.connect(b"POST / HTTP/1.1\r\nHost: x\r\n%b\r\n\r\n" % framing) as connection:
        ends = time.monotonic() + 15
        parts = takewhile(lambda _: time.monotonic() < ends, repeat(part, count))
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            list(map(connection.sendall, parts))
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
