"""Answers as the worker sends them: the head together with the body, nothing missing and nothing twice."""

import contextlib
import http.client
import json
import socket

import pytest

from app.serving.worker import _OneAnswer
from tests.conftest import TokenFor
from tests.support.gunicorn_server import StartGunicorn


class Client:
    """A connection that takes so many bytes at a time."""

    def __init__(self, at_once: int = 1 << 20) -> None:
        self.at_once = at_once
        self.sent: list[bytes] = []
        self.ended = False

    def send(self, data: bytes) -> int:
        self.sent.append(bytes(data[: self.at_once]))
        return len(self.sent[-1])

    def sendall(self, data: bytes) -> None:
        self.sent.append(bytes(data))

    def shutdown(self, _how: int) -> None:
        self.ended = True

    def fileno(self) -> int:
        return 7


def test_head_and_body_are_one_packet() -> None:
    client = Client()
    with _OneAnswer(client) as answer:
        answer.sendall(b"head ")
        assert client.sent == []
        answer.sendall(b"body")
        answer.sendall(b" and more")
        assert answer.fileno() == 7
    assert client.sent == [b"head body", b" and more"]


def test_a_head_alone_is_sent_at_the_end() -> None:
    client = Client()
    with _OneAnswer(client) as answer:
        answer.sendall(b"head")
    assert client.sent == [b"head"]


def test_a_connection_that_ends_gets_its_head_too() -> None:
    assert _sent_until(StopIteration()) == [b"head"]


def test_a_long_body_is_not_copied() -> None:
    client, body = Client(), b"x" * 100_000
    with _OneAnswer(client) as answer:
        answer.sendall(b"head")
        answer.sendall(body)
    assert client.sent == [b"head", body]


def test_what_the_kernel_did_not_take_is_sent_again() -> None:
    client = Client(at_once=3)
    with _OneAnswer(client) as answer:
        answer.sendall(b"head ")
        answer.sendall(b"body")
    assert b"".join(client.sent) == b"head body"


def test_an_answer_that_fails_midway_is_not_sent() -> None:
    assert _sent_until(OSError()) == []
    client = Client()
    with _OneAnswer(client) as answer:
        answer.sendall(b"head")
        answer.shutdown(socket.SHUT_RDWR)
    assert client.ended
    assert client.sent == []


def _sent_until(error: Exception) -> list[bytes]:
    client = Client()

    def answer_and_fail() -> None:
        with _OneAnswer(client) as answer:
            answer.sendall(b"head")
            raise error

    with pytest.raises(type(error)):
        answer_and_fail()
    return client.sent


def test_all_kinds_of_answers_on_one_connection(
    start_gunicorn: StartGunicorn, database_url: str, token_for: TokenFor, project: str
) -> None:
    server = start_gunicorn("wsgi:app", DATABASE_URL=database_url)
    bearer = {"Authorization": f"Bearer {token_for(f'manage_test:{project}')}"}
    body = json.dumps({"objectTypeProperty": {"arrayOfStringExample": ["x" * 200_000]}})
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=15)) as connection:

        def ask(
            method: str, path: str, body: str | None = None, **headers: str
        ) -> tuple[int, http.client.HTTPMessage, bytes]:
            connection.request(method, path, body, bearer | {name.replace("_", "-"): headers[name] for name in headers})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

        for _ in range(2):
            status, head, text = ask(
                "POST", f"/{project}/resource", body, Content_Type="application/json", Expect="100-continue"
            )
            assert status == 201
            created = json.loads(text)
            path = f"/{project}/resource/{created['id']}"
            assert ask("HEAD", f"/{project}/resource")[0] == 200
            status, head, text = ask("HEAD", path)
            assert (status, int(head["Content-Length"]) > 200_000, text) == (200, True, b"")
            assert ask("GET", path, If_None_Match=head["ETag"])[::2] == (304, b"")
            assert json.loads(ask("GET", path)[2]) == created
            assert ask("GET", f"{path}0")[0] == 404
            status, head, text = ask("GET", "/docs")
            assert (status, len(text)) == (200, int(head["Content-Length"]))
            assert ask("OPTIONS", path)[::2] == (200, b"")
            connected = connection.sock
            assert connected is not None
        ask("GET", path, Connection="close")
        assert connection.sock is None
