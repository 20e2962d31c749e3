"""The examples of the specification, and clauses that no test of a room holds, each as a client can notice it."""

import json
import re
from collections import Counter
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.errors import CATALOGUE
from tests.conftest import TokenFor
from tests.specification.clauses import DOCUMENT
from tests.support.api import Api, details, send_concurrently

QUERY = "/searchApiPattern"
SORTED = "/sorted-query-parameters"


@pytest.fixture
def seeker(app: Flask, api: Api, token_for: TokenFor) -> Api:
    """A client of the project that may search by form, too."""
    return Api(app, api.project, token_for(f"manage_test:{api.project}", f"view_products:{api.project}"))


# The examples of the document

EXAMPLES = [json.loads(block) for block in re.findall(r"```json\n(.*?)\n```", DOCUMENT.read_text("utf-8"), re.DOTALL)]


def test_the_examples_are_what_the_service_answers(app: Flask, api: Api, token_for: TokenFor) -> None:
    resource, conflict, page, echo, faults = EXAMPLES
    client = Api(app, api.project, token_for(f"manage_test:{api.project}", client_id="my-client"))
    created = client.create(resource["objectTypeProperty"], key=resource["key"])
    updated = client.update(created, {"action": "changeSomeProperty", "someProperty": resource["someProperty"]})
    own = {name: updated[name] for name in ("id", "createdAt", "lastModifiedAt")}
    assert list(updated) == list(resource | own)
    assert updated == resource | own

    stale = client.post(f"/{updated['id']}", json={"version": 1, "actions": []})
    assert stale.get_json() == json.loads(json.dumps(conflict).replace(resource["id"], updated["id"]))

    page["results"][0] |= own
    assert client.get().get_json() == page

    record = {"id": "i", "version": 3, "custom": True, "createdBy": {"firstName": "John"}}
    path = "/artificially-complex/path/uri-parameter-one=a%2Fb/c?queryParameterOne=2.5"
    assert client.post(path, json=record).get_json() == echo

    body = {"objectTypeProperty": {"arrayOfIntExample": ["4"], "arrayOfTwonumbersExample": [1]}}
    assert client.post("?stagd=true", json=body).get_json() == faults


# Addressing and requests


def test_accept_makes_no_difference_but_to_the_endpoint_with_a_form(seeker: Api) -> None:
    created = seeker.create(key="my-key")
    headers = {"Accept": "text/html"}
    for path in ("", f"/{created['id']}", "/key=my-key", SORTED, QUERY):
        assert seeker.get(path, headers=headers).content_type == "application/json; charset=utf-8"
    written = [
        seeker.post(json={"key": "my-key", "objectTypeProperty": {}}, headers=headers),
        seeker.put({"key": "my-key", "objectTypeProperty": {}}, headers=headers),
        seeker.patch({"key": "my-key", "version": 2, "objectTypeProperty": {}}, headers=headers),
        seeker.post(f"/{created['id']}", json={"version": 2, "actions": []}, headers=headers),
        seeker.post("/product-projection-search", headers=headers),
        seeker.delete(f"/{created['id']}", headers=headers),
    ]
    assert [answer.status_code for answer in written] == [200] * 6
    assert {answer.content_type for answer in written} == {"application/json; charset=utf-8"}
    assert "NotAcceptable" not in CATALOGUE
    assert 406 not in {entry.status for entry in CATALOGUE.values()}


# Errors


@pytest.mark.parametrize("sent", ["x", 1.5, True, None, [], {}])
def test_the_reason_for_what_is_no_integer_says_that_one_is_expected(api: Api, sent: Any) -> None:
    answer = api.post(json={"objectTypeProperty": {"arrayOfIntExample": [sent]}})
    assert details(answer) == ["objectTypeProperty -> arrayOfIntExample -> 0: JSON Number without a fraction expected."]


def test_the_message_for_an_unknown_url_names_its_path(api: Api) -> None:
    answer = api.get("/a/b")
    assert answer.get_json()["message"] == f"URI not found: /{api.project}/resource/a/b"


# Writes


# Races


def test_of_an_update_and_a_delete_with_one_version_exactly_one_succeeds(api: Api) -> None:
    for _ in range(10):
        created = api.create()

        def send(number: int, path: str = f"/{created['id']}") -> TestResponse:
            if number:
                return api.delete(f"{path}?version=1")
            return api.post(path, json={"version": 1, "actions": [{"action": "doSomeThing"}]})

        updated, deleted = (answer.status_code for answer in send_concurrently(2, send))
        assert (updated, deleted) in ((200, 409), (404, 200))


def test_concurrent_writes_of_different_resources_all_succeed(api: Api) -> None:
    resources = [api.create({}) for _ in range(32)]

    def send(number: int) -> TestResponse:
        return api.post(f"/{resources[number]['id']}", json={"version": 1, "actions": [{"action": "doSomeThing"}]})

    answers = send_concurrently(32, send)
    assert Counter(answer.status_code for answer in answers) == {200: 32}
    assert {answer.get_json()["version"] for answer in answers} == {2}


# Lists and searches


def test_a_search_takes_all_its_parameters_at_once(seeker: Api) -> None:
    seeker.create(key="my-key")
    query = {
        "fuzzy": "true",
        "fuzzyLevel": "1",
        "staged": "true",
        "filter": "arrayOfIntExample:1",
        "filter.facets": "version:1",
        "filter.query": "key:exists",
        "facet": "key",
        "text.en": "dxg",
        "text.de-AT": "cat",
    }
    for answer in (seeker.get(QUERY, query_string=query), seeker.post("/product-projection-search", data=query)):
        assert answer.status_code == 200
        assert [result["key"] for result in answer.get_json()["results"]] == ["my-key"]
