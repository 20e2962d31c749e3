"""What every query string has in common: undeclared names, empty and repeated values, booleans, numbers, encoding."""

from urllib.parse import quote

import pytest

from tests.support.api import EXAMPLE, Api, codes, details

UNKNOWN = "01890000-0000-7000-8000-000000000000"
LIST = "/sorted-query-parameters"


def refused(api: Api, query: str, path: str = "") -> list[str]:
    """The messages that refuse a query."""
    answer = api.get(f"{path}?{query}")
    assert answer.status_code == 400
    assert set(codes(answer)) == {"InvalidInput"}
    return details(answer)


@pytest.mark.parametrize(
    ("path", "given", "nearest"),
    [
        ("", "limt", "limit"),
        ("", "Limit", "limit"),
        ("", "stringParam", "stringParameter"),
        ("", "arrayOfStrings", "arrayOfString"),
        (LIST, "withtotal", "withTotal"),
        (LIST, "offest", "offset"),
        (f"/{UNKNOWN}", "optionalQueryParam", "optionalQueryParameter"),
    ],
)
def test_an_undeclared_name_is_told_with_the_nearest(api: Api, path: str, given: str, nearest: str) -> None:
    [message] = refused(api, f"{given}=1", path)
    assert message.startswith(f"Malformed parameter: {given}: ")
    assert f"'{nearest}'" in message


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("POST", ""),
        ("PUT", ""),
        ("PATCH", ""),
        ("GET", "/{id}"),
        ("POST", "/{id}"),
        ("DELETE", "/{id}"),
        ("GET", "/key=a-key"),
        ("GET", LIST),
        ("POST", "/description-with-urn-links"),
        ("POST", "/artificially-complex/path/uri-parameter-one=a/b"),
    ],
)
@pytest.mark.parametrize(
    "query", ["completelyDifferent=1", "completelyDifferent", "=1", "%00=1", "%F0%9F%90%95=", "limit[]=1"]
)
def test_no_endpoint_lets_an_undeclared_name_pass(api: Api, method: str, path: str, query: str) -> None:
    created = api.create(key="a-key")
    body = {"objectTypeProperty": {}, "key": "a-key", "version": 1}
    if path == "/{id}":
        body = {"version": 1, "actions": []}
    elif "/" in path:
        body = {}
    options = {} if method in ("GET", "DELETE") else {"json": body}
    answer = api.request(method, f"{path.format(**created)}?{query}", **options)
    assert answer.status_code == 400
    assert codes(answer) == ["InvalidInput"]
    assert api.get("/key=a-key").get_json() == created


def test_a_declared_name_of_another_endpoint_is_undeclared(api: Api) -> None:
    refused(api, "stringParameter=a", LIST)
    refused(api, "queryParameterOne=1")
    refused(api, "version=1", f"/{UNKNOWN}")


@pytest.mark.parametrize(
    "query",
    ["limit", "limit=", "limit=&offset=1", "stringParameter=", "arrayOfString=", "arrayOfString=a&arrayOfString="],
)
def test_an_empty_value_is_refused(api: Api, query: str) -> None:
    [message] = refused(api, query)
    assert message.startswith(f"Malformed parameter: {query.split('=', maxsplit=1)[0]}: ")


@pytest.mark.parametrize(
    "query",
    ["limit=1&limit=2", "limit=1&limit=1", "stringParameter=a&stringParameter=b", "withTotal=true&withTotal=false",
     "objectParameter=%7B%7D&objectParameter=%7B%7D", "limit=1&offset=1&l%69mit=1"],
)  # fmt: skip
def test_a_repeated_value_is_refused(api: Api, query: str) -> None:
    assert len(refused(api, query)) == 1


def test_empty_pairs_are_no_parameters(api: Api) -> None:
    for query in ("", "&", "&&limit=5&", "limit=5&"):
        assert api.get(f"?{query}").status_code == 200


def test_repeatable_parameters_repeat(api: Api) -> None:
    api.create()
    query = "arrayOfString=dog&sort=key&arrayOfString=cat&sort=id%20desc"
    query += "&arrayOfStringWithDescription=x&arrayOfStringWithDescription=cat"
    assert api.get(f"?{query}").get_json()["total"] == 1


@pytest.mark.parametrize("text", ["true", "True", "TRUE", "tRuE", "false", "False", "FALSE"])
def test_booleans_have_any_letter_case(api: Api, text: str) -> None:
    page = api.get(f"?withTotal={text}").get_json()
    assert ("total" in page) == (text.lower() == "true")


