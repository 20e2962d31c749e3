"""Limits of predicates: length, depth, number of terms, time to parse. And the indexes that they use."""

from functools import partial
from typing import Any

import psycopg
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

TOO_MANY_TERMS = "The predicates have more than 500 terms; each comparison is one, and each value of a list."


def refused(*texts: str, **variables: list[str]) -> tuple[object, ...]:
    with pytest.raises(ValidationError) as error:
        read(texts, variables)
    return tuple(error.value.messages)


def test_the_length_of_a_text_is_bounded() -> None:
    text = 'key = "x"'
    SortedListSchema().load(MultiDict({"where": text.ljust(LENGTH_AT_MOST)}))
    with pytest.raises(ApiError, match="where: All parameters together have 16385 characters, 16384 are accepted"):
        SortedListSchema().load(MultiDict({"where": text.ljust(LENGTH_AT_MOST + 1)}))
    half = text.ljust(LENGTH_AT_MOST // 2)
    SortedListSchema().load(MultiDict([("where", half), ("where", half)]))
    with pytest.raises(ApiError, match="where: All parameters together have 16385 characters, 16384 are accepted"):
        SortedListSchema().load(MultiDict([("where", half), ("where", half), ("var.a", "b")]))


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


def test_faults_of_predicates_beyond_the_terms_are_not_told() -> None:
    half = TERMS_AT_MOST // 2
    many, unknown = " or ".join(["key is defined"] * half), "x is defined"
    assert refused(many, many, unknown, unknown) == (TOO_MANY_TERMS,)
    told, *rest = refused(unknown, many, many, unknown)
    assert "The field 'x' does not exist." in str(told)
    assert rest == [TOO_MANY_TERMS]


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
    deep = "arrayOfObjectType(" + "not(" * 31 + "integerExample > 1" + ")" * 32
    assert found(api, deep) == []


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


def test_the_tree_of_a_predicate_is_cached() -> None:
    text = 'key = "a text that no other test has"'
    assert parser.parse(text) is parser.parse(text)
    long = f'key = "{"x" * 5000}"'
    assert parser.parse(long) == parser.parse(long)


# Indexes


def plan(connection: psycopg.Connection[Any], where: str, projection: Projection = Projection.CURRENT) -> str:
    clause = compile_condition(read([where], {}), projection)
    statement = f"""
        EXPLAIN (COSTS off) SELECT count(*) FROM resource r
        WHERE r.project_key = %(project_key)s AND {clause.text}"""
    rows = connection.execute(statement, {"project_key": "p", **clause.parameters}).fetchall()
    return "\n".join(line for (line,) in rows)


@pytest.fixture(scope="module")
def planner(database_url: str) -> Any:
    """A connection that sees twenty thousand resources, and whose planner scans a table only if it must."""
    with psycopg.connect(database_url) as connection:
        connection.execute(_MANY)
        connection.execute(_SOME_STAGED)
        connection.execute("SELECT gin_clean_pending_list('resource_object'), gin_clean_pending_list('resource_words')")
        connection.execute(
            "SELECT gin_clean_pending_list('resource_staged_object'), gin_clean_pending_list('resource_staged_words')"
        )
        connection.execute("ANALYZE resource")
        connection.execute("SET LOCAL enable_seqscan = off")
        yield connection
        connection.rollback()


_MANY = """
INSERT INTO resource (project_key, id, version, key, created_at, last_modified_at, created_by, last_modified_by,
    object_type)
SELECT 'p', gen_random_uuid(), 1, 'key-' || i, now() - i * interval '1 day', now() - i * interval '1 hour', 'c', 'c',
    jsonb_build_object(
        'arrayOfIntExample', jsonb_build_array(i, i + 1),
        'arrayOfFloatExample', jsonb_build_array(i / 2.0),
        'arrayOfStringExample', jsonb_build_array('x' || i, 'y' || i),
        'arrayOfObjectType', jsonb_build_array(jsonb_build_object('integerExample', i, 'integerExampleInt32', i + 1))
    )::text
FROM generate_series(1, 20000) i
"""

_SOME_STAGED = """
UPDATE resource SET staged_object_type = object_type, staged_some_property = 'staged'
WHERE project_key = 'p' AND version = 1 AND created_at > now() - interval '1000 days'
"""

CANONICAL = "fffa6d40-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    ("where", "index", "column"),
    [
        (f'id = "{CANONICAL}"', "resource_pkey", "id = "),
        (f'id in ("{CANONICAL}", "x")', "resource_pkey", "id = "),
        (f'id > "{CANONICAL}"', "resource_pkey", "id > "),
        ('key = "x"', "resource_key", "key = "),
        ('key in ("x", "y")', "resource_key", "key = "),
        ('key >= "x"', "resource_key", "key >= "),
        ('not(key != "x")', "resource_key", "key = "),
        ('createdAt > "2999-01-01"', "resource_created_at", "created_at > "),
        ('lastModifiedAt <= "2000-01-01"', "resource_last_modified_at", "last_modified_at <= "),
        ("arrayOfIntExample = 5", "resource_object", "object @> "),
        ("arrayOfIntExample in (5, 6)", "resource_object", "object @? "),
        ('arrayOfStringExample contains any ("x", "y")', "resource_object", "object @? "),
        ('arrayOfStringExample contains all ("x", "y")', "resource_object", "object @> "),
        ('arrayOfIntExample = 5 or arrayOfStringExample = "x"', "resource_object", "object @? "),
        ("objectTypeProperty(arrayOfFloatExample = 0.5)", "resource_object", "object @> "),
        ("arrayOfObjectType(integerExample = 1 and integerExampleInt32 = 2)", "resource_object", "object @? "),
        ("arrayOfObjectType(integerExample = 1 or integerExample = 2)", "resource_object", "object @? "),
        ("arrayOfObjectType(integerExample in (1, 2))", "resource_object", "object @? "),
        ("arrayOfObjectType(integerExample > 700 and integerExampleInt32 = 1)", "resource_object", "object @? "),
        ("arrayOfIntExample = 5 and arrayOfIntExample > 7 and not(version = 1)", "resource_object", "object @> "),
    ],
)
def test_a_selective_condition_uses_an_index(planner: Any, where: str, index: str, column: str) -> None:
    seen = plan(planner, where)
    conditions = [line for line in seen.splitlines() if "Index Cond" in line]
    assert index in seen, seen
    assert conditions, seen
    assert all(column in condition for condition in conditions), seen


def test_a_condition_without_equality_asks_no_index_of_documents(planner: Any) -> None:
    """The index would return every row for it."""
    assert "jsonb_path_exists" in plan(planner, "arrayOfObjectType(integerExample = 1 or integerExampleInt32 > 2)")
    assert "jsonb_path_exists" not in plan(planner, "arrayOfObjectType(integerExample = 1 and integerExampleInt32 > 2)")


@pytest.mark.one_machine("The pending lists of the indexes are on a worker, where nothing here empties them.")
def test_the_staged_projection_uses_the_indexes_of_both_columns(planner: Any) -> None:
    seen = plan(planner, "arrayOfIntExample = 5", Projection.STAGED)
    assert "resource_object" in seen
    assert "resource_staged_object" in seen
