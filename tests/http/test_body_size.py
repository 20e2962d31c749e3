"""Bodies at and beyond MAX_BODY_BYTES, with and without a Content-Length."""

import json
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest
from gunicorn.http.errors import InvalidChunkSize

from app.config import Settings
from tests.support.api import Api, codes
from tests.support.applications import open_app

LIMIT = 1000


@pytest.fixture
def narrow(settings: Settings, api: Api) -> Iterator[Api]:
    """A client of an application with a MAX_BODY_BYTES of 1000."""
    with open_app(settings, max_body_bytes=LIMIT) as app:
        yield Api(app, api.project, api.token)


def body(length: int) -> bytes:
    """A valid body with this number of bytes."""
    return json.dumps({"objectTypeProperty": {}}).encode().ljust(length)


def chunked(data: bytes) -> dict[str, Any]:
    """Options for a request with a chunked body, as gunicorn passes it on: without a Content-Length, terminated."""
    environment = {"wsgi.input": BytesIO(data), "wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    return {"environ_overrides": environment}


def test_a_body_of_exactly_max_body_bytes_is_accepted(narrow: Api) -> None:
    assert narrow.post(data=body(LIMIT), content_type="application/json").status_code == 201
    assert narrow.post(content_type="application/json", **chunked(body(LIMIT))).status_code == 201


@pytest.mark.parametrize("excess", [1, 2, 1000])
def test_a_body_above_max_body_bytes_is_413_and_creates_no_resource(narrow: Api, excess: int) -> None:
    with_length = narrow.post(data=body(LIMIT + excess), content_type="application/json")
    in_chunks = narrow.post(content_type="application/json", **chunked(body(LIMIT + excess)))
    for answer in (with_length, in_chunks):
        assert answer.status_code == 413
        assert codes(answer) == ["ContentTooLarge"]
        assert answer.get_json()["message"] == f"Content too large. At most {LIMIT} bytes are accepted."
    assert narrow.get().get_json()["total"] == 0


class BrokenChunks:
    """A body with a malformed chunk size, for which gunicorn's reader raises an exception."""

    def read(self, _size: int = -1) -> bytes:
        raise InvalidChunkSize(b"zz")


def test_a_malformed_chunk_size_is_400(narrow: Api) -> None:
    environment = chunked(b"")["environ_overrides"] | {"wsgi.input": BrokenChunks()}
    answer = narrow.post(content_type="application/json", environ_overrides=environment)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]


# The default of MAX_BODY_BYTES
