"""Compiles facets to SQL: each one is a query of one row, the JSON of its result.

Counts are counts of resources: a value that an array contains twice counts once. A query reads the resources once,
however many terms or ranges it has. The distinct values of an array stand ready in the row (see
:class:`app.query.fields.ValueArray`), so that no join or DISTINCT over all rows is needed to count each resource once.

No query has anything that PostgreSQL would refuse to divide among parallel workers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from math import ceil
from typing import LiteralString

from app import errors
from app.query.fields import Field, FieldType, Stage
from app.query.filters.ast import Bounds, Facet, FieldPath
from app.query.predicate.ast import Condition, Value
from app.query.predicate.compiler import CASTS, SqlParameter, compile_condition, number_text, parameter_of
from app.query.sql_text import Parameters, literal, numbered, placeholder, utc_time
from app.resource.json_text import concatenated, member, members, object_, quoted, text_member
from app.resource.model import FACET_TERMS_AT_MOST
from app.values.strict_json import INT64_MAX, INT64_MIN

_TERMS_AT_MOST = literal(FACET_TERMS_AT_MOST)


def compile_facet(
    facet: Facet, where: LiteralString, stage: Stage, prefix: LiteralString, parameters: Parameters
) -> LiteralString:
    """The query of a facet, of one row with its ``json``.

    :param where: selects the resources ``r`` that are counted.
    :param prefix: begins the names of the parameters that are added to ``parameters``.
    """
    match facet.groups:
        case None:
            return _terms(facet, where, stage)
        case tuple():
            return _ranges(facet, facet.groups, where, stage, prefix, parameters)
        case condition:
            return _filter(facet, condition, where, stage, prefix, parameters)


def _count(facet: Facet, count: LiteralString) -> LiteralString:
    """The member ``count``, and the same number as ``productCount`` if the facet counts products."""
    counted = member("count", count)
    return concatenated(counted, member("productCount", count)) if facet.counting_products else counted


# Values


def _column(path: FieldPath, stage: Stage) -> LiteralString:
    if path.field.column is None:
        errors.unreachable("a field that is no array and no member of one has a column")
    return path.field.column.for_stage(stage)


@dataclass(frozen=True, slots=True)
class _Range:
    """A half-open range as SQL: the lower bound belongs to it, the upper bound does not.

    :param columns: comparisons of a value, with a place for the value; a set-returning function may stand there, so
        there is no AND.
    :param is_in: whether a value is in the range, from these columns.
    :param is_first: whether a value in the range is the resource's first one that is. The values of a resource are
        sorted, so this is the one that follows none, or one below the range.
    :param json: the name of the parameter with the members that name the range.
    """

    columns: tuple[LiteralString, ...]
    is_in: LiteralString
    is_first: LiteralString
    json: LiteralString


def _each_value(path: FieldPath, where: LiteralString, stage: Stage) -> LiteralString:
    """A row for each distinct value of each resource, and one with NULL for a resource without values."""
    array = path.field.values
    if array is None:
        return f"SELECT {_column(path, stage)} AS value FROM resource r WHERE {where}"
    # unnest in the select list takes two thirds of the time of unnest in a lateral subquery.
    values: LiteralString = f"unnest(coalesce({array.for_stage(stage)}, '{{NULL}}'))"
    return f"SELECT {values} AS value FROM resource r WHERE {where}"


def _each_value_in_ranges(
    path: FieldPath, where: LiteralString, stage: Stage, ranges: Sequence[_Range]
) -> LiteralString:
    """A row for each distinct value of each resource, with the columns of all ranges.

    Each value of an array has the one before it beside it, in the order of the values; there is one more row, after the
    last value.
    """
    array = path.field.values
    value: LiteralString = _column(path, stage) if array is None else f"unnest({array.for_stage(stage)})"
    # PostgreSQL computes equal calls of unnest in a select list once, and the booleans once for all aggregates.
    columns: list[LiteralString] = [f"{value} AS value"]
    for one in ranges:
        for column in one.columns:
            columns.append(column.format(value=value))
    if array is not None:
        columns.append(f"unnest(array_prepend(NULL, {array.for_stage(stage)})) AS previous")
    listed: LiteralString = ", ".join(columns)
    return f"SELECT {listed} FROM resource r WHERE {where}"


def _is_number(field: Field) -> bool:
    return field.type in (FieldType.NUMBER, FieldType.NUMBERS)


# JSON of values. A numeric has more digits than a double. If it is not a whole number, the shortest text of the nearest
# double is meant, if there is a double near it.

_NUMBER_JSON: LiteralString = """CASE
    WHEN {0} = trunc({0}) AND abs({0}) < 1e21 THEN trunc({0})::text
    WHEN abs({0}) BETWEEN 1e-300 AND 1e300 THEN to_json({0}::double precision)::text
    ELSE {0}::text END"""

_DECIMAL_JSON: LiteralString = (
    f"{_NUMBER_JSON} || CASE WHEN {{0}} = trunc({{0}}) AND abs({{0}}) < 1e21 THEN '.0' ELSE '' END"
)
"""A number with a fraction, ``.0`` if it is whole."""


_STATISTICS: LiteralString = concatenated(
    member("total", _NUMBER_JSON.format("{total}")),
    member("min", _NUMBER_JSON.format("{least}")),
    member("max", _NUMBER_JSON.format("{most}")),
    member("mean", _NUMBER_JSON.format("coalesce({total} / nullif({values}, 0), 0)")),
)
"""The members of a range that describe its values."""


def _term(field_type: FieldType, value: LiteralString) -> tuple[LiteralString, LiteralString]:
    """The ``dataType`` of a facet's terms, and the JSON of a term."""
    match field_type:
        case FieldType.ID:
            return "text", quoted(value)
        case FieldType.TIME:
            return "datetime", quoted(utc_time(value))
        case FieldType.NUMBER | FieldType.NUMBERS:
            return "number", _DECIMAL_JSON.format(value)
        case _:
            return "text", f"to_json({value}::text)::text"


