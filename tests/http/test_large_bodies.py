"""Large bodies: other requests of the process are answered while one is computed, and the result is the same."""

import http.client
import json
from contextlib import ExitStack, closing
from typing import Any

import pytest
from flask import Flask, request

from app.http.large_bodies import LARGE_FROM, beside_other_requests
from app.values.strict_json import decode, encode
from tests.support.api import Api
from tests.support.gunicorn_server import StartGunicorn
from tests.support.server import get
from tests.support.waiting import wait_until


def test_other_requests_are_answered_while_one_computes(start_gunicorn: StartGunicorn) -> None:
    server = start_gunicorn()
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as connection:
        connection.request("GET", "/compute?project=a")
        assert server.get("/release") == 200  # the computation goes on until this request has come
        assert connection.getresponse().read() == b"computed and done"


def test_a_project_waits_for_no_other_and_for_itself_not_for_ever(start_gunicorn: StartGunicorn) -> None:
    server = start_gunicorn()
    with ExitStack() as stack:

        def begin(query: str) -> http.client.HTTPConnection:
            connection = stack.enter_context(closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)))
            connection.request("GET", f"/compute?{query}")
            return connection

        of_one = [begin("project=a") for _ in range(20)]
        wait_until(lambda: get(server.port, "/begun")[1] == "1", 30)
        # None of these 20 ends before the release, and only one has a thread.
        of_another = begin("project=b&brief=yes").getresponse()
        assert (of_another.status, of_another.read()) == (200, b"at once")
        refused = begin("project=a&timeout=0.1").getresponse()
        assert refused.status == 503
        assert b"busy" in refused.read()
        assert get(server.port, "/begun")[1] == "1"
        assert server.get("/release") == 200
        assert [each.getresponse().read() for each in of_one] == [b"computed and done"] * 20


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
    items: list[Any] = [1] * 30_000
    items[29_999] = "x"
    answer = api.post(json={"objectTypeProperty": {"arrayOfIntExample": items}})
    assert answer.status_code == 400
    assert "objectTypeProperty -> arrayOfIntExample -> 29999: JSON Number" in answer.text
    # How deep Python can decode depends on its version and on the stack: a thousand levels, or some ten thousand.
    answer = api.post(data="[" * 1_000_000, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert "nested too deeply" in answer.text
    answer = api.post(data="1" * 40_000, headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415
