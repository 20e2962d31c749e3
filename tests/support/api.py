"""A small client for the tests: requests below ``/{projectKey}/resource``, and the checks that many tests share."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

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
"""The interface's own example of an ObjectType."""


class Api:
    """Requests to one project with one token."""

    def __init__(self, app: Flask, project: str, token: str | None) -> None:
        self.app = app
        self.project = project
        self.token = token

    def request(self, method: str, path: str = "", **options: Any) -> TestResponse:
        """Send a request to ``/{project}/resource{path}``, or to a path that begins with ``//`` as it is."""
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
        """Create a resource and return it as it was answered."""
        body = {"objectTypeProperty": EXAMPLE if object_type is None else object_type, **fields}
        answer = self.post(json=body)
        assert answer.status_code == 201, answer.text
        return answer.get_json()

    def update(self, resource: dict[str, Any], *actions: dict[str, Any]) -> dict[str, Any]:
        """Update a resource by actions and return it as it was answered."""
        answer = self.post(f"/{resource['id']}", json={"version": resource["version"], "actions": list(actions)})
        assert answer.status_code == 200, answer.text
        return answer.get_json()


def codes(answer: TestResponse) -> list[str]:
    """The codes of an error answer, after a check of its form."""
    body = answer.get_json()
    assert answer.content_type == "application/json; charset=utf-8"
    assert body["statusCode"] == answer.status_code
    assert body["message"] == body["errors"][0]["message"]
    return [error["code"] for error in body["errors"]]


def details(answer: TestResponse) -> list[str]:
    """What the entries of an error answer say in particular: the detailed message, the field, else the message."""
    return [
        error.get("detailedErrorMessage") or error.get("field") or error["message"]
        for error in answer.get_json()["errors"]
    ]


def at_once(count: int, send: Callable[[int], TestResponse]) -> list[TestResponse]:
    """Send so many requests at the same time, each from a thread of its own; ``send`` is given its number."""
    barrier = Barrier(count)

    def send_with_the_others(number: int) -> TestResponse:
        barrier.wait(timeout=30)
        return send(number)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(send_with_the_others, range(count)))
