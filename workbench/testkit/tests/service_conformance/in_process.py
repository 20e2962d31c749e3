"""The kit's connections to an application in this process: WSGI calls, so that a traceback is beside a failed check."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes
from uuid import uuid4

from flask import Flask
from sample_resource_testkit.access import SCOPES, Credentials, ProjectClient, Vault
from sample_resource_testkit.wire import Connection as WireConnection
from sample_resource_testkit.wire import Origin, RawAnswer, Request, Transport

from app.database.connection import Connection
from app.identity import clients


class InProcess(Transport):
    """Calls an application as gunicorn's worker does, with the target of the request as it was sent."""

    def __init__(self, application: Flask) -> None:
        super().__init__(Origin("http", "127.0.0.1", 8000))
        self._application = application

    def exchange(self, request: Request, before_sending: Callable[[], object] = lambda: None) -> RawAnswer:
        """Answer a request."""
        before_sending()
        told: list[Any] = []

        def start_response(status: str, headers: list[tuple[str, str]], error: Any = None) -> Callable[[bytes], None]:
            told[:] = [status, headers]
            return lambda _: None

        parts = self._application(self._environment(request), start_response)
        try:
            body = b"".join(parts)
        finally:
            getattr(parts, "close", lambda: None)()
        status, headers = told
        code, _, reason = status.partition(" ")
        without_body = request.method == "HEAD" or code in ("204", "304")
        return RawAnswer(int(code), reason, "1.1", tuple(headers), b"" if without_body else body)

    @contextmanager
    def connection(self) -> Generator[WireConnection]:
        """There is none: what needs one is among :data:`.test_every_clause.NEEDS_A_CONNECTION`."""
        raise AssertionError("this check needs a connection")
        yield

    def _environment(self, request: Request) -> dict[str, Any]:
        path, _, query = request.target.partition("?")
        sent = request.target.encode("utf-8", "surrogateescape").decode("latin-1")
        body = request.body or b""
        environment: dict[str, Any] = {
            "REQUEST_METHOD": request.method,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(path.encode("utf-8", "surrogateescape")).decode("latin-1"),
            "QUERY_STRING": query.encode("utf-8", "surrogateescape").decode("latin-1"),
            "RAW_URI": sent,
            "SERVER_NAME": self.origin.host,
            "SERVER_PORT": str(self.origin.port),
            "SERVER_PROTOCOL": "HTTP/1.1",
            "HTTP_HOST": self.origin.authority,
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": BytesIO(body),
            "wsgi.errors": BytesIO(),
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
        }
        if request.body is not None:
            environment["CONTENT_LENGTH"] = str(len(body))
        named: dict[str, str] = {}
        for name, value in request.headers:
            key = name.upper().replace("-", "_")
            text = value.encode("utf-8", "surrogateescape").decode("latin-1")
            named[key] = f"{named[key]},{text}" if key in named else text
        for key, text in named.items():
            environment[key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"] = text
        return environment


class OwnProjects(Credentials):
    """Projects of the application, each with a client of its own, whose tokens come from its token endpoint."""

    def __init__(self, transport: Transport, connection: Connection) -> None:
        super().__init__(transport, "/oauth/token", Vault())
        self._connection = connection
        self.use(self.new_project(), self.new_project())

    def new_project(self) -> ProjectClient:
        """A project that nothing has used."""
        return self._client_of(f"p-{uuid4().hex[:20]}")

    def two_clients(self) -> tuple[ProjectClient, ProjectClient]:
        """The clients of a new project."""
        first = self.new_project()
        return first, self._client_of(first.key)

    def _client_of(self, key: str) -> ProjectClient:
        made = clients.create_client(self._connection, "kit", tuple(f"{name}:{key}" for name in SCOPES))
        return ProjectClient(key, "", made.client_id, made.client_secret)
