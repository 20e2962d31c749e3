"""Helpers for tests of the OAuth endpoints: clients, their requests, and a check of error answers."""

import base64
from collections.abc import Mapping
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from app.database.connection import Connection
from app.http.bodies import FORM
from app.identity import clients, tokens
from app.identity.clients import NewClient
from tests.support.api import codes


def basic(client_id: str, secret: str) -> dict[str, str]:
    """An ``Authorization`` header for HTTP Basic."""
    return {"Authorization": "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()}


def issue(connection: Connection, *scopes: str, client_id: str = "test-client", lifetime_s: int = 3600) -> str:
    """Issue a token to a client, which is created if there is none with the id."""
    clients.ensure_client(connection, client_id)
    return tokens.issue_token(connection, client_id, scopes, lifetime_s)


class OAuthClient:
    """An API client with its secret, which sends requests to the application under test."""

    def __init__(self, app: Flask, connection: Connection, *scopes: str) -> None:
        self.app = app
        self.made: NewClient = clients.create_client(connection, "a client", scopes)

    @property
    def id(self) -> str:
        return self.made.client_id

    @property
    def header(self) -> dict[str, str]:
        return basic(self.made.client_id, self.made.client_secret)

    @property
    def fields(self) -> dict[str, str]:
        return {"client_id": self.made.client_id, "client_secret": self.made.client_secret}

    def post(self, path: str, data: Any, headers: Mapping[str, str] | None = None) -> TestResponse:
        """Send a form with HTTP Basic, or with the given headers instead."""
        return self.app.test_client().post(
            path, data=data, headers=self.header if headers is None else headers, content_type=FORM
        )

    def grant(self, **parameters: str) -> TestResponse:
        return self.post("/oauth/token", {"grant_type": "client_credentials"} | parameters)

    def token(self, **parameters: str) -> str:
        answer = self.grant(**parameters)
        assert answer.status_code == 200, answer.text
        return answer.get_json()["access_token"]

    def introspect(self, token: str) -> dict[str, Any]:
        answer = self.post("/oauth/introspect", {"token": token})
        assert answer.status_code == 200, answer.text
        return answer.get_json()

    def revoke(self, token: str) -> TestResponse:
        return self.post("/oauth/revoke", {"token": token})


def refused(answer: TestResponse, status: int, code: str) -> str:
    """Check all fields of an OAuth endpoint's error answer, and return its message."""
    assert (answer.status_code, codes(answer)) == (status, [code]), answer.text
    body = answer.get_json()
    assert list(body) == ["statusCode", "message", "errors", "error", "error_description"]
    assert body["error"] == code
    assert body["error_description"] == body["message"] == body["errors"][0]["message"]
    if status == 401:
        assert answer.headers["WWW-Authenticate"].startswith("Basic realm=")
    return body["message"]
