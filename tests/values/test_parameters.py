"""The rules of all query strings: undeclared names, empty and repeated values, booleans, numbers, encoding."""

from urllib.parse import quote

import pytest

from tests.support.api import EXAMPLE, UNKNOWN_ID, Api, codes, details
from tests.support.predicates import SORTED


def refused(api: Api, query: str, path: str = "") -> list[str]:
    """The error messages for a query string, which has to be 400."""
    answer = api.get(f"{path}?{query}")
    assert answer.status_code == 400
    assert set(codes(answer)) == {"InvalidInput"}
    return details(answer)


@pytest.mark.clause("4-4")
@pytest.mark.parametrize(
    ("path", "given", "nearest"),
    [
        ("", "limt", "limit"),
        ("", "Limit", "limit"),
        ("", "stringParam", "stringParameter"),
        ("", "arrayOfStrings", "arrayOfString"),
        (SORTED, "withtotal", "withTotal"),
        (SORTED, "offest", "offset"),
        (f"/{UNKNOWN_ID}", "optionalQueryParam", "optionalQueryParameter"),
    ],
)
def test_an_undeclared_parameter_is_400_and_suggests_the_nearest_name(
    api: Api, path: str, given: str, nearest: str
) -> None:
    [message] = refused(api, f"{given}=1", path)
    assert message.startswith(f"Malformed parameter: {given}: ")
    assert f"'{nearest}'" in message


@pytest.mark.clause("4-4", "4-13")
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
        ("GET", SORTED),
        ("POST", "/description-with-urn-links"),
        ("POST", "/artificially-complex/path/uri-parameter-one=a/b"),
    ],
)
@pytest.mark.parametrize(
    "query", ["completelyDifferent=1", "completelyDifferent", "=1", "%00=1", "%F0%9F%90%95=", "limit[]=1"]
)
def test_every_endpoint_refuses_an_undeclared_parameter_with_400(api: Api, method: str, path: str, query: str) -> None:
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


def test_a_parameter_of_another_endpoint_is_400(api: Api) -> None:
    refused(api, "stringParameter=a", SORTED)
    refused(api, "queryParameterOne=1")
    refused(api, "version=1", f"/{UNKNOWN_ID}")


@pytest.mark.clause("4-6")
@pytest.mark.parametrize(
    "query",
    ["limit", "limit=", "limit=&offset=1", "floatParameter="],
)
def test_a_parameter_with_an_empty_value_is_400(api: Api, query: str) -> None:
    [message] = refused(api, query)
    assert message.startswith(f"Malformed parameter: {query.split('=', maxsplit=1)[0]}: ")


@pytest.mark.clause("4-5")
@pytest.mark.parametrize(
    "query",
    ["limit=1&limit=2", "limit=1&limit=1", "stringParameter=a&stringParameter=b", "withTotal=true&withTotal=false",
     "objectParameter=%7B%7D&objectParameter=%7B%7D", "limit=1&offset=1&l%69mit=1"],
)  # fmt: skip
def test_a_repeated_parameter_that_is_not_repeatable_is_400(api: Api, query: str) -> None:
    assert len(refused(api, query)) == 1


@pytest.mark.clause("4-6")
def test_empty_pairs_in_a_query_string_are_ignored(api: Api) -> None:
    for query in ("", "&", "&&limit=5&", "limit=5&"):
        assert api.get(f"?{query}").status_code == 200


@pytest.mark.clause("4.1-5")
def test_repeatable_parameters_may_be_repeated(api: Api) -> None:
    api.create()
    query = "arrayOfString=dog&sort=key&arrayOfString=cat&sort=id%20desc"
    query += "&arrayOfStringWithDescription=x&arrayOfStringWithDescription=cat"
    assert api.get(f"?{query}").get_json()["total"] == 1


@pytest.mark.clause("4-7", "4-8")
@pytest.mark.parametrize("text", ["true", "True", "TRUE", "tRuE", "false", "False", "FALSE"])
def test_boolean_parameters_are_case_insensitive(api: Api, text: str) -> None:
    page = api.get(f"?withTotal={text}").get_json()
    assert ("total" in page) == (text.lower() == "true")


@pytest.mark.clause("4-8")
@pytest.mark.parametrize("text", ["1", "0", "yes", "on", "t", "%20true", "true%20", '"true"', "null", "ｔrue"])
def test_a_boolean_parameter_with_another_word_is_400(api: Api, text: str) -> None:
    [message] = refused(api, f"withTotal={text}")
    assert message.startswith("Malformed parameter: withTotal: ")


