"""Bodies of 64 KiB and beyond, with and without a Content-Length."""

import json
import re
from io import BytesIO
from typing import Any

import pytest
from flask import Flask, request
from gunicorn.http.errors import InvalidChunkSize

from app.errors import ApiError
from app.http.bodies import read_body
from app.openapi.examples import ERROR_EXAMPLES
from tests.support.api import Api, codes
from tests.support.fixtures import TokenFor

LIMIT = 65_536


def body(length: int) -> bytes:
    """A valid body with this number of bytes."""
    return json.dumps({"objectTypeProperty": {}}).encode().ljust(length)


def chunked(data: bytes) -> dict[str, Any]:
    """Options for a request with a chunked body, as gunicorn passes it on: without a Content-Length, terminated."""
    environment = {"wsgi.input": BytesIO(data), "wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    return {"environ_overrides": environment}


def test_a_body_of_64_kib_is_accepted(api: Api) -> None:
    assert api.post(data=body(LIMIT), content_type="application/json").status_code == 201
    assert api.post(content_type="application/json", **chunked(body(LIMIT))).status_code == 201


@pytest.mark.parametrize("excess", [1, 2, 100_000])
def test_a_larger_body_is_413_and_creates_no_resource(api: Api, excess: int) -> None:
    with_length = api.post(data=body(LIMIT + excess), content_type="application/json")
    in_chunks = api.post(content_type="application/json", **chunked(body(LIMIT + excess)))
    for answer in (with_length, in_chunks):
        assert (answer.status_code, answer.get_json()) == (413, ERROR_EXAMPLES["ContentTooLarge"].payload())
        assert answer.get_json()["message"] == f"Content too large. At most {LIMIT} bytes are accepted."
    assert api.get().get_json()["total"] == 0


def test_every_endpoint_with_a_body_refuses_what_is_too_large_or_compressed(
    app: Flask, project: str, token_for: TokenFor
) -> None:
    """The fixture ``app`` also checks that the OpenAPI document has each of these answers."""
    api = Api(app, project, token_for(f"manage_test:{project}", f"view_products:{project}"))
    for path, item in app.extensions["openapi"]["paths"].items():
        for method in item.keys() - {"get", "head"}:
            target = "/" + re.sub("{[a-zA-Z]+}", "x", path.replace("{projectKey}", project))
            found = api.request(method.upper(), target, data=body(LIMIT + 1))
            assert (found.status_code, codes(found)) == (413, ["ContentTooLarge"]), (method, path)
            found = api.request(method.upper(), target, data=body(100), headers={"Content-Encoding": "gzip"})
            assert (found.status_code, codes(found)) == (415, ["UnsupportedMediaType"]), (method, path)


class BrokenChunks:
    """A body with a malformed chunk size, for which gunicorn's reader raises an exception."""

    failed = False

    def read(self, _size: int = -1) -> bytes:
        if self.failed:
            return b""
        self.failed = True
        raise InvalidChunkSize(b"zz")


def test_a_malformed_chunk_size_is_400_and_no_later_call_gets_the_beginning_of_the_body(api: Api, app: Flask) -> None:
    environment = chunked(b"")["environ_overrides"] | {"wsgi.input": BrokenChunks()}
    with app.test_request_context(environ_overrides=environment):
        for _ in range(2):
            with pytest.raises(ApiError):
                read_body(request)
    environment["wsgi.input"] = BrokenChunks()
    answer = api.post(content_type="application/json", environ_overrides=environment)
    assert (answer.status_code, codes(answer)) == (400, ["InvalidInput"])
