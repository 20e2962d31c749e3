"""What the tests of request bodies share: bodies as raw text, and a check that nothing was created."""

from typing import Any

from werkzeug.test import TestResponse

from tests.support.api import Api

BODY_LIMIT = 2 * 1024 * 1024
"""The default of MAX_BODY_BYTES."""


def send_text(api: Api, text: str | bytes, method: str = "POST", path: str = "", **options: Any) -> TestResponse:
    """Send a body as it is, with the content type of JSON."""
    data = text.encode() if isinstance(text, str) else text
    return api.request(method, path, data=data, content_type="application/json", **options)


def draft(**fields: Any) -> dict[str, Any]:
    """A body whose ObjectType has these fields."""
    return {"objectTypeProperty": fields}


def assert_no_resources(api: Api) -> None:
    """Check that the project has no resource."""
    assert api.get("?limit=0").get_json()["total"] == 0
