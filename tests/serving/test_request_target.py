"""Requests as gunicorn passes them to the application, or refuses them: what a client of WSGI alone cannot send."""

import contextlib
import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.fixtures import TokenFor
from tests.support.service import running_service


@pytest.fixture(scope="module")
def port(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    log: Path = tmp_path_factory.mktemp("service") / "log"
    with running_service(log, DATABASE_URL=database_url) as port:
        yield port


def answer_on(connection: socket.socket) -> http.client.HTTPResponse:
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    return answer


REFUSED = {
    "line": (b"GARBAGE\r\n\r\n", 400, "InvalidInput"),
    "version": (b"GET / HTTP/9.9\r\n\r\n", 400, "InvalidInput"),
    "lower-case-method": (b"get / HTTP/1.1\r\nHost: x\r\n\r\n", 400, "InvalidInput"),
    "blank-in-target": (b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400, "InvalidInput"),
    "byte-beyond-ascii-in-target": (b"GET /\xc3\xa4 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "InvalidInput"),
    "no-host": (b"GET /health/live HTTP/1.1\r\n\r\n", 400, "InvalidInput"),
    "no-host-but-in-target": (b"GET http://x/health/live HTTP/1.1\r\n\r\n", 400, "InvalidInput"),
    "two-hosts": (b"GET /health/live HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400, "InvalidInput"),
    "two-hosts-1.0": (b"GET /health/live HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n", 400, "InvalidInput"),
    "path-in-host": (b"GET /health/live HTTP/1.1\r\nHost: x/y\r\n\r\n", 400, "InvalidInput"),
    "list-of-hosts": (b"GET /health/live HTTP/1.1\r\nHost: x, y\r\n\r\n", 400, "InvalidInput"),
    "user-in-host": (b"GET /health/live HTTP/1.1\r\nHost: user@x\r\n\r\n", 400, "InvalidInput"),
    "brackets-in-host": (b"GET /health/live HTTP/1.1\r\nHost: [:::]\r\n\r\n", 400, "InvalidInput"),
    "name": (b"GET / HTTP/1.1\r\nb\xc3\xa4d name: x\r\n\r\n", 400, "InvalidInput"),
    "coding": (b"GET / HTTP/1.1\r\nTransfer-Encoding: rot13\r\n\r\n", 400, "InvalidInput"),
    "second-coding": (b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 400, "InvalidInput"),
    "fragment": (b"GET /health/live#x HTTP/1.1\r\nHost: x\r\n\r\n", 400, "InvalidInput"),
    "lengths": (b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "InvalidInput"),
    "long-line": (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", 414, "InvalidInput"),
    "header": (b"GET / HTTP/1.1\r\nLong: " + b"a" * 9000 + b"\r\n\r\n", 431, "RequestRejected"),
    "long-header": (b"GET / HTTP/1.1\r\nLong: " + b"a" * 1_000_000 + b"\r\n\r\n", 431, "RequestRejected"),
    "many-headers": (b"GET / HTTP/1.1\r\n" + b"Many: x\r\n" * 200 + b"\r\n", 431, "RequestRejected"),
}
"""Requests that gunicorn cannot parse, each with the status and the code of the answer."""


@pytest.mark.parametrize(("request_bytes", "status", "code"), REFUSED.values(), ids=REFUSED)
def test_requests_that_cannot_be_parsed_are_refused_in_json(
    port: int, request_bytes: bytes, status: int, code: str
) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        # The connection may end while the client is still sending; the error has to arrive all the same.
        with contextlib.suppress(OSError):
            connection.sendall(request_bytes)
        answer = answer_on(connection)
        body = json.loads(answer.read())
    assert (answer.status, answer.headers["Content-Type"]) == (status, "application/json; charset=utf-8")
    assert answer.headers["X-Correlation-ID"]
    assert body == {"statusCode": status, "message": body["message"], "errors": body["errors"]}
    assert [(fault["code"], fault["message"]) for fault in body["errors"]] == [(code, body["message"])]


@pytest.mark.parametrize(
    ("request_line", "words"),
    [
        (b"get / HTTP/1.1", "Methods are written in capital letters."),
        (b"GET /a HTTP/1.1 ", "The version is neither HTTP/1.0 nor HTTP/1.1."),
        (b"GET /a  HTTP/1.1", "The request target contains a blank. Percent-encode it: %20."),
        (b"GET /a b HTTP/1.1", "The request target contains a blank. Percent-encode it: %20."),
        (b"GET /\xc3\xa4 HTTP/1.1", "a byte that is no printable ASCII character. Percent-encode it."),
        (b"GET / HTTP/3.0", "The version is neither HTTP/1.0 nor HTTP/1.1."),
    ],
)
def test_a_person_understands_what_is_wrong(port: int, request_line: bytes, words: str) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=15) as connection:
        connection.sendall(request_line + b"\r\nHost: x\r\n\r\n")
        assert json.loads(answer_on(connection).read())["message"].endswith(words)


@pytest.mark.parametrize(
    "lines", [b"Connection: close\r\n", b"Connection: TE, close\r\n", b"Connection: TE\r\nConnection: Close\r\n"]
)
def test_close_among_other_options_closes(port: int, lines: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=15) as connection:
        connection.sendall(b"GET /health/live HTTP/1.1\r\nHost: x\r\n" + lines + b"\r\n")
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    assert b"Connection: close\r\n" in received
    assert received.endswith(b'{"status":"live"}')


@pytest.mark.parametrize("closes", [False, True])
@pytest.mark.parametrize("length", [100_000, 4_000_000])
def test_the_answer_to_a_body_that_is_not_read_arrives(port: int, length: int, closes: bool) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        headers = {"Content-Type": "application/json"} | ({"Connection": "close"} if closes else {})
        connection.request("POST", "/demo/resource", b" " * length, headers)
        answer = connection.getresponse()
        assert answer.status == 401
        answer.read()
        if not closes:
            connection.request("GET", "/health/live")
            assert connection.getresponse().status == 200


@pytest.mark.parametrize("is_read", [False, True])
def test_the_answer_to_a_malformed_chunk_arrives(port: int, token_for: TokenFor, project: str, is_read: bool) -> None:
    token = f"Authorization: Bearer {token_for(f'manage_test:{project}')}\r\n" if is_read else ""
    head = f"POST /{project}/resource HTTP/1.1\r\nHost: x\r\n{token}Content-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=15) as connection:
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n".encode() + b"x" * 300_000)
        connection.shutdown(socket.SHUT_WR)
        received = b"".join(iter(lambda: connection.recv(65536), b""))  # a reset would raise an error
    assert received.startswith(b"HTTP/1.1 400 " if is_read else b"HTTP/1.1 401 ")


@pytest.mark.parametrize("hangs_up", [False, True])
def test_a_request_whose_body_is_cut_off_is_not_carried_out(
    port: int, token_for: TokenFor, project: str, hangs_up: bool
) -> None:
    bearer = {"Authorization": f"Bearer {token_for(f'manage_test:{project}')}", "Content-Type": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=15)) as connection:
        connection.request("POST", f"/{project}/resource", b'{"objectTypeProperty":{}}', bearer)
        path = f"/{project}/resource/{json.loads(connection.getresponse().read())['id']}"
        head = "".join(f"{name}: {value}\r\n" for name, value in {"Host": "x", **bearer, "Content-Length": 13}.items())
        with socket.create_connection(("127.0.0.1", port), timeout=15) as cut:
            cut.sendall(f"DELETE {path} HTTP/1.1\r\n{head}\r\n".encode())
            cut.shutdown(socket.SHUT_WR)
            if not hangs_up:
                answer = answer_on(cut)
                assert answer.status == 400
                assert "it did not arrive whole" in json.loads(answer.read())["message"]
        connection.request("GET", path, headers=bearer)
        assert connection.getresponse().status == 200
