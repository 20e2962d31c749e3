"""A curl line sends the same request again."""

import subprocess

import pytest
from sample_resource_testkit.access import Vault
from sample_resource_testkit.exchanges import Exchange, curl, shortened
from sample_resource_testkit.wire import Headers, Request
from stub import Received, Stub, http

JSON = ("Content-Type", "application/json")


def without(request: Received) -> tuple[str, list[tuple[str, str]], bytes]:
    """A request without the headers that curl and the kit add by themselves."""
    own = {"host", "user-agent", "accept", "connection", "content-length"}
    return request.line, [pair for pair in request.headers if pair[0].lower() not in own], request.body


REQUESTS: list[tuple[str, str, Headers, bytes | None]] = [
    ("GET", "/p/resource/a%2Fb/../c?x=%zz&y[]={1}", (), None),
    ("POST", "/p", (JSON,), b'{"text": "it\'s $HOME `id` \\"quoted\\" \xc3\xa4"}'),
    ("PUT", "/p", (), b"\x00\xff @"),
    ("DELETE", "/p", (("X-Empty", ""), ("X-Twice", "1"), ("X-Twice", "2")), None),
    ("BREW", "/a b", (), None),
]


@pytest.mark.parametrize(("method", "target", "headers", "body"), REQUESTS)
def test_a_curl_line_sends_the_same_request(
    stub: Stub, method: str, target: str, headers: Headers, body: bytes | None
) -> None:
    request = Request(method, target, headers, body)
    stub.answer = lambda _: http(200)
    stub.transport.exchange(request)
    line = curl(stub.transport.origin, request, lambda text: text)
    subprocess.run(["bash", "-c", line], check=True, capture_output=True, timeout=20)
    assert without(stub.received[1]) == without(stub.received[0])


def test_a_secret_is_a_variable_of_the_shell(stub: Stub) -> None:
    vault = Vault()
    vault.keep("TOKEN", "a-secret-token")
    request = Request("GET", "/", (("Authorization", "Bearer a-secret-token"),))
    line = curl(stub.transport.origin, request, vault.hide)
    assert "a-secret-token" not in line
    subprocess.run(["bash", "-c", f"TOKEN=again; {line}"], check=True, capture_output=True, timeout=20)
    assert ("Authorization", "Bearer again") in stub.received[0].headers


def test_a_short_secret_hides_no_other_words() -> None:
    vault = Vault()
    vault.keep("TOKEN", "x")
    assert vault.hide("Authorization: Bearer x") == "Authorization: Bearer $TOKEN"
    assert vault.hide("expected: 2xx, Bearer") == "expected: 2xx, Bearer"


def test_an_exchange_tells_the_answer(stub: Stub) -> None:
    stub.answer = lambda _: http(404, '{"a": 1}', "X-A: b")
    request = Request("GET", "/")
    exchange = Exchange(stub.transport.origin, request, stub.transport.exchange(request))
    assert exchange.told() == 'HTTP/1.1 404 X\nContent-Length: 8\nX-A: b\n\n{"a": 1}'


def test_a_long_body_is_shortened() -> None:
    assert shortened(b"a" * 3000).endswith(" ... (3000 bytes)")
    assert shortened(b"\xff") == "b'\\xff'"
