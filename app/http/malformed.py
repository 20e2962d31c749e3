"""The answers to malformed requests: to those that gunicorn's parser refuses, and to some that it accepts."""

import re
from email.utils import formatdate
from http import HTTPStatus
from uuid import uuid4

from flask import Request
from gunicorn.http import errors as parsing

from app import errors
from app.http.request_log import log_unparsed
from app.values.strict_json import CONTENT_TYPE

_PRINTABLE = re.compile(r"[\x21-\x7e]*")

_WORDS: tuple[tuple[type[Exception], str], ...] = (
    (parsing.InvalidRequestMethod, "This is no method of HTTP."),
    (parsing.InvalidRequestLine, "The request line is not 'METHOD /target HTTP/1.1' with CR and LF at its end."),
    (parsing.InvalidHTTPVersion, "The version is neither HTTP/1.0 nor HTTP/1.1."),
    (parsing.ObsoleteFolding, "A header line begins with a blank."),
    (parsing.ExpectationFailed, "Of the header Expect only 100-continue is understood."),
    (parsing.UnsupportedTransferCoding, "Of the header Transfer-Encoding only chunked is understood."),
    (parsing.InvalidChunkSize, "The size of a chunk is no hexadecimal number on a short line of its own."),
    (parsing.InvalidChunkExtension, "The extension of a chunk is malformed."),
    (parsing.ChunkMissingTerminator, "A chunk is not as long as its size says, or its end or the last one is missing."),
    (
        parsing.InvalidHeader,
        "A header line is no 'Name: value' with CR and LF, or its value is not allowed, or it repeats or contradicts"
        " another header.",
    ),
    (parsing.InvalidHeaderName, "A header line is not 'Name: value' with a valid name; in a trailer few are valid."),
)
"""What is wrong, by the exception. The texts do not quote the line, which may be an Authorization header."""


def error_for(exception: BaseException) -> errors.ApiError:
    """The API error for an exception that gunicorn's parser or worker raised: 414, 431 or 400 for a request that cannot
    be parsed; 500 if the request is not at fault."""
    if isinstance(exception, parsing.LimitRequestLine):
        return errors.target_too_long()
    if isinstance(exception, parsing.LimitRequestHeaders):
        return errors.headers_too_large()
    # InvalidResponseHeader and InvalidResponseHeaderName mean that the application is at fault, although they are
    # subclasses of InvalidHeader and InvalidHeaderName, which mean a malformed request. The test is on the class name
    # because the type stubs of gunicorn lack both classes.
    if (
        not isinstance(exception, parsing.ParseException)
        or isinstance(exception, parsing.ConfigurationProblem)
        or type(exception).__name__.startswith("InvalidResponse")
    ):
        return errors.general()
    return errors.invalid_input(f"Malformed request: {_what_is_wrong(exception)}")


def _what_is_wrong(exception: Exception) -> str:
    """The sentence for an exception of the parser, with advice for three frequent faults: a method in small letters, a
    blank in the target, and other characters in it that have to be encoded."""
    method = exception.method if isinstance(exception, parsing.InvalidRequestMethod) else ""
    if method.isalpha() and method != method.upper():
        return "Methods are written in capital letters."
    # gunicorn splits the line at the first two blanks, so a target with a blank continues in the version: for
    # GET /a b HTTP/1.1 the version is "b HTTP/1.1". Blanks at the end of the line do not belong to the target.
    version = exception.version if isinstance(exception, parsing.InvalidHTTPVersion) else ""
    if isinstance(version, str) and " " in version.rstrip(" "):  # for HTTP/2.0 the version is a tuple
        return "The request target contains a blank. Percent-encode it: %20."
    if isinstance(exception, parsing.InvalidRequestLine):
        # req is the request line. Its second word is the target; in a line without a blank the target is "". If the
        # fault is a bare LF, req is gunicorn's own sentence instead, "bare LF as line terminator". Its second word,
        # "LF", is printable, so this advice is not given for a bare LF.
        target = str(exception.req).partition(" ")[2].partition(" ")[0]
        if not _PRINTABLE.fullmatch(target):
            return "The request target contains a byte that is no printable ASCII character. Percent-encode it."
    return next((words for kind, words in _WORDS if isinstance(exception, kind)), "It is no request of HTTP/1.1.")


def refusal(exception: BaseException, address: str) -> bytes:
    """Log and count a request that gunicorn could not parse, or that failed outside of the application.

    :param address: the address of the client; empty behind a Unix socket.
    :return: the bytes of the answer. It ends the connection, because the beginning of the next request is unknown.
    """
    error, correlation_id = error_for(exception), str(uuid4())
    log_unparsed(error, correlation_id, address, exception if error.status >= 500 else None)
    body = error.body()
    head = [
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}",
        f"Date: {formatdate(usegmt=True)}",
        f"Content-Type: {CONTENT_TYPE}",
        f"Content-Length: {len(body)}",
        f"X-Correlation-ID: {correlation_id}",
        "Connection: close",
        *(f"{name}: {value}" for name, value in error.headers.items()),
    ]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + body


def check_request(request: Request) -> None:
    """The hook before the view that refuses two kinds of malformed request, which gunicorn lets pass.

    :raises ApiError: 400 for a ``#`` in the target: gunicorn drops the rest of the target, and with it a part of the
        query if the client has forgotten to encode the ``#``. 400 for a transfer coding besides chunked, such as gzip:
        gunicorn does not decode it, so the view would read an encoded body.
    """
    environ = request.environ
    if "#" in environ.get("RAW_URI", ""):
        raise errors.invalid_input("Malformed request: The request target contains a #. Percent-encode it: %23.")
    if environ.get("HTTP_TRANSFER_ENCODING", "chunked").lower() != "chunked":
        raise error_for(parsing.UnsupportedTransferCoding(""))
