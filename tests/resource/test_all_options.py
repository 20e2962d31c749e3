"""POST with all options (interface 4.9): the answer contains the values of path, query string and body."""

from typing import Any
from urllib.parse import parse_qsl

import pytest
from flask import Flask

from tests.conftest import TokenFor
from tests.support.api import Api, codes, details
from tests.support.complex_record import RECORD, TEXTS

FORM = "application/x-www-form-urlencoded"


def send(api: Api, record: Any = None, path: str = "a/b", query: str = "", **options: Any) -> Any:
    """Send a record to the endpoint; ``path`` has the two path parameters."""
    target = f"/artificially-complex/path/uri-parameter-one={path}{query}"
    return api.post(target, json={} if record is None else record, **options)


def echoed(api: Api, record: Any = None, path: str = "a/b", query: str = "") -> dict[str, Any]:
    """The body of an answer, which has to be 200 and JSON."""
    answer = send(api, record, path, query)
    assert answer.status_code == 200, answer.text
    assert answer.content_type == "application/json; charset=utf-8"
    return answer.get_json()


@pytest.mark.clause("2.4-1", "2.4-2", "4.9-1", "4.9-2", "4.9-4")
def test_all_options_echoes_every_value_in_the_array_of_its_type(api: Api) -> None:
    query = "?queryParameterTwo=two&queryParameterOne=1.5"
    assert echoed(api, RECORD, "first/second", query) == {
        "arrayOfTwonumbersExample": [1425141701090, 1456677701090],
        "arrayOfFloatExample": [1.5],
        "arrayOfNumberNoDefaultsExample": [1.5],
        "arrayOfStringExample": ["first", "second", "two", *TEXTS],
    }


@pytest.mark.clause("2.4-4", "4.9-5")
def test_all_options_omits_arrays_without_values(api: Api) -> None:
    assert echoed(api) == {"arrayOfStringExample": ["a", "b"]}


@pytest.mark.clause("2.4-3", "4.9-2", "4.9-3")
def test_all_options_puts_numbers_and_booleans_into_the_arrays_of_their_types(api: Api) -> None:
    record = {
        "version": 3,
        "id": 7,
        "key": "text",
        "custom": True,
        "eigthProperty": 1.5,
        "ninthProperty": 7,
        "tenthProperty": False,
        "eleventhPropery": 2**63,
        "twelthProperty": -(2**63),
        "thirteenthProperty": "",
    }
    assert echoed(api, record, query="?queryParameterOne=20.0") == {
        "arrayOfIntExample": [7, 3, 7, -(2**63)],
        "arrayOfUniqueIntExample": [7, 3, -(2**63)],
        "arrayOfFloatExample": [20],
        "arrayOfNumberNoDefaultsExample": [20, 7, 3, 1.5, 7, 2**63, -(2**63)],
        "arrayOfStringExample": ["a", "b", "text", "true", "false", ""],
    }


@pytest.mark.clause("2.4-3", "4.9-2", "4.9-3", "4.9-10")
@pytest.mark.parametrize("accept", ["application/json", FORM])
def test_all_options_takes_any_json_value_for_a_field_without_a_shown_type(api: Api, accept: str) -> None:
    record = {
        "id": {"a": [1, 2.5, None, True], "b": {"ä": '"'}},
        "version": None,
        "key": [],
        "custom": {},
        "eigthProperty": [[3], "x"],
        "ninthProperty": 4,
        "tenthProperty": "text",
    }
    texts = ["a", "b", '{"a":[1,2.5,null,true],"b":{"ä":"\\""}}', "[]", "{}", '[[3],"x"]', "text"]
    answer = send(api, record, headers={"Accept": accept})
    if accept == FORM:
        assert parse_qsl(answer.text)[-len(texts) :] == [("arrayOfStringExample", text) for text in texts]
    else:
        assert answer.get_json() == {
            "arrayOfIntExample": [4],
            "arrayOfUniqueIntExample": [4],
            "arrayOfNumberNoDefaultsExample": [4],
            "arrayOfStringExample": texts,
        }


@pytest.mark.clause("4-15", "2.4-3")
def test_all_options_refuses_a_value_of_too_many_levels_and_takes_100(api: Api) -> None:
    deep: Any = []
    for _ in range(99):
        deep = [deep]
    assert echoed(api, {"custom": deep})["arrayOfStringExample"][2] == "[" * 100 + "]" * 100
    for record in ({"custom": [deep]}, {"custom": {"a": deep}}, {"custom": [deep], "key": "\x00"}):
        answer = send(api, record)
        assert answer.status_code == 400
        assert codes(answer)[-1] == "InvalidJsonInput"
        assert details(answer)[-1].endswith("JSON value with fewer levels expected.")