# The three sorts of facets


def _terms(facet: Facet, where: LiteralString, stage: Stage) -> LiteralString:
    # bigint is cast once for each term that is listed, since numeric takes longer to count.
    value: LiteralString = "t.value::numeric" if _is_number(facet.path.field) else "t.value"
    data_type, term = _term(facet.path.field.type, value)
    # The first 200 of many values are sorted several times faster than all, so the values are counted once, then read
    # twice.
    return f"""
        WITH counted AS MATERIALIZED (
            SELECT v.value, count(*) AS count
            FROM ({_each_value(facet.path, where, stage)}) v
            GROUP BY v.value)
        SELECT {_terms_result(data_type)} AS json
        FROM (
                SELECT
                    coalesce(sum(c.count) FILTER (WHERE c.value IS NULL), 0) AS missing,
                    coalesce(sum(c.count) FILTER (WHERE c.value IS NOT NULL), 0) AS total
                FROM counted c
            ) f CROSS JOIN (
                SELECT
                    coalesce(sum(t.count), 0) AS sum,
                    coalesce(string_agg({object_(member("term", term), _count(facet, "t.count"))}, ','
                        ORDER BY t.count DESC, t.value), '') AS terms
                FROM (
                    SELECT c.value, c.count FROM counted c WHERE c.value IS NOT NULL
                    ORDER BY c.count DESC, c.value LIMIT {_TERMS_AT_MOST}
                ) t
            ) listed"""


@cache
def _terms_result(data_type: LiteralString) -> LiteralString:
    return object_(
        text_member("type", "'terms'"),
        text_member("dataType", f"'{data_type}'"),
        member("missing", "f.missing"),
        member("total", "f.total"),
        member("other", "f.total - listed.sum"),
        member("terms", concatenated("'['", "listed.terms", "']'")),
    )


def _filter(
    facet: Facet,
    condition: Condition,
    where: LiteralString,
    stage: Stage,
    prefix: LiteralString,
    parameters: Parameters,
) -> LiteralString:
    clause = compile_condition(condition, stage, prefix)
    parameters |= clause.parameters
    result = object_(text_member("type", "'filter'"), _count(facet, "count(*)"))
    return f"SELECT {result} AS json FROM resource r WHERE {where} AND {clause.indexed}"


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_SUMMABLE: dict[FieldType, LiteralString] = {
    FieldType.NUMBER: "v.value",
    FieldType.NUMBERS: "v.value",
    FieldType.TIME: "(extract(epoch FROM v.value) * 1000)",
}
"""A value as a number for the statistics of a range: of a time, the milliseconds since 1970."""


