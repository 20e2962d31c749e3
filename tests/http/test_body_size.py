"""Bodies at and beyond MAX_BODY_BYTES, with and without a Content-Length."""

import json
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest
from gunicorn.http.errors import InvalidChunkSize
from werkzeug.test import TestResponse

from app.config import Settings
from tests.support.api import UNKNOWN_ID, Api, codes
from tests.support.applications import open_app
from tests.support.bodies import BODY_LIMIT, draft, send_text

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
        raise InvalidChunkSize("zz")


def test_a_malformed_chunk_size_is_400(narrow: Api) -> None:
    environment = chunked(b"")["environ_overrides"] | {"wsgi.input": BrokenChunks()}
    answer = narrow.post(content_type="application/json", environ_overrides=environment)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]


# The default of MAX_BODY_BYTES


def test_a_body_of_2_mib_is_accepted_and_one_byte_more_is_413(api: Api) -> None:
    text = json.dumps(draft(arrayOfStringExample=["x"]))
    assert send_text(api, text.ljust(BODY_LIMIT)).status_code == 201
    answer = send_text(api, text.ljust(BODY_LIMIT + 1))
    assert answer.status_code == 413
    assert codes(answer) == ["ContentTooLarge"]
    assert api.get().get_json()["total"] == 1


def test_a_chunked_body_above_2_mib_is_413(api: Api) -> None:
    def send_in_pieces(size: int) -> TestResponse:
        text = json.dumps(draft()).ljust(size).encode()
        return api.request(
            "POST",
            input_stream=BytesIO(text),
            content_type="application/json",
            headers={"Transfer-Encoding": "chunked"},
            environ_overrides={"wsgi.input_terminated": True},
        )

    for size, status in ((1000, 201), (BODY_LIMIT, 201), (BODY_LIMIT + 1, 413), (2 * BODY_LIMIT, 413)):
        assert send_in_pieces(size).status_code == status


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", ""),
        ("PATCH", ""),
        ("POST", f"/{UNKNOWN_ID}"),
        ("POST", "/description-with-urn-links"),
        ("POST", "/artificially-complex/path/uri-parameter-one=a/b"),
    ],
)
def test_the_body_limit_holds_for_every_endpoint_with_a_body(api: Api, method: str, path: str) -> None:
    assert send_text(api, b"x" * (BODY_LIMIT + 1), method, path).status_code == 413
