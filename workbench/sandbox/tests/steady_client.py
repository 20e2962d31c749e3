"""A client that keeps one connection, as good clients do: what it does wrong is what a test lets it do."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import Any

from tester import Answer, Project

LOST = Answer(0, {}, "")
"""In place of an answer that never came."""


class SteadyClient:
    """Sends requests to a sandbox project, on one connection unless that is closed."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.token = project.token
        self.connection = self._opened()

    def _opened(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.project.service.port, timeout=30)

    def reconnect(self) -> None:
        """Go on with a new connection."""
        self.connection.close()
        self.connection = self._opened()

    def target(self, method: str, target: str, body: bytes | None = None, **headers: str) -> Answer:
        """Send a request to any target; :data:`LOST` if it was not answered."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            self.connection.request(method, target, body, sent)
            answer = self.connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read().decode())
        except (HTTPException, ConnectionError):
            self.reconnect()
            return LOST

    def send(self, method: str, path: str = "", body: Any = None, **headers: str) -> Answer:
        """A request to the resources of the project."""
        authorized = {"Authorization": f"Bearer {self.token}", **headers}
        if body is None:
            return self.target(method, self.project.resources + path, None, **authorized)
        data = json.dumps(body).encode()
        return self.target(method, self.project.resources + path, data, Content_Type="application/json", **authorized)

    def grant(self) -> None:
        """Ask for a token, and use it from now on."""
        made, form = self.project.made, {"Content_Type": "application/x-www-form-urlencoded"}
        body = f"grant_type=client_credentials&client_id={made['clientId']}&client_secret={made['clientSecret']}"
        self.token = self.target("POST", "/oauth/token", body.encode(), **form).json["access_token"]


@contextmanager
def steady_client(project: Project) -> Iterator[SteadyClient]:
    """A client of a project, until the end of the block."""
    client = SteadyClient(project)
    try:
        yield client
    finally:
        client.connection.close()
