"""The service with a fault: a WSGI application for gunicorn, which is told over HTTP which one to plant."""

import json
from collections.abc import Iterable
from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes

import faults
from planted import CONTROL, FAULTS, Answer, Planted, Request

from app import create_app

assert faults.__all__

LARGEST_READ = 8 * 1024 * 1024
"""A longer body is left to the service, which refuses it unread."""


class Middleware:
    """Stands around the service, with the fault that is planted."""

    def __init__(self, inner: Any, planted: Planted) -> None:
        self._inner = inner
        self._planted = planted

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path, _, query = environ["RAW_URI"].partition("?")
        if path.startswith(f"{CONTROL}/"):
            self._planted.remove()
            name = path.rpartition("/")[2]
            if name:
                FAULTS[name].plant(self._planted)
            start_response("204 No Content", [])
            return []
        if self._planted.around is None or not path.startswith("/"):
            return self._inner(environ, start_response)
        request = _request(environ, path, query)
        if request is None:
            return self._inner(environ, start_response)
        answer = self._planted.around(request, lambda sent: self._answer(environ, sent))
        body = answer.body
        if not isinstance(body, bytes):
            body = b"" if body is None else json.dumps(body).encode()
            answer.headers.setdefault("Content-Type", "application/json; charset=utf-8")
        if answer.status in (204, 304):
            answer.headers.pop("Content-Length", None)
        elif body or request.method != "HEAD":
            answer.headers["Content-Length"] = str(len(body))
        start_response(f"{answer.status} {HTTPStatus(answer.status).phrase}", list(answer.headers.items()))
        return [body]

    def _answer(self, environ: dict[str, Any], request: Request) -> Answer:
        """What the service answers."""
        kept = {name: value for name, value in environ.items() if not name.startswith(("HTTP_", "CONTENT_"))}
        target = f"{request.path}?{request.query}" if request.query else request.path
        sent = {
            **kept,
            "REQUEST_METHOD": request.method,
            "RAW_URI": target,
            "PATH_INFO": unquote_to_bytes(request.path).decode("latin-1"),
            "QUERY_STRING": request.query,
            "wsgi.input": BytesIO(request.body),
        }
        if request.body or "content-length" in request.headers:
            sent["CONTENT_LENGTH"] = str(len(request.body))
        for name, value in request.headers.items():
            if name == "content-type":
                sent["CONTENT_TYPE"] = value
            elif name not in ("content-length", "transfer-encoding"):
                sent[f"HTTP_{name.upper().replace('-', '_')}"] = value
        began: list[Any] = []
        chunks = self._inner(sent, lambda status, headers, *_: began.extend((status, headers)))
        try:
            body = b"".join(chunks)
        finally:
            getattr(chunks, "close", lambda: None)()
        status, headers = began
        named = dict(headers)
        if named.get("Content-Type", "").startswith("application/json") and body:
            return Answer(int(status[:3]), json.loads(body), named)
        return Answer(int(status[:3]), body, named)


def _request(environ: dict[str, Any], path: str, query: str) -> Request | None:
    length = environ.get("CONTENT_LENGTH") or "0"
    is_chunked = "HTTP_TRANSFER_ENCODING" in environ
    if not length.isdecimal() or int(length) > LARGEST_READ:
        return None
    headers = {name[5:].lower().replace("_", "-"): environ[name] for name in environ if name.startswith("HTTP_")}
    for name in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        if environ.get(name):
            headers[name.lower().replace("_", "-")] = environ[name]
    body = environ["wsgi.input"].read() if is_chunked or int(length) else b""
    return Request(environ["REQUEST_METHOD"], path, query, headers, body)


application = create_app()
application.wsgi_app = Middleware(  # type: ignore[method-assign] -- as Flask documents middleware
    application.wsgi_app, Planted()
)