@pytest.mark.parametrize("text", ["1", "0", "yes", "on", "t", "%20true", "true%20", '"true"', "null", "ｔrue"])
def test_other_words_are_no_booleans(api: Api, text: str) -> None:
    [message] = refused(api, f"withTotal={text}")
    assert message.startswith("Malformed parameter: withTotal: ")


@pytest.mark.parametrize(
    "text", ["20", "20.0", "20.000", "2e1", "2E1", "2e%2B1", "2.0e+1".replace("+", "%2B"), "200e-1", "0.2E2"]
)
def test_numbers_are_written_as_in_json(api: Api, text: str) -> None:
    assert api.get(f"?limit={text}").get_json()["limit"] == 20


@pytest.mark.parametrize(
    "text",
    ["%2B20", "+20", "020", "0x14", ".5", "20.", "1_0", "%D9%A2%D9%A0", "20%20", "%2020", "2e", "2e1.0", "1,0", "--1",
     "%C2%B2", "Infinity", "-Infinity", "nan", "NaN", "1e400", "-1e400", '"20"', "[20]", "%00", f"{5000 * '9'}"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["limit", "offset", "floatParameter", "integerParameter", "withMarkdownDescription"])
def test_other_texts_are_no_numbers(api: Api, name: str, text: str) -> None:
    [message] = refused(api, f"{name}={text}")
    assert message.startswith(f"Malformed parameter: {name}: ")


@pytest.mark.parametrize(
    "exponent", ["1e-400", "1e-99999999999999999999", "0e99999999999999999999", "-0e-99999999999999999999"]
)
def test_an_exponent_of_any_size_is_a_number(api: Api, exponent: str) -> None:
    api.create({"arrayOfFloatExample": [0]})
    assert api.get(f"?floatParameter={exponent}").get_json()["total"] == 1


@pytest.mark.parametrize(
    "query",
    ["stringParameter=%FF", "stringParameter=a%C3", "stringParameter=%ED%A0%80", "stringParameter=%C0%80",
     "%FF=1", "arrayOfString=a&arrayOfString=%80", "limit=1&unknown=%FF"],
)  # fmt: skip
def test_bytes_that_are_no_utf_8_are_refused(api: Api, query: str) -> None:
    assert refused(api, query)


@pytest.mark.parametrize("name", ["stringParameter", "arrayOfString", "arrayOfStringWithDescription"])
def test_a_character_that_no_text_can_hold_is_refused(api: Api, name: str) -> None:
    [message] = refused(api, f"{name}=a%00b")
    assert message.startswith(f"Malformed parameter: {name}: ")


@pytest.mark.parametrize(
    "text",
    [
        "a b",
        "a+b",
        "a&b=c",
        "a%b",
        "100%",
        "ü",
        "🐕",
        "\ufeff",
        "\u2028\t\n",
        "a;b",
        "'; DROP TABLE resource; --",
        "%s",
    ],
)
def test_any_text_arrives_as_it_was_sent(api: Api, text: str) -> None:
    api.create({"arrayOfStringExample": [text]}, key="a-key")
    api.create()
    for query in (f"stringParameter={quote(text, safe='')}", f"arrayOfString={quote(text, safe='')}"):
        assert [result["key"] for result in api.get(f"?{query}").get_json()["results"]] == ["a-key"]


def test_a_plus_sign_is_a_blank(api: Api) -> None:
    api.create({"arrayOfStringExample": ["a b"]})
    assert api.get("?stringParameter=a+b").get_json()["total"] == 1


def test_all_faults_are_told_at_once(api: Api) -> None:
    messages = refused(api, "limt=1&offset=x&withTotal=2&integerParameter=1.5&sort=&stringParameter=a")
    assert sorted(message.split(":")[1].strip() for message in messages) == [
        "integerParameter",
        "limt",
        "offset",
        "sort",
        "withTotal",
    ]


def test_a_refusal_does_not_send_a_long_text_back(api: Api) -> None:
    for query in (
        f"limit={100_000 * 'x'}",
        f"{100_000 * 'x'}=1",
        f"sort={100_000 * 'x'}",
        f"withTotal={100_000 * 'x'}",
    ):
        assert len(api.get(f"?{query}").data) < 10_000


def test_a_refused_write_writes_nothing(api: Api) -> None:
    body = {"objectTypeProperty": EXAMPLE, "version": 1}
    assert api.post("?stagd=true", json=body).status_code == 400
    assert api.request("PUT", "?staged=maybe", json=body).status_code == 400
    assert api.get().get_json()["total"] == 0
