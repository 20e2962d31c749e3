"""Filters and facets against an evaluator in Python: on random data, both find and count the same.

The expressions are generated as texts, so that their parser is under test as well. The evaluator uses the parts that a
text was generated from.
"""

import json
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.query.fields import Projection
from app.query.filters.resolver import read_facets, read_filters
from app.resource.model import Paging, Search
from app.resource.searching.searches import page_of_search
from app.resource.searching.words import expand
from tests.support import oracle
from tests.support.generated import examples
from tests.support.oracle import connection as connection

KINDS = {
    "id": "id",
    "key": "text",
    "version": "number",
    "createdAt": "time",
    "someProperty": "text",
    "createdBy.id": "text",
    "createdBy.typeId": "text",
    "arrayOfIntExample": "number",
    "objectTypeProperty.arrayOfIntExample": "number",
    "objectTypeProperty.arrayOfNumberNoDefaultsExample": "number",
    "arrayOfStringExample": "text",
    "arrayOfObjectType.integerExample": "number",
    "objectTypeProperty.arrayOfObjectType.integerExampleInt32": "number",
}
"""Paths to values. Each field stands here once by itself and may stand once more below objectTypeProperty."""

OPERANDS: dict[str, list[Any]] = {
    "id": oracle.ID_TEXTS,
    "text": oracle.TEXTS,
    "number": oracle.OPERAND_NUMBERS,
    "time": list(oracle.TIMES),
}

INFINITIES = (float("inf"), float("-inf"))

OBJECTS = ["createdBy", "objectTypeProperty", "arrayOfObjectType", "objectTypeProperty.arrayOfObjectType"]


@dataclass(frozen=True)
class Expression:
    """A path and what is said of it: values, ranges, or that it has some value or none."""

    path: str
    values: tuple[Any, ...] | None = None
    ranges: tuple[tuple[Any, Any], ...] | None = None
    exists: bool | None = None

    def __str__(self) -> str:
        if self.values is not None:
            return f"{self.path}:{','.join(printed(value, self.path) for value in self.values)}"
        if self.ranges is not None:
            bounds = [f"({printed(low, self.path)} to {printed(high, self.path)})" for low, high in self.ranges]
            return f"{self.path}: range {', '.join(bounds)}"
        return self.path if self.exists is None else f"{self.path}:{'exists' if self.exists else 'missing'}"


def printed(value: Any, path: str) -> str:
    if value is None:
        return "*"
    if KINDS[path] == "number":
        return oracle.printed_number(value)
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def of(path: str, *, presence: bool = True, ranges: bool = True) -> st.SearchStrategy[Expression]:
    operands = st.sampled_from(OPERANDS[KINDS[path]])
    alternatives = [st.builds(Expression, st.just(path), st.lists(operands, min_size=1, max_size=3).map(tuple))]
    if ranges:
        bound = st.none() | operands.filter(lambda value: value not in INFINITIES)  # which are refused as bounds
        bounds = st.tuples(bound, bound)
        several = st.lists(bounds, min_size=1, max_size=2).map(tuple)
        alternatives.append(st.builds(Expression, st.just(path), ranges=several))
    if presence:
        alternatives.append(st.builds(Expression, st.just(path), exists=st.booleans()))
    return st.one_of(alternatives)


on_objects = st.builds(Expression, st.sampled_from(OBJECTS), exists=st.booleans())
filters = st.sampled_from(list(KINDS)).flatmap(of) | on_objects
facets = st.sampled_from(list(KINDS)).flatmap(
    lambda path: st.one_of(
        st.just(Expression(path)), of(path, presence=False, ranges=KINDS[path] in ("number", "time"))
    )
)
few_filters = st.lists(filters, max_size=2)


# The evaluator


def values_of(path: str, view: dict[str, Any]) -> list[Any]:
    """The distinct values at a path, in order of appearance."""
    found: list[Any] = [view]
    for name in path.removeprefix("objectTypeProperty.").split("."):
        inner: list[Any] = []
        for value in found:
            member = value[name] if name in value else value.get("objectTypeProperty", {}).get(name)
            inner += member if isinstance(member, list) else [] if member is None else [member]
        found = inner
    return list(dict.fromkeys(oracle.comparable(value) for value in found)) if path in KINDS else found


def operand(value: Any, path: str) -> Any:
    return oracle.TIMES[value] if KINDS[path] == "time" else oracle.comparable(value)


def holds(expression: Expression, view: dict[str, Any]) -> bool:
    found = values_of(expression.path, view)
    if expression.values is not None:
        return any(operand(value, expression.path) in found for value in expression.values)
    if expression.ranges is not None:
        return any(
            within(value, bounds, expression.path, closed=True) for value in found for bounds in expression.ranges
        )
    return bool(found) is expression.exists


def within(value: Any, bounds: tuple[Any, Any], path: str, *, closed: bool) -> bool:
    low, high = (None if bound is None else operand(bound, path) for bound in bounds)
    return (low is None or low <= value) and (high is None or (value <= high if closed else value < high))


