"""Gunicorn's worker, refusing what never becomes a request in the words of the service.

A malformed request line or a header that is too large ends in gunicorn's parser, before Flask sees anything, and
gunicorn would answer with a page of HTML.
"""

import socket
import uuid
from http import HTTPStatus
from typing import Any

from gunicorn import util
from gunicorn.http.errors import ConfigurationProblem, LimitRequestHeaders, LimitRequestLine, ParseException
from gunicorn.workers.gthread import ThreadWorker

from app import errors, metrics


class Worker(ThreadWorker):
    """Threads with keep-alive, and JSON for every refusal."""

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        """Answer a request that could not be parsed, or whose handling failed outside the application."""
        refusal = refusal_of(exc)
        correlation_id = str(uuid.uuid4())
        metrics.count_unparsed(refusal.status)
        if refusal.status < 500:
            peer = addr[0] if addr else "a unix socket"
            self.log.warning("Refused request from %s (%s): %s", peer, correlation_id, refusal)
        else:
            self.log.error("Error handling a request (%s)", correlation_id, exc_info=exc)
        try:
            answer = response(refusal, correlation_id, head_only=getattr(req, "method", None) == "HEAD")
            util.write_nonblock(client, answer)
        except OSError:
            self.log.debug("The client did not wait for the refusal.")


def refusal_of(error: BaseException) -> errors.ApiError:
    """What gunicorn found wrong, as an entry of the catalogue."""
    # InvalidResponseHeader and its kin are the application's fault, though their base class says malformed header.
    # They are known by name since the type stubs of gunicorn do not have them.
    if isinstance(error, ConfigurationProblem) or type(error).__name__.startswith("InvalidResponse"):
        return errors.general()
    if isinstance(error, LimitRequestLine):
        return _rejected("The request line is too large.")
    if isinstance(error, LimitRequestHeaders):
        return _rejected("The request headers are too large.")
    if isinstance(error, ParseException):
        # Not the reason in full: it quotes the line, which may be an Authorization header without its colon.
        return errors.invalid_input(f"Malformed request: {type(error).__name__}.")
    return errors.general()


def _rejected(message: str) -> errors.ApiError:
    return errors.ApiError([errors.Fault("RequestRejected", message)])


def response(refusal: errors.ApiError, correlation_id: str, *, head_only: bool = False) -> bytes:
    """A whole HTTP response; the connection ends with it, since nobody knows where the next request would begin."""
    body = refusal.body()
    head = [
        f"HTTP/1.1 {refusal.status} {HTTPStatus(refusal.status).phrase}",
        f"Date: {util.http_date()}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        f"X-Correlation-ID: {correlation_id}",
        "Connection: close",
        *(f"{name}: {value}" for name, value in refusal.headers.items()),
    ]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + (b"" if head_only else body)
