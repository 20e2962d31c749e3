"""Reads the parts of a request that the sandbox needs: target, headers, body, version and credentials."""

from contextlib import suppress
from typing import Any, cast

from flask import Request

from app import errors
from app.http.bodies import read_body
from app.http.client_requests import Credentials, read_credentials, read_parameters
from app.values import strict_json
from sample_resource_sandbox.journal.entry import BODY_BYTES_KEPT, Message


def target_of(request: Request) -> str:
    """The request target as it was sent."""
    environ = request.environ
    return environ.get("RAW_URI") or environ.get("REQUEST_URI") or request.full_path


def head_of(request: Request) -> Message:
    """The message of a request whose body has not been read."""
    has_body = "CONTENT_LENGTH" in request.environ or "HTTP_TRANSFER_ENCODING" in request.environ
    return Message(tuple(request.headers), size=None if has_body else 0)


def read_whole(request: Request) -> bytes | None:
    """Read the body of a request, which the view can read again. None if it is too long or cannot be read."""
    try:
        return read_body(request)
    except (errors.ApiError, OSError):
        return None


def note_body(request: Request, message: Message) -> None:
    """Read the rest of a request's body, and record the body in its message."""
    if message.size is None:
        body = read_whole(request)
        message.body, message.size = (b"", None) if body is None else (body[:BODY_BYTES_KEPT], len(body))


def members_of(data: bytes) -> dict[str, Any]:
    """The members of a body that is a JSON object; none for any other body."""
    with suppress(strict_json.InvalidJson):
        body = strict_json.decode(data)
        if isinstance(body, dict):
            return cast("dict[str, Any]", body)
    return {}


def json_members(request: Request) -> dict[str, Any]:
    """The members of a request's body if it is a JSON object; none for any other body."""
    return members_of(read_whole(request) or b"")


def version_sent(request: Request) -> float | None:
    """The version that a request expects, by its body or its query; None if it expects none."""
    version = json_members(request).get("version")
    if isinstance(version, int | float) and not isinstance(version, bool):
        return version
    text = request.args.get("version", "")
    with suppress(ValueError):
        return int(text)
    return None


def token_in(request: Request) -> str:
    """The token in a request for its revocation; empty if the request has none."""
    with suppress(errors.ApiError, OSError):
        return read_parameters(request).get("token", "")
    return ""


def credentials_of(request: Request) -> Credentials | None:
    """The id and the secret of the client in a token request; None if they are missing or malformed."""
    with suppress(errors.ApiError, OSError):
        return read_credentials(request, read_parameters(request))
    return None
