"""The answers to invalid predicates: the platform's messages, with line and column."""

import pytest

from tests.support.api import Api, codes
from tests.support.predicates import SORTED, refusals

# The words that the grammar allows behind a field, in its order: a new operator's first word belongs here.
OPERATORS = "'not', 'in', 'contains', 'is', 'matches', '(', '=', '!=', '<>', '<', '>', '<=' or '>='"
VALUE = "input parameter or primitive value"
MORE = "end of input, 'and' or 'or'"


@pytest.mark.parametrize(
    ("where", "message", "caret"),
    [
        ("key =", f"Unexpected end of input, expected {VALUE} (line 1, column 6)", 5),
        ("key", f"Unexpected end of input, expected {OPERATORS} (line 1, column 4)", 3),
        (" ", "Unexpected end of input, expected field name, 'not' or '(' (line 1, column 2)", 1),
        ('firstName ilike "x"', "Invalid input 'l', expected 'n' or 's' (line 1, column 12)", 11),
        ("firstName = name", f"Invalid input 'n', expected {VALUE} (line 1, column 13)", 12),
        ('key like "x"', f"Invalid input 'l', expected {OPERATORS} (line 1, column 5)", 4),
        ('key contains "x"', "Invalid input '\"', expected 'any' or 'all' (line 1, column 14)", 13),
        ('key contains al ("x")', "Invalid input ' ', expected 'l' (line 1, column 16)", 15),
        ('key in "x"', "Invalid input '\"', expected input parameter or '(' (line 1, column 8)", 7),
        ("key in ()", f"Invalid input ')', expected {VALUE} (line 1, column 9)", 8),
        ('key in ("x" "y")', "Invalid input '\"', expected ')' or ',' (line 1, column 13)", 12),
        ('key in ("x",)', f"Invalid input ')', expected {VALUE} (line 1, column 13)", 12),
        ("key is", "Unexpected end of input, expected 'not', 'defined' or 'empty' (line 1, column 7)", 6),
        ("key is nt defined", "Invalid input 't', expected 'o' (line 1, column 9)", 8),
        ('key = "a" andx = 1', "Invalid input 'x', expected whitespace (line 1, column 14)", 13),
        ('key = "a" key = "b"', f"Invalid input 'k', expected {MORE} (line 1, column 11)", 10),
        ('key = "a")', f"Invalid input ')', expected {MORE} (line 1, column 10)", 9),
        ('(key = "a"', "Unexpected end of input, expected 'and', 'or' or ')' (line 1, column 11)", 10),
        ("not key", "Invalid input 'k', expected '(' (line 1, column 5)", 4),
        ('key = "abc', "Unexpected end of input, expected '\"' (line 1, column 11)", 10),
        ('key = "a\\n"', "Invalid input 'n', expected '\"' or '\\' (line 1, column 10)", 9),
        ("key = 'abc'", f"Invalid input ''', expected {VALUE} (line 1, column 7)", 6),
        ("key = `abc`", f"Invalid input '`', expected {VALUE} (line 1, column 7)", 6),
        ("version = 01", f"Invalid input '1', expected {MORE} (line 1, column 12)", 11),
        ("version = -", "Unexpected end of input, expected digit (line 1, column 12)", 11),
        ("version = .5", f"Invalid input '.', expected {VALUE} (line 1, column 11)", 10),
        ("version = +5", f"Invalid input '+', expected {VALUE} (line 1, column 11)", 10),
        ("version = 5.", f"Invalid input '.', expected {MORE} (line 1, column 12)", 11),
        ("key = :", "Unexpected end of input, expected letter or digit (line 1, column 8)", 7),
        ("key = :ä", "Invalid input 'ä', expected letter or digit (line 1, column 8)", 7),
        ("`key = 1", "Unexpected end of input, expected '`' (line 1, column 9)", 8),
        ("`` = 1", "Invalid input '`', expected field name (line 1, column 2)", 1),
        ("käse = 1", f"Invalid input 'ä', expected {OPERATORS} (line 1, column 2)", 1),
        ('key İn ("x")', f"Invalid input 'İ', expected {OPERATORS} (line 1, column 5)", 4),
        ("a.b = 1", f"Invalid input '.', expected {OPERATORS} (line 1, column 2)", 1),
        ("key within circle(1, 2, 3)", f"Invalid input 'w', expected {OPERATORS} (line 1, column 5)", 4),
        ("key = \u00a01", f"Invalid input 'U+00A0', expected {VALUE} (line 1, column 7)", 6),
    ],
)
def test_a_syntax_error_says_where_and_what_was_expected(api: Api, where: str, message: str, caret: int) -> None:
    assert refusals(api, where) == [f"Syntax error while parsing 'where'. {message}:\n{where}\n{' ' * caret}^"]


def test_the_message_shows_the_line_with_the_error_and_its_number(api: Api) -> None:
    assert refusals(api, 'key = "a\nb"\nand\n\tversion ==1\nand key = "x"') == [
        f"Syntax error while parsing 'where'. Invalid input '=', expected {VALUE} (line 4, column 11):\n"
        "\tversion ==1\n"
        "\t         ^"
    ]


def test_an_empty_predicate_is_refused(api: Api) -> None:
    assert refusals(api, "") == ["The value is empty."]
    assert refusals(api, 'key = "x"', "", "keys = 1") == [
        "The value is empty.",
        "The field 'keys' does not exist. Did you mean 'key'? (line 1, column 1)",
    ]