def _ranges(
    facet: Facet,
    ranges: Sequence[Bounds],
    where: LiteralString,
    stage: Stage,
    prefix: LiteralString,
    parameters: Parameters,
) -> LiteralString:
    path = facet.path
    value = _SUMMABLE[path.field.type]
    made = [
        _range(bounds, path.field, number, numbered(prefix, number), parameters) for number, bounds in enumerate(ranges)
    ]
    aggregates: list[LiteralString] = []
    results: list[LiteralString] = []
    for number, one in enumerate(made):
        count, values, total = numbered("count", number), numbered("values", number), numbered("sum", number)
        least, most = numbered("min", number), numbered("max", number)
        within: LiteralString = f"FILTER (WHERE {one.is_in})"
        aggregates.append(
            f"count(*) FILTER (WHERE {one.is_in} AND {one.is_first}) AS {count}, count(*) {within} AS {values},"
            f" coalesce(sum({value}) {within}, 0)::numeric AS {total},"
            f" coalesce(min({value}) {within}, 0)::numeric AS {least},"
            f" coalesce(max({value}) {within}, 0)::numeric AS {most}"
        )
        counts = members(_count(facet, count))
        statistics = _STATISTICS.format(total=total, least=least, most=most, values=values)
        results.append(concatenated("'{'", f"{placeholder(one.json)}::text", counts, statistics, "'}'"))
    listed = concatenated("'['", concatenated(*_with_commas(results)), "']'")
    return f"""
        SELECT {object_(text_member("type", "'range'"), member("ranges", listed))} AS json
        FROM (
            SELECT {", ".join(aggregates)}
            FROM ({_each_value_in_ranges(path, where, stage, made)}) v
        ) f"""


def _with_commas(items: Sequence[LiteralString]) -> list[LiteralString]:
    first, *others = items
    return [first, *(concatenated("','", item) for item in others)]


def _range(bounds: Bounds, field: Field, number: int, name: LiteralString, parameters: Parameters) -> _Range:
    """The SQL of a range; adds its parameters, whose names begin with ``name``."""
    parameters[f"{name}_bounds"] = _bounds_json(bounds)
    json: LiteralString = f"{name}_bounds"
    low: SqlParameter | None = None if bounds.low is None else parameter_of(bounds.low)
    high: SqlParameter | None = None if bounds.high is None else parameter_of(bounds.high)
    cast: LiteralString = CASTS[field.type]
    if field.values is not None and field.values.item_type == "bigint":
        # To compare bigint with numeric would take three times as long.
        integers = _integer_bounds(bounds)
        if integers is None:
            return _Range((), "false", "true", json)
        low, high = integers
        cast = "bigint"
    columns: list[LiteralString] = []
    is_in: list[LiteralString] = ["v.value IS NOT NULL"]
    is_first: LiteralString = "v.previous IS NULL"
    if low is not None:
        parameters[f"{name}_from"] = low
        bound: LiteralString = f"{placeholder(f'{name}_from')}::{cast}"
        columns.append(f"{{value}} >= {bound} AS {numbered('from', number)}")
        is_in.append(f"v.{numbered('from', number)}")
        is_first = f"({is_first} OR v.previous < {bound})"
    if high is not None:
        parameters[f"{name}_to"] = high
        columns.append(f"{{value}} < {placeholder(f'{name}_to')}::{cast} AS {numbered('to', number)}")
        is_in.append(f"v.{numbered('to', number)}")
    return _Range(tuple(columns), " AND ".join(is_in), "true" if field.values is None else is_first, json)


def _integer_bounds(bounds: Bounds) -> tuple[str | None, str | None] | None:
    """The bounds for values that are bigint; None if no bigint is in the range.

    An integer is at least, or below, a number if it is so for the next integer above that number.
    """
    low, high = bounds.low, bounds.high
    if (isinstance(low, int | float) and low > INT64_MAX) or (isinstance(high, int | float) and high <= INT64_MIN):
        return None
    from_ = str(ceil(low)) if isinstance(low, int | float) and low >= INT64_MIN else None
    to = str(ceil(high)) if isinstance(high, int | float) and high <= INT64_MAX else None
    return from_, to


def _bounds_json(bounds: Bounds) -> str:
    """The members that name a range, with a comma behind them; an open end is 0 and an empty text."""
    bound_members: list[str] = []
    for end, value in (("from", bounds.low), ("to", bounds.high)):
        text = "" if value is None else _bound(value)
        bound_members.append(f'"{end}":{text or 0},"{end}Str":"{text}",')
    return "".join(bound_members)


def _bound(value: Value) -> str:
    match value:
        case datetime():
            microseconds = (value - _EPOCH) // timedelta(microseconds=1)
            return number_text(microseconds // 1000 if microseconds % 1000 == 0 else microseconds / 1000)
        case int() | float():
            return number_text(value)
        case _:
            return errors.unreachable("only numbers and times have ranges")
