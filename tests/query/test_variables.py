"""Variables of predicates: texts in the URL that are read as values of the field's type."""

import pytest

from tests.support.api import EXAMPLE, Api, codes
from tests.support.predicates import SORTED, ask, found, refusals


@pytest.fixture
def library(api: Api) -> Api:
    """Two resources."""
    api.create(EXAMPLE, key="full")
    api.create({"arrayOfStringExample": ["", "7"]}, key="seven")
    return api


def test_one_variable_can_stand_for_fields_of_several_types(library: Api) -> None:
    assert found(library, "version = :v or arrayOfStringExample = :v", v="7") == ["seven"]


@pytest.mark.parametrize(
    "name", ["var.", "var.a-b", "var.a.b", "var.ä", "var.a b", "Var.a", "vara", "var.<name>", "var.a\n"]
)
def test_an_invalid_variable_name_is_refused(api: Api, name: str) -> None:
    for path in (SORTED, ""):
        answer = api.get(path, query_string={name: "x"})
        assert answer.status_code == 400
        assert codes(answer) == ["InvalidInput"]
        assert f"Malformed parameter: {name}: Unknown parameter." in answer.get_json()["message"]


def test_other_endpoints_refuse_variables(api: Api) -> None:
    created = api.create()
    assert api.get(f"/{created['id']}", query_string={"var.a": "x"}).status_code == 400


def test_a_missing_variable_is_named(library: Api) -> None:
    assert refusals(library, "key = :name and version = :Name", NAME="x") == [
        "Missing parameter value for name (line 1, column 7)",
        "Missing parameter value for Name (line 1, column 27)",
    ]
    assert refusals(library, "key in :names") == ["Missing parameter value for names (line 1, column 8)"]


def test_a_comparison_refuses_a_list(library: Api) -> None:
    assert refusals(library, "key = :k", k=["a", "b"]) == [
        "The variable 'k' has 2 values, and '=' takes one. (line 1, column 7)"
    ]


@pytest.mark.parametrize(
    ("where", "value", "takes"),
    [
        ("version = :v", "abc", "The field 'version' takes a number, not \"abc\""),
        ("version = :v", "", "The field 'version' takes a number, not \"\""),
        ("version in (1, :v)", "0x1", "The field 'version' takes a number, not \"0x1\""),
        ("arrayOfIntExample = :v", "1 ", "The field 'arrayOfIntExample' takes numbers, not \"1 \""),
        ("createdAt < :v", "yesterday", "The field 'createdAt' takes a date-time, as"),
        ("arrayOfObjectType(integerExample = :v)", "NaN", "The field 'integerExample' takes a number, not \"NaN\""),
    ],
)
def test_a_value_of_another_type_is_refused(library: Api, where: str, value: str, takes: str) -> None:
    (message,) = refusals(library, where, v=value)
    assert message.startswith(takes)
    assert "the value of the variable 'v'" in message


def test_a_variable_with_an_unstorable_character_is_refused(api: Api) -> None:
    answer = ask(api, "key = :v", v="\x00")
    assert codes(answer) == ["InvalidInput"]
    assert answer.get_json()["message"] == "Malformed parameter: var.v: A text cannot hold U+0000."