def test_all_options_takes_a_number_without_fraction_for_an_integer(api: Api) -> None:
    body = '{"id": 3.0, "version": 1e2, "key": -0.0, "custom": 2.5}'
    target = "/artificially-complex/path/uri-parameter-one=a/b"
    answer = api.post(target, data=body, content_type="application/json").get_json()
    assert answer["arrayOfIntExample"] == answer["arrayOfUniqueIntExample"] == [3, 100, 0]
    assert answer["arrayOfNumberNoDefaultsExample"] == [3, 100, 0, 2.5]


@pytest.mark.clause("4.9-7", "4.9-8")
@pytest.mark.parametrize(
    ("path", "first", "second"),
    [
        ("lastName%20%3D%20%22Doe%22/second", 'lastName = "Doe"', "second"),
        ("lastName=%22Doe%22/a=b", 'lastName="Doe"', "a=b"),
        ("a%2Fb/c%2fd", "a/b", "c/d"),
        ("%2F/%2F%2F", "/", "//"),
        ("100%25/%25", "100%", "%"),
        ("%252F/%25252F", "%2F", "%252F"),
        ("%2525/%2541", "%25", "%41"),
        ("%253D/%253d", "%3D", "%3d"),
        ("key%3D/key%3D1", "key=", "key=1"),
        ("key=1/searchApiPattern", "key=1", "searchApiPattern"),
        ("/second", "", "second"),
        ("%C3%A4%F0%9F%90%95/%E2%80%A8", "ä🐕", "\u2028"),
        ("a%CC%81/%C3%A1", "a\u0301", "\u00e1"),
        ("'/%22", "'", '"'),
        ("a+b/c%2Bd", "a+b", "c+d"),
        ("a%3Fb/c%23d", "a?b", "c#d"),
        ("a;b=c/d,e&f", "a;b=c", "d,e&f"),
        ("%09/%0A", "\t", "\n"),
        ("%20/%20", " ", " "),
        ("%5C/%3C%3E", "\\", "<>"),
        (f"{2000 * 'x'}/{2000 * 'y'}", 2000 * "x", 2000 * "y"),
    ],
)
def test_all_options_decodes_any_text_in_the_path(api: Api, path: str, first: str, second: str) -> None:
    assert echoed(api, path=path) == {"arrayOfStringExample": [first, second]}


@pytest.mark.parametrize("equal_sign", ["%3D", "%3d"])
def test_all_options_accepts_an_encoded_equal_sign_in_the_path(api: Api, equal_sign: str) -> None:
    answer = api.post(f"/artificially-complex/path/uri-parameter-one{equal_sign}a/b", json={})
    assert answer.get_json() == {"arrayOfStringExample": ["a", "b"]}


@pytest.mark.clause("4.9-8")
@pytest.mark.parametrize("path", ["a/", "a", "/", "", "a/b/", "a/b/c", "a//b", "//a"])
def test_all_options_with_an_empty_second_parameter_or_another_segment_is_404(api: Api, path: str) -> None:
    answer = send(api, path=path)
    assert answer.status_code == 404
    assert codes(answer) == ["ResourceNotFound"]


@pytest.mark.clause("4.9-12")
@pytest.mark.parametrize("path", ["%FF/b", "a/%C3", "%C0%AF/b", "a/%ED%A0%80", "%F4%90%80%80/b", "a%2Fb/%FF"])
def test_all_options_with_a_path_that_is_not_utf_8_is_400(api: Api, path: str) -> None:
    answer = send(api, path=path)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]


@pytest.mark.clause("4.9-12")
def test_all_options_takes_any_character_everywhere(api: Api) -> None:
    record = {"id": "a\x00", "custom": {"b\x00": ["\x00"]}, "createdBy": {"lastName": "\x00"}}
    shown = ["a\x00", "\x00", "c\x00", "a\x00", '{"b\\u0000":["\\u0000"]}', "\x00"]
    assert echoed(api, record, "a%00/%00", "?queryParameterTwo=c%00") == {"arrayOfStringExample": shown}
    form = send(api, record, "a%00/%00", "?queryParameterTwo=c%00", headers={"Accept": FORM})
    assert parse_qsl(form.text, keep_blank_values=True) == [("arrayOfStringExample", text) for text in shown]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("queryParameterOne=abc", "queryParameterOne"),
        ("queryParameterOne=", "queryParameterOne"),
        ("queryParameterOne=1&queryParameterOne=1", "queryParameterOne"),
        ("queryParameterOne=1e400", "queryParameterOne"),
        ("queryParameterOne=NaN", "queryParameterOne"),
        ("queryParameterTwo=a&queryParameterTwo=b", "queryParameterTwo"),
        ("queryParameterThree=a", "queryParameterThree"),
    ],
)
def test_all_options_with_a_malformed_query_is_400(api: Api, query: str, name: str) -> None:
    answer = send(api, query=f"?{query}")
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]
    assert answer.get_json()["message"].startswith(f"Malformed parameter: {name}: ")