def test_an_unknown_field_is_told_beside_a_missing_variable_and_near_fields_or_all(api: Api) -> None:
    first, second = refusals(api, "unknown1 = :x")
    assert first.startswith("The field 'unknown1' does not exist. Known are: id, key, version, createdAt, ")
    assert second == "Missing parameter value for x. (line 1, column 12)"
    assert refusals(api, "key contains any :x")[1] == "Missing parameter value for x. (line 1, column 18)"
    answer = api.get(SORTED, query_string={"where": "key != :k", "var.k": ["a", "b"]})
    assert "The variable 'k' has 2 values, and '!=' takes one." in answer.get_json()["message"]


@pytest.mark.parametrize(
    "time", ["2020-01-01T00:00:00 02:00", "2020-01-01T00:00:00.000 00:00", "2020-01-01 00:00:00.000 00:00"]
)
def test_a_time_with_a_blank_where_a_plus_stood_is_told_of_it(api: Api, time: str) -> None:
    (literal,) = refusals(api, f'createdAt > "{time}"')
    assert "In a URL, + is written as %2B." in literal
    answer = api.get(SORTED, query_string={"where": "createdAt > :x", "var.x": time})
    assert "In a URL, + is written as %2B." in answer.get_json()["message"]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("key = 5", "The field 'key' takes a text in double quotes, not the number 5."),
        ("key = true", "The field 'key' takes a text in double quotes, not the boolean true."),
        ("key matches ignore case 5", "The field 'key' takes a text in double quotes, not the number 5."),
        ("id in (1.50)", "The field 'id' takes a text in double quotes, not the number 1.5."),
        ('version = "5"', "The field 'version' takes a number, not the text \"5\"."),
        ("version < FALSE", "The field 'version' takes a number, not the boolean false."),
        ("key = 1e999", "The field 'key' takes a text in double quotes, not the number 1e999."),
        ('arrayOfIntExample contains all ("a")', "The field 'arrayOfIntExample' takes numbers, not the text \"a\"."),
        (
            "arrayOfStringExample = 1",
            "The field 'arrayOfStringExample' takes texts in double quotes, not the number 1.",
        ),
        ('arrayOfObjectType(integerExample = "1")', "The field 'integerExample' takes a number, not the text \"1\"."),
        *(
            (
                f"createdAt > {value}",
                "The field 'createdAt' takes a date-time in double quotes, as \"2016-02-28T16:41:41.090Z\", or a date,"
                f" not the {shown}.",
            )
            for value, shown in (
                ('"now"', 'text "now"'),
                ('"2016-02-30"', 'text "2016-02-30"'),
                ('"2016-02-28T16:41"', 'text "2016-02-28T16:41"'),
                ('"2016-02-28T25:00:00Z"', 'text "2016-02-28T25:00:00Z"'),
                ('"2016-02-28T16:00:00+01:60"', 'text "2016-02-28T16:00:00+01:60"'),
                ('"0000-01-01"', 'text "0000-01-01"'),
                ('"9999-12-31T23:59:59-01:00"', 'text "9999-12-31T23:59:59-01:00"'),
                ("1456677701090", "number 1456677701090"),
            )
        ),
    ],
)
def test_a_literal_of_another_type_is_refused(api: Api, where: str, message: str) -> None:
    (found,) = refusals(api, where)
    assert found.rsplit(" (line 1", 1)[0] == message


def test_all_faults_are_in_one_answer(api: Api) -> None:
    assert refusals(api, 'keys = 1 and version = "a" or key = :k', "key =", "versio is defined") == [
        "The field 'keys' does not exist. Did you mean 'key'? (line 1, column 1)",
        "The field 'version' takes a number, not the text \"a\". (line 1, column 24)",
        "Missing parameter value for k. (line 1, column 37)",
        f"Syntax error while parsing 'where'. Unexpected end of input, expected {VALUE} (line 1, column 6):\n"
        "key =\n     ^",
        "The field 'versio' does not exist. Did you mean 'version'? (line 1, column 1)",
    ]


def test_an_unknown_path_names_a_similar_one_or_all(api: Api) -> None:
    objects = "objectTypeProperty.arrayOfObjectType"
    answer = api.get("/searchApiPattern", query_string={"filter": ['id.foo:"x"', f"{objects[:-1]}:exists"]})
    all_paths, similar = [error["message"] for error in answer.get_json()["errors"]]
    assert "'id.foo' does not exist. Known are: id, " in all_paths
    assert f"Did you mean '{objects}'? (line" in similar


def test_faults_of_other_parameters_are_in_the_same_answer(api: Api) -> None:
    query = {"where": "x = 1", "limit": "501", "expand": "", "unknown": "z", "var.a-b": "1", "var.a": "\x00"}
    answer = api.get(SORTED, query_string=query)
    named = [error["message"].split(": ")[1] for error in answer.get_json()["errors"]]
    assert sorted(named) == ["expand", "limit", "unknown", "var.a", "var.a-b", "where"]
    assert set(codes(answer)) == {"InvalidInput"}


def test_a_text_that_cannot_be_stored_is_refused(api: Api) -> None:
    assert refusals(api, 'key = "\x00"') == ["A text cannot hold U+0000."]
