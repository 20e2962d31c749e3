"""Facets to SQL: each is one subquery whose value is the JSON of its result.

Counts are of resources: a value that an array holds twice counts once. A subquery reads the resources once, however
many terms or ranges it has, and needs no join back to tell resources apart, since a resource's values are gathered
beside its row.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

from psycopg import sql

from app import errors
from app.fields import TIME_FORMAT, Kind, Stage
from app.filters.ast import Bounds, Facet, FieldPath
from app.predicate.ast import Condition, Value
from app.predicate.compiler import CASTS, compile_condition, number_text, parameter_of

TERMS_AT_MOST = 200
"""Terms that a facet lists; the others are in ``other``."""

Parameters = dict[str, Any]


def compile_facet(
    facet: Facet, where: sql.Composable, stage: Stage, prefix: str, parameters: Parameters
) -> sql.Composed:
    """The SQL of a facet's JSON.

    :param where: which resources ``r`` are counted.
    :param prefix: begins the names of the parameters that are added to ``parameters``.
    """
    match facet.of:
        case None:
            return _terms(facet, where, stage)
        case tuple():
            return _ranges(facet, facet.of, where, stage, prefix, parameters)
        case condition:
            return _filter(facet, condition, where, stage, prefix, parameters)


def _count(facet: Facet, count: sql.Composable) -> sql.Composed:
    """The member ``count``, and ``productCount`` if it was asked for: what is counted are the products."""
    json: LiteralString = "'\"count\":' || {count}"
    if facet.counting_products:
        json = f"{json} || ',\"productCount\":' || {{count}}"
    return sql.SQL(json).format(count=count)


# Values

_MEMBER: LiteralString = (
    "SELECT DISTINCT (e.value -> {name})::numeric FROM jsonb_array_elements({column}) e (value) WHERE e.value ? {name}"
)

_VALUES: dict[Kind, LiteralString] = {
    Kind.ID: "SELECT {}",
    Kind.TEXT: "SELECT {}",
    Kind.TIME: "SELECT {}",
    Kind.NUMBER: "SELECT ({})::numeric",
    Kind.TEXTS: 'SELECT DISTINCT e.value COLLATE "C" FROM jsonb_array_elements_text({}) e (value)',
    Kind.NUMBERS: "SELECT DISTINCT e.value::numeric FROM jsonb_array_elements({}) e (value)",
}
"""The values of a field of ``r``, each once; an absent one has no row, or one with NULL."""


def _values(at: FieldPath, stage: Stage) -> sql.Composed:
    holder = at.element_of or at.field
    if holder.column is None:
        errors.unreachable("what a facet looks at has a column")
    column = sql.SQL(holder.column.of(stage))
    if at.element_of is not None:
        return sql.SQL(_MEMBER).format(name=sql.Literal(at.field.name), column=column)
    return sql.SQL(_VALUES[at.field.kind]).format(column)


# JSON of values. A numeric has more digits than a double: where it is not whole, the shortest text of the nearest
# double is meant, if there is one.

_NUMBER_JSON: LiteralString = """CASE
    WHEN {0} = trunc({0}) AND abs({0}) < 1e21 THEN trunc({0})::text
    WHEN abs({0}) BETWEEN 1e-300 AND 1e300 THEN to_json({0}::double precision)::text
    ELSE {0}::text END"""

_TERM_JSON: dict[Kind, tuple[LiteralString, LiteralString]] = {
    Kind.ID: ("text", "'\"' || {0} || '\"'"),
    Kind.TEXT: ("text", "to_json({0}::text)::text"),
    Kind.TEXTS: ("text", "to_json({0}::text)::text"),
    Kind.TIME: ("datetime", f"'\"' || to_char({{0}} AT TIME ZONE 'UTC', {TIME_FORMAT}) || '\"'"),
    Kind.NUMBER: (
        "number",
        f"{_NUMBER_JSON} || CASE WHEN {{0}} = trunc({{0}}) AND abs({{0}}) < 1e21 THEN '.0' ELSE '' END",
    ),
}
"""The type of a facet's terms, and their JSON; a number is a decimal, also a whole one."""
_TERM_JSON[Kind.NUMBERS] = _TERM_JSON[Kind.NUMBER]


# Kinds of facets


def _terms(facet: Facet, where: sql.Composable, stage: Stage) -> sql.Composed:
    data_type, term_json = _TERM_JSON[facet.at.field.kind]
    return sql.SQL(
        """(
        SELECT '{{"type":"terms","dataType":"' || {data_type} || '","missing":' || f.missing || ',"total":' || f.total
            || ',"other":' || f.total - f.listed || ',"terms":[' || f.terms || ']}}'
        FROM (
            SELECT
                coalesce(sum(t.count) FILTER (WHERE t.value IS NULL), 0) AS missing,
                coalesce(sum(t.count) FILTER (WHERE t.value IS NOT NULL), 0) AS total,
                coalesce(sum(t.count) FILTER (WHERE t.value IS NOT NULL AND t.place <= {at_most}), 0) AS listed,
                coalesce(string_agg('{{"term":' || {term} || ',' || {count} || '}}', ',' ORDER BY t.place)
                    FILTER (WHERE t.value IS NOT NULL AND t.place <= {at_most}), '') AS terms
            FROM (
                SELECT v.value, count(*) AS count,
                    row_number() OVER (ORDER BY v.value IS NULL, count(*) DESC, v.value) AS place
                FROM resource r LEFT JOIN LATERAL ({values}) v (value) ON true
                WHERE {where}
                GROUP BY v.value
            ) t
        ) f
        )"""
    ).format(
        data_type=sql.Literal(data_type),
        at_most=sql.Literal(TERMS_AT_MOST),
        term=sql.SQL(term_json).format(sql.SQL("t.value")),
        count=_count(facet, sql.SQL("t.count")),
        values=_values(facet.at, stage),
        where=where,
    )