@pytest.mark.parametrize(
    ("literal", "number"),
    [("-1", -1), ("0.1", 0.1), ("1e3", 1000), ("9223372036854775808", 2**63), ("1e-300", 1e-300)],
)
def test_all_options_echoes_a_query_number(api: Api, literal: str, number: float) -> None:
    answer = echoed(api, query=f"?queryParameterOne={literal}")
    assert answer["arrayOfFloatExample"] == answer["arrayOfNumberNoDefaultsExample"] == [number]


@pytest.mark.clause("2.4-6", "4.9-4")
@pytest.mark.parametrize(
    ("created_at", "last_modified_at", "milliseconds"),
    [
        ("2015-02-28T16:41:41.090Z", "2016-02-28T16:41:41.090Z", [1425141701090, 1456677701090]),
        ("1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z", [0, -1]),
        ("1970-01-01t01:00:00+01:00", "1969-12-31T23:30:00.5-00:30", [0, 500]),
        ("1970-01-01T00:00:00.123456789Z", "1970-01-01T00:00:00.1z", [123, 100]),
        ("2016-12-31T23:59:60Z", "2000-02-29T00:00:00Z", [1483228800000, 951782400000]),
    ],
)
def test_all_options_accepts_any_rfc_3339_timestamp(
    api: Api, created_at: str, last_modified_at: str, milliseconds: list[int]
) -> None:
    answer = echoed(api, {"createdAt": created_at, "lastModifiedAt": last_modified_at})
    assert answer == {"arrayOfTwonumbersExample": milliseconds, "arrayOfStringExample": ["a", "b"]}


@pytest.mark.clause("4.9-4")
def test_all_options_omits_the_pair_of_times_if_one_is_missing(api: Api) -> None:
    for name in ("createdAt", "lastModifiedAt"):
        assert echoed(api, {name: RECORD[name]}) == {"arrayOfStringExample": ["a", "b"]}


@pytest.mark.clause("2.4-6")
@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2015-02-28", "2015-02-28T16:41:41", "2015-02-30T00:00:00Z", "2015-13-01T00:00:00Z",
     "2015-01-01T24:00:00Z", "2015-01-01T00:00:61Z", "2015-01-01T00:00:00+24:00", "0000-01-01T00:00:00Z",
     "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:60Z", "٢٠١٥-01-01T00:00:00Z"],
)  # fmt: skip
def test_all_options_with_a_malformed_timestamp_is_400(api: Api, text: str) -> None:
    answer = send(api, {"createdAt": text})
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidField"]
    assert details(answer) == ["createdAt"]
    assert answer.get_json()["errors"][0]["invalidValue"] == text


@pytest.mark.clause("2.4-5")
@pytest.mark.parametrize(
    ("record", "place"),
    [
        ({"unknown": 1}, "unknown"),
        ({"eighthProperty": "spelt otherwise"}, "eighthProperty"),
        ({"eleventhProperty": "spelt otherwise"}, "eleventhProperty"),
        ({"createdAt": 5}, "createdAt"),
        ({"createdBy": "John"}, "createdBy"),
        ({"createdBy": {"firstName": 5}}, "createdBy -> firstName"),
        ({"lastModifiedBy": {"middleName": "x"}}, "lastModifiedBy -> middleName"),
    ],
)
def test_all_options_with_an_unknown_field_or_a_wrong_type_is_400(api: Api, record: dict[str, Any], place: str) -> None:
    answer = send(api, record)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidJsonInput"]
    [detail] = details(answer)
    assert detail.startswith(f"{place}: ")


@pytest.mark.clause("2.3-17")
@pytest.mark.parametrize(
    ("record", "place"),
    [
        ({"fifteenthProperty": "\ud800"}, "fifteenthProperty"),
        ({"createdBy": {"lastName": "\ud800"}}, "createdBy -> lastName"),
        ({"version": 10**400}, "version"),
        ({"custom": {"a": ["b", {"c": "\ud800"}]}}, "custom -> a -> 1 -> c"),
        ({"key": [[10**400]]}, "key -> 0 -> 0"),
    ],
)
def test_all_options_with_an_unstorable_value_is_400(api: Api, record: dict[str, Any], place: str) -> None:
    answer = send(api, record)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidField"]
    assert details(answer) == [place]


