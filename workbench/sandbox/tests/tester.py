"""A tester of clients: requests to the sandbox of a running service, and to the projects that it makes there."""

import http.client
import json
import socket
import time
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from app.config import Settings


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a request."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass(slots=True)
class Service:
    """A running service."""

    port: int

    def send(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, raw: Any = None
    ) -> Answer:
        """Send a request on a connection of its own, which any worker may accept."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            all_headers = {**(headers or {})}
            data = raw
            if body is not None:
                data = json.dumps(body).encode()
                all_headers.setdefault("Content-Type", "application/json")
            connection.request(method, path, data, all_headers)
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read().decode())

    def make(self, **order: Any) -> "Project":
        """Make a project."""
        answer = self.send("POST", "/sandbox/projects", order)
        assert answer.status == 201, answer.text
        return Project(self, answer.json)


@dataclass(slots=True)
class Project:
    """A sandbox project with its client."""

    service: Service
    made: dict[str, Any]

    @property
    def key(self) -> str:
        return self.made["projectKey"]

    @property
    def token(self) -> str:
        return self.made["accessToken"]

    @property
    def resources(self) -> str:
        return f"/{self.key}/resource"

    def send(
        self, method: str, path: str = "", body: Any = None, headers: dict[str, str] | None = None, raw: Any = None
    ) -> Answer:
        """A request of the client to its resources.

        :param raw: a body that is sent as JSON, whatever it is.
        """
        authorized = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        if raw is not None:
            authorized.setdefault("Content-Type", "application/json")
        return self.service.send(method, self.resources + path, body, authorized, raw)

    def create(self, **body: Any) -> dict[str, Any]:
        answer = self.send("POST", "", {"objectTypeProperty": {}, **body})
        assert answer.status == 201, answer.text
        return answer.json

    def order(self, method: str, path: str = "", body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        """A request of the tester about the project."""
        return self.service.send(method, f"/sandbox/projects/{self.key}{path}", body, headers)

    def rules(self, *rules: dict[str, Any]) -> None:
        answer = self.order("PUT", "/rules", {"rules": list(rules)})
        assert answer.status == 204, answer.text

    def counts(self) -> list[tuple[int, int]]:
        """How often each rule has matched and acted."""
        return [(rule["matched"], rule["acted"]) for rule in self.order("GET", "/rules").json["rules"]]

    def entries(self, query: str = "?limit=500") -> list[dict[str, Any]]:
        """The journal, newest first."""
        return self.order("GET", f"/requests{query}").json["results"]

    def grant(self) -> Answer:
        """Ask for a new token."""
        return self.form("/oauth/token", "grant_type=client_credentials")

    def form(self, path: str, fields: str) -> Answer:
        """A form of the client, with its id and secret."""
        fields += f"&client_id={self.made['clientId']}&client_secret={self.made['clientSecret']}"
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.service.send("POST", path, headers=headers, raw=fields.encode())

    def renew(self) -> None:
        self.made["accessToken"] = self.grant().json["access_token"]

    def listing(self) -> list[dict[str, Any]]:
        """All resources, whole, in the order of their ids."""
        return self.send("GET", "/sorted-query-parameters?limit=500&sort=id").json["results"]

    def raw(self, path: str = "?limit=0", timeout_s: float = 20.0) -> tuple[bytes, str]:
        """All that comes back on the wire for a GET, and how the connection ended."""
        with socket.create_connection(("127.0.0.1", self.service.port), timeout=timeout_s) as connection:
            head = f"GET {self.resources}{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.token}\r\n"
            connection.sendall(f"{head}Connection: close\r\n\r\n".encode())
            received = b""
            try:
                while data := connection.recv(65536):
                    received += data
            except ConnectionResetError:
                return received, "reset"
            except TimeoutError:
                return received, "open"
            return received, "closed"


def wait_for(condition: Any, within_s: float = 20.0) -> Any:
    """The first value of a function that is not false; the last one if there is none in time."""
    deadline = time.monotonic() + within_s
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return value


def with_sandbox(settings: Settings, token: str | None = None, **others: str) -> Settings:
    """The settings with the sandbox switched on.

    :param token: SANDBOX_TOKEN.
    :param others: further variables of the environment.
    """
    given = {"SANDBOX": "on", **({} if token is None else {"SANDBOX_TOKEN": token}), **others}
    return replace(settings, environment={**settings.environment, **given})
