"""Large bodies: other requests of the process are answered while one is computed, and the result is the same."""

import http.client
import json
from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import Any

import pytest
from flask import Flask, request
from werkzeug.datastructures import MultiDict

from app.errors import ApiError
from app.http import large_bodies
from app.http.bodies import FORM, read_form
from app.http.large_bodies import LARGE_FROM, run_in_thread
from app.resource.searching.search_params import SearchSchema
from app.values.strict_json import decode, encode
from tests.support.api import Api
from tests.support.effort import assert_under_50_ms
from tests.support.fixtures import TokenFor
from tests.support.gunicorn_server import StartGunicorn
from tests.support.server import get
from tests.support.waiting import wait_until

SEARCH = "/product-projection-search"


@pytest.fixture
def searches(app: Flask, project: str, token_for: TokenFor) -> Api:
    """A client that may search by both endpoints."""
    return Api(app, project, token_for(f"view_products:{project}", f"view_test:{project}"))


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
        wait_until(lambda: get(server.port, "/begun")[1] == "1")
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
        assert run_in_thread(lambda: request.args["a"]) == "b"


@pytest.mark.parametrize("items", [[1] * 30_000, [0.5, -0.0, 10**15] * 9_000, list(range(25_001))])
def test_a_large_array_is_stored_exactly(api: Api, items: list[Any]) -> None:
    name = "arrayOfNumberNoDefaultsExample"
    assert len(json.dumps(items)) > LARGE_FROM
    created = api.create({name: items}, key="large")
    stored = decode(api.get(f"/{created['id']}").data)["objectTypeProperty"][name]
    assert encode(stored) == encode(items)


@pytest.mark.parametrize(("size", "beside"), [(LARGE_FROM - 1, 0), (LARGE_FROM, 1)])
def test_a_form_is_large_as_a_json_text_is(
    searches: Api, monkeypatch: pytest.MonkeyPatch, size: int, beside: int
) -> None:
    begun: list[str] = []

    def note(work: Callable[[], Any], project: str) -> Any:
        begun.append(project)
        return work()

    monkeypatch.setattr(large_bodies, "run_in_thread", note)
    fields = "limit=1&" * 100
    answer = searches.post(SEARCH, data=f"{fields}pad={'x' * (size - len(fields) - 4)}", content_type=FORM)
    assert answer.status_code == 400
    assert "Malformed parameter: limit: The parameter can be given only once." in answer.text
    assert begun == [searches.project] * beside


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"a&" * 1_048_570 + b"\xff", "Malformed form: it has more than 1000 fields."),
        (b"sort=" + b"+" * 190_000, "sort: All parameters together have 190000 characters, 16384 are accepted."),
        (b"limit=1." + b"1" * 190_000, "limit: All parameters together have 190002 characters, 16384 are accepted."),
        (b"filter=" + b"%61" * 60_000, "filter: All parameters together have 60000 characters, 16384 are accepted."),
        (b"filter=" + b"%61" * 600_000, "Malformed form: a field has more than 200000 bytes."),
    ],
    ids=["fields", "blanks", "digits", "escapes", "more escapes"],
)
def test_a_form_is_refused_before_much_is_computed(searches: Api, body: bytes, message: str) -> None:
    with searches.app.test_request_context(SEARCH, method="POST", data=body, content_type=FORM):

        def load() -> None:
            fields = read_form(request, 2 * 1024 * 1024)
            SearchSchema().load(MultiDict(fields))

        if b"%" not in body:
            assert_under_50_ms(load, ApiError)
        with pytest.raises(ApiError, match=message):
            load()


def test_an_answer_with_many_faults_is_small(searches: Api) -> None:
    unknown = "&".join(f"unknown{number}=1" for number in range(450))
    answer = searches.get("/searchApiPattern", query_string=unknown)
    assert answer.status_code == 400
    assert len(answer.get_json()["errors"]) == 50
    texts = [f"filter=key:{'x' * 100}{number}" for number in range(60)]
    texts.append(f"facet=key as {'a' * 8_000}")
    answer = searches.post(SEARCH, data="&".join(texts), content_type=FORM)
    assert answer.status_code == 400
    assert len(answer.get_json()["errors"]) == 50
    assert len(answer.data) < 64 * 1024


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
