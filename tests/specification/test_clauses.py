"""The examples of the specification, and clauses that no test of a room holds, each as a client can notice it."""

import json
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.errors import CATALOGUE
from tests.conftest import TokenFor
from tests.specification.clauses import DOCUMENT
from tests.support.api import EXAMPLE, Api, codes, details, send_concurrently

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


@pytest.mark.clause("2.1-6")
def test_a_percent_encoded_key_in_the_path_finds_the_resource(api: Api) -> None:
    created = api.create(key="my-key")
    for path in ("/key=my%2Dkey", "/key=my%2dkey", "/key=%6D%79-key"):
        assert api.get(path).get_json() == created


@pytest.mark.clause("4.2-4")
def test_an_id_in_upper_case_finds_the_resource(api: Api) -> None:
    created = api.create()
    assert api.get(f"/{created['id'].upper()}").get_json() == created


@pytest.mark.clause("4-3")
def test_requests_without_a_body_may_have_a_content_type(api: Api) -> None:
    created = api.create(key="my-key")
    for path in ("", f"/{created['id']}", "/key=my-key", SORTED, QUERY):
        assert api.get(path, content_type="application/json").status_code == 200
    assert api.head(content_type="application/json").status_code == 200
    assert api.delete(f"/{created['id']}", content_type="application/json").status_code == 200


@pytest.mark.clause("H-14")
def test_head_of_a_list_or_search_has_the_status_of_get_and_no_body(api: Api) -> None:
    for path in (SORTED, QUERY, f"{SORTED}?limit=501", f"{QUERY}?nothing=1"):
        answer = api.head(path)
        assert answer.status_code == api.get(path).status_code
        assert answer.data == b""


@pytest.mark.clause("H-15")
def test_options_lists_the_methods_of_the_url_without_a_token(app: Flask, api: Api) -> None:
    stranger = Api(app, api.project, None)
    for path, methods in (("", {"GET", "HEAD", "POST", "PUT", "PATCH"}), ("/an-id", {"GET", "HEAD", "POST", "DELETE"})):
        answer = stranger.request("OPTIONS", path)
        assert answer.status_code == 200
        assert {method.strip() for method in answer.headers["Allow"].split(",")} == methods | {"OPTIONS"}


@pytest.mark.clause("E-21", "E-33", "H-16")
def test_a_method_that_the_url_lacks_is_405_with_its_code_and_the_others(api: Api) -> None:
    for method, path in (("PUT", "/an-id"), ("PATCH", "/an-id"), ("DELETE", ""), ("TRACE", "")):
        answer = api.request(method, path)
        assert answer.status_code == 405
        assert codes(answer) == ["MethodNotAllowed"]
        assert method not in answer.headers["Allow"]
        assert "POST" in answer.headers["Allow"]


@pytest.mark.clause("H-18", "H-23")
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


@pytest.mark.clause("H-21")
def test_answers_that_preferences_change_say_so_in_vary(api: Api) -> None:
    all_options = api.post("/artificially-complex/path/uri-parameter-one=a/b", json={})
    assert {name.strip() for name in all_options.headers["Vary"].split(",")} == {"Accept", "Prefer"}
    assert api.post("/description-with-urn-links", json={}).headers["Vary"] == "Prefer"


# Errors


@pytest.mark.clause("E-4", "E-35")
def test_the_codes_of_400_are_those_of_the_platform() -> None:
    assert {entry.code for entry in CATALOGUE.values() if entry.status == 400} == {
        "InvalidInput",
        "InvalidJsonInput",
        "InvalidField",
        "DuplicateField",
        "SearchFacetPathNotFound",
        "invalid_request",
        "invalid_scope",
        "invalid_grant",
        "unsupported_grant_type",
    }


@pytest.mark.clause("E-14")
def test_an_answer_lists_fifty_faults_of_a_body_at_most(api: Api) -> None:
    for count, listed in ((50, 50), (51, 50), (2000, 50)):
        answer = api.post(json={"objectTypeProperty": {"arrayOfIntExample": ["x"] * count}})
        assert answer.status_code == 400
        assert len(codes(answer)) == listed


@pytest.mark.clause("E-7", "E-31")
@pytest.mark.parametrize("sent", ["x", 1.5, True, None, [], {}])
def test_the_reason_for_what_is_no_integer_says_that_one_is_expected(api: Api, sent: Any) -> None:
    answer = api.post(json={"objectTypeProperty": {"arrayOfIntExample": [sent]}})
    assert details(answer) == ["objectTypeProperty -> arrayOfIntExample -> 0: JSON Number without a fraction expected."]


@pytest.mark.clause("E-15")
def test_the_message_for_an_unknown_url_names_its_path(api: Api) -> None:
    answer = api.get("/a/b")
    assert answer.get_json()["message"] == f"URI not found: /{api.project}/resource/a/b"


# Writes


@pytest.mark.clause("4.8-7", "4.8-8")
def test_put_twice_changes_nothing_the_second_time_and_keeps_some_property(api: Api) -> None:
    api.update(api.create(key="my-key"), {"action": "changeSomeProperty", "someProperty": "kept"})
    body = {"key": "my-key", "objectTypeProperty": {"arrayOfIntExample": [5]}}
    first, second = api.put(body), api.put(body)
    assert (first.status_code, second.status_code) == (200, 200)
    assert (first.get_json()["version"], first.get_json()["someProperty"]) == (3, "kept")
    assert second.get_json() == first.get_json()


@pytest.mark.clause("4.11-1")
def test_no_search_shows_a_deleted_resource(api: Api) -> None:
    created = api.create()
    assert api.get(f"{QUERY}?text.en=dog").get_json()["total"] == 1
    api.delete(f"/{created['id']}")
    for query in ("", "?text.en=dog", "?filter.query=arrayOfIntExample:1", "?staged=true"):
        assert api.get(f"{QUERY}{query}").get_json()["total"] == 0


