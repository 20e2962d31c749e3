"""More connections than the worker serves: which make room, who is not served, and what is always answered."""

import contextlib
import signal
import socket
from typing import cast

import pytest

from app.http import client_sockets
from app.http.client_sockets import GRACE_S, RATE_AT_LEAST, RESERVE, UNSENT_AT_MOST, Client, Clients, Phase
from tests.support.gunicorn_server import Gunicorn, StartGunicorn
from tests.support.waiting import wait_until

BODY = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"


def _few(start_gunicorn: StartGunicorn, ordinary: int) -> Gunicorn:
    return start_gunicorn(GUNICORN_CMD_ARGS=f"--worker-connections {RESERVE + ordinary}")


def _answer(server: Gunicorn, path: str) -> bytes:
    with server.connect(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()) as connection:
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_bodies_that_do_not_come_make_room(start_gunicorn: StartGunicorn) -> None:
    server = _few(start_gunicorn, 10)
    with contextlib.ExitStack() as opened:
        slow = [opened.enter_context(server.connect(BODY)) for _ in range(RESERVE + 50)]
        assert server.get("/") == 200
        # The first was given up: the application was told that the body ended, and the connection is closed.
        assert b"".join(iter(lambda: slow[0].recv(65536), b"")).count(b"HTTP/1.1 ") <= 1


def test_probes_are_answered_while_all_connections_work(start_gunicorn: StartGunicorn) -> None:
    server = _few(start_gunicorn, 3)
    busy = b"GET /slow?seconds=6 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with contextlib.ExitStack() as opened:
        working = [opened.enter_context(server.connect(busy)) for _ in range(3)]
        refused = b""

        def is_full() -> bool:
            nonlocal refused
            refused = _answer(server, "/")
            return refused.startswith(b"HTTP/1.1 503 ")

        wait_until(is_full)
        assert b'"OverCapacity"' in refused
        assert b"\r\nRetry-After: " in refused
        assert _answer(server, "/health/live").startswith(b"HTTP/1.1 200 ")
        for connection in working:
            assert b"".join(iter(lambda one=connection: one.recv(65536), b"")).startswith(b"HTTP/1.1 200 ")
    assert server.get("/") == 200


@pytest.mark.parametrize("hang_up", ["close", "shutdown"])
def test_who_has_hung_up_is_not_served(start_gunicorn: StartGunicorn, hang_up: str) -> None:
    server = start_gunicorn()
    with contextlib.ExitStack() as opened:
        (worker,) = server.workers
        worker.send_signal(signal.SIGSTOP)
        try:
            for _ in range(50):
                connection = opened.enter_context(server.connect(b"GET /slow?seconds=1 HTTP/1.1\r\nHost: x\r\n\r\n"))
                if hang_up == "close":
                    connection.close()
                else:
                    connection.shutdown(socket.SHUT_WR)
                    connection.settimeout(10)
                    opened.callback(_assert_nothing, connection)
        finally:
            worker.send_signal(signal.SIGCONT)
        assert server.get("/") == 200


def _assert_nothing(connection: socket.socket) -> None:
    # Reset, since the worker has not even read the request.
    with contextlib.suppress(ConnectionResetError):
        assert connection.recv(1) == b""


class _Endless:
    """A connection that gives and takes as many bytes at a time as it was made with, each after a time."""

    def __init__(self, clock: list[float], each_s: float, size: int) -> None:
        self._clock, self._each_s, self._size = clock, each_s, size
        self.is_shut = False

    def recv(self, _size: int) -> bytes:
        self._clock[0] += self._each_s
        return b"x" * self._size

    def send(self, data: memoryview) -> int:
        self._clock[0] += self._each_s
        return min(len(data), self._size)

    def settimeout(self, _seconds: float) -> None:
        pass

    def gettimeout(self) -> float:
        return 20.0

    def shutdown(self, _how: int) -> None:
        self.is_shut = True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(client_sockets, "monotonic", lambda: now[0])
    return now


def _client(clock: list[float], each_s: float = 1.0, size: int = 1, holders: Clients | None = None) -> Client:
    return Client(cast("socket.socket", _Endless(clock, each_s, size)), holders or Clients(900))


def test_a_body_that_drips_has_an_end(clock: list[float]) -> None:
    dripping = _client(clock)

    def read_on() -> None:
        for _ in range(1000):
            dripping.recv(8192)

    with pytest.raises(TimeoutError):
        read_on()
    assert clock[0] - 1000 <= GRACE_S + 1


def test_a_slow_body_that_keeps_the_rate_is_read(clock: list[float]) -> None:
    slow = _client(clock, size=RATE_AT_LEAST)
    for _ in range(1000):
        slow.recv(8192)


