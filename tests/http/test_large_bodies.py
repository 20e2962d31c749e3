"""Large bodies: other requests of the process are answered while one is computed, and the result is the same."""

import http.client
import json
from contextlib import closing
from typing import Any

import pytest
from flask import Flask, request

from app.values.large_values import LARGE_FROM, beside_other_requests
from app.values.strict_json import decode, encode, encode_arrays
from tests.support.api import Api
from tests.support.gunicorn_server import StartGunicorn


def test_other_requests_are_answered_while_one_computes(start_gunicorn: StartGunicorn) -> None:
    server = start_gunicorn()
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as connection:
        connection.request("GET", "/compute")
        assert server.get("/release") == 200  # the computation goes on until this request has come
        assert connection.getresponse().read() == b"computed and done"


def test_the_work_sees_the_request(app: Flask) -> None:
    with app.test_request_context("/p/resource?a=b"):
        assert beside_other_requests(lambda: request.args["a"]) == "b"


@pytest.mark.parametrize("items", [[1] * 30_000, [0.5, -0.0, 10**15] * 9_000, list(range(25_001))])
def test_a_large_array_is_stored_exactly(api: Api, items: list[Any]) -> None:
    name = "arrayOfNumberNoDefaultsExample"
    assert len(json.dumps(items)) > LARGE_FROM
    created = api.create({name: items}, key="large")
    stored = decode(api.get(f"/{created['id']}").data)["objectTypeProperty"][name]
    assert encode(stored) == encode(items)


def test_a_large_body_is_refused_with_its_faults(api: Api) -> None:
    items = [1] * 30_000
    items[29_999] = "x"  # pyright: ignore[reportArgumentType] -- the fault
    answer = api.post(json={"objectTypeProperty": {"arrayOfIntExample": items}})
    assert answer.status_code == 400
    assert "objectTypeProperty -> arrayOfIntExample -> 29999: JSON Number" in answer.text
    # How deep Python can decode depends on its version and on the stack: a thousand levels, or some ten thousand.
    answer = api.post(data="[" * 1_000_000, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert "nested too deeply" in answer.text
    answer = api.post(data="1" * 40_000, headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415


@pytest.mark.parametrize("length", [0, 1, 9_999, 10_000, 10_001, 20_000, 20_001])
def test_arrays_are_written_in_parts_as_they_are_whole(length: int) -> None:
    arrays = {"empty": [], "few": ["a,]"], "many": [[number, "]"] for number in range(length)]}
    assert encode_arrays(arrays) == encode(arrays)
