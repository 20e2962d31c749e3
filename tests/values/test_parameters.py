"""The rules of all query strings: undeclared names, empty and repeated values, booleans, numbers, encoding."""

import pytest

from tests.support.api import UNKNOWN_ID, Api, codes, details
from tests.support.cases import paired
from tests.support.predicates import SORTED


def refused(api: Api, query: str, path: str = "") -> list[str]:
    """The error messages for a query string, which has to be 400."""
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


def test_a_parameter_of_another_endpoint_is_400(api: Api) -> None:
    refused(api, "stringParameter=a", SORTED)
    refused(api, "queryParameterOne=1")
    refused(api, "version=1", f"/{UNKNOWN_ID}")


@pytest.mark.parametrize(
    "query",
    ["limit", "limit=", "limit=&offset=1", "floatParameter="],
)
def test_a_parameter_with_an_empty_value_is_400(api: Api, query: str) -> None:
    [message] = refused(api, query)
    assert message.startswith(f"Malformed parameter: {query.split('=', maxsplit=1)[0]}: ")


@pytest.mark.parametrize("text", ["1", "0", "yes", "on", "t", "%20true", "true%20", '"true"', "null", "ｔrue"])
def test_a_boolean_parameter_with_another_word_is_400(api: Api, text: str) -> None:
    [message] = refused(api, f"withTotal={text}")
    assert message.startswith("Malformed parameter: withTotal: ")


@pytest.mark.parametrize(
    ("text", "name"),
    paired(
        [
            "%2B20",
            "+20",
            "020",
            "0x14",
            ".5",
            "20.",
            "1_0",
            "%D9%A2%D9%A0",
            "20%20",
            "%2020",
            "2e",
            "2e1.0",
            "1,0",
            "--1",
            "%C2%B2",
            "Infinity",
            "-Infinity",
            "nan",
            "NaN",
            "1e400",
            "-1e400",
            '"20"',
            "[20]",
            "%00",
            f"{5000 * '9'}",
        ],
        ["limit", "offset", "floatParameter", "integerParameter", "withMarkdownDescription"],
    ),
)
def test_a_number_parameter_that_is_not_a_json_number_is_400(api: Api, name: str, text: str) -> None:
    [message] = refused(api, f"{name}={text}")
    assert message.startswith(f"Malformed parameter: {name}: ")


@pytest.mark.parametrize(
    "exponent", ["1e-400", "1e-99999999999999999999", "0e99999999999999999999", "-0e-99999999999999999999"]
)
def test_number_parameters_accept_exponents_of_any_size(api: Api, exponent: str) -> None:
    api.create({"arrayOfFloatExample": [0]})
    assert api.get(f"?floatParameter={exponent}").get_json()["total"] == 1


@pytest.mark.parametrize("name", ["stringParameter", "arrayOfString", "arrayOfStringWithDescription"])
def test_a_text_parameter_with_nul_is_400(api: Api, name: str) -> None:
    [message] = refused(api, f"{name}=a%00b")
    assert message.startswith(f"Malformed parameter: {name}: ")


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
