"""The application called as gunicorn would, in this process and without HTTP."""

import itertools
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import click
from flask import Flask

from app import create_app
from app.config import Settings
from benchmarks.load import Load


@contextmanager
def application(settings: Settings) -> Generator[Flask]:
    """Make the application, whose log lines go nowhere, and close its connections at the end."""
    stderr = sys.stderr
    with Path(os.devnull).open("w") as nowhere:
        sys.stderr = nowhere
        try:
            made = create_app(settings)
        finally:
            sys.stderr = stderr
        try:
            yield made
        finally:
            made.extensions["database"].close()


def caller(app: Flask, requests: Load, port: int = 8000, *, expected: str = "200 OK") -> Callable[[], bytes]:
    """A function that sends the next of the requests each time it is called, and returns the body of the answer.

    :param requests: their paths have no query string.
    :param expected: the status that every answer has to have.
    """
    host = "127.0.0.1"
    body = (requests.body or "").encode()
    headers = {name.upper().replace("-", "_"): value for name, value in requests.headers.items()}
    environ: dict[str, Any] = {
        "REQUEST_METHOD": requests.method,
        "SERVER_PROTOCOL": "HTTP/1.1",
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "SCRIPT_NAME": "",
        "QUERY_STRING": "",
        "REMOTE_ADDR": host,
        "HTTP_HOST": f"{host}:{port}",
        **{name if name == "CONTENT_TYPE" else f"HTTP_{name}": value for name, value in headers.items()},
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    if body:
        environ["CONTENT_LENGTH"] = str(len(body))
    paths = itertools.cycle(requests.paths)
    status = ""

    def start_response(answered: str, _headers: list[tuple[str, str]], _error: Any = None) -> Any:
        nonlocal status
        status = answered

    def call() -> bytes:
        path = next(paths)
        answer: Any = app.wsgi_app(
            {**environ, "PATH_INFO": path, "RAW_URI": path, "wsgi.input": BytesIO(body)}, start_response
        )
        text = b"".join(answer)
        answer.close()
        if status != expected:
            raise click.ClickException(f"{path}: {status} {text.decode()}")
        return text

    return call
