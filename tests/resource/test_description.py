"""POST to description with URN links (interface 4.13): the values of the request, or a time in every format."""

from typing import Any

from tests.support.api import Api, codes, details
from tests.support.complex_record import RECORD

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


def test_description_with_prefer_202_and_no_time_is_400(api: Api) -> None:
    answer = send(api, {"id": "x"}, "code=202")
    assert answer.status_code == 400
    assert set(codes(answer)) == {"InvalidJsonInput"}
    assert "lastModifiedAt" in details(answer)[0]


def test_description_of_a_malformed_request_is_400_for_any_prefer_header(api: Api) -> None:
    for prefer in (None, "code=202"):
        assert send(api, {"unknown": 1}, prefer).status_code == 400
        assert send(api, {"createdAt": "yesterday"}, prefer).status_code == 400
        assert send(api, RECORD, prefer, "?queryParameterOne=x").status_code == 400
