"""A small application for tests of the supervisor and of gunicorn; ``python -m tests.support.standin`` serves it."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import psycopg

from app.config import Settings
from app.serving.supervisor import serve

_noted: list[str] = []


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer a request by its path. Paths without a branch below are answered with ``alive``."""
    path = environ["PATH_INFO"]
    status, body = "200 OK", "alive"
    if environ["QUERY_STRING"] == "echo":
        body = " ".join(environ[name] for name in ("wsgi.url_scheme", "SCRIPT_NAME", "PATH_INFO", "REMOTE_ADDR"))
    elif path == "/pid":
        body = str(os.getpid())
    elif path == "/slow":
        time.sleep(float(parse_qs(environ["QUERY_STRING"])["seconds"][0]))
        body = "slow and done"
    elif path == "/large":
        body = "x" * int(parse_qs(environ["QUERY_STRING"])["bytes"][0])
    elif path == "/note":
        _noted.append(path)
    elif path == "/read":
        while environ["wsgi.input"].read(1):
            _noted.append(path)
    elif path == "/breaks":
        start_response(status, [("Content-Length", "8")])
        return _breaking()
    elif path == "/noted":
        body = str(len(_noted))
    elif path == "/rows":
        try:
            with psycopg.connect(os.environ["DATABASE_URL"], connect_timeout=2) as connection:
                body = str(connection.execute("SELECT count(*) FROM kept").fetchall()[0][0])
        except psycopg.OperationalError as error:
            status, body = "503 Service Unavailable", str(error)
    start_response(status, [("Content-Type", "text/plain"), ("Content-Length", str(len(body.encode())))])
    return [body.encode()]


def _breaking() -> Iterator[bytes]:
    yield b"half"
    raise RuntimeError("a fault of the application")


if __name__ == "__main__":
    configuration = Path(__file__).with_name("standin_settings.py")
    sys.exit(serve(Settings.from_environment(), "tests.support.standin:application", configuration))