def test_the_time_is_for_each_request_anew(clock: list[float]) -> None:
    client = _client(clock)
    for _ in range(20):
        client.begin(Phase.HEAD)
        client.begin_request()
        for _ in range(15):
            client.recv(8192)


def test_an_answer_that_is_taken_too_slowly_has_an_end(clock: list[float]) -> None:
    with pytest.raises(TimeoutError):
        _client(clock).sendall(b"x" * 100_000)
    _client(clock, size=RATE_AT_LEAST).sendall(b"x" * 100_000)


def _waiting(holders: Clients, clock: list[float], phase: Phase, *, token: bool = False) -> Client:
    client = _client(clock, holders=holders)
    holders.add(client)
    client.begin(phase)
    client.has_token = token
    holders.begin_wait(client)
    clock[0] += 1
    return client


def _is_shut(client: Client) -> bool:
    return client.is_shut


def test_the_one_waited_for_longest_makes_room(clock: list[float]) -> None:
    holders = Clients(RESERVE + 4)
    held = [_waiting(holders, clock, phase, token=True) for phase in (Phase.BODY, Phase.HEAD, Phase.ANSWER, Phase.HEAD)]
    assert holders.make_room()
    assert not any(map(_is_shut, held))
    for number in range(4):
        _waiting(holders, clock, Phase.HEAD, token=True)
        assert holders.make_room()
        assert [_is_shut(one) for one in held] == [True] * (number + 1) + [False] * (3 - number)


def test_strangers_make_room_first_while_they_are_more_than_half(clock: list[float]) -> None:
    holders = Clients(RESERVE + 4)
    known = _waiting(holders, clock, Phase.HEAD, token=True)
    strangers = [_waiting(holders, clock, Phase.BODY) for _ in range(4)]
    assert holders.make_room()
    assert _is_shut(strangers[0])
    assert not _is_shut(known)


def _taking(holders: Clients, clock: list[float], taken: int, size: int = UNSENT_AT_MOST // 2) -> Client:
    """A client that has taken some bytes of its answer, and for which the worker waits."""
    client = _waiting(holders, clock, Phase.ANSWER)
    holders.end_wait(client)
    client._moved = taken
    holders.hold(client, size)
    holders.begin_wait(client)
    return client


def test_the_slowest_reader_is_given_up_if_answers_have_too_many_bytes(clock: list[float]) -> None:
    holders = Clients(900)
    quick = _taking(holders, clock, 10_000_000)
    slow = _taking(holders, clock, 1_000_000)
    assert not _is_shut(slow)
    idle = _waiting(holders, clock, Phase.HEAD)
    another = _taking(holders, clock, 2_000_000)
    assert [_is_shut(one) for one in (quick, slow, idle, another)] == [False, True, False, False]
    holders.release(quick)
    assert not _is_shut(_taking(holders, clock, 1))
    assert not _is_shut(another)


def test_an_answer_that_is_larger_than_all_may_be_is_held_alone(clock: list[float]) -> None:
    holders = Clients(900)
    slow = _taking(holders, clock, 1)
    huge = _taking(holders, clock, 1, 2 * UNSENT_AT_MOST)
    assert _is_shut(slow)
    assert not _is_shut(huge)


def test_readers_that_take_nothing_hold_a_bounded_number_of_bytes(start_gunicorn: StartGunicorn) -> None:
    server = start_gunicorn()
    (worker,) = server.workers
    size = UNSENT_AT_MOST // 4
    request = f"GET /large?bytes={size} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    with contextlib.ExitStack() as opened:
        before = worker.memory_info().rss
        silent = [opened.enter_context(server.connect(request)) for _ in range(12)]
        for connection in silent:
            assert connection.recv(1)  # its answer has begun
        # Beside the answers that are held there is the one that is made, as str and as bytes, and what malloc keeps.
        wait_until(lambda: worker.memory_info().rss - before < UNSENT_AT_MOST + 3 * size)
        # The last ones are served, those before them were given up.
        received = [sum(map(len, iter(lambda one=one: one.recv(1 << 20), b""))) for one in silent[-3:]]
        assert all(count > size for count in received)


def test_requests_that_are_worked_on_are_not_given_up(clock: list[float]) -> None:
    holders = Clients(RESERVE + 2)
    working = [_client(clock, holders=holders) for _ in range(3)]
    for one in working:
        holders.add(one)
    assert not holders.make_room()
    assert not any(map(_is_shut, working))
    holders.remove(working[0])
    assert holders.make_room()