@pytest.mark.clause("9-4")
def test_a_write_of_another_client_that_changes_nothing_leaves_the_last_one_as_it_was(
    app: Flask, api: Api, token_for: TokenFor
) -> None:
    created = api.create(key="my-key")
    other = Api(app, api.project, token_for(f"manage_test:{api.project}", client_id="other-client"))
    body = {"key": "my-key", "version": 1, "objectTypeProperty": EXAMPLE}
    for answer in (other.post(json=body), other.put(body), other.patch(body)):
        assert answer.status_code == 200
        assert answer.get_json() == created


# Races


@pytest.mark.clause("9-22")
def test_of_an_update_and_a_delete_with_one_version_exactly_one_succeeds(api: Api) -> None:
    for _ in range(10):
        created = api.create()

        def send(number: int, path: str = f"/{created['id']}") -> TestResponse:
            if number:
                return api.delete(f"{path}?version=1")
            return api.post(path, json={"version": 1, "actions": [{"action": "doSomeThing"}]})

        updated, deleted = (answer.status_code for answer in send_concurrently(2, send))
        assert (updated, deleted) in ((200, 409), (404, 200))


@pytest.mark.clause("9-24")
def test_readers_see_each_write_as_a_whole(api: Api) -> None:
    def body(number: int) -> dict[str, Any]:
        arrays = {"arrayOfIntExample": [number], "arrayOfFloatExample": [number], "arrayOfStringExample": [str(number)]}
        return {"key": "my-key", "objectTypeProperty": arrays}

    created = api.put(body(0)).get_json()

    def read(number: int) -> dict[str, Any]:
        path = (f"/{created['id']}", "/key=my-key", SORTED)[number % 3]
        seen = api.get(path).get_json()
        return seen["results"][0] if path == SORTED else seen

    with ThreadPoolExecutor(8) as threads:
        writes = [threads.submit(api.put, body(number)) for number in range(1, 60)]
        seen = list(threads.map(read, range(120)))
        assert {write.result().status_code for write in writes} == {200}
    for resource in seen:
        (number,) = resource["objectTypeProperty"]["arrayOfIntExample"]
        assert resource["objectTypeProperty"] == body(number)["objectTypeProperty"]


@pytest.mark.clause("9-25")
def test_concurrent_writes_of_different_resources_all_succeed(api: Api) -> None:
    resources = [api.create({}) for _ in range(32)]

    def send(number: int) -> TestResponse:
        return api.post(f"/{resources[number]['id']}", json={"version": 1, "actions": [{"action": "doSomeThing"}]})

    answers = send_concurrently(32, send)
    assert Counter(answer.status_code for answer in answers) == {200: 32}
    assert {answer.get_json()["version"] for answer in answers} == {2}


# Lists and searches


@pytest.mark.clause("4.12-21")
def test_walking_by_the_last_id_meets_each_resource_once(api: Api) -> None:
    made = sorted(api.create({})["id"] for _ in range(7))
    met: list[str] = []
    while True:
        query = {"sort": "id asc", "limit": "3", "withTotal": "false"} | ({"where": f'id > "{met[-1]}"'} if met else {})
        page = api.get(SORTED, query_string=query).get_json()
        met += [result["id"] for result in page["results"]]
        if page["count"] < 3:
            break
    assert met == made


@pytest.mark.clause("4.4-1", "4.14-1")
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


@pytest.mark.clause("S-13")
@pytest.mark.parametrize("filter_", ['key:"my-key"', 'key: "my-key"', 'key :"my-key"', ' key\t:\n"my-key" '])
def test_blanks_around_the_colon_of_a_filter_are_optional(api: Api, filter_: str) -> None:
    api.create({}, key="my-key")
    api.create({}, key="another")
    assert api.get(QUERY, query_string={"filter": filter_}).get_json()["total"] == 1


@pytest.mark.clause("S-53")
def test_a_filter_on_an_object_takes_only_exists_and_missing(api: Api) -> None:
    api.create()
    for condition, total in (("createdBy:exists", 1), ("arrayOfObjectType:missing", 0)):
        assert api.get(QUERY, query_string={"filter": condition}).get_json()["total"] == total
    for condition in ('createdBy:"x"', "arrayOfObjectType:1", "objectTypeProperty:range(1 to 2)"):
        answer = api.get(QUERY, query_string={"filter": condition})
        assert answer.status_code == 400
        assert codes(answer) == ["InvalidInput"]


@pytest.mark.clause("S-55")
def test_terms_of_numbers_are_written_with_a_fraction(api: Api) -> None:
    api.create({"arrayOfIntExample": [3]})
    assert '"term":3.0,' in api.get(f"{QUERY}?facet=arrayOfIntExample").text
    assert '"term":1.0,' in api.get(f"{QUERY}?facet=version").text


@pytest.mark.clause("S-33", "S-39")
def test_facets_of_times_have_their_data_type_and_milliseconds(api: Api) -> None:
    created = api.create({})["createdAt"]
    facets = {"facet": ["createdAt", 'createdAt:range("2020-01-01" to *) as since']}
    counted = api.get(QUERY, query_string=facets).get_json()["facets"]
    assert (counted["createdAt"]["dataType"], counted["createdAt"]["terms"]) == (
        "datetime",
        [{"term": created, "count": 1}],
    )
    (since,) = counted["since"]["ranges"]
    start = 1_577_836_800_000
    assert (since["from"], since["fromStr"], since["to"], since["toStr"]) == (start, str(start), 0, "")
    milliseconds = (datetime.fromisoformat(created) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert since["min"] == since["max"] == milliseconds
