"""A second issuer of tokens, as a process of its own on loopback: ``python -m tests.support.issuer [CERTIFICATE]``.

It prints its port, and with a certificate a second one, at which it speaks TLS. ``GET /jwks`` returns its keys,
``POST /sign`` signs the claims in the body, ``POST /rotate`` replaces all keys, ``GET /fetches`` returns how often the
keys were fetched. Other paths return unusable key sets: :data:`UNUSABLE`.
"""

import json
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from joserfc import jws, jwt
from joserfc.jwk import ECKey, Key, OctKey, OKPKey, RSAKey

from app.identity.outside_issuer import ALGORITHMS

NAME = "https://issuer.example"
AUDIENCE = "the-service"
UNUSABLE = (
    "/missing",
    "/redirect",
    "/huge",
    "/endless",
    "/deep",
    "/empty",
    "/list",
    "/page",
    "/cut-off",
    "/not-http",
    "/slow",
    "/drip",
    "/drip-body",
)
_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}


class _Handler(BaseHTTPRequestHandler):
    keys: dict[str, Key]
    generation = 0
    fetches = 0

    def do_GET(self) -> None:
        kind = type(self)
        if self.path == "/jwks":
            kind.fetches += 1
            public = [key.as_dict(private=False) for key in kind.keys.values()]
            # Entries that must be ignored: a symmetric key, one for encryption, an unknown type, malformed ones.
            others = [
                OctKey.generate_key(256, {"kid": "symmetric"}).as_dict(),
                {**public[0], "kid": "for-encryption", "use": "enc"},
                {"kty": "AKP", "kid": "of-the-future"},
                {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "broken"},
                {"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "weak"},
                {"kty": ["EC"]},
                "nothing",
            ]
            self._answer({"keys": [*others, *public]})
        elif self.path == "/fetches":
            self._answer({"fetches": kind.fetches})
        elif self.path == "/redirect":
            self.send_response(302)
            self.send_header("Location", "/jwks")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path == "/huge":
            self._answer({"keys": [], "padding": "x" * 70_000})
        elif self.path == "/deep":
            self._answer_bytes(b"[" * 60_000)
        elif self.path == "/empty":
            self._answer({"keys": []})
        elif self.path == "/list":
            self._answer([])
        elif self.path == "/page":
            self._answer_bytes(b"<!DOCTYPE html><title>Log in</title>\xff")
        elif self.path == "/cut-off":
            self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"keys": [')
        elif self.path == "/not-http":
            self.wfile.write(b"\x00\xff" * 5000)
        elif self.path == "/endless":
            self._repeat(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 10_000, 0)
        elif self.path == "/drip":
            self._repeat(b"HTTP/1.1 200 OK\r\nX-Drip: ", b"x", 0.1)
        elif self.path == "/drip-body":
            self._repeat(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n", b" ", 0.1)
        elif self.path == "/slow":
            time.sleep(30)
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        kind = type(self)
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/rotate":
            kind.generation += 1
            kind.keys = _new_keys(kind.generation)
            self._answer({})
        else:
            key = kind.keys[sent["alg"]]
            header = {"alg": sent["alg"], "kid": key.kid, "typ": "JWT", **sent.get("header", {})}
            header = {name: value for name, value in header.items() if value is not None}
            registry = jws.JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
            self._answer({"token": jwt.encode(header, sent["claims"], key, registry=registry, default_type=None)})

    def _repeat(self, begin: bytes, more: bytes, pause_s: float) -> None:
        """Send the beginning of an answer, and then the same bytes again and again until the client hangs up."""
        with suppress(OSError):
            self.wfile.write(begin)
            while True:
                self.wfile.write(more)
                time.sleep(pause_s)

    def _answer(self, body: Any) -> None:
        self._answer_bytes(json.dumps(body).encode())

    def _answer_bytes(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def _new_keys(generation: int) -> dict[str, Key]:
    keys: dict[str, Key] = {
        alg: ECKey.generate_key(curve, {"kid": f"{alg}-{generation}", "alg": alg}) for alg, curve in _CURVES.items()
    }
    keys["RS256"] = RSAKey.generate_key(2048, {"kid": f"RSA-{generation}", "use": "sig"})
    keys["PS256"] = keys["RS256"]
    keys["EdDSA"] = keys["Ed25519"] = OKPKey.generate_key("Ed25519", {"kid": f"Ed25519-{generation}"})
    return keys


class Issuer:
    """A client of the process that issues tokens."""

    def __init__(self, port: int, tls_port: int | None) -> None:
        self._port = port
        self._base = f"http://127.0.0.1:{port}" if tls_port is None else f"https://127.0.0.1:{tls_port}"
        self.jwks_url = self.url("/jwks")

    def url(self, path: str) -> str:
        return f"{self._base}{path}"

    def sign(self, alg: str = "ES256", header: dict[str, Any] | None = None, **claims: Any) -> str:
        """A signed token with valid claims, changed by the arguments. None leaves a claim out."""
        now = int(time.time())
        right = {
            "iss": NAME,
            "aud": AUDIENCE,
            "sub": "someone",
            "azp": "their-app",
            "client_id": "their-client",
            "iat": now,
            "exp": now + 600,
            "scope": "",
        }
        wanted = {name: value for name, value in (right | claims).items() if value is not None}
        return self._ask("POST", "/sign", {"alg": alg, "claims": wanted, "header": header or {}})["token"]

    def rotate(self) -> None:
        self._ask("POST", "/rotate", {})

    @property
    def fetches(self) -> int:
        return self._ask("GET", "/fetches")["fetches"]

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=10)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()


@contextmanager
def running_issuer(certificate: Path | None = None) -> Generator[Issuer]:
    """Run the process of the issuer until the end of the ``with``.

    :param certificate: a file with a private key and its certificate, for keys that are fetched by https.
    """
    command = [sys.executable, "-m", "tests.support.issuer", *([] if certificate is None else [str(certificate)])]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port, *tls_port = map(int, process.stdout.readline().split())
        yield Issuer(port, *tls_port or [None])
    finally:
        process.kill()
        process.communicate()


class _TlsServer(ThreadingHTTPServer):
    """An HTTP server with TLS. A client that does not use TLS is no error."""

    def handle_error(self, *_: Any) -> None:
        pass


def _serve() -> None:
    _Handler.keys = _new_keys(0)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    ports = [server.server_address[1]]
    for certificate in sys.argv[1:]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        with_tls = _TlsServer(("127.0.0.1", 0), _Handler)
        with_tls.socket = context.wrap_socket(with_tls.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=with_tls.serve_forever, daemon=True).start()
        ports.append(with_tls.server_address[1])
    print(*ports, flush=True)  # noqa: T201 -- the parent process reads it
    server.serve_forever()


if __name__ == "__main__":
    _serve()