def field_of(expression: Expression) -> str:
    return expression.path.removeprefix("objectTypeProperty.")


def counted(facet: Expression, views: list[dict[str, Any]]) -> dict[str, Any]:
    found = [values_of(facet.path, view) for view in views]
    if facet.values is not None:
        return {"type": "filter", "count": sum(holds(facet, view) for view in views)}
    if facet.ranges is not None:
        return {"type": "range", "ranges": [range_counted(facet.path, bounds, found) for bounds in facet.ranges]}
    counts = Counter(value for values in found for value in values)
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    kind = KINDS[facet.path]
    stored_times = {0: "00:00.000", 1: "00:00.001"}
    return {
        "type": "terms",
        "dataType": {"number": "number", "time": "datetime"}.get(kind, "text"),
        "missing": sum(not values for values in found),
        "total": sum(counts.values()),
        "other": 0,
        "terms": [
            {
                "term": f"2020-01-{'01' if value in stored_times else '02'}T00:{stored_times.get(value, '00:00.000')}Z"
                if kind == "time"
                else value,
                "count": count,
            }
            for value, count in ordered
        ],
    }


START_MS = 1_577_836_800_000
"""The first of the stored times."""


def range_counted(path: str, bounds: tuple[Any, Any], found: list[list[Any]]) -> dict[str, Any]:
    shift = START_MS if KINDS[path] == "time" else 0
    inside = [[value for value in values if within(value, bounds, path, closed=False)] for values in found]
    flat = [value + shift for values in inside for value in values]
    low, high = (None if bound is None else operand(bound, path) + shift for bound in bounds)
    return {
        "from": low or 0,
        "fromStr": low,
        "to": high or 0,
        "toStr": high,
        "count": sum(bool(values) for values in inside),
        "total": exact_sum(flat),
        "min": min(flat, default=0),
        "max": max(flat, default=0),
        "mean": exact_sum(flat) / len(flat) if flat else 0,
    }


def exact_sum(numbers: list[Any]) -> Any:
    """The sum with all its digits, as PostgreSQL's numeric has them: 1e273 - 1e273 - 7 is -7."""
    with localcontext(prec=1000):
        return sum(numbers)


def assert_same(answered: dict[str, Any], expected: dict[str, Any]) -> None:
    if expected["type"] != "range":
        assert answered == expected
        return
    for one, other in zip(answered["ranges"], expected["ranges"], strict=True):
        for name in ("fromStr", "toStr"):
            assert one[name] == "" if other[name] is None else number(one[name]) == number(other[name])
        for name in ("from", "to"):
            assert number(one[name]) == number(other[name])
        assert one["count"] == other["count"]
        for name in ("total", "min", "max", "mean"):
            assert one[name] == pytest.approx(Decimal(other[name]), rel=Decimal("1e-14"), abs=Decimal(0))


def number(value: Any) -> Any:
    """The number as the service compares it: beyond all doubles an infinity, and times to the microsecond."""
    exact = Decimal(value)
    if abs(exact) >= Decimal("1e309"):
        return Decimal("Infinity").copy_sign(exact)
    return START_MS if START_MS <= exact <= START_MS + Decimal("0.001") else exact


# SQL


def ask(connection: psycopg.Connection[Any], query: Search) -> dict[str, Any]:
    texts = expand(connection, "oracle", query.texts, query.fuzzy_level) if query.texts else None
    page = page_of_search("oracle", query, texts).read(connection)
    assert page is not None
    return json.loads(page, parse_float=Decimal, parse_int=Decimal)


@settings(oracle.many, max_examples=examples(100))
@given(
    library=oracle.libraries,
    projection=st.sampled_from(Projection),
    queries=few_filters,
    narrowings=few_filters,
    facet_filters=few_filters,
    asked=st.lists(facets, max_size=3),
)
def test_sql_finds_and_counts_what_python_does(
    connection: psycopg.Connection[Any],
    library: oracle.Library,
    projection: Projection,
    queries: list[Expression],
    narrowings: list[Expression],
    facet_filters: list[Expression],
    asked: list[Expression],
) -> None:
    query = Search(
        projection=projection,
        query_filters=read_filters([str(found) for found in queries]),
        filters=read_filters([str(found) for found in narrowings]),
        facet_filters=read_filters([str(found) for found in facet_filters]),
        facets=read_facets([f"{facet} as f{place}" for place, facet in enumerate(asked)]),
        paging=Paging(limit=500),
    )
    with connection.transaction(force_rollback=True):
        oracle.store(connection, library)
        page = ask(connection, query)
    views = oracle.seen(library, projection)
    queried = [view for view in views if all(holds(found, view) for found in queries)]
    expected = [view["id"] for view in queried if all(holds(found, view) for found in narrowings)]
    assert [result["id"] for result in page["results"]] == expected
    assert page["total"] == page["count"] == len(expected)
    for place, facet in enumerate(asked):
        others = [found for found in facet_filters if field_of(found) != field_of(facet)]
        narrowed = [view for view in queried if all(holds(found, view) for found in others)]
        assert_same(page["facets"][f"f{place}"], counted(facet, narrowed))
