"""Bodies at and beyond MAX_BODY_BYTES, with and without a Content-Length."""

import json
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from gunicorn.http.errors import InvalidChunkSize

from app import create_app
from app.config import Settings
from tests.support.api import Api, codes

LIMIT = 1000


@pytest.fixture
def narrow(settings: Settings, api: Api) -> Iterator[Api]:
    """An application that accepts little."""
    app: Flask = create_app(replace(settings, max_body_bytes=LIMIT))
    yield Api(app, api.project, api.token)
    app.extensions["database"].close()


def body(length: int) -> bytes:
    """A valid body of this many bytes."""
    return json.dumps({"objectTypeProperty": {}}).encode().ljust(length)


def chunked(data: bytes) -> dict[str, Any]:
    """The body as gunicorn hands over one that came in chunks: no length, and an end of its own."""
    environment = {"wsgi.input": BytesIO(data), "wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    return {"environ_overrides": environment}


def test_a_body_of_just_the_limit_is_read(narrow: Api) -> None:
    assert narrow.post(data=body(LIMIT), content_type="application/json").status_code == 201
    assert narrow.post(content_type="application/json", **chunked(body(LIMIT))).status_code == 201


@pytest.mark.parametrize("excess", [1, 2, 1000])
def test_a_longer_one_is_refused_and_not_cut(narrow: Api, excess: int) -> None:
    with_length = narrow.post(data=body(LIMIT + excess), content_type="application/json")
    in_chunks = narrow.post(content_type="application/json", **chunked(body(LIMIT + excess)))
    for answer in (with_length, in_chunks):
        assert answer.status_code == 413
        assert codes(answer) == ["ContentTooLarge"]
        assert answer.get_json()["message"] == f"Content too large. At most {LIMIT} bytes are accepted."
    assert narrow.get().get_json()["total"] == 0


class BrokenChunks:
    """A body whose chunk has no valid size, as gunicorn's reader finds out."""

    def read(self, _size: int = -1) -> bytes:
        raise InvalidChunkSize("zz")


def test_broken_chunks_are_the_clients_fault(narrow: Api) -> None:
    environment = chunked(b"")["environ_overrides"] | {"wsgi.input": BrokenChunks()}
    answer = narrow.post(content_type="application/json", environ_overrides=environment)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]
