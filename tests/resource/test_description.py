"""POST to description with URN links (interface 4.13): the values of the request, or a time in every format."""

from typing import Any

import pytest
from flask import Flask

from tests.conftest import TokenFor
from tests.support.api import Api, codes, details
from tests.support.complex_record import RECORD, TEXTS

TIMES = {
    "dateOnlyExample": "2016-02-28",
    "timeOnlyExample": "16:41:41",
    "dateTimeOnlyExample": "2016-02-28T16:41:41",
    "dateTimeExample": "2016-02-28T16:41:41.090Z",
    "dateTimeExampleDefaultFormat": "2016-02-28T16:41:41.090Z",
    "dateTimeExampleRfc": "Sun, 28 Feb 2016 16:41:41 GMT",
}


def send(api: Api, record: dict[str, Any], prefer: str | None = None, query: str = "", **headers: str) -> Any:
    """Send a record to the endpoint, with a Prefer header if one is given."""
    if prefer is not None:
        headers["Prefer"] = prefer
    return api.post(f"/description-with-urn-links{query}", json=record, headers=headers)


@pytest.mark.clause("2.4-1", "2.4-2", "4.13-1", "4.13-2")
def test_description_echoes_query_and_record(api: Api) -> None:
    answer = send(api, RECORD, query="?queryParameterOne=1e1&queryParameterTwo=%C3%BC")
    assert answer.status_code == 200
    assert "Preference-Applied" not in answer.headers
    assert answer.get_json() == {
        "arrayOfTwonumbersExample": [1425141701090, 1456677701090],
        "arrayOfFloatExample": [10],
        "arrayOfNumberNoDefaultsExample": [10],
        "arrayOfStringExample": ["ü", *TEXTS],
    }


@pytest.mark.clause("2.4-4", "4.13-2")
def test_description_omits_arrays_without_values(api: Api) -> None:
    assert send(api, {}).get_json() == {}
    assert send(api, {"version": 1}).get_json() == {
        "arrayOfIntExample": [1],
        "arrayOfUniqueIntExample": [1],
        "arrayOfNumberNoDefaultsExample": [1],
    }


@pytest.mark.clause("2.5-1", "2.5-2", "4.13-1", "4.13-3")
def test_description_with_prefer_202_answers_last_modified_at_in_every_format(api: Api) -> None:
    answer = send(api, RECORD, "code=202")
    assert answer.status_code == 202
    assert answer.headers["Preference-Applied"] == "code=202"
    assert answer.get_json() == TIMES


@pytest.mark.clause("2.5-2")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2016-02-28T17:41:41.09+01:00", TIMES),
        ("2016-02-28t16:41:41.0909999z", TIMES),
        (
            "2000-01-01T00:00:00Z",
            {
                "dateOnlyExample": "2000-01-01",
                "timeOnlyExample": "00:00:00",
                "dateTimeOnlyExample": "2000-01-01T00:00:00",
                "dateTimeExample": "2000-01-01T00:00:00.000Z",
                "dateTimeExampleDefaultFormat": "2000-01-01T00:00:00.000Z",
                "dateTimeExampleRfc": "Sat, 01 Jan 2000 00:00:00 GMT",
            },
        ),
        (
            "0001-01-01T00:00:00Z",
            {
                "dateOnlyExample": "0001-01-01",
                "timeOnlyExample": "00:00:00",
                "dateTimeOnlyExample": "0001-01-01T00:00:00",
                "dateTimeExample": "0001-01-01T00:00:00.000Z",
                "dateTimeExampleDefaultFormat": "0001-01-01T00:00:00.000Z",
                "dateTimeExampleRfc": "Mon, 01 Jan 0001 00:00:00 GMT",
            },
        ),
    ],
)
def test_description_with_prefer_202_falls_back_to_created_at(api: Api, text: str, expected: dict[str, str]) -> None:
    assert send(api, {"createdAt": text}, "code=202").get_json() == expected


@pytest.mark.clause("4.13-3")
def test_description_with_prefer_202_and_no_time_is_400(api: Api) -> None:
    answer = send(api, {"id": "x"}, "code=202")
    assert answer.status_code == 400
    assert set(codes(answer)) == {"InvalidJsonInput"}
    assert "lastModifiedAt" in details(answer)[0]


@pytest.mark.clause("4.13-3")
@pytest.mark.parametrize("prefer", ["code=201", "code=203", "code=400", "", "code=two"])
def test_description_ignores_an_unknown_status_in_the_prefer_header(api: Api, prefer: str) -> None:
    answer = send(api, {"id": "x"}, prefer)
    assert answer.status_code == 200
    assert "Preference-Applied" not in answer.headers
    assert answer.get_json() == {"arrayOfStringExample": ["x"]}


@pytest.mark.clause("4.13-5", "H-18")
@pytest.mark.parametrize("accept", ["application/x-www-form-urlencoded", "text/html", "application/json;q=0", "*/*"])
def test_description_answers_json_for_any_accept_header(api: Api, accept: str) -> None:
    for prefer, status in ((None, 200), ("code=200", 200), ("code=202", 202)):
        answer = send(api, RECORD, prefer, Accept=accept)
        assert answer.status_code == status
        assert answer.content_type == "application/json; charset=utf-8"


def test_description_of_a_malformed_request_is_400_for_any_prefer_header(api: Api) -> None:
    for prefer in (None, "code=202"):
        assert send(api, {"unknown": 1}, prefer).status_code == 400
        assert send(api, {"createdAt": "yesterday"}, prefer).status_code == 400
        assert send(api, RECORD, prefer, "?queryParameterOne=x").status_code == 400


@pytest.mark.clause("4.13-4")
def test_description_stores_nothing(api: Api) -> None:
    send(api, RECORD)
    assert api.get().get_json()["total"] == 0


@pytest.mark.clause("A-11")
def test_description_requires_a_scope_that_reads_or_writes_resources(app: Flask, api: Api, token_for: TokenFor) -> None:
    assert send(Api(app, api.project, token_for(f"view_test:{api.project}")), {}).status_code == 200
    assert send(Api(app, api.project, token_for(f"view_published_products:{api.project}")), {}).status_code == 403
    assert send(Api(app, api.project, None), {}).status_code == 401
