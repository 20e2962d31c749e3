"""Reads request bodies within a limit, and parses them as JSON or as a form if their Content-Type names it."""

import time
from functools import lru_cache
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

from flask import Request
from gunicorn.http.errors import ParseException
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge
from werkzeug.http import parse_options_header

from app import errors
from app.http.malformed import error_for
from app.values import strict_json
from app.values.json_fields import OBJECT_EXPECTED

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"

BODY_BYTES_AT_MOST = 64 * 1024
"""The most bytes of a body. Whatever such a body contains, it is decoded and checked in less than 100 ms, for which all
other requests of the process wait."""

LARGE_BODY_BYTES = 4096
"""Larger bodies wait for a turn before they are parsed, unless their reader names another size: see
:func:`wait_for_turn`."""

LARGE_EXPRESSIONS_BYTES = 1024
"""Longer query strings and forms, except those of OAuth, wait for a turn, because parsing a character of an expression
may take 5 µs."""

_TURNS = Lock()
_PAUSE_S = 0.001

FIELDS_AT_MOST = 1000
"""The most fields of a form, or of a query string of OAuth, empty ones included: many more than a search needs, and few
enough to be parsed at once."""


def read_body(request: Request, large: int = LARGE_BODY_BYTES) -> bytes:
    """Return the body of a request. A further call returns the same body; if the first call has raised an error, a
    further call raises an error, too.

    :param large: a body with more bytes waits for its turn.
    :raises ApiError: 413 for a body of more than :data:`BODY_BYTES_AT_MOST`; 415 for a body with a Content-Encoding;
        400 if the client stops sending, or for a malformed chunk; 431 for a trailer that is too large.
    """
    # werkzeug silently cuts a chunked body at max_content_length. So one byte more than the limit is read: this byte
    # shows below that the body is too large.
    request.max_content_length = BODY_BYTES_AT_MOST + 1
    try:
        data = request.get_data()
    except RequestEntityTooLarge:
        raise errors.content_too_large(BODY_BYTES_AT_MOST) from None
    except ClientDisconnected:
        raise errors.invalid_input("Malformed request body: it did not arrive whole.") from None
    except ParseException as error:  # gunicorn parses chunks while they are read
        raise error_for(error) from None
    if len(data) > BODY_BYTES_AT_MOST:
        raise errors.content_too_large(BODY_BYTES_AT_MOST)
    # In two cases get_data() returns an incomplete body and raises no error:
    # - An earlier read of the body has raised an error. gunicorn then reports the end of the body to each later read.
    #   But the earlier error has set ``failed`` on gunicorn's Body, which is ``wsgi.input``.
    # - The body has a Content-Length, and the connection has ended early. gunicorn takes the end of the connection for
    #   the end of the body. The body then has fewer bytes than its Content-Length says.
    if getattr(request.environ["wsgi.input"], "failed", False) or len(data) < (request.content_length or 0):
        raise errors.invalid_input("Malformed request body: it did not arrive whole.")
    if data and request.headers.get("Content-Encoding", "identity").strip().lower() not in ("identity", ""):
        raise errors.unsupported_content_encoding()
    if len(data) > large:
        wait_for_turn()
    return data


def wait_for_turn() -> None:
    """Wait until the long requests before this one have had their pauses, and then pause for :data:`_PAUSE_S`. A
    request calls this before it is parsed, if its parsing may take long. The event loop serves other requests during
    the pause. The caller has to parse right after the return, without waiting for anything in between.

    Parsing blocks the event loop. Without the pauses, the loop would parse all long requests that have arrived before
    it looks at any other connection: forty long requests of one client would block all other requests for a second.
    With the lock, only one long request pauses at a time, so there is a pause before the parsing of each.

    The lock is released before the caller parses. Still, the next long request begins its pause only after the caller
    has parsed: gevent does not switch to another greenlet when a lock is released, but only when the running greenlet
    waits for something or ends.
    """
    with _TURNS:
        time.sleep(_PAUSE_S)


def read_json(request: Request) -> Any:
    """Return the value of a JSON body.

    :raises ApiError: 400, 413, 415 or 431 as :func:`read_body`; 400 if there is no body or it is not JSON; 415 for
        another Content-Type.
    """
    data = read_body(request)
    if not data:
        raise errors.ApiError([errors.shape_fault(f"The body is empty. {OBJECT_EXPECTED}")])
    if not _has_type(request.content_type or "", JSON):
        raise errors.unsupported_media_type(JSON, request.method)
    try:
        return strict_json.decode(data)
    except strict_json.InvalidJson as error:
        raise errors.ApiError([errors.shape_fault(str(error))]) from None


def read_form(request: Request) -> tuple[list[tuple[str, str]], list[errors.Fault]]:
    """Return the fields of a form in their order, and the faults of the form.

    Fields that are not UTF-8 are left out; faults name them. A form of more than :data:`FIELDS_AT_MOST` fields has one
    fault, and none of its fields is returned.

    :raises ApiError: 400, 413, 415 or 431 as :func:`read_body`; 415 for another Content-Type.
    """
    data = read_body(request, LARGE_EXPRESSIONS_BYTES)
    if data and not _has_type(request.content_type or "", FORM):
        raise errors.unsupported_media_type(FORM)
    if data.count(b"&") >= FIELDS_AT_MOST:
        return [], [errors.Fault("InvalidInput", f"Malformed form: it has more than {FIELDS_AT_MOST} fields.")]
    try:
        return parse_qsl(data.decode(), keep_blank_values=True, errors="strict"), []
    except UnicodeDecodeError:
        return decoded_pairs(data)


def decoded_pairs(data: bytes) -> tuple[list[tuple[str, str]], list[errors.Fault]]:
    """Decode the pairs of a query string or form. Return the pairs that are UTF-8, and faults for the others.

    A fault shows the first 100 characters of a pair's name, with bytes that are not UTF-8 as ``\\xff``. Pairs with the
    same shown name have one fault.
    """
    pairs: list[tuple[str, str]] = []
    wrong: dict[str, errors.Fault] = {}
    for pair in data.split(b"&"):
        name, _, value = (unquote_to_bytes(part) for part in pair.replace(b"+", b" ").partition(b"="))
        shown = name.decode(errors="backslashreplace")[:100]
        if not strict_json.is_utf8(name):
            wrong.setdefault(shown, errors.parameter_fault(shown, "The name is not UTF-8."))
        elif not strict_json.is_utf8(value):
            wrong.setdefault(shown, errors.parameter_fault(shown, "The value is not UTF-8."))
        elif pair:
            pairs.append((name.decode(), value.decode()))
    return pairs, list(wrong.values())


@lru_cache(maxsize=64)
def _has_type(content_type: str, media_type: str) -> bool:
    """Whether a Content-Type names a media type, and UTF-8 or no character encoding."""
    found, parameters = parse_options_header(content_type)
    return found.lower() == media_type and parameters.get("charset", "utf-8").lower() in ("utf-8", "utf8")