@pytest.mark.clause("4.9-9")
@pytest.mark.parametrize(
    ("prefer", "status"),
    [
        ("code=200", 200),
        ("code=201", 201),
        ("code=203", 203),
        ('code="201"', 201),
        ("Code=203", 203),
        ("respond-async, code=201, wait=5", 201),
        ("code=203; explained=no", 203),
        ("code = 201", 201),
    ],
)
def test_all_options_answers_with_the_status_of_the_prefer_header(api: Api, prefer: str, status: int) -> None:
    answer = send(api, RECORD, headers={"Prefer": prefer})
    assert answer.status_code == status
    assert answer.headers["Preference-Applied"] == f"code={status}"
    assert answer.get_json() == echoed(api, RECORD)


@pytest.mark.clause("4.9-9")
@pytest.mark.parametrize(
    "prefer", ["code=202", "code=404", "code=500", "code=abc", "code=", "code", "", "status=201", "code=0201"]
)
def test_all_options_ignores_an_unknown_status_in_the_prefer_header(api: Api, prefer: str) -> None:
    answer = send(api, headers={"Prefer": prefer})
    assert answer.status_code == 200
    assert "Preference-Applied" not in answer.headers


@pytest.mark.clause("4.9-10")
@pytest.mark.parametrize(
    "accept",
    [
        "application/json",
        "*/*",
        "application/*",
        f"{FORM};q=0.5, application/json",
        f"{FORM}, application/json",
        "text/html, */*;q=0.1",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8;q=0.9",
        'application/json; profile="a;b"; charset=utf-8',
        "APPLICATION/JSON;Version=1",
        "text/html",
        "application/xml, text/*",
        "application/json;q=0",
        "application/xhtml+xml;q=0.9, image/*",
        "nonsense",
        ";",
        "",
    ],
)
def test_all_options_answers_json_unless_the_accept_header_prefers_a_form(api: Api, accept: str) -> None:
    answer = send(api, headers={"Accept": accept})
    assert answer.status_code == 200
    assert answer.content_type == "application/json; charset=utf-8"


@pytest.mark.clause("4.9-10")
@pytest.mark.parametrize(
    "accept",
    [
        FORM,
        f"{FORM}; charset=utf-8",
        f"application/json;q=0.5, {FORM}",
        f"application/json; charset=utf-8; q=0.5, {FORM};charset=utf-8",
        f"application/json;q=0, {FORM}",
        "application/json;q=0, */*",
    ],
)
@pytest.mark.parametrize(("prefer", "status"), [({}, 200), ({"Prefer": "code=203"}, 203)])
def test_all_options_answers_a_form_with_a_pair_for_each_item(
    api: Api, accept: str, prefer: dict[str, str], status: int
) -> None:
    record = {"version": 3, "id": 1.5, "custom": True, "key": "ä & =+\n"}
    answer = send(api, record, "%2F/b", "?queryParameterOne=2", headers={"Accept": accept, **prefer})
    assert answer.status_code == status
    assert answer.mimetype == FORM
    assert parse_qsl(answer.text, strict_parsing=True) == [
        ("arrayOfIntExample", "3"),
        ("arrayOfUniqueIntExample", "3"),
        ("arrayOfFloatExample", "2"),
        ("arrayOfNumberNoDefaultsExample", "2"),
        ("arrayOfNumberNoDefaultsExample", "1.5"),
        ("arrayOfNumberNoDefaultsExample", "3"),
        ("arrayOfStringExample", "/"),
        ("arrayOfStringExample", "b"),
        ("arrayOfStringExample", "ä & =+\n"),
        ("arrayOfStringExample", "true"),
    ]


@pytest.mark.clause("4-6")
def test_an_empty_query_text_is_echoed(api: Api) -> None:
    assert echoed(api, query="?queryParameterTwo=") == {"arrayOfStringExample": ["a", "b", ""]}


@pytest.mark.clause("4.9-6")
def test_all_options_stores_nothing(api: Api) -> None:
    send(api, RECORD)
    assert api.get().get_json()["total"] == 0


@pytest.mark.clause("A-2", "A-11")
def test_all_options_requires_a_scope_that_reads_or_writes_resources(app: Flask, api: Api, token_for: TokenFor) -> None:
    assert send(Api(app, api.project, token_for(f"view_test:{api.project}"))).status_code == 200
    assert send(Api(app, api.project, token_for(f"view_products:{api.project}"))).status_code == 403
    assert send(Api(app, api.project, None)).status_code == 401


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE"])
def test_all_options_with_another_method_than_post_is_405(api: Api, method: str) -> None:
    answer = api.request(method, "/artificially-complex/path/uri-parameter-one=a/b")
    assert answer.status_code == 405
    assert "POST" in answer.headers["Allow"]
