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


@pytest.mark.clause("Q-31", "Q-34")
def test_a_variable_takes_the_type_of_its_field(library: Api) -> None:
    assert found(library, "key = :k", k="full") == ["full"]
    assert found(library, "version = :v and key != :k", v="1.0", k="full") == ["seven"]
    assert found(library, "arrayOfStringExample = :v", v="7") == ["seven"]
    assert found(library, "arrayOfIntExample = :v", v="3") == ["full"]
    assert found(library, "arrayOfObjectType(integerExample > :v)", v="7e2") == ["full"]
    assert found(library, "createdAt > :t", t="2020-01-01") == ["full", "seven"]
    assert found(library, "key matches ignore case :k", k="FULL") == ["full"]


def test_one_variable_can_stand_for_fields_of_several_types(library: Api) -> None:
    assert found(library, "version = :v or arrayOfStringExample = :v", v="7") == ["seven"]


@pytest.mark.clause("Q-33")
def test_a_list_is_given_by_repetition(library: Api) -> None:
    for where in ("key in :keys", "key in (:keys)", "key IN (:keys, :more)"):
        assert found(library, where, keys=["full", "seven"], more="x") == ["full", "seven"]
    assert found(library, "key not in :keys", keys=["full", "seven"]) == []
    assert found(library, "arrayOfIntExample contains all :numbers", numbers=["1", "2", "3"]) == ["full"]
    assert found(library, "arrayOfIntExample contains any :numbers", numbers=["1", "99"]) == ["full"]
    assert found(library, "arrayOfIntExample contains any :numbers", numbers="99") == []


@pytest.mark.clause("4-6", "Q-36")
def test_an_empty_value_is_the_empty_text(library: Api) -> None:
    assert found(library, "arrayOfStringExample = :v", v="") == ["seven"]
    assert found(library, "key = :v", v="") == []


@pytest.mark.clause("Q-35")
def test_an_unused_variable_is_ignored(library: Api) -> None:
    assert found(library, 'key = "full"', unused="x") == ["full"]
    for path in (SORTED, ""):
        assert library.get(path, query_string={"var.unused": ["a", "b"], "var.b": ""}).status_code == 200
    assert library.head(query_string={"var.unused": "x"}).status_code == 200


@pytest.mark.clause("Q-32", "Q-51")
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


@pytest.mark.clause("Q-37")
def test_a_missing_variable_is_named(library: Api) -> None:
    assert refusals(library, "key = :name and version = :Name", NAME="x") == [
        "Missing parameter value for name (line 1, column 7)",
        "Missing parameter value for Name (line 1, column 27)",
    ]
    assert refusals(library, "key in :names") == ["Missing parameter value for names (line 1, column 8)"]


@pytest.mark.clause("Q-38")
def test_a_comparison_refuses_a_list(library: Api) -> None:
    assert refusals(library, "key = :k", k=["a", "b"]) == [
        "The variable 'k' has 2 values, and '=' takes one. (line 1, column 7)"
    ]


@pytest.mark.clause("Q-43")
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


@pytest.mark.clause("4-13")
def test_a_variable_with_an_unstorable_character_is_refused(api: Api) -> None:
    answer = ask(api, "key = :v", v="\x00")
    assert codes(answer) == ["InvalidInput"]
    assert answer.get_json()["message"] == "Malformed parameter: var.v: A text cannot hold U+0000."