@pytest.mark.clause("4-9")
@pytest.mark.parametrize(
    "text", ["20", "20.0", "20.000", "2e1", "2E1", "2e%2B1", "2.0e+1".replace("+", "%2B"), "200e-1", "0.2E2"]
)
def test_number_parameters_accept_any_json_notation(api: Api, text: str) -> None:
    assert api.get(f"?limit={text}").get_json()["limit"] == 20


@pytest.mark.clause("4-10", "4.1-16")
@pytest.mark.parametrize(
    "text",
    ["%2B20", "+20", "020", "0x14", ".5", "20.", "1_0", "%D9%A2%D9%A0", "20%20", "%2020", "2e", "2e1.0", "1,0", "--1",
     "%C2%B2", "Infinity", "-Infinity", "nan", "NaN", "1e400", "-1e400", '"20"', "[20]", "%00", f"{5000 * '9'}"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["limit", "offset", "floatParameter", "integerParameter", "withMarkdownDescription"])
def test_a_number_parameter_that_is_not_a_json_number_is_400(api: Api, name: str, text: str) -> None:
    [message] = refused(api, f"{name}={text}")
    assert message.startswith(f"Malformed parameter: {name}: ")


@pytest.mark.parametrize(
    "exponent", ["1e-400", "1e-99999999999999999999", "0e99999999999999999999", "-0e-99999999999999999999"]
)
def test_number_parameters_accept_exponents_of_any_size(api: Api, exponent: str) -> None:
    api.create({"arrayOfFloatExample": [0]})
    assert api.get(f"?floatParameter={exponent}").get_json()["total"] == 1


@pytest.mark.clause("4-13")
@pytest.mark.parametrize(
    "query",
    ["stringParameter=%FF", "stringParameter=a%C3", "stringParameter=%ED%A0%80", "stringParameter=%C0%80",
     "%FF=1", "arrayOfString=a&arrayOfString=%80", "limit=1&unknown=%FF"],
)  # fmt: skip
def test_a_query_string_that_is_not_utf_8_is_400(api: Api, query: str) -> None:
    assert refused(api, query)


@pytest.mark.clause("4-13")
@pytest.mark.parametrize("name", ["stringParameter", "arrayOfString", "arrayOfStringWithDescription"])
def test_a_text_parameter_with_nul_is_400(api: Api, name: str) -> None:
    [message] = refused(api, f"{name}=a%00b")
    assert message.startswith(f"Malformed parameter: {name}: ")


@pytest.mark.clause("4-12")
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
def test_text_parameters_are_decoded_exactly(api: Api, text: str) -> None:
    api.create({"arrayOfStringExample": [text]}, key="a-key")
    api.create()
    for query in (f"stringParameter={quote(text, safe='')}", f"arrayOfString={quote(text, safe='')}"):
        assert [result["key"] for result in api.get(f"?{query}").get_json()["results"]] == ["a-key"]


@pytest.mark.clause("4-12")
def test_a_plus_sign_in_a_query_string_is_a_space(api: Api) -> None:
    api.create({"arrayOfStringExample": ["a b"]})
    assert api.get("?stringParameter=a+b").get_json()["total"] == 1


@pytest.mark.clause("E-13")
def test_all_faults_of_a_query_string_are_in_one_answer(api: Api) -> None:
    messages = refused(api, "limt=1&offset=x&withTotal=2&integerParameter=1.5&sort=&stringParameter=a")
    assert sorted(message.split(":")[1].strip() for message in messages) == [
        "integerParameter",
        "limt",
        "offset",
        "sort",
        "withTotal",
    ]


def test_an_error_about_a_long_parameter_is_short(api: Api) -> None:
    for query in (
        f"limit={100_000 * 'x'}",
        f"{100_000 * 'x'}=1",
        f"sort={100_000 * 'x'}",
        f"withTotal={100_000 * 'x'}",
    ):
        assert len(api.get(f"?{query}").data) < 10_000


@pytest.mark.clause("4-4")
def test_a_write_with_an_invalid_parameter_is_400_and_writes_nothing(api: Api) -> None:
    body = {"objectTypeProperty": EXAMPLE, "version": 1}
    assert api.post("?stagd=true", json=body).status_code == 400
    assert api.request("PUT", "?staged=maybe", json=body).status_code == 400
    assert api.get().get_json()["total"] == 0
