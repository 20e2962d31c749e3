"""Requests go out as they are given, and whatever comes back is told."""

import time

import pytest
from sample_resource_testkit.wire import NoAnswer, NotConnected, Origin, Request, Transport
from stub import RESET, Stub

TARGETS = ["/p/resource/a%2Fb?x=%zz&&=", "/a//b/../c;d", "*", "http://other/x", "/%", "/a%c3%A4"]


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_goes_out_as_it_is(stub: Stub, target: str) -> None:
    stub.transport.exchange(Request("GET", target))
    assert stub.received[0].line == f"GET {target} HTTP/1.1"


def test_text_beyond_ascii_goes_out_as_utf_8_and_surrogates_as_their_bytes(stub: Stub) -> None:
    stub.transport.exchange(Request("GET", "/ä\udcff"))
    assert stub.received[0].target.encode("latin-1") == b"/\xc3\xa4\xff"


def test_any_method_and_repeated_headers_go_out_in_their_order_and_spelling(stub: Stub) -> None:
    headers = (("x-a", "1"), ("X-A", "2"), ("If-Match", ""))
    stub.transport.exchange(Request("BREW", "/", headers, b"tea"))
    request = stub.received[0]
    assert (request.method, request.body) == ("BREW", b"tea")
    assert request.headers == [
        ("Host", f"127.0.0.1:{stub.port}"),
        *headers,
        ("Content-Length", "3"),
        ("Connection", "close"),
    ]


def test_a_body_in_chunks_and_one_until_the_end_of_the_connection_are_read(stub: Stub) -> None:
    stub.answer = lambda _: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
    assert stub.transport.exchange(Request("GET", "/")).body == b"abc"


@pytest.mark.parametrize(
    ("answered", "told"),
    [
        (None, "closed the connection without an answer"),
        (RESET, "the connection broke"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "no complete answer of HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "no complete answer"),
    ],
)
def test_an_answer_that_does_not_come_is_told(stub: Stub, answered: bytes | None, told: str) -> None:
    transport = Transport(Origin.of(stub.url), timeout_s=1)
    stub.answer = lambda _: answered
    with pytest.raises(NoAnswer, match=told):
        transport.exchange(Request("GET", "/"))


def test_a_server_that_says_nothing_is_waited_for_less_and_less(stub: Stub) -> None:
    def silent(_: object) -> bytes:
        time.sleep(3)
        return b""

    stub.answer = silent
    transport = Transport(Origin.of(stub.url), timeout_s=0.02)
    with pytest.raises(NoAnswer, match=r"within 0\.02 s"):
        transport.exchange(Request("GET", "/"))
    patient = Transport(Origin.of(stub.url), timeout_s=10)
    for _ in range(10):
        assert patient.patience_s == 10
        patient.count_timeout()
    assert patient.patience_s == 2


def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(NotConnected, match="no connection to http://127"):
        Transport(Origin.of("http://127.0.0.1:1")).exchange(Request("GET", "/"))
