"""A client for the tests: requests below ``/{projectKey}/resource``, and helpers to read and compare answers."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, TypeVar

from flask import Flask
from werkzeug.test import TestResponse

EXAMPLE: dict[str, Any] = {
    "arrayOfIntExample": [1, 2, 1, 3, 2, 3, 1],
    "arrayOfUniqueIntExample": [1, 3, 5, 7],
    "arrayOfTwonumbersExample": [3, 5],
    "arrayOfFloatExample": [0.82],
    "arrayOfNumberNoDefaultsExample": [10, 9, 8, 7, 6],
    "arrayOfStringExample": ["dog", "cat", "bird"],
    "arrayOfObjectType": [
        {"integerExample": 777, "integerExampleInt32": 1},
        {"integerExample": 30000, "integerExampleInt32": 22},
    ],
}
"""The example of an ObjectType in the interface."""

Sent = TypeVar("Sent")

UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"
"""A valid id that no resource has."""


class Api:
    """Sends requests to one project with one token."""

    def __init__(self, app: Flask, project: str, token: str | None) -> None:
        self.app = app
        self.project = project
        self.token = token

    def request(self, method: str, path: str = "", **options: Any) -> TestResponse:
        """Send a request to ``/{project}/resource{path}``; a path that begins with ``//`` replaces the whole path."""
        headers = dict(options.pop("headers", {}))
        if self.token is not None:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        target = path[1:] if path.startswith("//") else f"/{self.project}/resource{path}"
        return self.app.test_client().open(target, method=method, headers=headers, **options)

    def get(self, path: str = "", **options: Any) -> TestResponse:
        return self.request("GET", path, **options)

    def head(self, path: str = "", **options: Any) -> TestResponse:
        return self.request("HEAD", path, **options)

    def post(self, path: str = "", json: Any = None, **options: Any) -> TestResponse:
        return self.request("POST", path, json=json, **options)

    def put(self, json: Any = None, **options: Any) -> TestResponse:
        return self.request("PUT", json=json, **options)

    def patch(self, json: Any = None, **options: Any) -> TestResponse:
        return self.request("PATCH", json=json, **options)

    def delete(self, path: str, **options: Any) -> TestResponse:
        return self.request("DELETE", path, **options)

    def create(self, object_type: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
        """Create a resource and return the body of the answer."""
        body = {"objectTypeProperty": EXAMPLE if object_type is None else object_type, **fields}
        answer = self.post(json=body)
        assert answer.status_code == 201, answer.text
        return answer.get_json()

    def update(self, resource: dict[str, Any], *actions: dict[str, Any]) -> dict[str, Any]:
        """Update a resource by actions and return the body of the answer."""
        answer = self.post(f"/{resource['id']}", json={"version": resource["version"], "actions": list(actions)})
        assert answer.status_code == 200, answer.text
        return answer.get_json()


def codes(answer: TestResponse) -> list[str]:
    """The codes of an error answer, whose content type, status and message are checked."""
    body = answer.get_json()
    assert answer.content_type == "application/json; charset=utf-8"
    assert (body["statusCode"], body["message"]) == (answer.status_code, body["errors"][0]["message"])
    return [error["code"] for error in body["errors"]]


def details(answer: TestResponse) -> list[str]:
    """The most specific text of each error in an answer: its detailed message, else its field, else its message."""
    return [
        error.get("detailedErrorMessage") or error.get("field") or error["message"]
        for error in answer.get_json()["errors"]
    ]


def send_concurrently(count: int, send: Callable[[int], Sent]) -> list[Sent]:
    """Call ``send(0)`` to ``send(count - 1)`` at the same time, each in a thread, and return their answers in order."""
    barrier = Barrier(count)

    def send_after_barrier(number: int) -> Sent:
        barrier.wait(timeout=30)
        return send(number)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(send_after_barrier, range(count)))
