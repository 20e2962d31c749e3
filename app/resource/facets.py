"""Compiles facets to SQL: each one is a subquery whose value is the JSON of its result.

Counts are counts of resources: a value that an array contains twice counts once. A subquery reads the resources once,
however many terms or ranges it has. The values of each resource are gathered in a lateral subquery beside its row, so
that no join or DISTINCT over all rows is needed to count each resource once.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import LiteralString

from app import errors
from app.query.fields import FieldType, Stage
from app.query.filters.ast import Bounds, Facet, FieldPath
from app.query.predicate.ast import Condition, Value
from app.query.predicate.compiler import CASTS, compile_condition, number_text, parameter_of
from app.query.sql_text import Parameters, literal, numbered, placeholder, utc_time
from app.resource.json_text import concatenated, member, members, object_, quoted, text_member
from app.resource.model import FACET_TERMS_AT_MOST

_TERMS_AT_MOST = literal(FACET_TERMS_AT_MOST)


def compile_facet(
    facet: Facet, where: LiteralString, stage: Stage, prefix: LiteralString, parameters: Parameters
) -> LiteralString:
    """The SQL of a facet's JSON.

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

_MEMBER: LiteralString = (
    "SELECT DISTINCT (e.value -> {name})::numeric FROM jsonb_array_elements({column}) e (value) WHERE e.value ? {name}"
)

_VALUES: dict[FieldType, LiteralString] = {
    FieldType.ID: "SELECT {}",
    FieldType.TEXT: "SELECT {}",
    FieldType.TIME: "SELECT {}",
    FieldType.NUMBER: "SELECT ({})::numeric",
    FieldType.TEXTS: 'SELECT DISTINCT e.value COLLATE "C" FROM jsonb_array_elements_text({}) e (value)',
    FieldType.NUMBERS: "SELECT DISTINCT e.value::numeric FROM jsonb_array_elements({}) e (value)",
}
"""The distinct values of a field of ``r``. An absent field has no row, or one with NULL."""


def _values(path: FieldPath, stage: Stage) -> LiteralString:
    holder = path.element_of or path.field
    if holder.column is None:
        errors.unreachable("the field of a facet has a column")
    column = holder.column.for_stage(stage)
    if path.element_of is not None:
        return _MEMBER.format(name=f"'{path.field.name}'", column=column)
    return _VALUES[path.field.type].format(column)


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
    data_type, term = _term(facet.path.field.type, "t.value")
    listed = f"t.value IS NOT NULL AND t.place <= {_TERMS_AT_MOST}"
    return f"""(
        SELECT {_terms_result(data_type)}
        FROM (
            SELECT
                coalesce(sum(t.count) FILTER (WHERE t.value IS NULL), 0) AS missing,
                coalesce(sum(t.count) FILTER (WHERE t.value IS NOT NULL), 0) AS total,
                coalesce(sum(t.count) FILTER (WHERE {listed}), 0) AS listed,
                coalesce(string_agg({object_(member("term", term), _count(facet, "t.count"))}, ',' ORDER BY t.place)
                    FILTER (WHERE {listed}), '') AS terms
            FROM (
                SELECT v.value, count(*) AS count,
                    row_number() OVER (ORDER BY v.value IS NULL, count(*) DESC, v.value) AS place
                FROM resource r LEFT JOIN LATERAL ({_values(facet.path, stage)}) v (value) ON true
                WHERE {where}
                GROUP BY v.value
            ) t
        ) f)"""


@cache
def _terms_result(data_type: LiteralString) -> LiteralString:
    return object_(
        text_member("type", "'terms'"),
        text_member("dataType", f"'{data_type}'"),
        member("missing", "f.missing"),
        member("total", "f.total"),
        member("other", "f.total - f.listed"),
        member("terms", concatenated("'['", "f.terms", "']'")),
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
    return f"(SELECT {result} FROM resource r WHERE {where} AND {clause.indexed})"


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_SUMMABLE: dict[FieldType, LiteralString] = {
    FieldType.NUMBER: "x.value",
    FieldType.NUMBERS: "x.value",
    FieldType.TIME: "(extract(epoch FROM x.value) * 1000)",
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
    field_type = facet.path.field.type
    of_resource: list[LiteralString] = []
    of_all: list[LiteralString] = []
    results: list[LiteralString] = []
    for number, bounds in enumerate(ranges):
        name = numbered(prefix, number)
        within: LiteralString = f"FILTER (WHERE {_within(bounds, field_type, name, parameters)})"
        count, values, total = numbered("count", number), numbered("values", number), numbered("sum", number)
        least, most = numbered("min", number), numbered("max", number)
        value = _SUMMABLE[field_type]
        of_resource.append(
            f"count(*) {within} AS {values}, sum({value}) {within} AS {total},"
            f" min({value}) {within} AS {least}, max({value}) {within} AS {most}"
        )
        of_all.append(
            f"count(*) FILTER (WHERE v.{values} > 0) AS {count}, sum(v.{values}) AS {values},"
            f" coalesce(sum(v.{total}), 0) AS {total}, coalesce(min(v.{least}), 0) AS {least},"
            f" coalesce(max(v.{most}), 0) AS {most}"
        )
        parameters[f"{name}_bounds"] = _bounds_json(bounds)
        counts = members(_count(facet, count))
        statistics = _STATISTICS.format(total=total, least=least, most=most, values=values)
        results.append(concatenated("'{'", f"{placeholder(f'{name}_bounds')}::text", counts, statistics, "'}'"))
    listed = concatenated("'['", concatenated(*_with_commas(results)), "']'")
    return f"""(
        SELECT {object_(text_member("type", "'range'"), member("ranges", listed))}
        FROM (
            SELECT {", ".join(of_all)}
            FROM resource r CROSS JOIN LATERAL (
                SELECT {", ".join(of_resource)} FROM ({_values(facet.path, stage)}) x (value)) v
            WHERE {where}
        ) f)"""


def _with_commas(items: Sequence[LiteralString]) -> list[LiteralString]:
    first, *others = items
    return [first, *(concatenated("','", item) for item in others)]


def _within(bounds: Bounds, field_type: FieldType, name: LiteralString, parameters: Parameters) -> LiteralString:
    """The condition that a value is in a half-open range: the lower bound belongs to it, the upper bound does not."""
    cast: LiteralString = CASTS[field_type]
    conditions: list[LiteralString] = ["x.value IS NOT NULL"]
    if bounds.low is not None:
        parameters[f"{name}_from"] = parameter_of(bounds.low)
        conditions.append(f"x.value >= {placeholder(f'{name}_from')}::{cast}")
    if bounds.high is not None:
        parameters[f"{name}_to"] = parameter_of(bounds.high)
        conditions.append(f"x.value < {placeholder(f'{name}_to')}::{cast}")
    return " AND ".join(conditions)


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
