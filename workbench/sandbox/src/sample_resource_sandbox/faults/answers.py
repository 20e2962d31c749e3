"""Makes the answers of rules: errors in the platform's envelope, altered bodies, and answers that break their
connection."""

import json
import struct
from collections.abc import Callable, Generator, Iterable
from errno import EPIPE
from http.client import responses
from socket import SO_LINGER, SOL_SOCKET
from typing import Any

from flask import Response
from werkzeug.wsgi import ClosingIterator

from app import errors
from app.http.answers import json_answer
from sample_resource_sandbox.journal.entry import BODY_BYTES_KEPT
from sample_resource_sandbox.rules.rules import Rule

_CODES = {each.status: each.code for each in reversed(errors.CATALOGUE.values())} | {429: "OverCapacity"}
"""The platform's error code for a status: of several codes the first in the catalogue. For other statuses it is
``General`` from 500 on, else ``InvalidInput``."""

_OAUTH_CODES = {400: "invalid_request", 401: "invalid_client"}
"""The error code for a status of the token endpoint."""

_GARBAGE = b"\x00\x16\x03\x01 this is no HTTP \xff\xfe\r\n\r\n"


def error_answer(
    status: int,
    *,
    code: str | None = None,
    message: str | None = None,
    retry_after_s: int | None = None,
    current_version: int | None = None,
    realm: str = "",
    is_oauth: bool = False,
) -> Response:
    """An error answer with any status from 400 to 599.

    :param current_version: the version that a 409 reports.
    :param realm: the realm in the challenge of a 401.
    :param is_oauth: whether it is an answer of the token endpoint (RFC 6749, section 5.2).
    """
    codes = {**_CODES, **_OAUTH_CODES} if is_oauth else _CODES
    code = code or codes.get(status, "General" if status >= 500 else "InvalidInput")
    extra = {"currentVersion": current_version or 1} if code == "ConcurrentModification" else {}
    fault = errors.Fault(
        code, message or f"Ordered in the sandbox: {responses.get(status, f'status {status}')}.", extra
    )
    headers: dict[str, str] = {}
    if status == 401:
        challenge = f'Basic realm="{realm}"' if is_oauth else f'Bearer realm="{realm}", error="invalid_token"'
        headers["WWW-Authenticate"] = challenge
    if retry_after_s is not None:
        headers["Retry-After"] = str(retry_after_s)
    return answer_of(errors.ApiError([fault], headers, status))


def answer_of(error: errors.ApiError) -> Response:
    """The answer of an error."""
    answer = json_answer(error.body(), error.status)
    answer.headers.extend(error.headers)
    return answer


def own_answer(status: int, body: tuple[bytes, str] | None, retry_after_s: int | None) -> Response:
    """An answer whose status and body the rule contains. Without a body it is empty."""
    answer = Response(b"" if body is None else body[0], status)
    if body is None:
        del answer.headers["Content-Type"]
    else:
        answer.headers["Content-Type"] = body[1]
    if retry_after_s is not None:
        answer.headers["Retry-After"] = str(retry_after_s)
    return answer


def with_altered_body(answer: Response, kind: str, *, keeps_status: bool = False) -> Response:
    """Alter the body of an answer, and return the answer.

    :param kind: one of :data:`sample_resource_sandbox.rules.rules.BODIES`.
    :param keeps_status: whether an HTML page in place of a success keeps the status. Otherwise the status becomes 502.
    """
    if kind == "truncatedJson":
        body = answer.get_data()
        answer.set_data(body[: max(1, len(body) // 2)] if body else b'{"statusCode":')
    elif kind == "html":
        if answer.status_code < 400 and not keeps_status:
            answer.status_code = 502
        answer.set_data(
            f"<html>\r\n<head><title>{answer.status}</title></head>\r\n<body>\r\n"
            f"<center><h1>{answer.status}</h1></center>\r\n<hr><center>proxy</center>\r\n</body>\r\n</html>\r\n"
        )
        answer.content_type = "text/html"
    elif kind == "empty":
        answer.set_data(b"")
    else:
        answer.set_data(_with_unknown_fields(answer.get_data()))
    return answer


_UNKNOWN: dict[str, Any] = {"sandboxUnknownField": {"nested": [1, None, True]}, "sandboxUnknownNumber": 1e30}


def _with_unknown_fields(body: bytes) -> bytes:
    """Add members that no client knows to a JSON body: to the object itself, and to each result of a page.

    A long body is not parsed, because other requests would wait: the members are put at its beginning.
    """
    if len(body) > BODY_BYTES_KEPT:
        return json.dumps(_UNKNOWN)[:-1].encode() + b"," + body[1:] if body.startswith(b"{") else body
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if not isinstance(value, dict):
        return body
    results = value.get("results")
    for each in (value, *(results if isinstance(results, list) else ())):
        if isinstance(each, dict):
            each.update(_UNKNOWN)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


class OrderedAnswer(Response):
    """An answer whose connection fails while the answer is sent. Its head is that of the whole answer.

    :param answer: the answer that would be sent otherwise.
    :param send: yields the parts of the body that are sent, and raises an error to end the connection. Its argument is
        the first half of the body; for HEAD it is empty.
    """

    def __init__(self, answer: Response, send: Callable[[bytes], Iterable[bytes]]) -> None:
        body = answer.get_data()
        super().__init__(b"", answer.status, answer.headers)
        self.headers["Content-Length"] = str(len(body))
        self._half = body[: min(len(body) // 2, BODY_BYTES_KEPT)]
        self._send = send

    def get_app_iter(self, environ: Any) -> Any:
        """The parts that are sent. They end the connection even for HEAD and for a status without a body."""
        half = b"" if environ["REQUEST_METHOD"] == "HEAD" else self._half
        return ClosingIterator(iter(self._send(half)), self.close)


def with_failing_connection(answer: Response, rule: Rule, client: Any, wait: Callable[[float], object]) -> Response:
    """The answer whose connection fails as ``connection`` of a rule says.

    :param client: the socket of the connection.
    :param wait: waits for some seconds.
    """

    def send(half: bytes) -> Generator[bytes]:
        if rule.connection == "reset":
            client.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))  # so that close sends RST
            client.close()
        elif rule.connection == "garbage":
            client.sendall(_GARBAGE)
        elif rule.connection == "truncate":
            yield half
        elif rule.connection == "stall":
            yield b""  # gunicorn sends the head before the first part
            wait(rule.silence_ms / 1000)
        raise BrokenPipeError(EPIPE, "ended on order")  # gunicorn takes it for a client that is gone

    return OrderedAnswer(answer, send)
