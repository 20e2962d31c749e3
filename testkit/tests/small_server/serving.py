"""The sockets of the small server."""

import json
import select
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .application import Answer, Application, Request
from .refusals import Refused, entry

LARGEST_DRAINED = 64 * 1024 * 1024


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "SmallServer"
    disable_nagle_algorithm = True
    timeout = 30

    def handle_one_request(self) -> None:
        """Read a request, and answer it."""
        self.raw_requestline = self.rfile.readline(65_537)
        if not self.raw_requestline:
            self.close_connection = True
            return
        if len(self.raw_requestline) > 65_536:
            self.requestline, self.request_version, self.command = "", "", ""
            self.send_error(414)
            return
        if not self.parse_request():
            return
        # The library takes slashes away at the beginning of a path, so the target is read from the line itself.
        path, _, query = self.requestline.split()[1].partition("?")
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            known = headers.get(name.lower())
            headers[name.lower()] = value if known is None else f"{known}, {value}"
        try:
            body = self.read_body(headers)
        except ValueError:
            self.send_error(400)
            return
        request = Request(self.command, path, query.encode("latin-1"), headers, body)
        self.send(self.server.application.answer(request))

    def read_body(self, headers: dict[str, str]) -> bytes:
        """The body, by its length or in chunks."""
        if "chunked" not in headers.get("transfer-encoding", "").lower():
            return self.rfile.read(int(headers.get("content-length", "0")))
        body = b""
        while True:
            size = int(self.rfile.readline(1_000).partition(b";")[0], 16)
            if size == 0:
                break
            body += self.rfile.read(size)
            self.rfile.readline(3)
        while self.rfile.readline(65_536).strip():
            pass
        return body

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is no request of HTTP."""
        codes = {414: "InvalidInput", 431: "RequestRejected", 501: "MethodNotAllowed"}
        self.close_connection = True
        self.send(
            self.server.application.refusal(Refused(code, entry(codes.get(code, "InvalidInput"), "Bad request.")))
        )

    def send(self, answer: Answer) -> None:
        """Write an answer."""
        body = answer.body if isinstance(answer.body, bytes) else b""
        headers = dict(answer.headers)
        if answer.body is not None and not isinstance(answer.body, bytes):
            body = json.dumps(answer.body).encode()
            headers.setdefault("Content-Type", "application/json; charset=utf-8")
        lines = [f"HTTP/1.1 {answer.status} {self.responses.get(answer.status, ('Unknown',))[0]}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if answer.status not in (204, 304):
            lines.append(f"Content-Length: {len(body)}")
        if self.close_connection:
            lines.append("Connection: close")
        head = "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
        self.wfile.write(head + (body if self.server.sends_body(self.command, answer) else b""))
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the name of the library
        """Log nothing."""


class SmallServer(ThreadingHTTPServer):
    """The small server on a free port, from ``with`` on."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.application = Application()
        self.application.identity.issuer = self.url
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self._accepting = threading.Lock()
        self._open: set[socket.socket] = set()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def get_request(self) -> tuple[socket.socket, object]:
        """Accept a connection."""
        with self._accepting:
            if not select.select([self.socket], [], [], 0)[0]:
                raise BlockingIOError
            accepted, address = super().get_request()
            self._open.add(accepted)
        return accepted, address

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        self._open.discard(request)
        super().shutdown_request(request)

    def connections(self) -> int:
        """How many connections are open now, those included that nobody has accepted yet."""
        while select.select([self.socket], [], [], 0)[0]:
            self._handle_request_noblock()  # type: ignore[attr-defined] -- that of socketserver
        return len(self._open)

    def sends_body(self, method: str, answer: Answer) -> bool:
        """Whether the body of an answer is sent."""
        return method != "HEAD" and answer.status not in (204, 304)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client may go away at any time."""

    def __enter__(self) -> "SmallServer":
        self._thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()