def _filter(
    facet: Facet, condition: Condition, where: sql.Composable, stage: Stage, prefix: str, parameters: Parameters
) -> sql.Composed:
    clause = compile_condition(condition, stage, prefix)
    parameters |= clause.parameters
    return sql.SQL(
        """(SELECT '{{"type":"filter",' || {count} || '}}' FROM resource r WHERE {where} AND {condition})"""
    ).format(count=_count(facet, sql.SQL("count(*)")), where=where, condition=clause.indexed)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_MEASURED: dict[Kind, LiteralString] = {
    Kind.NUMBER: "x.value",
    Kind.NUMBERS: "x.value",
    Kind.TIME: "(extract(epoch FROM x.value) * 1000)",
}
"""A value as the number that is added up: times as milliseconds since 1970."""


def _ranges(
    facet: Facet,
    ranges: Sequence[Bounds],
    where: sql.Composable,
    stage: Stage,
    prefix: str,
    parameters: Parameters,
) -> sql.Composed:
    kind = facet.at.field.kind
    of_resource: list[sql.Composed] = []
    of_all: list[sql.Composed] = []
    json: list[sql.Composed] = []
    for number, bounds in enumerate(ranges):
        name = f"{prefix}_{number}"
        within = sql.SQL("FILTER (WHERE {})").format(_within(bounds, kind, name, parameters))
        columns = {part: sql.Identifier(f"{part}_{number}") for part in ("count", "values", "sum", "min", "max")}
        measured = sql.SQL(_MEASURED[kind])
        of_resource.append(
            sql.SQL(
                "count(*) {within} AS {values}, sum({it}) {within} AS {sum}, min({it}) {within} AS {min},"
                " max({it}) {within} AS {max}"
            ).format(it=measured, within=within, **columns)
        )
        of_all.append(
            sql.SQL(
                "count(*) FILTER (WHERE v.{values} > 0) AS {count}, sum(v.{values}) AS {values},"
                " coalesce(sum(v.{sum}), 0) AS {sum}, coalesce(min(v.{min}), 0) AS {min},"
                " coalesce(max(v.{max}), 0) AS {max}"
            ).format(**columns)
        )
        parameters[f"{name}_bounds"] = _bounds_json(bounds)
        json.append(
            sql.SQL(
                """'{{' || {bounds}::text || {count} || ',"total":' || {sum} || ',"min":' || {min}
                || ',"max":' || {max} || ',"mean":' || {mean} || '}}'"""
            ).format(
                bounds=sql.Placeholder(f"{name}_bounds"),
                count=_count(facet, columns["count"]),
                mean=_number(sql.SQL("coalesce({sum} / nullif({values}, 0), 0)").format(**columns)),
                **{part: _number(columns[part]) for part in ("sum", "min", "max")},
            )
        )
    return sql.SQL(
        """(
        SELECT '{{"type":"range","ranges":[' || {json} || ']}}'
        FROM (
            SELECT {of_all}
            FROM resource r CROSS JOIN LATERAL (SELECT {of_resource} FROM ({values}) x (value)) v
            WHERE {where}
        ) f
        )"""
    ).format(
        json=sql.SQL(" || ',' || ").join(json),
        of_all=sql.SQL(", ").join(of_all),
        of_resource=sql.SQL(", ").join(of_resource),
        values=_values(facet.at, stage),
        where=where,
    )


def _number(of: sql.Composable) -> sql.Composed:
    return sql.SQL(_NUMBER_JSON).format(of)


def _within(bounds: Bounds, kind: Kind, name: str, parameters: Parameters) -> sql.Composed:
    """Half-open: the lower bound belongs to the range, the upper one does not."""
    cast: LiteralString = CASTS[kind]
    conditions: list[sql.Composable] = [sql.SQL("x.value IS NOT NULL")]
    if bounds.low is not None:
        parameters[f"{name}_from"] = parameter_of(bounds.low)
        conditions.append(sql.SQL(f"x.value >= {{}}::{cast}").format(sql.Placeholder(f"{name}_from")))
    if bounds.high is not None:
        parameters[f"{name}_to"] = parameter_of(bounds.high)
        conditions.append(sql.SQL(f"x.value < {{}}::{cast}").format(sql.Placeholder(f"{name}_to")))
    return sql.SQL(" AND ").join(conditions)


def _bounds_json(bounds: Bounds) -> str:
    """The members that say which range it is; an open end is 0 and an empty text."""
    members: list[str] = []
    for end, value in (("from", bounds.low), ("to", bounds.high)):
        text = "" if value is None else _bound(value)
        members.append(f'"{end}":{text or 0},"{end}Str":"{text}",')
    return "".join(members)


def _bound(value: Value) -> str:
    match value:
        case datetime():
            microseconds = (value - _EPOCH) // timedelta(microseconds=1)
            return number_text(microseconds // 1000 if microseconds % 1000 == 0 else microseconds / 1000)
        case int() | float():
            return number_text(value)
        case _:
            return errors.unreachable("only numbers and times have ranges")
