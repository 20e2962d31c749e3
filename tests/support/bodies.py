"""What the tests of request bodies share."""

from typing import Any

from werkzeug.test import TestResponse

from tests.support.api import Api


def send_text(api: Api, text: str | bytes, method: str = "POST", path: str = "", **options: Any) -> TestResponse:
    """Send a body as it is, with the content type of JSON."""
    data = text.encode() if isinstance(text, str) else text
    return api.request(method, path, data=data, content_type="application/json", **options)


def draft(**fields: Any) -> dict[str, Any]:
    """A body whose ObjectType has these fields."""
    return {"objectTypeProperty": fields}
