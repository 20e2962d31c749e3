"""Limits of predicates: length, depth, number of terms, time to parse."""

from functools import partial

import pytest
from marshmallow import ValidationError
from werkzeug.datastructures import MultiDict

from app.errors import FAULTS_AT_MOST, ApiError
from app.query.fields import Projection
from app.query.language import DEPTH_AT_MOST, TERMS_AT_MOST
from app.query.predicate import parser
from app.query.predicate.compiler import compile_condition
from app.query.predicate.resolver import read
from app.resource.params import SortedListSchema
from app.values.parameters import LENGTH_AT_MOST
from tests.support.api import Api
from tests.support.effort import assert_under_50_ms, assert_under_100_ms
from tests.support.predicates import found, refusals

TOO_MANY_TERMS = "The predicates have more than 500 terms; a comparison is one, or one for each value of its list."


def refused(*texts: str, **variables: list[str]) -> tuple[object, ...]:
    with pytest.raises(ValidationError) as error:
        read(texts, variables)
    return tuple(error.value.messages)


def test_the_depth_is_bounded(api: Api) -> None:
    def nested(depth: int, opening: str = "(") -> str:
        return opening * depth + 'key = "x"' + ")" * depth

    api.create(key="xx")
    assert found(api, nested(DEPTH_AT_MOST)) == []
    assert found(api, nested(DEPTH_AT_MOST, "not(")) == []
    assert found(api, nested(DEPTH_AT_MOST - 1, "not (")) == ["xx"]
    reason = "The predicate is nested deeper than 32 parentheses (line 1, column 33)."
    assert refusals(api, nested(DEPTH_AT_MOST + 1)) == [reason]
    for hidden in ('key = "(((("', 'key = "\\"("', "key = `(`"):
        with pytest.raises(ValidationError) as error:
            read([hidden.replace("(", "(" * 40) + " and x"], {})
        assert "deeper" not in str(error.value)


def test_the_number_of_terms_is_bounded() -> None:
    def terms(count: int) -> str:
        return " or ".join(["key is defined"] * count)

    half = TERMS_AT_MOST // 2
    read([terms(TERMS_AT_MOST)], {})
    read([terms(half), terms(half)], {})
    assert refused(terms(TERMS_AT_MOST + 1)) == (TOO_MANY_TERMS,)
    assert refused(terms(half), terms(half + 1)) == (TOO_MANY_TERMS,)
    for text in ("and or", '"a" or "b", "c"', "a<b=c,(d"):
        read([" or ".join(["key = " + f'"{text.replace(chr(34), chr(92) + chr(34))}"'] * 400)], {})


def test_each_value_of_a_list_is_a_term() -> None:
    def values(count: int) -> str:
        return f"version in ({','.join('1' * count)})"

    read([values(TERMS_AT_MOST)], {})
    assert refused(values(TERMS_AT_MOST + 2)) == (TOO_MANY_TERMS,)
    assert refused(values(TERMS_AT_MOST), 'key = "x"') == (TOO_MANY_TERMS,)
    assert refused("version in :v", v=["1"] * (TERMS_AT_MOST + 1)) == (TOO_MANY_TERMS,)


def test_the_terms_of_nested_conditions_and_of_texts_that_look_like_terms_are_counted_exactly() -> None:
    half = TERMS_AT_MOST // 2
    terms = [
        "arrayOfObjectType(integerExample = 1 and not(integerExampleInt32 in (1)))",
        'key = "a, b and (c) or d = e" or `key` = "\\"" ',
    ]
    for text in terms:
        quarter = " or ".join([text] * (half // 2))
        read([quarter, quarter], {})
        assert refused(quarter, quarter, "version = 1") == (TOO_MANY_TERMS,)
    read([" and ".join(["key in :v"] * half)], {"v": ["x", "y"]})
    assert refused(" and ".join(["key in :v"] * half), "version = 1", v=["x", "y"]) == (TOO_MANY_TERMS,)


@pytest.mark.parametrize("end", ["", "!"], ids=["predicates", "syntax errors"])
def test_long_predicates_are_refused_before_they_are_parsed(end: str) -> None:
    texts = [f"version in ({','.join(f'{number}{text}' for number in range(499))}){end}" for text in range(200)]
    query = MultiDict([("where", text) for text in texts])
    assert_under_50_ms(partial(SortedListSchema().load, query), ApiError)


def test_the_number_of_faults_in_an_answer_is_bounded() -> None:
    assert len(refused(" or ".join(["x is defined"] * 400), *["y = 1"] * 100)) == FAULTS_AT_MOST


def test_many_faults_take_no_longer_than_few() -> None:
    text = " or ".join(["arrayOfIntExampel is defined"] * 400)
    assert_under_50_ms(partial(refused, text), ValidationError)


def test_the_largest_predicate_can_be_answered(api: Api) -> None:
    api.create({"arrayOfIntExample": [7]}, key="xx")
    assert found(api, "arrayOfIntExample contains any :v", v=[str(number) for number in range(500)]) == ["xx"]
    assert found(api, " or ".join(f"arrayOfIntExample > {number}" for number in range(7, 200))) == []
    assert found(api, " and ".join(["not(version = 2)"] * 250)) == ["xx"]
    assert found(api, "arrayOfObjectType(" + "not(" * 31 + "integerExample > 1" + ")" * 32) == []


@pytest.mark.parametrize(
    "text",
    [
        "a is empty or " * LENGTH_AT_MOST + "a is empty",
        "a is not empty and " * 490 + "a=1",
        "abcd = 123456 or " * 490 + "a=1",
        "(a=1)or" * 2300 + "(a=1)",
        ("(" * 32 + "a=1" + ")" * 32 + " or ") * LENGTH_AT_MOST,
        "a=1or " * LENGTH_AT_MOST + "a=1",
        "version in (" + ",".join("1" * 8000) + ")",
        "version in (" + "1," * LENGTH_AT_MOST,
        "key in (" + ",".join(['"x"'] * 4000) + ")",
        "(" * LENGTH_AT_MOST,
        ")" * LENGTH_AT_MOST,
        "not(" * LENGTH_AT_MOST,
        '"' * LENGTH_AT_MOST,
        'a = "' + '\\"' * LENGTH_AT_MOST,
        'a = "' + "x" * LENGTH_AT_MOST,
        "a" * LENGTH_AT_MOST + " ",
        "`" * LENGTH_AT_MOST,
        "`" + "a" * LENGTH_AT_MOST,
        ":" * LENGTH_AT_MOST,
        " " * LENGTH_AT_MOST,
        "\n" * LENGTH_AT_MOST,
        "a = -" + "1" * LENGTH_AT_MOST,
        "a = 1." + "1" * LENGTH_AT_MOST,
        "a = 1e" + "1" * LENGTH_AT_MOST,
        "a = 1e-" + "9" * LENGTH_AT_MOST,
        "and " * LENGTH_AT_MOST,
        "a = :" + "a" * LENGTH_AT_MOST,
    ],
)
def test_the_longest_texts_are_parsed_in_under_100_milliseconds(text: str) -> None:
    assert_under_100_ms(partial(parser.parse, text[:LENGTH_AT_MOST]), ValidationError)


def test_a_condition_on_elements_without_equality_asks_no_index_of_documents() -> None:
    """The index would return every row for it."""
    for joined, is_asked in (("and", True), ("or", False)):
        condition = read([f"arrayOfObjectType(integerExample = 1 {joined} integerExampleInt32 > 2)"], {})
        assert ("jsonb_path_exists" not in compile_condition(condition, Projection.CURRENT).text) is is_asked
