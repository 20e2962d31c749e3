"""Helpers for tests of request bodies."""

from typing import Any

from werkzeug.test import TestResponse

from tests.support.api import Api


def send_text(api: Api, text: str | bytes, method: str = "POST", path: str = "", **options: Any) -> TestResponse:
    """Send a text as the body, unchanged, with the content type of JSON."""
    data = text.encode() if isinstance(text, str) else text
    return api.request(method, path, data=data, content_type="application/json", **options)


def draft(**fields: Any) -> dict[str, Any]:
    """A body whose ObjectType has the given fields."""
    return {"objectTypeProperty": fields}
